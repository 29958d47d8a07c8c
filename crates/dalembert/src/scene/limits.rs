//! How much a scene may ask for. Whatever the input, reading stays within these bounds and says which one was met.

/// Bounds on the size of a scene. The defaults are far above any scene written by hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one file (default 16 MiB).
    pub file_size: usize,
    /// Files that include one another in a row (default 16).
    pub include_depth: usize,
    /// Files of one scene (default 64).
    pub files: usize,
    /// Tables and arrays inside one another (default 64, at most 79 because of the TOML reader).
    pub nesting: usize,
    /// Elements and parameters after repeats (default 1 000 000).
    pub entries: usize,
    /// Memory that repeats may fill, estimated in bytes before it is taken (default 1 GiB).
    pub expanded_size: usize,
    /// Repeats inside one another (default 8).
    pub repeat_depth: usize,
    /// Bytes of one string or key (default 64 KiB).
    pub string_length: usize,
    /// Bytes of one expression (default 4096).
    pub expression_length: usize,
    /// Nesting of one expression (default and at most 64).
    pub expression_depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            file_size: 16 << 20,
            include_depth: 16,
            files: 64,
            nesting: 64,
            entries: 1_000_000,
            expanded_size: 1 << 30,
            repeat_depth: 8,
            string_length: 64 << 10,
            expression_length: crate::expression::MAXIMUM_LENGTH,
            expression_depth: crate::expression::MAXIMUM_DEPTH,
        }
    }
}
