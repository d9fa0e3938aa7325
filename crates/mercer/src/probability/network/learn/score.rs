//! Scores of a structure: penalized likelihood (BIC) and marginal likelihood (BDeu).
//!
//! Both are decomposable: a sum over variables of a term that depends on the variable and its parents only.
//!
//! BIC: `Σ N_ab log (N_ab / N_a) − ½ log n · q (k − 1)` (Schwarz, 1978).
//! BDeu: `Σ_a log Γ(s/q) − log Γ(s/q + N_a) + Σ_b log Γ(s/(qk) + N_ab) − log Γ(s/(qk))` with the equivalent
//! sample size `s` (Heckerman, Geiger & Chickering, 1995).

use super::Observations;
use super::counts::count_family;
use mercer_num::special::ln_gamma;
use std::collections::HashMap;

/// The maximum number of cells of a table; larger ones are not considered.
const MOST_CELLS: usize = 1 << 22;

/// The score that is maximized.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Score {
    /// The Bayesian information criterion.
    Bic,
    /// The log marginal likelihood under uniform Dirichlet priors.
    Bdeu {
        /// The equivalent sample size of the prior.
        sample_size: f64,
    },
}

impl Score {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Score::Bic => "BIC",
            Score::Bdeu { .. } => "BDeu",
        }
    }

    /// The term of a variable with these parents; `−∞` if the table is too large.
    pub(super) fn family(
        self,
        data: &Observations,
        total: f64,
        v: usize,
        parents: &[usize],
    ) -> f64 {
        let k = data.size(v);
        let q = parents.iter().try_fold(1usize, |q, p| q.checked_mul(data.size(*p)));
        let Some(q) = q.filter(|q| q.checked_mul(k).is_some_and(|n| n <= MOST_CELLS)) else {
            return f64::NEG_INFINITY;
        };
        let mut counts = vec![0.0; q * k];
        count_family(data, v, parents, &mut counts);
        let rows = counts.chunks_exact(k.max(1));
        match self {
            Score::Bic => {
                let likelihood: f64 = rows.map(log_likelihood).sum();
                likelihood - 0.5 * total.ln() * (q * k.saturating_sub(1)) as f64
            }
            Score::Bdeu { sample_size } => {
                let (row, cell) = (sample_size / q as f64, sample_size / (q * k) as f64);
                let (of_row, of_cell) = (ln_gamma(row), ln_gamma(cell));
                rows.map(|counts| {
                    let n: f64 = counts.iter().sum();
                    if n == 0.0 {
                        return 0.0;
                    }
                    let seen = counts.iter().filter(|n| **n > 0.0);
                    let cells: f64 = seen.map(|n| ln_gamma(cell + n) - of_cell).sum();
                    of_row - ln_gamma(row + n) + cells
                })
                .sum()
            }
        }
    }
}

fn log_likelihood(counts: &[f64]) -> f64 {
    let total: f64 = counts.iter().sum();
    counts.iter().filter(|n| **n > 0.0).map(|n| n * (n / total).ln()).sum()
}

/// Cached terms.
pub(super) struct Cache(HashMap<(usize, Vec<usize>), f64>);

impl Cache {
    pub fn new() -> Cache {
        Cache(HashMap::new())
    }

    /// The term of a variable with parents in ascending order.
    pub fn get(&self, v: usize, parents: &[usize]) -> Option<f64> {
        // A key must own its list; the lists are short.
        self.0.get(&(v, parents.to_vec())).copied()
    }

    pub fn put(&mut self, v: usize, parents: Vec<usize>, term: f64) {
        self.0.insert((v, parents), term);
    }
}
