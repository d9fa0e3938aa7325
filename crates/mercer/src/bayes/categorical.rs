//! Categorical naive Bayes: within a class, every feature has a categorical distribution.
//!
//! `log p(c, x) = log p(c) + Σⱼ log θ_cj(xⱼ)`, `θ_cj(v) = (N_cjv + α) / (N_cj + α kⱼ)`
//!
//! `N_cjv` is the number of rows of class `c` in which feature `j` has category `v`, `kⱼ` the number of its
//! categories. A missing value (NaN) has no factor: it is left out of the counts and of the product.

use super::likelihood::{Categorical, Unseen};
use super::{each_chunk, each_row, log_priors};
use crate::explain::{ClassMeans, Domain};
use crate::model::OneOrEach;
use crate::model::{AlphaParam, ForceAlpha, PriorParams};
use crate::prelude::*;
use crate::stats::{ByClass, CategoryCounts};
use mercer_num::parallel;
use mercer_num::random::Random;
use mercer_num::simd::add_table_rows;

params! {
    /// Categorical naive Bayes, for categorical features encoded as integers from 0.
    pub struct CategoricalNb {
        ..AlphaParam;
        ..ForceAlpha;
        ..PriorParams;
        /// Minimum number of categories: an integer for all features, or one per feature. `None` uses the largest
        /// code of the training data plus one.
        min_categories: OneOrEach = OneOrEach::Each(Vec::new()), Between(0.0, 16_777_216.0);
        /// Categories that do not occur in the training data: `ignore` omits the factor, as for a missing value, `other`
        /// uses the smoothed probability of a count of zero, `error` refuses the row.
        unseen: Unseen = Unseen::Ignore, OneOf(Unseen::VALUES);
    }
    formula = "argmax_c log P(c) + Σⱼ log θ_cj(xⱼ),  θ_cj(v) = (N_cjv + α) / (N_cj + α kⱼ)";
    lecture = 5;
    attributes = [
        CLASS_COUNT,
        CLASS_LOG_PRIOR,
        of_field(
            "category_count_",
            "columns",
            "column_counts",
            "list of ndarray of shape (n_classes, n_categories)",
            "For each feature, the count of each category in each class.",
        ),
        of_field(
            "feature_log_prob_",
            "columns",
            "column_log_probabilities",
            "list of ndarray of shape (n_classes, n_categories)",
            "For each feature, the logarithm of the smoothed probability `θ` of each category given each class.",
        ),
        of_field("n_categories_", "columns", "category_counts", PER_FEATURE, "Number of categories of each feature."),
    ];
}

/// A categorical distribution for every feature and class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CategoricalNbModel {
    /// The classes in code order.
    pub classes: Classes,
    /// `log P(class)`.
    pub log_priors: Vec<f64>,
    /// The total sample weight of each class.
    pub class_weights: Vec<f64>,
    /// One entry per feature.
    pub columns: Vec<Categorical>,
    /// The treatment of unknown categories.
    pub unseen: Unseen,
}

impl CategoricalNb {
    /// The minimum number of categories of each feature.
    fn min_categories_of(&self, n_columns: usize) -> Result<Vec<usize>> {
        match &self.min_categories {
            OneOrEach::One(k) => Ok(vec![*k as usize; n_columns]),
            OneOrEach::Each(all) if all.is_empty() => Ok(vec![0; n_columns]),
            OneOrEach::Each(all) if all.len() == n_columns => {
                Ok(all.iter().map(|k| *k as usize).collect())
            }
            OneOrEach::Each(all) => Err(Error::Parameter {
                name: "min_categories".into(),
                found: format!("a list of {} values", all.len()),
                expected: format!("an integer, or one integer per feature ({n_columns})"),
            }),
        }
    }
}

impl Accumulate for CategoricalNb {
    type Stats = ByClass<CategoryCounts>;
    type Model = CategoricalNbModel;

    fn observe(&self, stats: &mut Self::Stats, batch: &Dataset<'_>) -> Result<()> {
        stats.push_rows(batch, |batch, group_of_row, class_weights| {
            CategoryCounts::of_rows(
                batch.rows(),
                group_of_row,
                batch.weights(),
                class_weights.len(),
            )
        })
    }

    fn finish(&self, stats: &Self::Stats) -> Result<Self::Model> {
        stats.classes().check_several()?;
        let groups = stats.groups();
        let min_categories = self.min_categories_of(stats.n_columns())?;
        let alpha = super::effective_alpha(self.alpha, self.force_alpha);
        let columns = min_categories
            .into_iter()
            .enumerate()
            .map(|(j, k)| Categorical::lidstone(groups.column(j, k), alpha))
            .collect();
        Ok(CategoricalNbModel {
            classes: stats.classes().clone(),
            log_priors: log_priors(&self.class_prior, self.fit_prior, &stats.weights())?,
            class_weights: stats.weights(),
            columns,
            unseen: self.unseen,
        })
    }
}

impl Classifier for CategoricalNbModel {
    fn classes(&self) -> &Classes {
        &self.classes
    }

    fn log_prior_fallback(&self) -> Option<Vec<f64>> {
        Some(self.log_priors.clone())
    }

    fn n_columns(&self) -> usize {
        self.columns.len()
    }

    /// Moments of the codes, which are meaningful if the categories are ordered, such as gray levels.
    fn class_means(&self) -> Option<ClassMeans> {
        Some(ClassMeans::of_columns(self.classes.len(), self.columns.len(), |c, j| {
            self.columns[j].moments(c)
        }))
    }

    /// The joint log-likelihoods `log p(c, x)`.
    fn scores(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.check_columns(x)?;
        let (width, n_classes) = (self.columns.len(), self.classes.len());
        // One table for all columns, whose rows are the factors of a category; padding with zeros lets SIMD add four
        // classes at a time.
        let wide = n_classes.next_multiple_of(4);
        let (mut table, mut starts) = (Vec::new(), Vec::with_capacity(width));
        for column in &self.columns {
            starts.push(table.len() / wide);
            for factors in column.by_category(self.unseen).chunks_exact(n_classes) {
                table.extend_from_slice(factors);
                table.resize(table.len().next_multiple_of(wide), 0.0);
            }
        }
        let chunk = parallel::chunk_rows(width, parallel::Layout::Dense);
        let mut out = Matrix::zeros((x.n_rows(), n_classes));
        each_chunk(&mut out, chunk, |first, scores| {
            let n = scores.len() / n_classes;
            let (mut table_rows, mut present) = (vec![0; width], vec![1.0; width]);
            let mut sums = vec![0.0; wide];
            each_row(x, first..first + n, |i, row| {
                for (j, x) in row.iter().enumerate() {
                    let code = self.columns[j].code(*x, self.unseen, (first + i, j))?;
                    table_rows[j] = code.map_or(0, |code| (starts[j] + code) as i32);
                    present[j] = f64::from(u8::from(code.is_some()));
                }
                sums[..n_classes].copy_from_slice(&self.log_priors);
                add_table_rows(&table_rows, &present, &table, &mut sums);
                scores[i * n_classes..(i + 1) * n_classes].copy_from_slice(&sums[..n_classes]);
                Ok(())
            })
        })?;
        Ok(out)
    }
}

impl Probabilistic for CategoricalNbModel {}

impl Generative for CategoricalNbModel {
    fn sample(&self, n: usize, given: Option<u32>, random: &mut Random) -> (Matrix, Vec<u32>) {
        super::sample(
            &self.log_priors,
            (n, given),
            self.columns.len(),
            random,
            |j, class, random| self.columns[j].sample(class, random),
        )
    }
}

impl FactorizedLikelihood for CategoricalNbModel {
    fn log_priors(&self) -> &[f64] {
        &self.log_priors
    }

    fn log_factors(&self, row: &[f64]) -> Result<Matrix> {
        self.check_columns(&Rows::from(ndarray::ArrayView1::from(row)))?;
        let n_classes = self.classes.len();
        let mut out = Matrix::zeros((row.len(), n_classes));
        for (j, x) in row.iter().enumerate() {
            if let Some(code) = self.columns[j].code(*x, self.unseen, (0, j))? {
                let table = self.columns[j].by_category(self.unseen);
                let factors = &table[code * n_classes..(code + 1) * n_classes];
                out.row_mut(j).iter_mut().zip(factors).for_each(|(to, f)| *to = *f);
            }
        }
        Ok(out)
    }

    fn domain(&self, column: usize) -> Domain {
        Domain::Categories(self.columns[column].n_categories())
    }

    fn factor_formula(&self, column: usize, class: u32, value: f64) -> String {
        self.columns[column].formula(class as usize, value, self.unseen)
    }
}

impl Check for CategoricalNbModel {
    fn check(&self) -> Result<()> {
        let n = self.classes.len();
        let fits = super::are_priors(n, &self.log_priors, &self.class_weights)
            && !self.columns.is_empty()
            && self.columns.iter().all(|c| c.fits(n));
        if fits { Ok(()) } else { Err(super::inconsistent("categorical")) }
    }
}
