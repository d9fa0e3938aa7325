//! A categorical distribution per class: `P(v | c) = (n_cv + a_v) / (n_c + A)`.
//!
//! The pseudocounts `a_v` determine the estimate: maximum likelihood for 0, Laplace smoothing for 1, Lidstone smoothing
//! for `α`, the m-estimate for `m p`, a Dirichlet prior in general. It is a posterior mean if `A = Σ a_v`.

use super::short;
use crate::error::{Error, Result};
use crate::explain::moments_of;
use crate::stats::{as_code, not_a_category};
use mercer_num::Matrix;
use mercer_num::random::Random;
use serde::{Deserialize, Serialize};

crate::choice! {
    /// The treatment of categories that do not occur in the training data.
    pub enum Unseen {
        /// The factor is omitted, as for a missing value.
        Ignore = "ignore",
        /// The smoothed probability of a count of zero.
        Other = "other",
        /// An error.
        Error = "error",
    }
}

/// The distribution of the categories (columns) in each class (row).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Categorical {
    /// The count of each category.
    pub counts: Matrix,
    /// The pseudocount of each category.
    pub pseudocounts: Vec<f64>,
    /// The pseudocount that is added to the denominator.
    pub total_pseudocount: f64,
    /// The logarithms of the probabilities.
    pub log_probabilities: Matrix,
}

impl Categorical {
    /// Mean and standard deviation of the codes in a class.
    pub(crate) fn moments(&self, c: usize) -> (f64, f64) {
        let probabilities = self.log_probabilities.row(c).into_iter().enumerate();
        moments_of(probabilities.map(|(code, p)| (code as f64, p.exp())))
    }

    /// The smoothed distribution of counts, one row per class.
    pub fn new(counts: Matrix, pseudocounts: Vec<f64>, total_pseudocount: f64) -> Categorical {
        let all = counts.sum_axis(ndarray::Axis(0));
        let mut log_probabilities = counts.clone();
        for mut row in log_probabilities.outer_iter_mut() {
            if row.sum() + total_pseudocount == 0.0 {
                // A class without counts and smoothing gets the distribution of all classes.
                row.assign(&all);
            }
            let total = row.sum() + total_pseudocount;
            row.iter_mut()
                .zip(&pseudocounts)
                .for_each(|(n, a)| *n = log_probability(*n + a, total));
        }
        Categorical { counts, pseudocounts, total_pseudocount, log_probabilities }
    }

    /// Lidstone smoothing: the same pseudocount for all categories.
    pub fn lidstone(counts: Matrix, alpha: f64) -> Categorical {
        let k = counts.ncols();
        Categorical::new(counts, vec![alpha; k], alpha * k as f64)
    }

    /// The number of categories.
    pub fn n_categories(&self) -> usize {
        self.counts.ncols()
    }

    /// `log P(v | c)`, one row per category and a last row for unknown categories.
    pub(crate) fn by_category(&self, unseen: Unseen) -> Vec<f64> {
        let mut table: Vec<f64> =
            self.log_probabilities.columns().into_iter().flat_map(|c| c.to_vec()).collect();
        table.extend(self.counts.outer_iter().map(|row| match unseen {
            Unseen::Other => {
                // Without smoothing an unknown category would exclude all classes.
                let log_p =
                    log_probability(self.mean_pseudocount(), row.sum() + self.total_pseudocount);
                if log_p.is_finite() { log_p } else { 0.0 }
            }
            Unseen::Ignore | Unseen::Error => 0.0,
        }));
        table
    }

    fn mean_pseudocount(&self) -> f64 {
        self.pseudocounts.iter().sum::<f64>() / self.pseudocounts.len().max(1) as f64
    }

    /// The row of a cell in [`Categorical::by_category`]; `None` if it is missing.
    ///
    /// # Errors
    /// If the cell is not a category code, or an unknown category that is refused.
    #[inline]
    pub(crate) fn code(&self, x: f64, unseen: Unseen, at: (usize, usize)) -> Result<Option<usize>> {
        match as_code(x) {
            Ok(Some(code)) if code < self.n_categories() => Ok(Some(code)),
            _ => self.uncommon_code(x, unseen, at),
        }
    }

    #[cold]
    fn uncommon_code(&self, x: f64, unseen: Unseen, at: (usize, usize)) -> Result<Option<usize>> {
        let (row, column) = at;
        match as_code(x).map_err(|()| not_a_category(row, column, x))? {
            Some(code) if code < self.n_categories() => Ok(Some(code)),
            Some(_) if unseen == Unseen::Error => {
                Err(Error::UnseenCategory { row, column, value: x })
            }
            Some(_) => Ok(Some(self.n_categories())),
            None => Ok(None),
        }
    }

    /// The change of `log P(v | c)` if one row of the class with this category is left out.
    pub(crate) fn leave_one_out(&self, class: usize, x: f64) -> f64 {
        let Ok(Some(code)) = as_code(x) else { return 0.0 };
        let Some(n) = self.counts.row(class).get(code).copied() else { return 0.0 };
        let others = (self.counts.row(class).sum() - 1.0).max(0.0) + self.total_pseudocount;
        log_probability((n - 1.0).max(0.0) + self.pseudocounts[code], others)
            - self.log_probabilities[[class, code]]
    }

    /// The formula of `P(v | c)` with the numbers filled in.
    pub(crate) fn formula(&self, class: usize, x: f64, unseen: Unseen) -> String {
        let (n, pseudocount) = match as_code(x) {
            Ok(Some(code)) if code < self.n_categories() => {
                (self.counts[[class, code]], self.pseudocounts[code])
            }
            _ if unseen == Unseen::Other => (0.0, self.mean_pseudocount()),
            _ => return "unknown category: no factor".to_owned(),
        };
        let p = (n + pseudocount) / (self.counts.row(class).sum() + self.total_pseudocount);
        format!("{} = {}", self.fraction_of(class, n, pseudocount), short(p))
    }

    /// `P(v | c)` as a fraction of counts, without its value.
    pub(crate) fn fraction(&self, class: usize, code: usize) -> String {
        self.fraction_of(class, self.counts[[class, code]], self.pseudocounts[code])
    }

    fn fraction_of(&self, class: usize, n: f64, pseudocount: f64) -> String {
        let total = self.counts.row(class).sum();
        let plus = |a: f64| if a == 0.0 { String::new() } else { format!(" + {}", short(a)) };
        if pseudocount == 0.0 && self.total_pseudocount == 0.0 {
            return format!("{}/{}", short(n), short(total));
        }
        format!(
            "({}{}) / ({}{})",
            short(n),
            plus(pseudocount),
            short(total),
            plus(self.total_pseudocount)
        )
    }

    /// Samples a category of a class; NaN if all probabilities are zero.
    pub(crate) fn sample(&self, class: usize, random: &mut Random) -> f64 {
        let p: Vec<f64> = self.log_probabilities.row(class).iter().map(|p| p.exp()).collect();
        if p.iter().any(|p| *p > 0.0) { random.choice(&p) as f64 } else { f64::NAN }
    }

    /// Whether the fields are consistent for this number of classes.
    pub(crate) fn fits(&self, n_classes: usize) -> bool {
        self.counts.nrows() == n_classes
            && self.log_probabilities.dim() == self.counts.dim()
            && self.pseudocounts.len() == self.counts.ncols()
            && self
                .pseudocounts
                .iter()
                .chain([&self.total_pseudocount])
                .all(|a| a.is_finite() && *a >= 0.0)
            && self.counts.iter().all(|n| n.is_finite() && *n >= 0.0)
            && self.log_probabilities.iter().all(|p| is_log_probability(*p))
    }
}

/// Whether a value can be the logarithm of a probability, up to rounding.
pub(crate) fn is_log_probability(log_p: f64) -> bool {
    log_p <= 1e-9
}

/// `log (n / total)`, and `−∞` for `n = 0` even if the total is zero.
pub(crate) fn log_probability(n: f64, total: f64) -> f64 {
    if n > 0.0 { n.ln() - total.ln() } else { f64::NEG_INFINITY }
}
