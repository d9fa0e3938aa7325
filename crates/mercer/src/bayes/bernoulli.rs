//! Bernoulli naive Bayes: within a class, each word is there or not.
//!
//! `log p(c, x) = log p(c) + Σⱼ [xⱼ log θ_cj + (1 − xⱼ) log (1 − θ_cj)]`, `θ_cj = (D_cj + αⱼ) / (D_c + 2αⱼ)`
//!
//! `D_cj` is in how many rows of class `c` feature `j` is there. Unlike the multinomial model, absence
//! counts too (McCallum & Nigam, 1998).

use super::counted::{alphas, check_counts, counted_row, linear_scores};
use super::log_priors;
use crate::model::OneOrEach;
use crate::prelude::*;
use crate::stats::{ByClass, Counts};
use mercer_num::random::Random;

params! {
    /// Bernoulli naive Bayes, for features that are there or not.
    pub struct BernoulliNb {
        /// Added to the rows with and to the rows without a feature: 1 is Laplace's rule, 0 none; one
        /// number, or one a feature. Larger values pull the classes together.
        alpha: OneOrEach = OneOrEach::One(1.0), AtLeast(0.0);
        /// Whether an alpha below 1e-10 is taken as it is; otherwise it is raised to 1e-10.
        force_alpha: bool = true, Any;
        /// A feature is there if its number is above this; `null` takes the numbers as zeros and
        /// ones already.
        binarize: Option<f64> = Some(0.0), Any;
        /// Whether priors are the shares seen in the data; otherwise all classes are alike.
        fit_prior: bool = true, Any;
        /// Class priors in class order; empty leaves them to `fit_prior`.
        class_prior: Vec<f64> = Vec::new(), Simplex;
    }
}

/// A coin for every class (row) and feature (column).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BernoulliNbModel {
    /// The classes in code order.
    pub classes: Classes,
    /// `log P(class)`.
    pub log_priors: Vec<f64>,
    /// The weight of the rows of each class.
    pub class_weights: Vec<f64>,
    /// In how many rows of each class each feature was there.
    pub counts: Matrix,
    /// What was added to both sides of each feature.
    pub alphas: Vec<f64>,
    /// `log θ`.
    pub log_shares: Matrix,
    /// A feature is there if its number is above this.
    pub threshold: Option<f64>,
}

impl BernoulliNb {
    fn presence(&self) -> impl Fn(f64) -> Option<f64> + Sync + use<> {
        presence(self.binarize)
    }
}

/// One where a feature is there, zero where it is not.
fn presence(threshold: Option<f64>) -> impl Fn(f64) -> Option<f64> + Sync + use<> {
    move |x: f64| match threshold {
        _ if !x.is_finite() => None,
        Some(threshold) => Some(f64::from(u8::from(x > threshold))),
        None => (x == 0.0 || x == 1.0).then_some(x),
    }
}

impl Accumulate for BernoulliNb {
    type Stats = ByClass<Counts>;
    type Model = BernoulliNbModel;

    fn observe(&self, stats: &mut Self::Stats, batch: &Dataset<'_>) -> Result<()> {
        stats.push_rows(batch, |batch, slots, class_weights| {
            let n = class_weights.len();
            Counts::of_rows(batch.rows(), slots, batch.weights(), n, self.presence())
        })
    }

    fn finish(&self, stats: &Self::Stats) -> Result<Self::Model> {
        stats.classes().check_several()?;
        let counts = stats.groups().sums;
        let alphas = alphas(&self.alpha, self.force_alpha, counts.ncols())?;
        let class_weights = stats.weights();
        let mut log_shares = counts.clone();
        for (mut row, weight) in log_shares.outer_iter_mut().zip(&class_weights) {
            row.iter_mut().zip(&alphas).for_each(|(n, alpha)| {
                *n = (*n + alpha).ln() - (weight + 2.0 * alpha).ln();
            });
        }
        // A class without rows and alpha knows nothing: even odds.
        log_shares.mapv_inplace(|p| if p.is_nan() { 0.5f64.ln() } else { p.min(0.0) });
        Ok(BernoulliNbModel {
            classes: stats.classes().clone(),
            log_priors: log_priors(&self.class_prior, self.fit_prior, &class_weights)?,
            class_weights,
            counts,
            alphas,
            log_shares,
            threshold: self.binarize,
        })
    }
}

impl BernoulliNbModel {
    /// `log (1 − θ)`.
    fn log_absent(&self) -> Matrix {
        self.log_shares.mapv(|p| (-p.exp()).ln_1p())
    }
}

impl Classifier for BernoulliNbModel {
    fn classes(&self) -> &Classes {
        &self.classes
    }

    fn n_columns(&self) -> usize {
        self.counts.ncols()
    }

    /// The joint log-likelihoods `log p(c, x)`: all features absent, then the difference each present
    /// one makes.
    fn scores(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.check_columns(x)?;
        let absent = self.log_absent();
        if absent.iter().chain(&self.log_shares).all(|p| p.is_finite()) {
            let bias: Vec<f64> = self
                .log_priors
                .iter()
                .zip(absent.outer_iter())
                .map(|(p, row)| p + row.sum())
                .collect();
            return linear_scores(
                x,
                &bias,
                &(&self.log_shares - &absent),
                presence(self.threshold),
            );
        }
        // A share of zero or one: infinities do not cancel, so every factor is taken by itself.
        let mut out = Matrix::zeros((x.n_rows(), self.classes.len()));
        for (i, mut scores) in out.outer_iter_mut().enumerate() {
            let factors = self.log_factors(&x.row(i)).map_err(|e| e.after_rows(i))?;
            scores
                .assign(&(factors.sum_axis(ndarray::Axis(0)) + ndarray::aview1(&self.log_priors)));
        }
        Ok(out)
    }
}

impl Probabilistic for BernoulliNbModel {}

impl Generative for BernoulliNbModel {
    fn sample(&self, n: usize, random: &mut Random) -> (Matrix, Vec<u32>) {
        let there = self.threshold.map_or(1.0, |t| t.max(0.0) + 1.0);
        let absent = self.threshold.map_or(0.0, |t| t.min(0.0));
        super::sample(&self.log_priors, n, self.counts.ncols(), random, |j, class, random| {
            let share = self.log_shares[[class, j]].exp();
            if random.uniform() < share { there } else { absent }
        })
    }
}

impl Factored for BernoulliNbModel {
    fn log_priors(&self) -> &[f64] {
        &self.log_priors
    }

    fn log_factors(&self, row: &[f64]) -> Result<Matrix> {
        let there = counted_row(self, row, presence(self.threshold))?;
        Ok(Matrix::from_shape_fn((row.len(), self.classes.len()), |(j, c)| {
            let p = self.log_shares[[c, j]];
            if there[j] > 0.0 { p } else { (-p.exp()).ln_1p() }
        }))
    }

    fn factor_formula(&self, column: usize, class: u32, value: f64) -> String {
        let at = [class as usize, column];
        let (n, alpha) = (self.counts[at], self.alphas[column]);
        let total = self.class_weights[class as usize] + 2.0 * alpha;
        let share = (n + alpha) / total;
        let there = presence(self.threshold)(value) == Some(1.0);
        let (before, p) = if there { ("", share) } else { ("1 - ", 1.0 - share) };
        format!("{before}({} + {}) / {} = {}", short(n), short(alpha), short(total), short(p))
    }
}

impl Check for BernoulliNbModel {
    fn check(&self) -> Result<()> {
        check_counts(
            "Bernoulli",
            self.classes.len(),
            &[&self.log_priors, &self.class_weights],
            &self.alphas,
            &[&self.counts, &self.log_shares],
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{array, aview1};

    #[test]
    fn the_textbook_document_comes_out_to_its_digits() {
        // Manning, Raghavan & Schütze, example 13.2: P(China) 0.005, P(not China) 0.022.
        let x = array![
            [1.0, 2.0, 0.0, 0.0, 0.0, 0.0],
            [0.0, 2.0, 0.0, 0.0, 1.0, 0.0],
            [0.0, 1.0, 0.0, 1.0, 0.0, 0.0],
            [0.0, 1.0, 1.0, 0.0, 0.0, 1.0]
        ];
        let classes = Classes::from_names(["China", "not China"]);
        let data = Dataset::classes(&x, &[0, 0, 0, 1], &classes).unwrap();

        let model = BernoulliNb::new().fit(&data, &Monitor::quiet()).unwrap();
        let scores = model.scores(&Rows::from(aview1(&[0.0, 3.0, 1.0, 0.0, 0.0, 1.0]))).unwrap();

        // 3/4 · 4/5 · 1/5 · 1/5 · (1 − 2/5)³ and 1/4 · (2/3)³ · (1 − 1/3)³
        assert!((scores[[0, 0]].exp() - 0.75 * 0.8 * 0.04 * 0.216).abs() < 1e-12);
        assert!((scores[[0, 1]].exp() - 0.25 * (8.0 / 27.0) * (8.0 / 27.0)).abs() < 1e-12);
    }

    #[test]
    fn without_smoothing_what_never_happened_is_impossible_and_nothing_is_nan() {
        let x = array![[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]];
        let classes = Classes::from_names(["a", "b"]);
        let data = Dataset::classes(&x, &[0, 0, 1, 1], &classes).unwrap();

        let model = BernoulliNb::new().alpha(0.0.into()).fit(&data, &Monitor::quiet()).unwrap();
        let proba = model.log_proba(&Rows::from(&x)).unwrap().mapv(f64::exp);

        assert_eq!(proba, array![[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]);
    }
}
