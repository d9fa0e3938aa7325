//! Multinomial naive Bayes: within a class, the counts of a row are multinomially distributed.
//!
//! `log p(c, x) = log p(c) + Σⱼ xⱼ log θ_cj`, `θ_cj = (N_cj + αⱼ) / Σₖ (N_ck + αₖ)`
//!
//! `N_cj` is the total count of feature `j` in class `c`. The estimate is the posterior mean under a Dirichlet prior
//! `α`: Laplace smoothing for 1, Lidstone smoothing below, maximum likelihood for 0 (Manning, Raghavan & Schütze
//! 2008, section 13.2).
//!
//! The density of a row is conditional on its length `N = Σⱼ xⱼ`, which the model does not describe:
//! `log p(x | c, N) = log Γ(N + 1) − Σⱼ log Γ(xⱼ + 1) + Σⱼ xⱼ log θ_cj`, also for real counts.

use super::counts::{
    ClassCounts, by_column, check_counts, class_totals, counts_of_row, linear_scores,
    log_probability, observe_counts, read_by_column,
};
use super::drawn_classes;
use super::likelihood::is_log_probability;
use crate::explain::{Center, ClassMeans, Domain};
use crate::model::{AlphaParam, ForceAlpha, PriorParams};
use crate::prelude::*;
use crate::stats::{ByClass, Count, Counts, not_a_count};
use mercer_num::SharedMatrix;
use mercer_num::random::Random;
use mercer_num::simd::{ln, ln_each, sum};
use mercer_num::special::ln_gamma;
use std::ops::Range;

/// The longest document that is sampled.
const MAX_SAMPLED_LENGTH: f64 = 1e6;

params! {
    /// Multinomial naive Bayes, for count features such as term counts of documents.
    pub struct MultinomialNb {
        ..AlphaParam(per_feature);
        ..ForceAlpha;
        ..PriorParams;
    }
    formula = "argmax_c log P(c) + Σⱼ xⱼ log θ_cj,  θ_cj = (N_cj + αⱼ) / Σₖ (N_ck + αₖ)";
    lecture = 5;
    attributes = [CLASS_COUNT, CLASS_LOG_PRIOR, FEATURE_COUNT, FEATURE_LOG_PROB];
}

/// A multinomial distribution for every class (row).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MultinomialNbModel {
    /// The classes in code order.
    pub classes: Classes,
    /// `log P(class)`.
    pub log_priors: Vec<f64>,
    /// The total sample weight of each class.
    pub class_weights: Vec<f64>,
    /// The total count of each feature in each class.
    pub counts: SharedMatrix,
    /// The smoothing of each feature.
    pub alphas: Vec<f64>,
    /// `log θ`.
    #[serde(deserialize_with = "read_by_column")]
    pub log_probabilities: Matrix,
}

impl Accumulate for MultinomialNb {
    type Stats = ByClass<Counts>;
    type Model = MultinomialNbModel;

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
        let log_probabilities = log_probabilities(&counts, &alphas);
        Ok(MultinomialNbModel {
            classes,
            log_priors,
            class_weights,
            counts,
            alphas,
            log_probabilities,
        })
    }
}

/// `log ((N_cj + αⱼ) / Σₖ (N_ck + αₖ))`.
fn log_probabilities(counts: &SharedMatrix, alphas: &[f64]) -> Matrix {
    let added = sum(alphas);
    let log_totals: Vec<f64> = class_totals(counts).iter().map(|n| ln(n + added)).collect();
    let (table, _) = by_column(counts.view(), |strip| {
        let alphas = &alphas[strip.columns.clone()];
        strip.write_zero_counts(alphas, |alpha, cells| {
            let cells = cells.iter_mut().zip(&log_totals);
            cells.for_each(|(cell, log_total)| *cell = log_probability(ln(alpha), *log_total));
        });
        strip.write_positive_counts(|c, columns, counts| {
            counts.iter_mut().zip(columns).for_each(|(n, k)| *n += alphas[*k]);
            ln_each(counts);
            counts.iter_mut().for_each(|p| *p = log_probability(*p, log_totals[c]));
        });
    });
    table
}

impl Classifier for MultinomialNbModel {
    fn classes(&self) -> &Classes {
        &self.classes
    }

    fn log_prior_fallback(&self) -> Option<Vec<f64>> {
        Some(self.log_priors.clone())
    }

    fn n_columns(&self) -> usize {
        self.counts.ncols()
    }

    fn class_means(&self) -> Option<ClassMeans> {
        let centers = self.log_probabilities.mapv(f64::exp);
        Some(ClassMeans { what: Center::Probability, centers, deviations: None })
    }

    /// The joint log-likelihoods `log p(c, x)`, without the multinomial coefficient, which is the same for all classes.
    fn scores(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.check_columns(x)?;
        linear_scores(x, &self.log_priors, &self.log_probabilities, Count::Number)
    }
}

impl Probabilistic for MultinomialNbModel {}

impl Generative for MultinomialNbModel {
    /// `log p(c, x | length)`: the scores and the logarithm of the multinomial coefficient.
    fn log_joint(&self, x: &Rows<'_>) -> Result<Matrix> {
        let mut joint = self.scores(x)?;
        without_duplicate_cells(x, |x| {
            for (i, mut row) in joint.outer_iter_mut().enumerate() {
                row += log_coefficient(x, i, 0..x.n_columns());
            }
        });
        Ok(joint)
    }

    /// Documents as long as the mean document of their class, rounded.
    fn sample(&self, n: usize, given: Option<u32>, random: &mut Random) -> (Matrix, Vec<u32>) {
        let codes = drawn_classes(&self.log_priors, n, given, random);
        let mut rows = Matrix::zeros((n, self.counts.ncols()));
        for (mut row, code) in rows.outer_iter_mut().zip(&codes) {
            let c = *code as usize;
            let length = mean_length(self.counts.row(c).sum(), self.class_weights[c]);
            let log_p = self.log_probabilities.row(c);
            draw_counts(length, &log_p.to_vec(), random, |j| row[j] += 1.0);
        }
        (rows, codes)
    }
}

/// Calls `f` with the rows; a cell of sparse rows that is stored in parts is summed first.
pub(super) fn without_duplicate_cells(x: &Rows<'_>, f: impl FnOnce(&Rows<'_>)) {
    match x {
        Rows::Sparse(x) => f(&Rows::Sparse(x.sum_duplicates().view())),
        _ => f(x),
    }
}

/// `log Γ(N + 1) − Σⱼ log Γ(xⱼ + 1)` over some columns of a row with the total `N`: the multinomial coefficient of real
/// counts.
pub(super) fn log_coefficient(x: &Rows<'_>, row: usize, columns: Range<usize>) -> f64 {
    let (mut total, mut sum) = (0.0, 0.0);
    let mut count = |n: f64| {
        total += n;
        // The factorials of zero and one are one.
        if n != 0.0 && n != 1.0 {
            sum += ln_gamma(n + 1.0);
        }
    };
    match x {
        Rows::Sparse(x) => {
            let (stored, values) = x.row(row);
            let inside =
                stored.iter().zip(values).filter(|(j, _)| columns.contains(&(**j as usize)));
            inside.for_each(|(_, n)| count(*n));
        }
        _ => x.row(row)[columns].iter().for_each(|n| count(*n)),
    }
    ln_gamma(total + 1.0) - sum
}

/// The length of a sampled document: the mean length of its class, at least one.
pub(super) fn mean_length(total_count: f64, n_documents: f64) -> usize {
    let mean = if n_documents > 0.0 { total_count / n_documents } else { 1.0 };
    mean.round().clamp(1.0, MAX_SAMPLED_LENGTH) as usize
}

/// Draws the tokens of a document from the multinomial distribution of its class.
pub(super) fn draw_counts(
    length: usize,
    log_probabilities: &[f64],
    random: &mut Random,
    mut take: impl FnMut(usize),
) {
    let mut cumulative = 0.0;
    let bounds: Vec<f64> = log_probabilities
        .iter()
        .map(|p| {
            cumulative += p.exp();
            cumulative
        })
        .collect();
    // A class without tokens and smoothing has empty documents.
    let length = if cumulative > 0.0 { length } else { 0 };
    for _ in 0..length {
        let u = random.uniform() * cumulative;
        take(bounds.partition_point(|bound| *bound <= u).min(bounds.len() - 1));
    }
}

impl FactorizedLikelihood for MultinomialNbModel {
    fn log_priors(&self) -> &[f64] {
        &self.log_priors
    }

    fn log_factors(&self, row: &[f64]) -> Result<Matrix> {
        let counts = counts_of_row(self, row, Count::Number)?;
        Ok(Matrix::from_shape_fn((counts.len(), self.classes.len()), |(j, c)| {
            if counts[j] == 0.0 { 0.0 } else { counts[j] * self.log_probabilities[[c, j]] }
        }))
    }

    /// A count of zero has a factor of one, which is left out.
    fn for_each_factor(
        &self,
        x: &Rows<'_>,
        visit: &mut dyn FnMut(usize, usize, &[f64]),
    ) -> Result<()> {
        self.check_columns(x)?;
        let mut factors = vec![0.0; self.classes.len()];
        for i in 0..x.n_rows() {
            for (j, x) in x.row(i).into_iter().enumerate().filter(|(_, x)| *x != 0.0) {
                let n = Count::Number.of(x).ok_or_else(|| not_a_count(i, j, x))?;
                let log_probabilities = self.log_probabilities.column(j);
                factors
                    .iter_mut()
                    .zip(log_probabilities)
                    .for_each(|(f, log_probability)| *f = n * log_probability);
                visit(j, i, &factors);
            }
        }
        Ok(())
    }

    fn domain(&self, _column: usize) -> Domain {
        Domain::Outcome
    }

    /// The probabilities of a class sum to one.
    fn n_parameters(&self) -> Option<u64> {
        let (n_classes, width) = self.counts.dim();
        Some((n_classes as u64 - 1) + n_classes as u64 * (width as u64 - 1))
    }

    /// The counts of a document are not bounded.
    fn n_joint_parameters(&self) -> Option<f64> {
        None
    }

    fn factor_formula(&self, column: usize, class: u32, value: f64) -> String {
        let counts = self.counts.row(class as usize);
        let (n, alpha) = (counts[column], self.alphas[column]);
        let total = counts.sum() + self.alphas.iter().sum::<f64>();
        let probability = (n + alpha) / total;
        let power = if value == 1.0 { String::new() } else { format!("^{}", short(value)) };
        format!(
            "(({} + {}) / {}){power} = {}",
            short(n),
            short(alpha),
            short(total),
            short(probability.powf(value))
        )
    }
}

impl Check for MultinomialNbModel {
    fn check(&self) -> Result<()> {
        check_counts(
            "multinomial",
            self.classes.len(),
            (&self.log_priors, &self.class_weights),
            &self.alphas,
            &self.counts,
            &self.log_probabilities,
            is_log_probability,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::explain;
    use crate::model::OneOrEach;
    use ndarray::{array, aview1};

    /// Manning, Raghavan & Schütze, table 13.1: Beijing, Chinese, Japan, Macao, Shanghai, Tokyo.
    fn documents() -> (Matrix, [u32; 4], Classes) {
        let counts = array![
            [1.0, 2.0, 0.0, 0.0, 0.0, 0.0],
            [0.0, 2.0, 0.0, 0.0, 1.0, 0.0],
            [0.0, 1.0, 0.0, 1.0, 0.0, 0.0],
            [0.0, 1.0, 1.0, 0.0, 0.0, 1.0]
        ];
        (counts, [0, 0, 0, 1], Classes::from_names(["China", "not China"]))
    }
    const TEST: [f64; 6] = [0.0, 3.0, 1.0, 0.0, 0.0, 1.0];

    #[test]
    fn the_textbook_example_is_reproduced() {
        let (x, codes, classes) = documents();
        let data = Dataset::classes(&x, &codes, &classes).unwrap();

        let model = MultinomialNb::new().fit(&data, &Monitor::quiet()).unwrap();
        let scores = model.scores(&Rows::from(aview1(&TEST))).unwrap();

        // 3/4 (3/7)³ (1/14)² and 1/4 (2/9)⁵
        assert_eq!(short(scores[[0, 0]].exp()), "0.0003012");
        assert_eq!(short(scores[[0, 1]].exp()), "0.0001355");
        let explanation = explain(&model.model, &TEST, &[]).unwrap();
        assert_eq!(explanation.factors[1].formulas[0], "((5 + 1) / 14)^3 = 0.07872");
    }

    #[test]
    fn a_probability_of_zero_excludes_a_class_only_if_the_feature_occurs() {
        let (x, codes, classes) = documents();
        let data = Dataset::classes(&x, &codes, &classes).unwrap();

        let model = MultinomialNb::new().alpha(0.0.into()).fit(&data, &Monitor::quiet()).unwrap();
        let rows = array![[0.0, 1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 1.0, 0.0, 0.0, 0.0]];
        let scores = model.scores(&Rows::from(&rows)).unwrap();

        assert!(scores.row(0).iter().all(|s| s.is_finite()));
        assert_eq!(scores[[1, 0]], f64::NEG_INFINITY);
        assert!(scores[[1, 1]].is_finite());
    }

    #[test]
    fn only_nonzero_counts_have_factors() {
        let (x, codes, classes) = documents();
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        let model = MultinomialNb::new().fit(&data, &Monitor::quiet()).unwrap().model;
        let mut visited = Vec::new();

        let rows = array![[0.0; 6], TEST];
        model
            .for_each_factor(&Rows::from(&rows), &mut |j, i, f| visited.push((j, i, f.to_vec())))
            .unwrap();

        let all = model.log_factors(&TEST).unwrap();
        let expected = [1, 2, 5].map(|j| (j, 1, all.row(j).to_vec()));
        assert_eq!(visited, expected);
    }

    #[test]
    fn a_negative_cell_is_refused() {
        let (mut x, codes, classes) = documents();
        x[[2, 3]] = -1.0;
        let data = Dataset::classes(&x, &codes, &classes).unwrap();

        let error = MultinomialNb::new().fit(&data, &Monitor::quiet()).unwrap_err();

        assert_eq!(error, Error::NotACount { row: 2, column: 3, value: -1.0 });
    }

    #[test]
    fn an_alpha_for_each_feature_is_a_dirichlet_prior() {
        let (x, codes, classes) = documents();
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        let alpha = OneOrEach::Each(vec![1.0, 2.0, 3.0, 0.5, 0.5, 1.0]);

        let model = MultinomialNb::new().alpha(alpha).fit(&data, &Monitor::quiet()).unwrap();

        // Chinese: (5 + 2) / (8 + 8)
        assert!((model.log_probabilities[[0, 1]].exp() - 7.0 / 16.0).abs() < 1e-15);
        let wrong = MultinomialNb::new().alpha(OneOrEach::Each(vec![1.0]));
        assert!(wrong.fit(&data, &Monitor::quiet()).is_err());
    }
}
