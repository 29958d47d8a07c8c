//! Finished rows on disk, one record after the other: what makes a sweep go on where it was.
//!
//! A journal begins with a mark of its study. Each record is written at once and ends with its checksum, so that one cut short by a
//! kill or a full disk is known and written over. Two processes cannot use the same journal: it is locked while it is open.
//!
//! ```text
//! magic, mark (8), number of outputs (8);  then for each row
//! length (4), row (8), failed (1), outputs | text of the error, checksum (8)
//! ```
//!
//! An output is a tag (1) and eight bytes: 0 for nothing, 1 for a number, 2 for the length of a list whose numbers follow.

use crate::error::SweepError;
use crate::output::Taken;
use crate::parcel::{insert, unpack};
use crate::study::Study;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 16] = b"dalembert sweep\n";
const HEAD: usize = 32;
/// The longest error text that is kept, in bytes.
const LONGEST: usize = 1 << 16;

/// What became of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Its outputs.
    Done(Vec<Taken>),
    /// Why it failed.
    Failed(String),
}

/// An open journal.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    /// The bytes of the file that are whole records.
    whole: u64,
    rows: BTreeMap<u64, Outcome>,
    locked: bool,
}

/// Whether a file system has no locks at all, as some of networks and of clusters: `ENOLCK`, or what says that there is no such call.
fn without_locks(error: &std::io::Error) -> bool {
    let no_locks = if cfg!(target_os = "linux") { 37 } else { 77 };
    error.kind() == ErrorKind::Unsupported || (cfg!(unix) && error.raw_os_error() == Some(no_locks))
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
                match value {
                    Taken::Nothing => body.extend([0; 9]),
                    Taken::Number(x) => {
                        body.push(1);
                        body.extend(x.to_le_bytes());
                    }
                    Taken::All(values) => {
                        body.push(2);
                        body.extend((values.len() as u64).to_le_bytes());
                        body.extend(values.iter().flat_map(|x| x.to_le_bytes()));
                    }
                }
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
        0 => Outcome::Done(values(rest, outputs)?),
        1 => Outcome::Failed(String::from_utf8(rest.to_vec()).ok()?),
        _ => return None,
    };
    Some((row, outcome, length + 12))
}

/// The outputs of a row; none if they are not what they should be.
fn values(mut bytes: &[u8], outputs: usize) -> Option<Vec<Taken>> {
    let number = |bytes: &[u8]| Some(u64::from_le_bytes(bytes.try_into().ok()?));
    let mut out = Vec::with_capacity(outputs.min(bytes.len()));
    for _ in 0..outputs {
        let (tag, eight) = (*bytes.first()?, number(bytes.get(1..9)?)?);
        bytes = &bytes[9..];
        out.push(match tag {
            0 => Taken::Nothing,
            1 => Taken::Number(f64::from_bits(eight)),
            2 => {
                let length = usize::try_from(eight).ok()?.checked_mul(8)?;
                let own = bytes.get(..length)?;
                bytes = &bytes[length..];
                Taken::All(own.chunks_exact(8).map(|c| Some(f64::from_bits(number(c)?))).collect::<Option<_>>()?)
            }
            _ => return None,
        });
    }
    bytes.is_empty().then_some(out)
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
        let locked = match file.try_lock() {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) => {
                return Err(SweepError::journal(
                    path,
                    "is in use by another process; wait for it, or choose another --out",
                ));
            }
            Err(TryLockError::Error(error)) if without_locks(&error) => false,
            Err(TryLockError::Error(error)) => return Err(fault(error)),
        };
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(fault)?;
        let head = head(mark, outputs);
        if bytes.len() < HEAD && head.starts_with(&bytes) {
            // New, or killed while it was begun.
            file.set_len(0).and_then(|()| file.seek(SeekFrom::Start(0))).map_err(fault)?;
            file.write_all(&head).map_err(|e| SweepError::unwritten(path, &e))?;
            return Ok(Self { path: path.to_path_buf(), file, whole: HEAD as u64, rows: BTreeMap::new(), locked });
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
        Ok(Self { path: path.to_path_buf(), file, whole: whole as u64, rows, locked })
    }

    /// What to know of it, if anything: where there are no locks nothing keeps two processes from using it at once.
    pub fn remark(&self) -> Option<String> {
        let path = self.path.display();
        let text = format!(
            "the journal `{path}` cannot be locked on its file system; see to it that no other process uses it"
        );
        (!self.locked).then_some(text)
    }

    /// The finished rows, in their order.
    pub fn rows(&self) -> &BTreeMap<u64, Outcome> {
        &self.rows
    }

    /// Adds a finished row. One that the disk does not take is not there, and nothing of it stays in the file.
    pub fn add(&mut self, row: u64, outcome: Outcome) -> Result<(), SweepError> {
        let record = record(row, &outcome);
        if let Err(error) = self.file.write_all(&record) {
            // Whoever opens the file next would cut it off too; until then nothing may come behind it.
            let _ = self.file.set_len(self.whole).and_then(|()| self.file.seek(SeekFrom::Start(self.whole)));
            return Err(SweepError::unwritten(&self.path, &error));
        }
        self.whole += record.len() as u64;
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
            if self.rows.contains_key(&row) {
                insert(&mut self.rows, row, outcome).map_err(|reason| SweepError::journal(&self.path, reason))?;
            } else {
                self.add(row, outcome)?;
            }
        }
        Ok((self.rows.len() - before) as u64)
    }

    /// Makes sure that the disk has all of it.
    pub fn settle(&self) -> Result<(), SweepError> {
        self.file.sync_data().map_err(|e| SweepError::unwritten(&self.path, &e))
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
            (3, Outcome::Done(vec![Taken::Number(1.5), Taken::Nothing])),
            (0, Outcome::Failed("no convergence at t = 0.3 s".into())),
            (7, Outcome::Done(vec![Taken::Number(f64::NAN), Taken::Number(-0.0)])),
            (4, Outcome::Done(vec![Taken::All(vec![0.5, -2.0, 1e300]), Taken::All(Vec::new())])),
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
            journal.add(5, Outcome::Done(vec![Taken::Nothing, Taken::Nothing])).unwrap();
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
            assert!(Journal::open(&path, 9, 2).unwrap().rows().len() < 4, "byte {at}");
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
