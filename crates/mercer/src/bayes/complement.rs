//! Complement naive Bayes: a class is known by how little its words occur elsewhere.
//!
//! `score_c(x) = −Σⱼ xⱼ log θ̃_cj`, `θ̃_cj = (αⱼ + Σ_{c′≠c} N_c′j) / Σₖ (αₖ + Σ_{c′≠c} N_c′k)`
//!
//! Made for classes of very different size, where the plain model favors the large ones (Rennie, Shih,
//! Teevan & Karger, 2003). Priors play no part.

use super::counted::{
    alphas, by_column, check_counts, class_totals, linear_scores, log_probability, read_by_column,
};
use super::log_priors;
use crate::model::{AlphaParam, ForceAlpha};
use crate::prelude::*;
use crate::stats::{ByClass, Count, Counts};
use mercer_num::SharedMatrix;
use mercer_num::simd::{ln, ln_each, sum};
use ndarray::Axis;

params! {
    /// Complement naive Bayes, for counts in classes of very different size.
    pub struct ComplementNb {
        ..AlphaParam(per_feature);
        ..ForceAlpha;
        /// Kept for likeness with its siblings; the scores use no priors.
        fit_prior: bool = true, Any;
        /// Class priors in class order; the scores use none.
        class_prior: Vec<f64> = Vec::new(), Simplex;
        /// Whether the weights of a class are divided by their sum.
        norm: bool = false, Any;
    }
}

/// What speaks against every class (row).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ComplementNbModel {
    /// The classes in code order.
    pub classes: Classes,
    /// `log P(class)`, for the record.
    pub log_priors: Vec<f64>,
    /// The weight of the rows of each class.
    pub class_weights: Vec<f64>,
    /// How often each feature was counted in each class.
    pub counts: SharedMatrix,
    /// What was added to the counts of each feature.
    pub alphas: Vec<f64>,
    /// What a count adds to the score of each class: `−log θ̃`, divided by their sum where asked.
    #[serde(deserialize_with = "read_by_column")]
    pub log_probabilities: Matrix,
}

impl Accumulate for ComplementNb {
    type Stats = ByClass<Counts>;
    type Model = ComplementNbModel;

    fn observe(&self, stats: &mut Self::Stats, batch: &Dataset<'_>) -> Result<()> {
        stats.push_rows(batch, |batch, slots, class_weights| {
            Counts::of_rows(
                batch.rows(),
                slots,
                batch.weights(),
                class_weights.len(),
                Count::Number,
            )
        })
    }

    fn finish(&self, stats: &Self::Stats) -> Result<Self::Model> {
        stats.classes().check_several()?;
        let counts = stats.groups().sums;
        let alphas = alphas(&self.alpha, self.force_alpha, counts.ncols())?;
        let mut log_probabilities = against(&counts, &alphas);
        if self.norm {
            let sums = log_probabilities.sum_axis(Axis(1)).insert_axis(Axis(1));
            log_probabilities /= &sums;
            if log_probabilities.iter().any(|w| w.is_nan()) {
                return Err(Error::NoRows);
            }
        }
        Ok(ComplementNbModel {
            classes: stats.classes().clone(),
            log_priors: log_priors(&self.class_prior, self.fit_prior, &stats.weights())?,
            class_weights: stats.weights(),
            counts,
            alphas,
            log_probabilities,
        })
    }
}

/// `−log θ̃`: how much a feature speaks against a class.
fn against(counts: &SharedMatrix, alphas: &[f64]) -> Matrix {
    let log_totals = log_totals_elsewhere(&class_totals(counts), sum(alphas));
    let (table, _) = by_column(counts.view(), |strip| {
        let alphas = &alphas[strip.columns.clone()];
        let all = strip.counts.sum_axis(Axis(0));
        let mut logs: Vec<f64> = all.iter().zip(alphas).map(|(n, alpha)| n + alpha).collect();
        ln_each(&mut logs);
        for (cells, log) in strip.by_column().zip(&logs) {
            let cells = cells.iter_mut().zip(&log_totals);
            cells.for_each(|(cell, log_total)| *cell = -log_probability(*log, *log_total));
        }
        strip.write_counted(|c, places, numbers| {
            for (n, k) in numbers.iter_mut().zip(places) {
                // Rounding must not make a count of nothing negative.
                *n = (all[*k] - *n).max(0.0) + alphas[*k];
            }
            ln_each(numbers);
            numbers.iter_mut().for_each(|p| *p = -log_probability(*p, log_totals[c]));
        });
    });
    table
}

/// `log Σₖ (αₖ + Σ_{c′≠c} N_c′k)` of every class, from the sums before and behind it, so that nothing
/// is subtracted.
fn log_totals_elsewhere(totals: &[f64], added: f64) -> Vec<f64> {
    let mut elsewhere = vec![added; totals.len()];
    let mut before = 0.0;
    for (to, total) in elsewhere.iter_mut().zip(totals) {
        *to += before;
        before += total;
    }
    let mut behind = 0.0;
    for (to, total) in elsewhere.iter_mut().zip(totals).rev() {
        *to += behind;
        behind += total;
    }
    elsewhere.iter().map(|n| ln(*n)).collect()
}

impl Classifier for ComplementNbModel {
    fn classes(&self) -> &Classes {
        &self.classes
    }

    fn n_columns(&self) -> usize {
        self.counts.ncols()
    }

    fn scores(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.check_columns(x)?;
        linear_scores(x, &self.starts(), &self.log_probabilities, Count::Number)
    }
}

impl ComplementNbModel {
    /// Scores of a row without counts. A class nobody showed is known by nothing: everything is its complement.
    fn starts(&self) -> Vec<f64> {
        let shown = |w: &f64| if *w > 0.0 { 0.0 } else { f64::NEG_INFINITY };
        self.class_weights.iter().map(shown).collect()
    }
}

impl AdditiveScores for ComplementNbModel {
    fn terms(&self, row: &[f64]) -> Result<(Vec<f64>, Matrix)> {
        self.scores(&Rows::from(ndarray::ArrayView1::from(row)))?;
        // What is not there adds nothing, however much a count of it would.
        let term = |(j, c): (usize, usize)| match row[j] {
            0.0 => 0.0,
            count => count * self.log_probabilities[[c, j]],
        };
        Ok((self.starts(), Matrix::from_shape_fn((row.len(), self.classes.len()), term)))
    }
}

impl Probabilistic for ComplementNbModel {}

impl Check for ComplementNbModel {
    fn check(&self) -> Result<()> {
        check_counts(
            "complement",
            self.classes.len(),
            &[&self.log_priors, &self.class_weights],
            &self.alphas,
            &self.counts,
            &self.log_probabilities,
        )
    }
}
