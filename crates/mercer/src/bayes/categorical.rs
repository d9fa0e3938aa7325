//! Categorical naive Bayes: within a class, every feature is drawn from a list of values.
//!
//! `log p(c, x) = log p(c) + Σⱼ log θ_cj(xⱼ)`, `θ_cj(v) = (N_cjv + α) / (N_cj + α kⱼ)`
//!
//! `N_cjv` is how often feature `j` has value `v` in class `c`, `kⱼ` the number of its values. A
//! missing value (NaN) has no factor: it is left out of the counts and of the product.

use super::likelihood::{Categorical, Unseen};
use super::{each_chunk, each_row, log_priors};
use crate::explain::ClassMeans;
use crate::model::OneOrEach;
use crate::model::{AlphaParam, ForceAlpha, PriorParams};
use crate::prelude::*;
use crate::stats::{ByClass, CategoryCounts};
use mercer_num::parallel;
use mercer_num::random::Random;
use mercer_num::simd::add_table_rows;

params! {
    /// Categorical naive Bayes, for features that are one of a few values: codes from 0.
    pub struct CategoricalNb {
        ..AlphaParam;
        ..ForceAlpha;
        ..PriorParams;
        /// How many values each feature has at least: one number, or one a feature; empty takes those
        /// seen.
        min_categories: OneOrEach = OneOrEach::Each(Vec::new()), Between(0.0, 16_777_216.0);
        /// What becomes of a value that training never saw: it has no say (`ignore`), counts as seen
        /// zero times (`other`), or is refused (`error`).
        unseen: Unseen = Unseen::Ignore, OneOf(Unseen::WORDS);
    }
}

/// Shares of values for every feature and class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CategoricalNbModel {
    /// The classes in code order.
    pub classes: Classes,
    /// `log P(class)`.
    pub log_priors: Vec<f64>,
    /// The weight of the rows of each class.
    pub class_weights: Vec<f64>,
    /// One entry a feature.
    pub columns: Vec<Categorical>,
    /// What becomes of a value that training never saw.
    pub unseen: Unseen,
}

impl CategoricalNb {
    /// How many values each feature has at least.
    fn least(&self, n_columns: usize) -> Result<Vec<usize>> {
        match &self.min_categories {
            OneOrEach::One(k) => Ok(vec![*k as usize; n_columns]),
            OneOrEach::Each(all) if all.is_empty() => Ok(vec![0; n_columns]),
            OneOrEach::Each(all) if all.len() == n_columns => {
                Ok(all.iter().map(|k| *k as usize).collect())
            }
            OneOrEach::Each(all) => Err(Error::Parameter {
                name: "min_categories".into(),
                found: format!("{} numbers", all.len()),
                expected: format!("one number, or one for each of the {n_columns} features"),
            }),
        }
    }
}

impl Accumulate for CategoricalNb {
    type Stats = ByClass<CategoryCounts>;
    type Model = CategoricalNbModel;

    fn observe(&self, stats: &mut Self::Stats, batch: &Dataset<'_>) -> Result<()> {
        stats.push_rows(batch, |batch, slots, class_weights| {
            CategoryCounts::of_rows(batch.rows(), slots, batch.weights(), class_weights.len())
        })
    }

    fn finish(&self, stats: &Self::Stats) -> Result<Self::Model> {
        stats.classes().check_several()?;
        let groups = stats.groups();
        let least = self.least(stats.n_columns())?;
        let alpha = super::forced(self.alpha, self.force_alpha);
        let columns = least
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

    fn n_columns(&self) -> usize {
        self.columns.len()
    }

    /// Of the codes: a picture where they are steps of one quantity, as gray levels are.
    fn class_means(&self) -> Option<ClassMeans> {
        Some(ClassMeans::of_columns(self.classes.len(), self.columns.len(), |c, j| {
            self.columns[j].moments(c)
        }))
    }

    /// The joint log-likelihoods `log p(c, x)`.
    fn scores(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.check_columns(x)?;
        let (width, n_classes) = (self.columns.len(), self.classes.len());
        // One table for all columns: the factors of a row are a few of its rows. A few zeros behind them
        // let the machine add four classes at a time.
        let wide = n_classes.next_multiple_of(4);
        let (mut table, mut starts) = (Vec::new(), Vec::with_capacity(width));
        for column in &self.columns {
            starts.push(table.len() / wide);
            for factors in column.by_value(self.unseen).chunks_exact(n_classes) {
                table.extend_from_slice(factors);
                table.resize(table.len().next_multiple_of(wide), 0.0);
            }
        }
        let chunk = parallel::chunk_rows(width, parallel::Layout::Dense);
        let mut out = Matrix::zeros((x.n_rows(), n_classes));
        each_chunk(&mut out, chunk, |first, scores| {
            let n = scores.len() / n_classes;
            let (mut places, mut counted) = (vec![0; width], vec![1.0; width]);
            let mut sums = vec![0.0; wide];
            each_row(x, first..first + n, |i, row| {
                for (j, x) in row.iter().enumerate() {
                    let place = self.columns[j].place(*x, self.unseen, (first + i, j))?;
                    places[j] = place.map_or(0, |place| (starts[j] + place) as i32);
                    counted[j] = f64::from(u8::from(place.is_some()));
                }
                sums[..n_classes].copy_from_slice(&self.log_priors);
                add_table_rows(&places, &counted, &table, &mut sums);
                scores[i * n_classes..(i + 1) * n_classes].copy_from_slice(&sums[..n_classes]);
                Ok(())
            })
        })?;
        Ok(out)
    }
}

impl Probabilistic for CategoricalNbModel {}

impl Generative for CategoricalNbModel {
    fn sample(&self, n: usize, random: &mut Random) -> (Matrix, Vec<u32>) {
        super::sample(&self.log_priors, n, self.columns.len(), random, |j, class, random| {
            self.columns[j].sample(class, random)
        })
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
            if let Some(place) = self.columns[j].place(*x, self.unseen, (0, j))? {
                let table = self.columns[j].by_value(self.unseen);
                let factors = &table[place * n_classes..(place + 1) * n_classes];
                out.row_mut(j).iter_mut().zip(factors).for_each(|(to, f)| *to = *f);
            }
        }
        Ok(out)
    }

    fn factor_formula(&self, column: usize, class: u32, value: f64) -> String {
        self.columns[column].formula(class as usize, value, self.unseen)
    }
}

impl Check for CategoricalNbModel {
    fn check(&self) -> Result<()> {
        let n = self.classes.len();
        let fits = n >= 2
            && !self.columns.is_empty()
            && self.log_priors.len() == n
            && self.class_weights.len() == n
            && self.log_priors.iter().all(|p| !p.is_nan())
            && self.columns.iter().all(|c| c.fits(n));
        if fits {
            Ok(())
        } else {
            Err(Error::File("a categorical naive Bayes model that no fit could make".into()))
        }
    }
}
