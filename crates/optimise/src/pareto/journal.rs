//! Finished solves on disk: what makes a front go on where it was.
//!
//! A solve is known by a checksum of all that it depends on: the form, and where it began. The search for a front is the same function of the answers in
//! every run, so that it asks the same questions again and finds their answers here. Each record ends with its checksum; one that was cut short by a
//! kill or a full disk is written over. The file is locked while it is open.
//!
//! ```text
//! magic (16), mark of the problem (8);   then for each solve   length (4), key (8), answer, checksum (8)
//! ```

use super::crew::{Answer, Failure, Kind, Solution};
use super::error::ParetoError;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 16] = b"dalembert front\n";
const HEAD: usize = 24;

/// FNV-1a, 64 bits.
#[derive(Copy, Clone, Debug)]
pub(super) struct Sum(pub u64);

impl Sum {
    pub const EMPTY: Self = Self(0xcbf2_9ce4_8422_2325);

    pub fn bytes(mut self, bytes: &[u8]) -> Self {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
        self
    }

    pub fn numbers(self, values: &[f64]) -> Self {
        values
            .iter()
            .fold(self.bytes(&(values.len() as u64).to_le_bytes()), |sum, v| sum.bytes(&v.to_bits().to_le_bytes()))
    }
}

/// Open answers of one problem.
pub(super) struct Journal {
    path: PathBuf,
    file: File,
    /// The bytes of the file that are whole records.
    whole: u64,
    answers: BTreeMap<u64, Answer>,
}

fn put_numbers(out: &mut Vec<u8>, values: &[f64]) {
    out.extend((values.len() as u64).to_le_bytes());
    values.iter().for_each(|value| out.extend(value.to_le_bytes()));
}

fn body(key: u64, answer: &Answer) -> Vec<u8> {
    let mut out = key.to_le_bytes().to_vec();
    match answer {
        Ok(solution) => {
            out.push(0);
            out.extend((solution.iterations as u64).to_le_bytes());
            let Solution { x, goals, weights, constraints, lower, upper, .. } = solution;
            [x, goals, weights, constraints, lower, upper].into_iter().for_each(|values| put_numbers(&mut out, values));
        }
        Err(Failure { kind, violation, said }) => {
            out.push(match kind {
                Kind::Infeasible => 1,
                Kind::Unbounded => 2,
                Kind::Other => 3,
            });
            out.extend(violation.to_le_bytes());
            out.extend(said.bytes());
        }
    }
    out
}

/// What is left to read.
struct Rest<'b>(&'b [u8]);

impl<'b> Rest<'b> {
    fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (head, tail) = self.0.split_at_checked(count)?;
        self.0 = tail;
        Some(head)
    }
    fn word(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }
    fn numbers(&mut self) -> Option<Vec<f64>> {
        let count = usize::try_from(self.word()?).ok()?.checked_mul(8)?;
        let number = |c: &[u8]| c.try_into().ok().map(f64::from_le_bytes);
        self.take(count)?.chunks_exact(8).map(number).collect()
    }
}

fn parse(bytes: &[u8]) -> Option<(u64, Answer)> {
    let mut rest = Rest(bytes);
    let key = rest.word()?;
    let kind = match rest.take(1)?[0] {
        0 => {
            let iterations = usize::try_from(rest.word()?).ok()?;
            let mut next = || rest.numbers();
            let (x, goals, weights) = (next()?, next()?, next()?);
            let (constraints, lower, upper) = (next()?, next()?, next()?);
            return Some((key, Ok(Solution { x, goals, weights, constraints, lower, upper, iterations })));
        }
        1 => Kind::Infeasible,
        2 => Kind::Unbounded,
        3 => Kind::Other,
        _ => return None,
    };
    let violation = f64::from_bits(rest.word()?);
    Some((key, Err(Failure { kind, violation, said: String::from_utf8(rest.0.to_vec()).ok()? })))
}

impl Journal {
    /// Opens the answers of a problem, or begins them.
    pub fn open(path: &Path, mark: u64) -> Result<Self, ParetoError> {
        let fault = |e: std::io::Error| ParetoError::journal(path, format!("cannot be opened: {e}"));
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(fault)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(ParetoError::journal(
                    path,
                    "is in use by another process; wait for it, or choose another file",
                ));
            }
            Err(TryLockError::Error(error)) => return Err(fault(error)),
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(fault)?;
        let mut head = MAGIC.to_vec();
        head.extend(mark.to_le_bytes());
        let mut answers = BTreeMap::new();
        if bytes.len() < HEAD && head.starts_with(&bytes) {
            file.set_len(0).and_then(|()| file.seek(SeekFrom::Start(0))).map_err(fault)?;
            file.write_all(&head).map_err(|e| ParetoError::unwritten(path, &e))?;
            return Ok(Self { path: path.to_path_buf(), file, whole: HEAD as u64, answers });
        }
        if !bytes.starts_with(MAGIC) {
            return Err(ParetoError::journal(path, "is not a journal of a front; choose another file"));
        }
        if bytes[..HEAD] != head[..] {
            let reason =
                "belongs to another problem, other options or another version; choose another file, or delete it";
            return Err(ParetoError::journal(path, reason));
        }
        let mut whole = HEAD;
        let mut rest = Rest(&bytes[HEAD..]);
        let next = |rest: &mut Rest<'_>| {
            let length = u32::from_le_bytes(rest.take(4)?.try_into().ok()?) as usize;
            let body = rest.take(length)?;
            (rest.word()? == Sum::EMPTY.bytes(body).0).then(|| parse(body)).flatten().map(|found| (found, length + 12))
        };
        while let Some(((key, answer), length)) = next(&mut rest) {
            answers.insert(key, answer);
            whole += length;
        }
        file.set_len(whole as u64).and_then(|()| file.seek(SeekFrom::Start(whole as u64))).map_err(fault)?;
        Ok(Self { path: path.to_path_buf(), file, whole: whole as u64, answers })
    }

    /// The answer to a solve, if it is known.
    pub fn find(&self, key: u64) -> Option<&Answer> {
        self.answers.get(&key)
    }

    /// Adds an answer. One that the disk does not take is not there, and nothing of it stays in the file.
    pub fn add(&mut self, key: u64, answer: &Answer) -> Result<(), ParetoError> {
        let body = body(key, answer);
        let mut record = (body.len() as u32).to_le_bytes().to_vec();
        record.extend(&body);
        record.extend(Sum::EMPTY.bytes(&body).0.to_le_bytes());
        if let Err(error) = self.file.write_all(&record) {
            // Whoever opens the file next would cut it off too; until then nothing may come behind it.
            let _ = self.file.set_len(self.whole).and_then(|()| self.file.seek(SeekFrom::Start(self.whole)));
            return Err(ParetoError::unwritten(&self.path, &error));
        }
        self.whole += record.len() as u64;
        self.answers.insert(key, answer.clone());
        Ok(())
    }

    /// Makes sure that the disk has all of it.
    pub fn settle(&self) -> Result<(), ParetoError> {
        self.file.sync_data().map_err(|e| ParetoError::unwritten(&self.path, &e))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn answers() -> Vec<(u64, Answer)> {
        let solution = Solution {
            x: vec![1.5, -0.0, 3.0],
            goals: vec![3.0],
            weights: vec![0.25],
            constraints: vec![],
            lower: vec![1.0, 0.0, 2.0],
            upper: vec![0.0; 3],
            iterations: 7,
        };
        let failure = Failure { kind: Kind::Unbounded, violation: 0.5, said: "unbounded: höhe".into() };
        vec![(3, Ok(solution.clone())), (9, Err(failure)), (1, Ok(solution))]
    }

    /// Cut at every byte, or with any bit flipped, a journal has the whole answers before that, and takes new ones after them.
    #[test]
    fn damaged_journals_keep_what_is_whole() {
        let path = std::env::temp_dir().join(format!("dalembert-front-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let mut journal = Journal::open(&path, 5).unwrap();
        let mut ends = vec![HEAD];
        for (key, answer) in answers() {
            journal.add(key, &answer).unwrap();
            ends.push(std::fs::metadata(&path).unwrap().len() as usize);
        }
        drop(journal);
        let bytes = std::fs::read(&path).unwrap();
        for at in (0..bytes.len()).step_by(3) {
            std::fs::write(&path, &bytes[..at]).unwrap();
            let mut journal = Journal::open(&path, 5).unwrap();
            let whole = ends.iter().filter(|end| **end <= at).count().saturating_sub(1);
            assert_eq!(journal.answers.len(), whole, "cut at {at}");
            let (_, answer) = &answers()[1];
            journal.add(77, answer).unwrap();
            drop(journal);
            assert_eq!(Journal::open(&path, 5).unwrap().find(77), Some(answer));
            if at >= HEAD {
                let mut damaged = bytes.clone();
                damaged[at] ^= 4;
                std::fs::write(&path, &damaged).unwrap();
                let journal = Journal::open(&path, 5).unwrap();
                let whole = ends.iter().filter(|end| **end <= at).count() - 1;
                assert_eq!(journal.answers.len(), whole, "byte {at}");
            }
        }
        std::fs::write(&path, &bytes).unwrap();
        assert!(Journal::open(&path, 6).err().unwrap().to_string().contains("another problem"));
        let open = Journal::open(&path, 5).unwrap();
        assert!(Journal::open(&path, 5).err().unwrap().to_string().contains("in use"));
        for (key, answer) in answers() {
            assert_eq!(open.find(key), Some(&answer));
        }
        drop(open);
        std::fs::write(&path, "a letter to a friend, of some length").unwrap();
        assert!(Journal::open(&path, 5).err().unwrap().to_string().contains("not a journal"));
        std::fs::remove_file(&path).unwrap();
    }
}
