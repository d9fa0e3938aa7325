//! Learning of networks from rows: structure and tables.
//!
//! - [`Observations`]: rows of discrete variables with missing values
//! - [`FamilyCounts`]: the mergeable sufficient statistics of the tables
//! - [`fit_tables`]: the tables of a given structure; by expectation-maximization if values are missing
//! - [`chow_liu`], [`tree_augmented`], [`naive`]: tree structures
//! - [`HillClimb`]: structure search by BIC or BDeu score
//! - [`Learner`]: structure and tables

mod counts;
mod em;
mod observations;
mod score;
mod search;
mod spanning;
mod tree;

pub use counts::FamilyCounts;
pub use em::{ParameterLearning, fit_tables};
pub use observations::Observations;
pub use score::Score;
pub use search::HillClimb;
pub(crate) use spanning::{Gain, mutual_information, spanning_forest};
pub use tree::{chow_liu, naive, tree_augmented};

use super::Network;
use crate::error::Result;
use crate::model::{Certificate, Fitted, Monitor};

/// A learned network with the certificates of structure and tables.
#[derive(Clone, Debug)]
pub struct Learned {
    /// The network and its certificate.
    pub fitted: Fitted<Network>,
    /// The objective after each EM iteration; one entry for a closed form.
    pub trace: Vec<f64>,
    /// The certificate of the structure search, if there was one.
    pub search: Option<Certificate>,
}

/// The method of structure learning.
#[derive(Clone, Debug, PartialEq)]
pub enum StructureLearning {
    /// A given structure: the parents of each variable.
    Given(Vec<Vec<usize>>),
    /// The tree of maximum likelihood (Chow & Liu).
    ChowLiu {
        /// The root.
        root: usize,
    },
    /// Naive Bayes: the class is the only parent of all others.
    Naive {
        /// The class.
        class: usize,
    },
    /// Tree-augmented naive Bayes.
    TreeAugmented {
        /// The class.
        class: usize,
    },
    /// Hill climbing on a score.
    Search(HillClimb),
}

/// Learns structure and tables.
#[derive(Clone, Debug, PartialEq)]
pub struct Learner {
    /// The method of structure learning.
    pub structure: StructureLearning,
    /// How the tables are learned.
    pub parameters: ParameterLearning,
}

impl Learner {
    /// Learns a network. A structure search that is stopped early returns the best structure so far, marked in the
    /// certificate.
    ///
    /// # Errors
    /// If there are no rows, or a parameter is invalid.
    pub fn learn(&self, data: &Observations, monitor: &Monitor<'_>) -> Result<Learned> {
        let mut search = None;
        let parents = match &self.structure {
            StructureLearning::Given(parents) => parents.clone(),
            StructureLearning::ChowLiu { root } => chow_liu(data, *root)?,
            StructureLearning::Naive { class } => naive(data, *class)?,
            StructureLearning::TreeAugmented { class } => tree_augmented(data, *class)?,
            StructureLearning::Search(climb) => {
                let found = climb.run(data, monitor)?;
                search = Some(found.certificate);
                found.model
            }
        };
        let stopped = search.as_ref().and_then(Certificate::stopped);
        let mut learned = match stopped {
            None => fit_tables(&parents, data, &self.parameters, monitor)?,
            Some(_) => self.first_tables(&parents, data, monitor)?,
        };
        let certificate = learned.fitted.certificate;
        learned.fitted.certificate = certificate.stopped_by(stopped);
        learned.search = search;
        Ok(learned)
    }

    /// The tables of a structure whose search was stopped: closed form, or one EM iteration if values are missing.
    fn first_tables(
        &self,
        parents: &[Vec<usize>],
        data: &Observations,
        monitor: &Monitor<'_>,
    ) -> Result<Learned> {
        let mut patient = Monitor::quiet();
        if let Some(budget) = monitor.memory() {
            patient = patient.memory_limit(budget);
        }
        fit_tables(parents, data, &ParameterLearning { max_rounds: 0, ..self.parameters }, &patient)
    }
}
