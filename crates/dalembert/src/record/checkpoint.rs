//! Checkpoints: the exact state of a run that goes on, so that it can be continued with the same bits.
//!
//! A checkpoint is a list of named sections, each a list of f64, of u64 or of bytes. What the sections mean is the
//! business of whoever fills them. The file, little-endian throughout:
//!
//! | bytes | content |
//! |---|---|
//! | 8 | `DALCHKPT` |
//! | 4 | version, 1 |
//! | 4 | number of sections |
//! | 8 | length of the whole file in bytes |
//! | … | the sections: length of name (4), name in UTF-8, kind (1), number of items (8), items |
//! | 8 | FNV-1a checksum of all bytes before it |
//!
//! Each step of FNV-1a, hash ← (hash xor byte) · prime mod 2⁶⁴, is one-to-one in the hash and in the byte, since
//! the prime is odd. A single damaged byte therefore always changes the checksum.
//!
//! Reference: G. Fowler, L. C. Noll, K.-P. Vo, D. Eastlake, "The FNV Non-Cryptographic Hash Algorithm", IETF draft.

use std::fmt;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use super::RecordError;

const MAGIC: &[u8; 8] = b"DALCHKPT";
const VERSION: u32 = 1;
const HEADER: usize = 24;
const CHECKSUM: usize = 8;

/// The content of one section.
#[derive(Clone, Debug, PartialEq)]
pub enum Section {
    /// Numbers, kept bit for bit.
    F64(Vec<f64>),
    /// Counters.
    U64(Vec<u64>),
    /// Anything else.
    Bytes(Vec<u8>),
}

impl Section {
    fn kind(&self) -> &'static str {
        match self {
            Self::F64(_) => "numbers",
            Self::U64(_) => "counters",
            Self::Bytes(_) => "bytes",
        }
    }
}

/// Named sections that together say where a run stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checkpoint {
    sections: Vec<(String, Section)>,
}

/// What is wrong with a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckpointError {
    /// The file does not begin as a checkpoint does.
    NotACheckpoint,
    /// The file was written by another version.
    Version {
        /// The version found.
        found: u32,
    },
    /// The file is shorter or longer than it says.
    Length {
        /// Bytes found.
        found: u64,
        /// Bytes expected.
        expected: u64,
    },
    /// Some bytes have changed since the file was written.
    Checksum,
    /// The checksum fits but the sections do not make sense.
    Layout {
        /// Byte at which the trouble starts.
        offset: usize,
    },
    /// A section is missing.
    Missing {
        /// Its name.
        name: String,
    },
    /// A section holds another kind of content.
    Kind {
        /// Its name.
        name: String,
        /// What it holds.
        found: &'static str,
        /// What was asked for.
        expected: &'static str,
    },
}

impl fmt::Display for CheckpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotACheckpoint => write!(f, "this is not a dalembert checkpoint"),
            Self::Version { found } => write!(
                f,
                "it has layout version {found}, this program reads version {VERSION}; start the run afresh or use the \
                 program that wrote it"
            ),
            Self::Length { found, expected } => {
                write!(f, "it has {found} bytes where {expected} are expected; start the run afresh")
            }
            Self::Checksum => write!(f, "its checksum does not fit, so it is damaged; start the run afresh"),
            Self::Layout { offset } => {
                write!(f, "its sections make no sense from byte {offset} on; start the run afresh")
            }
            Self::Missing { name } => write!(f, "the section `{name}` is missing; it belongs to another kind of run"),
            Self::Kind { name, found, expected } => {
                write!(f, "the section `{name}` holds {found} where {expected} are expected")
            }
        }
    }
}

impl std::error::Error for CheckpointError {}

impl Checkpoint {
    /// A checkpoint without sections.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a section, or replaces the one of this name.
    pub fn put(&mut self, name: impl Into<String>, section: Section) {
        let name = name.into();
        match self.sections.iter_mut().find(|(known, _)| *known == name) {
            Some(place) => place.1 = section,
            None => self.sections.push((name, section)),
        }
    }

    /// All sections in the order they were added.
    pub fn sections(&self) -> &[(String, Section)] {
        &self.sections
    }

    /// The section of this name.
    pub fn section(&self, name: &str) -> Result<&Section, CheckpointError> {
        let found = self.sections.iter().find(|(known, _)| known == name);
        found.map(|(_, section)| section).ok_or_else(|| CheckpointError::Missing { name: name.to_owned() })
    }

    /// The numbers in the section of this name.
    pub fn f64(&self, name: &str) -> Result<&[f64], CheckpointError> {
        match self.section(name)? {
            Section::F64(list) => Ok(list),
            other => Err(wrong_kind(name, other, "numbers")),
        }
    }

    /// The counters in the section of this name.
    pub fn u64(&self, name: &str) -> Result<&[u64], CheckpointError> {
        match self.section(name)? {
            Section::U64(list) => Ok(list),
            other => Err(wrong_kind(name, other, "counters")),
        }
    }

    /// The bytes in the section of this name.
    pub fn bytes(&self, name: &str) -> Result<&[u8], CheckpointError> {
        match self.section(name)? {
            Section::Bytes(list) => Ok(list),
            other => Err(wrong_kind(name, other, "bytes")),
        }
    }

    /// The content of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.extend_from_slice(&(self.sections.len() as u32).to_le_bytes());
        out.extend_from_slice(&[0; 8]);
        for (name, section) in &self.sections {
            out.extend_from_slice(&(name.len() as u32).to_le_bytes());
            out.extend_from_slice(name.as_bytes());
            let (kind, count) = match section {
                Section::F64(list) => (1, list.len()),
                Section::U64(list) => (2, list.len()),
                Section::Bytes(list) => (3, list.len()),
            };
            out.push(kind);
            out.extend_from_slice(&(count as u64).to_le_bytes());
            match section {
                Section::F64(list) => out.extend(list.iter().flat_map(|x| x.to_bits().to_le_bytes())),
                Section::U64(list) => out.extend(list.iter().flat_map(|n| n.to_le_bytes())),
                Section::Bytes(list) => out.extend_from_slice(list),
            }
        }
        let length = (out.len() + CHECKSUM) as u64;
        out[16..HEADER].copy_from_slice(&length.to_le_bytes());
        let sum = fnv1a(&out);
        out.extend_from_slice(&sum.to_le_bytes());
        out
    }

    /// Reads the content of a file, checking all of it.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CheckpointError> {
        if !bytes.starts_with(MAGIC) {
            return Err(CheckpointError::NotACheckpoint);
        }
        let found = bytes.len() as u64;
        let mut header = Reader { bytes, at: MAGIC.len() };
        let short = |_| CheckpointError::Length { found, expected: (HEADER + CHECKSUM) as u64 };
        let version = header.u32().map_err(short)?;
        if version != VERSION {
            return Err(CheckpointError::Version { found: version });
        }
        let count = header.u32().map_err(short)?;
        let expected = header.u64().map_err(short)?;
        if found != expected || bytes.len() < HEADER + CHECKSUM {
            return Err(CheckpointError::Length { found, expected });
        }
        let (body, sum) = bytes.split_at(bytes.len() - CHECKSUM);
        if fnv1a(body).to_le_bytes() != sum {
            return Err(CheckpointError::Checksum);
        }
        let mut reader = Reader { bytes: body, at: HEADER };
        let mut checkpoint = Self::new();
        for _ in 0..count {
            let (name, section) = reader.section()?;
            checkpoint.sections.push((name, section));
        }
        if reader.at != body.len() {
            return Err(CheckpointError::Layout { offset: reader.at });
        }
        Ok(checkpoint)
    }

    /// Writes the file so that at every moment either the old or the new one is there, whole.
    pub fn write(&self, path: &Path) -> Result<(), RecordError> {
        let mut name = std::ffi::OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        name.push(".writing");
        let draft = path.with_file_name(name);
        let written = File::create(&draft).and_then(|mut file| {
            file.write_all(&self.to_bytes())?;
            file.sync_all()
        });
        written.and_then(|()| fs::rename(&draft, path)).map_err(|error| {
            // The first error is the one to tell; a draft that cannot be removed does no harm.
            let _ = fs::remove_file(&draft);
            RecordError::io("write", path)(error)
        })
    }

    /// Reads and checks a file.
    pub fn read(path: &Path) -> Result<Self, RecordError> {
        let bytes = fs::read(path).map_err(RecordError::io("read", path))?;
        Self::from_bytes(&bytes).map_err(|source| RecordError::Checkpoint { path: path.to_owned(), source })
    }
}

fn wrong_kind(name: &str, section: &Section, expected: &'static str) -> CheckpointError {
    CheckpointError::Kind { name: name.to_owned(), found: section.kind(), expected }
}

/// 64-bit FNV-1a.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Takes values off a slice; every request is checked against what is left.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], CheckpointError> {
        let rest = &self.bytes[self.at..];
        let taken = rest.get(..count).ok_or(CheckpointError::Layout { offset: self.at })?;
        self.at += count;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], CheckpointError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    fn u32(&mut self) -> Result<u32, CheckpointError> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, CheckpointError> {
        self.array().map(u64::from_le_bytes)
    }

    /// A list of eight-byte items.
    fn words(&mut self, count: usize) -> Result<impl Iterator<Item = u64> + use<'a>, CheckpointError> {
        let size = count.checked_mul(8).ok_or(CheckpointError::Layout { offset: self.at })?;
        let (words, _) = self.take(size)?.as_chunks::<8>();
        Ok(words.iter().map(|word| u64::from_le_bytes(*word)))
    }

    fn section(&mut self) -> Result<(String, Section), CheckpointError> {
        let start = self.at;
        let layout = CheckpointError::Layout { offset: start };
        let length = self.u32()? as usize;
        let name = std::str::from_utf8(self.take(length)?).map_err(|_| layout.clone())?.to_owned();
        let [kind] = self.array()?;
        let count = usize::try_from(self.u64()?).map_err(|_| layout.clone())?;
        let section = match kind {
            1 => Section::F64(self.words(count)?.map(f64::from_bits).collect()),
            2 => Section::U64(self.words(count)?.collect()),
            3 => Section::Bytes(self.take(count)?.to_vec()),
            _ => return Err(layout),
        };
        Ok((name, section))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn sample() -> Checkpoint {
        let mut checkpoint = Checkpoint::new();
        let odd = f64::from_bits(0x7ff8_0000_0000_beef);
        checkpoint.put("state", Section::F64(vec![0.1, -0.0, f64::MIN_POSITIVE / 3.0, f64::INFINITY, odd]));
        checkpoint.put("steps", Section::U64(vec![u64::MAX, 0, 7]));
        checkpoint.put("szene ü", Section::Bytes(b"[scene]".to_vec()));
        checkpoint.put("empty", Section::F64(vec![]));
        checkpoint
    }

    #[test]
    fn bits_survive() {
        let before = sample();
        let after = Checkpoint::from_bytes(&before.to_bytes()).unwrap();
        let bits = |c: &Checkpoint| c.f64("state").unwrap().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&before), bits(&after));
        assert_eq!(after.u64("steps").unwrap(), [u64::MAX, 0, 7]);
        assert_eq!(after.bytes("szene ü").unwrap(), b"[scene]");
        assert_eq!(after.f64("empty").unwrap(), [0.0; 0]);
        assert_eq!(before.to_bytes(), after.to_bytes());
        let missing = after.f64("nothing").unwrap_err();
        assert_eq!(missing, CheckpointError::Missing { name: "nothing".into() });
        assert!(after.u64("state").unwrap_err().to_string().contains("numbers"));
    }

    #[test]
    fn every_truncation_and_every_damaged_byte_is_noticed() {
        let bytes = sample().to_bytes();
        for length in 0..bytes.len() {
            assert!(Checkpoint::from_bytes(&bytes[..length]).is_err(), "{length} bytes");
        }
        for index in 0..bytes.len() {
            for mask in [0x01, 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[index] ^= mask;
                assert!(Checkpoint::from_bytes(&damaged).is_err(), "byte {index} with {mask}");
            }
        }
        let mut longer = bytes;
        longer.push(0);
        assert!(matches!(Checkpoint::from_bytes(&longer), Err(CheckpointError::Length { .. })));
    }

    #[test]
    fn nonsense_under_a_good_checksum_is_an_error() {
        let bytes = sample().to_bytes();
        for index in 8..bytes.len() - CHECKSUM {
            for value in [0x00, 0x7f, 0xff] {
                let mut forged = bytes[..bytes.len() - CHECKSUM].to_vec();
                forged[index] = value;
                let sum = fnv1a(&forged);
                forged.extend_from_slice(&sum.to_le_bytes());
                // Forged data may happen to be valid; it must never panic or ask for absurd memory.
                let _ = Checkpoint::from_bytes(&forged);
            }
        }
    }

    #[test]
    fn a_file_is_replaced_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint.bin");
        Checkpoint::new().write(&path).unwrap();
        sample().write(&path).unwrap();
        assert_eq!(Checkpoint::read(&path).unwrap().to_bytes(), sample().to_bytes());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let error = sample().write(&folder.path().join("missing/checkpoint.bin")).unwrap_err();
        assert!(error.to_string().contains("cannot write"), "{error}");
        fs::write(&path, b"something else").unwrap();
        let error = Checkpoint::read(&path).unwrap_err();
        assert!(error.to_string().contains("not a dalembert checkpoint"), "{error}");
    }
}
