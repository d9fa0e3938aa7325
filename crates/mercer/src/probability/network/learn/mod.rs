//! Networks from rows: which arrows, and which numbers.
//!
//! - [`Observations`]: what was seen, column by column, with gaps
//! - [`FamilyCounts`]: what the tables are made from; it merges
//! - [`fit_tables`]: the tables of given arrows; by expectation-maximization where there are gaps
//! - [`chow_liu`], [`tree_augmented`], [`naive`]: arrows that form a tree
//! - [`HillClimb`]: arrows by the largest score, BIC or BDeu
//! - [`Learner`]: arrows and tables in one go

mod counts;
mod em;
mod observations;
mod score;
mod search;
mod spanning;
mod tree;

pub use counts::FamilyCounts;
pub use em::{Tables, fit_tables};
pub use observations::Observations;
pub use score::Score;
pub use search::HillClimb;
pub(crate) use spanning::{Gain, mutual_information, spanning_forest};
pub use tree::{chow_liu, naive, tree_augmented};

use super::Network;
use crate::error::Result;
use crate::model::{Certificate, Fitted, Monitor};

/// A network, how well it was learned, and what was gained on the way.
#[derive(Clone, Debug)]
pub struct Learned {
    /// The network and its proof.
    pub fitted: Fitted<Network>,
    /// The objective after each round of learning the tables; one entry where a formula did it.
    pub trace: Vec<f64>,
    /// The proof of the search for arrows, where there was one.
    pub search: Option<Certificate>,
}

/// Where the arrows come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrows {
    /// They are known: the parents of each variable.
    Given(Vec<Vec<usize>>),
    /// The tree of largest likelihood, hung from a variable.
    ChowLiu {
        /// The variable at the top.
        root: usize,
    },
    /// From one variable to all others, and nothing else.
    Naive {
        /// The variable.
        class: usize,
    },
    /// The same with the best tree over the others.
    TreeAugmented {
        /// The variable.
        class: usize,
    },
    /// By the largest score.
    Search(HillClimb),
}

/// Learns arrows and tables.
#[derive(Clone, Debug, PartialEq)]
pub struct Learner {
    /// Where the arrows come from.
    pub arrows: Arrows,
    /// How the tables are learned.
    pub tables: Tables,
}

impl Learner {
    /// Learns a network. A search for arrows that is cut short gives the best found so far, marked.
    ///
    /// # Errors
    /// If there are no rows, or the parts do not fit together.
    pub fn learn(&self, data: &Observations, monitor: &Monitor<'_>) -> Result<Learned> {
        let mut search = None;
        let parents = match &self.arrows {
            Arrows::Given(parents) => parents.clone(),
            Arrows::ChowLiu { root } => chow_liu(data, *root)?,
            Arrows::Naive { class } => naive(data, *class)?,
            Arrows::TreeAugmented { class } => tree_augmented(data, *class)?,
            Arrows::Search(climb) => {
                let found = climb.run(data, monitor)?;
                search = Some(found.certificate);
                found.model
            }
        };
        let stopped = search.as_ref().and_then(Certificate::stopped);
        let mut learned = match stopped {
            None => fit_tables(&parents, data, &self.tables, monitor)?,
            Some(_) => self.first_tables(&parents, data, monitor)?,
        };
        let certificate = learned.fitted.certificate;
        learned.fitted.certificate = certificate.stopped_by(stopped);
        learned.search = search;
        Ok(learned)
    }

    /// The tables of arrows whose search was cut short: counts, and where rows have gaps, one round.
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
        fit_tables(parents, data, &Tables { max_rounds: 0, ..self.tables }, &patient)
    }
}
