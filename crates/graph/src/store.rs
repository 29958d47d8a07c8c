//! Machine code kept on disk, found by what it was made from.
//!
//! What is kept are the bytes of the code themselves, not an object file and not the graph: the code refers to nothing outside, so
//! it needs no linker, and reading it takes a fraction of compiling it. A file is named after a hash of the program and of all else the
//! code depends on (versions, processor, width), and holds both whole, so that a collision of hashes is only a miss. A file that is
//! damaged or of another making is a miss, too.
//!
//! Whoever can write to the folder can have code run by this program: it should belong to the user alone, as folders for caches do.

use crate::machine::{Bytes, Machine, Width};
use crate::program::Program;
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 8] = b"dalgraph";

/// A folder of machine code.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

/// FNV-1a.
fn hash(parts: &[&[u8]]) -> u64 {
    parts
        .iter()
        .flat_map(|p| p.iter())
        .fold(0xcbf2_9ce4_8422_2325, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}

impl Store {
    /// A store in this folder, which is made when something is first kept.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What the code is made from, and the file it is kept in.
    fn key(&self, program: &Program, width: Width) -> Option<(Vec<u8>, PathBuf)> {
        let mut key = Machine::environment(width).ok()?.into_bytes();
        key.push(0);
        key.extend(program.bytes());
        let file = self.folder.join(format!("{:016x}.code", hash(&[&key])));
        Some((key, file))
    }

    /// The code for a program, if it is there.
    pub fn find(&self, program: &Program, width: Width) -> Option<Bytes> {
        let (key, file) = self.key(program, width)?;
        let bytes = std::fs::read(file).ok()?;
        let rest = bytes.strip_prefix(MAGIC)?;
        let number = |at: usize| Some(u64::from_le_bytes(rest.get(8 * at..8 * at + 8)?.try_into().ok()?));
        let (sum, key_size, slots) = (number(0)?, usize::try_from(number(1)?).ok()?, usize::try_from(number(2)?).ok()?);
        let body = rest.get(8..)?;
        let code = rest.get(24usize.checked_add(key_size)?..)?;
        (hash(&[body]) == sum && rest.get(24..24 + key_size)? == key).then(|| Bytes { code: code.to_vec(), slots })
    }

    /// Keeps code. What cannot be written is not kept: the next run compiles again.
    pub fn keep(&self, program: &Program, width: Width, bytes: &Bytes) {
        let Some((key, file)) = self.key(program, width) else { return };
        let mut body = (key.len() as u64).to_le_bytes().to_vec();
        body.extend((bytes.slots as u64).to_le_bytes());
        body.extend(key);
        body.extend(&bytes.code);
        let mut all = MAGIC.to_vec();
        all.extend(hash(&[&body]).to_le_bytes());
        all.extend(body);
        // Under another name first, so that nobody ever finds half a file.
        let part = file.with_extension(format!("{}.part", std::process::id()));
        let written = std::fs::create_dir_all(&self.folder).and_then(|()| std::fs::write(&part, all));
        if written.and_then(|()| std::fs::rename(&part, &file)).is_err() {
            std::fs::remove_file(&part).ok();
        }
    }
}
