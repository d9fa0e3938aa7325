//! The sums of a part of the rows, and the bytes that travel between processes.

use crate::catalog::AnyStats;
use crate::error::{Error, Result};
use crate::file;
use crate::model::{RoundSums, Statistics, Tree};
use crate::preprocess::{FeatureSums, RowSample};
use crate::train::target_scale::TargetSums;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The sums of a part of the rows at some stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartSums {
    /// The number of rows.
    pub rows: u64,
    pub(super) sums: StageSums,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum StageSums {
    Preprocessing { features: Box<FeatureSums>, target: TargetSums },
    Map(RowSample),
    Statistics(Box<AnyStats>),
    Round(RoundSums),
}

/// Reads what [`bytes_of`] wrote.
pub(super) fn value_of<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    file::from_bytes(bytes)?.into_value().map_err(|e| Error::File(e.to_string()))
}

/// The bytes of a value, in the format of model files.
pub(super) fn bytes_of<T: Serialize>(value: &T) -> Result<Vec<u8>> {
    file::to_bytes(Tree::of(value).map_err(|e| Error::File(e.to_string()))?)
}

pub(super) fn other_stage() -> Error {
    Error::Merge { why: "the sums belong to another stage of the fit".into() }
}

impl PartSums {
    /// Adds the sums of other rows.
    ///
    /// # Errors
    /// If they are of another stage or of other columns.
    pub fn merge(&mut self, other: &PartSums) -> Result<()> {
        self.rows += other.rows;
        match (&mut self.sums, &other.sums) {
            (
                StageSums::Preprocessing { features, target },
                StageSums::Preprocessing { features: more, target: targets },
            ) => {
                target.merge(targets);
                features.merge(more)
            }
            (StageSums::Map(mine), StageSums::Map(theirs)) => mine.merge(theirs),
            (StageSums::Statistics(mine), StageSums::Statistics(theirs)) => mine.merge(theirs),
            (StageSums::Round(mine), StageSums::Round(theirs)) => {
                if mine.sums.len() != theirs.sums.len() {
                    return Err(other_stage());
                }
                mine.merge(theirs)
            }
            _ => Err(other_stage()),
        }
    }

    /// The bytes that travel to other processes.
    ///
    /// # Errors
    /// If the sums cannot be written.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        bytes_of(self)
    }

    /// Reads and checks sums.
    ///
    /// # Errors
    /// The first field that is not valid.
    pub fn from_bytes(bytes: &[u8]) -> Result<PartSums> {
        let part: PartSums = value_of(bytes)?;
        match &part.sums {
            StageSums::Preprocessing { features, target } => match target.is_valid() {
                true => features.check()?,
                false => return Err(Error::File("inconsistent sums of the target".into())),
            },
            StageSums::Map(sample) => sample.check()?,
            StageSums::Statistics(stats) => stats.check()?,
            StageSums::Round(sums) => sums.check()?,
        }
        Ok(part)
    }
}
