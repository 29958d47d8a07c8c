//! Finished rows on disk, one record after the other: what makes a sweep go on where it was.
//!
//! A journal begins with a mark of its study. Each record is written at once and ends with its checksum, so that one cut short by a
//! kill or a full disk is known and written over. Two processes cannot use the same journal: it is locked while it is open.
//!
//! ```text
//! magic, mark (8), number of outputs (8);  then for each row
//! length (4), row (8), failed (1), outputs: there (1) and value (8) each | text of the error, checksum (8)
//! ```

use crate::error::SweepError;
use crate::parcel::{insert, unpack};
use crate::study::Study;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 16] = b"dalembert sweep\n";
const HEAD: usize = 32;
/// The longest error text that is kept, in bytes.
const LONGEST: usize = 1 << 16;

/// What became of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Its outputs; none where there was nothing to take.
    Done(Vec<Option<f64>>),
    /// Why it failed.
    Failed(String),
}

/// An open journal.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    rows: BTreeMap<u64, Outcome>,
}

/// FNV-1a, 64 bits.
pub(crate) fn checksum(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

pub(crate) fn head(mark: u64, outputs: usize) -> Vec<u8> {
    let mut head = MAGIC.to_vec();
    head.extend(mark.to_le_bytes());
    head.extend((outputs as u64).to_le_bytes());
    head
}

pub(crate) fn record(row: u64, outcome: &Outcome) -> Vec<u8> {
    let mut body = row.to_le_bytes().to_vec();
    match outcome {
        Outcome::Done(values) => {
            body.push(0);
            for value in values {
                body.push(u8::from(value.is_some()));
                body.extend(value.unwrap_or(0.0).to_le_bytes());
            }
        }
        Outcome::Failed(reason) => {
            body.push(1);
            let end = (0..=LONGEST.min(reason.len())).rev().find(|at| reason.is_char_boundary(*at));
            body.extend(reason[..end.unwrap_or(0)].bytes());
        }
    }
    let mut out = (body.len() as u32).to_le_bytes().to_vec();
    let sum = checksum(body.iter().copied());
    out.extend(body);
    out.extend(sum.to_le_bytes());
    out
}

/// The next record of some bytes, and its length; none if it is not whole.
fn parse(bytes: &[u8], outputs: usize) -> Option<(u64, Outcome, usize)> {
    let number = |bytes: &[u8]| Some(u64::from_le_bytes(bytes.try_into().ok()?));
    let length = u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?) as usize;
    let body = bytes.get(4..4usize.checked_add(length)?)?;
    let sum = number(bytes.get(4 + length..length.checked_add(12)?)?)?;
    if sum != checksum(body.iter().copied()) {
        return None;
    }
    let (row, rest) = (number(body.get(..8)?)?, body.get(9..)?);
    let outcome = match body[8] {
        0 if rest.len() == 9 * outputs => {
            let value = |c: &[u8]| Some(f64::from_bits(number(&c[1..])?)).filter(|_| c[0] == 1);
            Outcome::Done(rest.chunks_exact(9).map(value).collect())
        }
        1 => Outcome::Failed(String::from_utf8(rest.to_vec()).ok()?),
        _ => return None,
    };
    Some((row, outcome, length + 12))
}

/// The rows of the bytes of a journal, and how many bytes of them are whole.
pub(crate) fn rows_of(bytes: &[u8], outputs: usize) -> (BTreeMap<u64, Outcome>, usize) {
    let (mut rows, mut at) = (BTreeMap::new(), HEAD);
    while let Some((row, outcome, length)) = parse(&bytes[at..], outputs) {
        rows.insert(row, outcome);
        at += length;
    }
    (rows, at)
}

impl Journal {
    /// Opens the journal of a study, or begins it.
    pub fn open(path: &Path, mark: u64, outputs: usize) -> Result<Self, SweepError> {
        let fault = |e: std::io::Error| SweepError::file(path, e);
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(fault)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(SweepError::journal(
                    path,
                    "is in use by another process; wait for it, or choose another --out",
                ));
            }
            Err(TryLockError::Error(error)) => return Err(fault(error)),
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(fault)?;
        let head = head(mark, outputs);
        if bytes.len() < HEAD && head.starts_with(&bytes) {
            // New, or killed while it was begun.
            file.set_len(0).and_then(|()| file.seek(SeekFrom::Start(0))).map_err(fault)?;
            file.write_all(&head).map_err(fault)?;
            return Ok(Self { path: path.to_path_buf(), file, rows: BTreeMap::new() });
        }
        if !bytes.starts_with(MAGIC) {
            return Err(SweepError::journal(path, "is not a journal of a sweep; choose another --out"));
        }
        if bytes.get(..HEAD) != Some(&head[..]) {
            let reason =
                "belongs to another study, another scene or another version; choose another --out, or delete it";
            return Err(SweepError::journal(path, reason));
        }
        let (rows, whole) = rows_of(&bytes, outputs);
        file.set_len(whole as u64).and_then(|()| file.seek(SeekFrom::Start(whole as u64))).map_err(fault)?;
        Ok(Self { path: path.to_path_buf(), file, rows })
    }

    /// The finished rows, in their order.
    pub fn rows(&self) -> &BTreeMap<u64, Outcome> {
        &self.rows
    }

    /// Adds a finished row.
    pub fn add(&mut self, row: u64, outcome: Outcome) -> Result<(), SweepError> {
        let record = record(row, &outcome);
        self.file.write_all(&record).map_err(|e| SweepError::file(&self.path, e))?;
        self.rows.insert(row, outcome);
        Ok(())
    }

    /// Adds finished rows that were computed elsewhere, and gives the number of those that are new.
    ///
    /// # Errors
    /// [`SweepError::Journal`] if they belong to something else, are damaged, or contradict rows that are here.
    pub fn take(&mut self, study: &Study, bytes: &[u8]) -> Result<u64, SweepError> {
        let before = self.rows.len();
        for (row, outcome) in unpack(study, bytes)? {
            let record = record(row, &outcome);
            let count = self.rows.len();
            insert(&mut self.rows, row, outcome).map_err(|reason| SweepError::journal(&self.path, reason))?;
            if self.rows.len() > count {
                self.file.write_all(&record).map_err(|e| SweepError::file(&self.path, e))?;
            }
        }
        Ok((self.rows.len() - before) as u64)
    }

    /// Makes sure that the disk has all of it.
    pub fn settle(&self) -> Result<(), SweepError> {
        self.file.sync_data().map_err(|e| SweepError::file(&self.path, e))
    }
}

/// The finished rows of several journals of one study. A row found twice must be the same in both.
pub fn read_all(paths: &[PathBuf], mark: u64, outputs: usize) -> Result<BTreeMap<u64, Outcome>, SweepError> {
    let mut all: BTreeMap<u64, Outcome> = BTreeMap::new();
    for path in paths {
        let bytes = std::fs::read(path).map_err(|e| SweepError::file(path, e))?;
        if bytes.get(..HEAD) != Some(&head(mark, outputs)[..]) {
            return Err(SweepError::journal(path, "does not belong to this study, scene and version"));
        }
        for (row, outcome) in rows_of(&bytes, outputs).0 {
            insert(&mut all, row, outcome).map_err(|reason| SweepError::journal(path, reason))?;
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn samples() -> Vec<(u64, Outcome)> {
        vec![
            (3, Outcome::Done(vec![Some(1.5), None])),
            (0, Outcome::Failed("no convergence at t = 0.3 s".into())),
            (7, Outcome::Done(vec![Some(f64::NAN), Some(-0.0)])),
        ]
    }

    /// Cut at every byte, a journal has the rows that are whole, and takes new ones after them.
    #[test]
    fn a_journal_cut_anywhere_keeps_whole_rows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let mut journal = Journal::open(&path, 9, 2).unwrap();
        for (row, outcome) in samples() {
            journal.add(row, outcome).unwrap();
        }
        drop(journal);
        let bytes = std::fs::read(&path).unwrap();
        let mut ends = vec![HEAD];
        for (row, outcome) in samples() {
            ends.push(ends[ends.len() - 1] + record(row, &outcome).len());
        }
        assert_eq!(*ends.last().unwrap(), bytes.len());
        for cut in 0..=bytes.len() {
            std::fs::write(&path, &bytes[..cut]).unwrap();
            let mut journal = Journal::open(&path, 9, 2).unwrap();
            let whole = ends.iter().filter(|end| **end <= cut).count().saturating_sub(1);
            assert_eq!(journal.rows().len(), whole, "cut at {cut}");
            journal.add(5, Outcome::Done(vec![None, None])).unwrap();
            drop(journal);
            assert_eq!(read_all(std::slice::from_ref(&path), 9, 2).unwrap().len(), whole + 1);
        }
    }

    /// A flipped bit ends the journal there; nothing after it is believed.
    #[test]
    fn damage_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let mut journal = Journal::open(&path, 9, 2).unwrap();
        samples().into_iter().for_each(|(row, outcome)| journal.add(row, outcome).unwrap());
        drop(journal);
        let bytes = std::fs::read(&path).unwrap();
        for at in HEAD..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 16;
            std::fs::write(&path, &damaged).unwrap();
            assert!(Journal::open(&path, 9, 2).unwrap().rows().len() < 3, "byte {at}");
        }
    }

    #[test]
    fn foreign_and_busy_journals_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let open = Journal::open(&path, 1, 2).unwrap();
        assert!(Journal::open(&path, 1, 2).unwrap_err().to_string().contains("in use"));
        drop(open);
        assert!(Journal::open(&path, 2, 2).unwrap_err().to_string().contains("another study"));
        std::fs::write(&path, "a letter to a friend, of some length").unwrap();
        assert!(Journal::open(&path, 2, 2).unwrap_err().to_string().contains("not a journal"));
    }
}
