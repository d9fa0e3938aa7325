//! Naive Bayes for mixed tables: every column has its own likelihood.
//!
//! `log p(c, x) = log p(c) + Σⱼ log pⱼ(xⱼ | c)`
//!
//! Categorical and boolean columns have categorical distributions, numeric columns densities or histograms, text columns
//! multinomial distributions over terms. The likelihood of a column follows from its type, from the user, or from the
//! rows: the one with the largest leave-one-out log-likelihood. A missing value has no factor. Columns have equal or
//! learned weights.

mod model;
mod select;
mod weights;

pub use model::{MixedNbModel, Text};

use super::likelihood::Unseen;
use super::{Variance, log_priors};
use crate::model::{AlphaParam, Certificate, ParamValue, PriorParams, Stop};
use crate::prelude::*;
use crate::stats::{ByClass, Mixed, OptionalParts};
use std::collections::BTreeMap;

choice! {
    /// The family of the likelihood of a column.
    pub enum Family {
        /// The family with the largest leave-one-out log-likelihood.
        Auto = "auto",
        /// A normal density for numeric columns, a categorical distribution for the others.
        Schema = "schema",
        /// A normal density.
        Gaussian = "gaussian",
        /// A kernel density estimate.
        Kernel = "kernel",
        /// A histogram with bins of equal width.
        EqualWidth = "equal-width",
        /// A histogram with bins of equal weight.
        EqualFrequency = "equal-frequency",
        /// A histogram with bins of minimum description length (Fayyad & Irani).
        Entropy = "entropy",
        /// A histogram with two bins of least class entropy.
        Split = "split",
        /// A Poisson distribution.
        Poisson = "poisson",
        /// An exponential density.
        Exponential = "exponential",
        /// A categorical distribution.
        Categorical = "categorical",
        /// A Bernoulli distribution: above zero, or one of two categories.
        Bernoulli = "bernoulli",
        /// A multinomial distribution over all columns of this family.
        Multinomial = "multinomial",
    }
}

choice! {
    /// The smoothing of categorical probabilities.
    pub enum Estimate {
        /// `(n + alpha) / (N + alpha k)` for `k` categories: Laplace for 1, maximum likelihood for 0.
        Lidstone = "lidstone",
        /// `(n + alpha) / (N + alpha C)` for `C` classes, a variant of Laplace smoothing in some textbooks.
        LaplaceByClasses = "laplace-by-classes",
        /// `(n + m p) / (N + m)`.
        MEstimate = "m-estimate",
        /// Lidstone smoothing with the alpha of the largest leave-one-out log-likelihood, per column.
        HeldOut = "held-out",
    }
}

choice! {
    /// The weights of the columns.
    pub enum Weights {
        /// Equal weights: naive Bayes.
        Equal = "equal",
        /// Weights that minimize the log loss.
        Learned = "learned",
    }
}

/// One family for all columns, one per column, or by column name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Likelihoods {
    /// The same for all columns.
    One(Family),
    /// One per column, in order.
    Each(Vec<Family>),
    /// By column name; `auto` for the others.
    ByName(BTreeMap<String, Family>),
}

impl ParamValue for Likelihoods {
    const TYPE: &'static str = "str, list of str or dict of str to str";

    fn obeys(&self, _rule: crate::model::Rule) -> bool {
        true
    }
}

/// Lists of numbers by column name.
pub type ByName = BTreeMap<String, Vec<f64>>;

impl ParamValue for ByName {
    const TYPE: &'static str = "dict of str to list of float";

    fn obeys(&self, rule: crate::model::Rule) -> bool {
        self.values().all(|numbers| numbers.obeys(rule))
    }
}

params! {
    /// Naive Bayes for mixed tables: every column has its own likelihood.
    pub struct MixedNb {
        /// Likelihood `p(x | class)` of a column: `auto` selects the one with the largest leave-one-out
        /// log-likelihood, `schema` uses a normal density for numeric columns and a categorical distribution for the
        /// others. For numeric columns: `gaussian`, `kernel` (kernel density estimate), `equal-width`,
        /// `equal-frequency`, `entropy` or `split` (histograms), `poisson`, `exponential`, `bernoulli` (above zero),
        /// `multinomial` (jointly over all columns of this kind); for the others: `categorical` or `bernoulli`. One
        /// value for all columns, one per column, or a mapping from column names.
        likelihood: Likelihoods = Likelihoods::One(Family::Auto), Any;
        /// Smoothing of categorical probabilities: `lidstone` is `(n + alpha) / (N + alpha k)` for `k` categories,
        /// `laplace-by-classes` has the number of classes instead of `k` in the denominator, `m-estimate` is
        /// `(n + m p) / (N + m)`, `held-out` is `lidstone` with the `alpha` of the largest leave-one-out
        /// log-likelihood, chosen for each column.
        estimate: Estimate = Estimate::Lidstone, OneOf(Estimate::VALUES);
        ..AlphaParam;
        /// Equivalent sample size of the m-estimate. Larger values shrink probabilities towards `p`.
        m: f64 = 1.0, AtLeast(0.0);
        /// Prior probability of the m-estimate; `None` is uniform over the categories.
        p: Option<f64> = None, Between(0.0, 1.0);
        /// Dirichlet prior of some columns, by column name: one pseudocount per category, in the order of the
        /// categories. Overrides `estimate` for these columns.
        dirichlet: ByName = ByName::new(), AtLeast(0.0);
        /// Weights of the columns: `equal` is naive Bayes; `learned` raises the likelihood of each column to a power
        /// that minimizes the log loss, so that redundant columns do not count twice (weighted naive Bayes). `learned`
        /// stores up to 4096 training rows in the statistics.
        weights: Weights = Weights::Equal, OneOf(Weights::VALUES);
        /// Number of bins of `equal-width` and `equal-frequency`. More bins follow the data more closely.
        bins: usize = 10, Between(2.0, 1000.0);
        /// Denominator of the variances: the weight (`population`, maximum likelihood) or the weight minus one
        /// (`sample`, unbiased).
        variance: Variance = Variance::Population, OneOf(Variance::VALUES);
        /// Fraction of the variance of a column that is added to the variance of each class; Poisson and exponential
        /// means are at least this fraction of the mean of the column.
        var_smoothing: f64 = 1e-9, AtLeast(0.0);
        /// Categories that do not occur in the training data: `ignore` omits the factor, as for a missing value, `other`
        /// uses the smoothed probability of a count of zero, `error` refuses the row.
        unseen: Unseen = Unseen::Ignore, OneOf(Unseen::VALUES);
        ..PriorParams;
    }
    formula = "argmax_c log P(c) + Σⱼ log pⱼ(xⱼ | c)";
    lecture = 6;
    attributes = [
        CLASS_COUNT,
        CLASS_LOG_PRIOR,
        own("likelihoods_", "list of dict", "Family and parameters of the likelihood of each column that is not text."),
        own("texts_", "list of dict", "Multinomial distribution of the terms of each text column."),
        own(
            "weights_",
            "ndarray of shape (n_columns,)",
            "Weight of each column, then of each text; empty for equal weights.",
        ),
    ];
}

impl Accumulate for MixedNb {
    type Stats = ByClass<Mixed>;
    type Model = MixedNbModel;

    fn observe(&self, stats: &mut Self::Stats, batch: &Dataset<'_>) -> Result<()> {
        let by_name = matches!(self.likelihood, Likelihoods::ByName(_));
        let parts = OptionalParts {
            values: self.needs_values(),
            names: by_name || !self.dirichlet.is_empty(),
            rows: self.weights == Weights::Learned,
        };
        stats.push_rows(batch, |batch, group_of_row, class_weights| {
            Mixed::of_rows(batch, group_of_row, class_weights, parts)
        })
    }

    fn finish(&self, stats: &Self::Stats) -> Result<Self::Model> {
        self.finish_within(stats, &Monitor::quiet()).map(|(model, _)| model)
    }

    fn finish_within(
        &self,
        stats: &Self::Stats,
        monitor: &Monitor<'_>,
    ) -> Result<(Self::Model, Option<Stop>)> {
        stats.classes().check_several()?;
        let groups = stats.groups();
        let mut model = MixedNbModel {
            classes: stats.classes().clone(),
            log_priors: log_priors(&self.class_prior, self.fit_prior, &stats.weights())?,
            class_weights: stats.weights(),
            likelihoods: self.likelihoods(&groups)?,
            texts: self.texts(&groups),
            unseen: self.unseen,
            weights: Vec::new(),
        };
        if self.weights == Weights::Equal {
            return Ok((model, None));
        }
        let (weights, stopped) = model.weight_problem(&groups.sample, monitor)?.minimize(monitor);
        model.weights = weights;
        Ok((model, stopped))
    }

    /// The objective and a lower bound, if the weights are learned.
    fn certificate(&self, stats: &Self::Stats, model: &Self::Model) -> Certificate {
        if self.weights == Weights::Equal {
            return Certificate::closed_form();
        }
        let sample = &stats.groups().sample;
        let Ok(problem) = model.weight_problem(sample, &Monitor::quiet()) else {
            return Certificate::closed_form();
        };
        let loss = problem.loss(&model.weights);
        Certificate::iterative(true, None)
            .objective("penalized log loss of the sampled rows", loss.value)
            .dual(loss.value - loss.suboptimality(&model.weights))
            .iterations(1)
    }
}
