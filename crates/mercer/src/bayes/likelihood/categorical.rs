//! One of a few values: `P(v | c) = (n_cv + a_v) / (n_c + A)`.
//!
//! What is added tells the estimates apart: nothing is the plain share, one for each value Laplace's
//! rule, `α` Lidstone's, `m p` the m-estimate, anything else a Dirichlet prior. It is a posterior mean
//! whenever `A = Σ a_v`.

use super::short;
use crate::error::{Error, Result};
use crate::explain::moments_of;
use crate::stats::{as_code, not_a_category};
use mercer_num::Matrix;
use mercer_num::random::Random;
use serde::{Deserialize, Serialize};

crate::choice! {
    /// What becomes of a category that training never saw.
    pub enum Unseen {
        /// It has no say, like a missing value.
        Ignore = "ignore",
        /// It counts as a value that was seen zero times.
        Other = "other",
        /// The row is refused.
        Error = "error",
    }
}

/// Shares of the values (columns) in each class (row).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Categorical {
    /// How often each value was seen.
    pub counts: Matrix,
    /// What is added to the count of each value.
    pub added: Vec<f64>,
    /// What is added to the count of all values.
    pub added_in_all: f64,
    /// The logarithm of the shares.
    pub log_probabilities: Matrix,
}

impl Categorical {
    /// The mean and the deviation of the codes in a class.
    pub(crate) fn moments(&self, c: usize) -> (f64, f64) {
        let shares = self.log_probabilities.row(c).into_iter().enumerate();
        moments_of(shares.map(|(code, p)| (code as f64, p.exp())))
    }

    /// The shares of counts, one row a class.
    pub fn new(counts: Matrix, added: Vec<f64>, added_in_all: f64) -> Categorical {
        let all = counts.sum_axis(ndarray::Axis(0));
        let mut log_probabilities = counts.clone();
        for mut row in log_probabilities.outer_iter_mut() {
            if row.sum() + added_in_all == 0.0 {
                // A class that saw nothing, with nothing added, takes the shares of all.
                row.assign(&all);
            }
            let total = row.sum() + added_in_all;
            row.iter_mut().zip(&added).for_each(|(n, a)| *n = log_probability(*n + a, total));
        }
        Categorical { counts, added, added_in_all, log_probabilities }
    }

    /// The same number added to every value: Lidstone's rule.
    pub fn lidstone(counts: Matrix, alpha: f64) -> Categorical {
        let k = counts.ncols();
        Categorical::new(counts, vec![alpha; k], alpha * k as f64)
    }

    /// How many values there are.
    pub fn n_values(&self) -> usize {
        self.counts.ncols()
    }

    /// `log P(v | c)`, classes side by side for each value, and a last row for values never seen.
    pub(crate) fn by_value(&self, unseen: Unseen) -> Vec<f64> {
        let mut table: Vec<f64> =
            self.log_probabilities.columns().into_iter().flat_map(|c| c.to_vec()).collect();
        table.extend(self.counts.outer_iter().map(|row| match unseen {
            Unseen::Other => {
                // Without smoothing a new value would rule out every class at once.
                let share = log_probability(self.mean_added(), row.sum() + self.added_in_all);
                if share.is_finite() { share } else { 0.0 }
            }
            Unseen::Ignore | Unseen::Error => 0.0,
        }));
        table
    }

    fn mean_added(&self) -> f64 {
        self.added.iter().sum::<f64>() / self.added.len().max(1) as f64
    }

    /// The place of a cell's value in [`Categorical::by_value`], nothing if it is missing.
    ///
    /// # Errors
    /// If the cell is no category, or a new one where that is refused.
    #[inline]
    pub(crate) fn place(
        &self,
        x: f64,
        unseen: Unseen,
        at: (usize, usize),
    ) -> Result<Option<usize>> {
        match as_code(x) {
            Ok(Some(code)) if code < self.n_values() => Ok(Some(code)),
            _ => self.rare_place(x, unseen, at),
        }
    }

    #[cold]
    fn rare_place(&self, x: f64, unseen: Unseen, at: (usize, usize)) -> Result<Option<usize>> {
        let (row, column) = at;
        match as_code(x).map_err(|()| not_a_category(row, column, x))? {
            Some(code) if code < self.n_values() => Ok(Some(code)),
            Some(_) if unseen == Unseen::Error => {
                Err(Error::UnseenCategory { row, column, value: x })
            }
            Some(_) => Ok(Some(self.n_values())),
            None => Ok(None),
        }
    }

    /// What the log-share of a value changes by where one row of its class with this value is left out.
    pub(crate) fn without_one(&self, class: usize, x: f64) -> f64 {
        let Ok(Some(code)) = as_code(x) else { return 0.0 };
        let Some(n) = self.counts.row(class).get(code).copied() else { return 0.0 };
        let others = (self.counts.row(class).sum() - 1.0).max(0.0) + self.added_in_all;
        log_probability((n - 1.0).max(0.0) + self.added[code], others)
            - self.log_probabilities[[class, code]]
    }

    /// How the lecture writes the share of a value.
    pub(crate) fn formula(&self, class: usize, x: f64, unseen: Unseen) -> String {
        let seen = self.counts.row(class).sum();
        let (n, added) = match as_code(x) {
            Ok(Some(code)) if code < self.n_values() => {
                (self.counts[[class, code]], self.added[code])
            }
            _ if unseen == Unseen::Other => (0.0, self.mean_added()),
            _ => return "never seen: no say".to_owned(),
        };
        let share = (n + added) / (seen + self.added_in_all);
        let plus = |a: f64| if a == 0.0 { String::new() } else { format!(" + {}", short(a)) };
        if added == 0.0 && self.added_in_all == 0.0 {
            return format!("{}/{} = {}", short(n), short(seen), short(share));
        }
        format!(
            "({}{}) / ({}{}) = {}",
            short(n),
            plus(added),
            short(seen),
            plus(self.added_in_all),
            short(share)
        )
    }

    /// A new value of a class; missing if it can have none.
    pub(crate) fn sample(&self, class: usize, random: &mut Random) -> f64 {
        let shares: Vec<f64> = self.log_probabilities.row(class).iter().map(|p| p.exp()).collect();
        if shares.iter().any(|p| *p > 0.0) { random.choice(&shares) as f64 } else { f64::NAN }
    }

    /// Whether counts of so many classes could have given them.
    pub(crate) fn fits(&self, n_classes: usize) -> bool {
        self.counts.nrows() == n_classes
            && self.log_probabilities.dim() == self.counts.dim()
            && self.added.len() == self.counts.ncols()
            && self.added.iter().chain([&self.added_in_all]).all(|a| a.is_finite() && *a >= 0.0)
            && self.counts.iter().all(|n| n.is_finite() && *n >= 0.0)
            && self.log_probabilities.iter().all(|p| !p.is_nan())
    }
}

/// `log (n / total)`; nothing of nothing is impossible, not undefined.
pub(crate) fn log_probability(n: f64, total: f64) -> f64 {
    if n > 0.0 { n.ln() - total.ln() } else { f64::NEG_INFINITY }
}
