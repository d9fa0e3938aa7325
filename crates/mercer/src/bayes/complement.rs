//! Complement naive Bayes: the parameters of a class are estimated from the rows of all other classes.
//!
//! `score_c(x) = −Σⱼ xⱼ log θ̃_cj`, `θ̃_cj = (αⱼ + Σ_{c′≠c} N_c′j) / Σₖ (αₖ + Σ_{c′≠c} N_c′k)`
//!
//! Designed for imbalanced classes, where multinomial naive Bayes favors the large ones (Rennie, Shih, Teevan &
//! Karger, 2003). The class priors are not used. The scores are no log-likelihoods, because the parameters of a class
//! describe the rows of all others: the model has no density and no samples.

use super::counts::{
    ClassCounts, by_column, check_counts, class_totals, linear_scores, log_probability,
    observe_counts, read_by_column,
};
use crate::model::{AlphaParam, ForceAlpha};
use crate::prelude::*;
use crate::stats::{ByClass, Count, Counts};
use mercer_num::SharedMatrix;
use mercer_num::simd::{ln, ln_each, sum};
use ndarray::Axis;

params! {
    /// Complement naive Bayes, for count features and imbalanced classes.
    pub struct ComplementNb {
        ..AlphaParam(per_feature);
        ..ForceAlpha;
        /// Accepted for compatibility with scikit-learn; the scores use no priors.
        fit_prior: bool = true, Any;
        /// Prior class probabilities, in class order. Accepted for compatibility with scikit-learn; the scores use
        /// no priors.
        class_prior: Vec<f64> = Vec::new(), Simplex;
        /// Divide the weights of every class by their sum, as in Rennie et al. (2003), table 4, step 5.
        norm: bool = false, Any;
    }
    formula = "argmax_c −Σⱼ xⱼ log θ̃_cj,  θ̃_cj = (αⱼ + Σ_{d≠c} N_dj) / Σₖ (αₖ + Σ_{d≠c} N_dk)";
    lecture = 5;
    attributes = [
        CLASS_COUNT,
        CLASS_LOG_PRIOR,
        FEATURE_COUNT,
        of_field(
            "feature_all_",
            "counts",
            "sum_over_classes",
            PER_FEATURE,
            "Total count of each feature in all classes.",
        ),
        field(
            "feature_log_prob_",
            "log_probabilities",
            PER_CLASS_AND_FEATURE,
            "Weight of a count in the score of each class: `−log θ̃`, normalized if `norm` is set.",
        ),
    ];
}

/// The complement weights of every class (row).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ComplementNbModel {
    /// The classes in code order.
    pub classes: Classes,
    /// `log P(class)`; the scores do not use it.
    pub log_priors: Vec<f64>,
    /// The total sample weight of each class.
    pub class_weights: Vec<f64>,
    /// The total count of each feature in each class.
    pub counts: SharedMatrix,
    /// The smoothing of each feature.
    pub alphas: Vec<f64>,
    /// The weight of a count in the score of each class: `−log θ̃`, normalized if `norm` is set.
    #[serde(deserialize_with = "read_by_column")]
    pub log_probabilities: Matrix,
}

impl Accumulate for ComplementNb {
    type Stats = ByClass<Counts>;
    type Model = ComplementNbModel;

    fn observe(&self, stats: &mut Self::Stats, batch: &Dataset<'_>) -> Result<()> {
        observe_counts(stats, batch, Count::Number)
    }

    fn finish(&self, stats: &Self::Stats) -> Result<Self::Model> {
        let ClassCounts { classes, log_priors, class_weights, counts, alphas } = ClassCounts::of(
            stats,
            &self.alpha,
            self.force_alpha,
            &self.class_prior,
            self.fit_prior,
        )?;
        let mut log_probabilities = complement_weights(&counts, &alphas);
        if self.norm {
            let sums = log_probabilities.sum_axis(Axis(1)).insert_axis(Axis(1));
            log_probabilities /= &sums;
            if log_probabilities.iter().any(|w| w.is_nan()) {
                return Err(Error::Parameter {
                    name: "norm".into(),
                    found: "true".into(),
                    expected: "false for a single column, whose weights are all zero".into(),
                });
            }
        }
        Ok(ComplementNbModel {
            classes,
            log_priors,
            class_weights,
            counts,
            alphas,
            log_probabilities,
        })
    }
}

/// `−log θ̃`.
fn complement_weights(counts: &SharedMatrix, alphas: &[f64]) -> Matrix {
    let log_totals = log_complement_totals(&class_totals(counts), sum(alphas));
    let (table, _) = by_column(counts.view(), |strip| {
        let alphas = &alphas[strip.columns.clone()];
        let all = strip.counts.sum_axis(Axis(0));
        let mut logs: Vec<f64> = all.iter().zip(alphas).map(|(n, alpha)| n + alpha).collect();
        ln_each(&mut logs);
        for (cells, log) in strip.by_column().zip(&logs) {
            let cells = cells.iter_mut().zip(&log_totals);
            cells.for_each(|(cell, log_total)| *cell = -log_probability(*log, *log_total));
        }
        strip.write_positive_counts(|c, columns, counts| {
            for (n, k) in counts.iter_mut().zip(columns) {
                // Rounding must not make a count negative.
                *n = (all[*k] - *n).max(0.0) + alphas[*k];
            }
            ln_each(counts);
            counts.iter_mut().for_each(|p| *p = -log_probability(*p, log_totals[c]));
        });
    });
    table
}

/// `log Σₖ (αₖ + Σ_{c′≠c} N_c′k)` of every class, from prefix and suffix sums, which avoids cancellation.
fn log_complement_totals(totals: &[f64], added: f64) -> Vec<f64> {
    let mut complement = vec![added; totals.len()];
    let mut before = 0.0;
    for (to, total) in complement.iter_mut().zip(totals) {
        *to += before;
        before += total;
    }
    let mut after = 0.0;
    for (to, total) in complement.iter_mut().zip(totals).rev() {
        *to += after;
        after += total;
    }
    complement.iter().map(|n| ln(*n)).collect()
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
        let bias = vec![0.0; self.classes.len()];
        let mut scores = linear_scores(x, &bias, &self.log_probabilities, Count::Number)?;
        // Afterwards, because a weight may be infinite.
        for (c, bias) in self.intercepts().into_iter().enumerate().filter(|(_, b)| *b != 0.0) {
            scores.column_mut(c).fill(bias);
        }
        Ok(scores)
    }
}

impl ComplementNbModel {
    /// The scores of a row of zeros. A class without rows is excluded, because all rows are in its complement.
    fn intercepts(&self) -> Vec<f64> {
        let observed = |w: &f64| if *w > 0.0 { 0.0 } else { f64::NEG_INFINITY };
        self.class_weights.iter().map(observed).collect()
    }
}

impl AdditiveScores for ComplementNbModel {
    fn terms(&self, row: &[f64]) -> Result<(Vec<f64>, Matrix)> {
        self.scores(&Rows::from(ndarray::ArrayView1::from(row)))?;
        // A count of zero has a term of zero, even if its weight is infinite.
        let intercepts = self.intercepts();
        let term = |(j, c): (usize, usize)| match row[j] {
            0.0 => 0.0,
            _ if intercepts[c] == f64::NEG_INFINITY => 0.0,
            count => count * self.log_probabilities[[c, j]],
        };
        Ok((intercepts.clone(), Matrix::from_shape_fn((row.len(), self.classes.len()), term)))
    }
}

impl Probabilistic for ComplementNbModel {}

impl Check for ComplementNbModel {
    fn check(&self) -> Result<()> {
        check_counts(
            "complement",
            self.classes.len(),
            (&self.log_priors, &self.class_weights),
            &self.alphas,
            &self.counts,
            &self.log_probabilities,
            |weight| weight >= -1e-9,
        )
    }
}
