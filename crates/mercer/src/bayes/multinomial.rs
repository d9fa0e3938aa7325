//! Multinomial naive Bayes: within a class, the counts of a row are multinomially distributed.
//!
//! `log p(c, x) = log p(c) + Σⱼ xⱼ log θ_cj`, `θ_cj = (N_cj + αⱼ) / Σₖ (N_ck + αₖ)`
//!
//! `N_cj` is the total count of feature `j` in class `c`. The estimate is the posterior mean under a Dirichlet prior
//! `α`: Laplace smoothing for 1, Lidstone smoothing below, maximum likelihood for 0 (Manning, Raghavan & Schütze
//! 2008, section 13.2).

use super::counts::{
    ClassCounts, by_column, check_counts, class_totals, counts_of_row, linear_scores,
    log_probability, observe_counts, read_by_column,
};
use crate::explain::{Center, ClassMeans, Domain};
use crate::model::{AlphaParam, ForceAlpha, PriorParams};
use crate::prelude::*;
use crate::stats::{ByClass, Count, Counts, not_a_count};
use mercer_num::SharedMatrix;
use mercer_num::simd::{ln, ln_each, sum};

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
            &[&self.log_priors, &self.class_weights],
            &self.alphas,
            &self.counts,
            &self.log_probabilities,
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
