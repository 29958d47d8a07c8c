//! Rows computed elsewhere: a study that travels, and the finished rows that come back.
//!
//! A [`Study::parcel`] is one text with everything a row needs: the study, its scene with all that it includes, its table of rows, and the
//! version that made it. Whoever unpacks it computes any rows with [`rows`] and sends their bytes home, where [`Journal::take`] adds
//! them to a journal, or [`collect`] to others like them. The bytes are those of a journal, so they carry the mark of their study:
//! rows of another study, scene or version are refused. A row is the same wherever it was computed.

use crate::error::SweepError;
use crate::execute::{ABREAST, Finished, compute};
use crate::files::{Files, Known};
use crate::journal::{Outcome, head, record, rows_of};
use crate::study::Study;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// The version that makes and reads parcels.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What travels.
#[derive(Serialize, Deserialize)]
struct Parcel {
    version: String,
    file: String,
    study: String,
    files: Known,
}

impl Study {
    /// The study with everything it needs, as one text.
    pub fn parcel(&self) -> String {
        let parcel = Parcel {
            version: VERSION.to_owned(),
            file: self.file.clone(),
            study: self.text.clone(),
            files: self.files.known().clone(),
        };
        toml::to_string(&parcel).expect("texts by their names can be written as TOML")
    }

    /// The study that a parcel holds.
    ///
    /// # Errors
    /// [`SweepError::Parcel`] for a text that is none, or was made by another version.
    pub fn from_parcel(text: &str) -> Result<Self, SweepError> {
        let fault = |reason: String| SweepError::Parcel { reason };
        let table: toml::Table = toml::from_str(text).map_err(|e| fault(format!("is damaged: {}", e.message())))?;
        // The version comes first: what another one sends may look different.
        let version = table.get("version").and_then(toml::Value::as_str).unwrap_or("unknown");
        if version != VERSION {
            return Err(fault(format!(
                "was made by dalembert {version}, this is {VERSION}; install the same everywhere"
            )));
        }
        let parcel: Parcel = toml::from_str(text).map_err(|e| fault(format!("is damaged: {}", e.message())))?;
        Self::read(&parcel.file, &parcel.study, Files::given(parcel.files))
    }

    /// What the bytes of finished rows begin with.
    pub(crate) fn head(&self) -> Vec<u8> {
        head(self.mark(), self.outputs.len())
    }
}

/// Computes rows in this thread and gives them as bytes, in the order asked for; none if `stop` was raised before all were finished.
pub fn rows(study: &Study, rows: impl IntoIterator<Item = u64>, stop: &AtomicBool) -> Option<Vec<u8>> {
    let rows: Vec<u64> = rows.into_iter().collect();
    let (mut next, mut found) = (rows.iter().copied(), BTreeMap::new());
    compute(
        study,
        stop,
        ABREAST,
        || next.next(),
        |Finished { row, outcome, .. }| {
            found.insert(row, outcome);
            true
        },
    );
    let mut bytes = study.head();
    for row in rows {
        bytes.extend(record(row, found.get(&row)?));
    }
    Some(bytes)
}

/// The rows in bytes that [`rows`] gave, in any order and division. A row that came twice must be the same both times.
///
/// # Errors
/// [`SweepError::Journal`] for bytes of another study, scene or version, damaged ones, and contradictions.
pub fn collect<'b>(
    study: &Study,
    parts: impl IntoIterator<Item = &'b [u8]>,
) -> Result<BTreeMap<u64, Outcome>, SweepError> {
    let mut all = BTreeMap::new();
    for part in parts {
        for (row, outcome) in unpack(study, part)? {
            insert(&mut all, row, outcome)
                .map_err(|reason| SweepError::journal(Path::new("rows that came in"), reason))?;
        }
    }
    Ok(all)
}

/// The rows in some bytes, which must be whole.
pub(crate) fn unpack(study: &Study, bytes: &[u8]) -> Result<BTreeMap<u64, Outcome>, SweepError> {
    let fault = |reason: &str| SweepError::journal(Path::new("rows that came in"), reason);
    let head = study.head();
    if !bytes.starts_with(&head) {
        return Err(fault("belongs to another study, another scene or another version"));
    }
    let (rows, whole) = rows_of(bytes, study.outputs.len());
    if whole < bytes.len() {
        return Err(fault("is damaged"));
    }
    match rows.keys().find(|row| **row >= study.plan.rows()) {
        Some(row) => Err(fault(&format!("has a row {row}, which the study has not"))),
        None => Ok(rows),
    }
}

/// Adds a row; one that is there already must be the same.
pub(crate) fn insert(rows: &mut BTreeMap<u64, Outcome>, row: u64, outcome: Outcome) -> Result<(), String> {
    match rows.get(&row) {
        Some(old) if record(row, old) != record(row, &outcome) => {
            Err(format!("has another result for row {row} than a journal before"))
        }
        Some(_) => Ok(()),
        None => {
            rows.insert(row, outcome);
            Ok(())
        }
    }
}
