//! Naive Bayes for tables as they are: every column its own kind of likelihood, one prior.
//!
//! `log p(c, x) = log p(c) + Σⱼ log pⱼ(xⱼ | c)`
//!
//! CategoryEncoding and truth values have shares, numbers a curve or steps, texts a bag of words. Which it is
//! follows from what the column holds, from the user, or from the rows: the likelihood that foresees
//! held-out rows best. A missing value has no factor. Columns count alike, or by weights that were
//! learned.

mod model;
mod weights;

pub use model::{MixedNbModel, Text};

use super::likelihood::{
    Categorical, Counted, Cut, Exponential, Gaussian, Histogram, Kernel, Likelihood, Numbers,
    Poisson, Unseen,
};
use super::{Variance, log_priors};
use crate::data::Measure;
use crate::model::{AlphaParam, PriorParams};
use crate::model::{Certificate, ParamValue, Stop};
use crate::prelude::*;
use crate::stats::{ByClass, Keep, Mixed, Moments, ValueCounts};
use ndarray::{Axis, Slice};
use std::collections::BTreeMap;

choice! {
    /// What the likelihood of a column may be.
    pub enum Family {
        /// The one that foresees held-out rows best.
        Auto = "auto",
        /// Bell curves for numbers, shares for the rest.
        Schema = "schema",
        /// A bell curve.
        Gaussian = "gaussian",
        /// A small bell on every row.
        Kernel = "kernel",
        /// Bins of one width.
        EqualWidth = "equal-width",
        /// Bins of one weight.
        EqualFrequency = "equal-frequency",
        /// Bins that tell enough about the class (Fayyad & Irani).
        SoftmaxLoss = "entropy",
        /// Two bins that tell most about the class.
        Split = "split",
        /// Whole numbers of rare events.
        Poisson = "poisson",
        /// Waiting times.
        Exponential = "exponential",
        /// One of a few values.
        Categorical = "categorical",
        /// There or not: above zero, or one of two values.
        Bernoulli = "bernoulli",
        /// Counts of things in one bag, all columns of this kind together.
        Multinomial = "multinomial",
    }
}

choice! {
    /// How a share is estimated from a count.
    pub enum Estimate {
        /// `(n + alpha) / (N + alpha · values)`: 1 is Laplace's rule, 0 the plain share.
        Lidstone = "lidstone",
        /// `(n + alpha) / (N + alpha · classes)`, as some lectures print Laplace's rule.
        LaplaceByClasses = "laplace-by-classes",
        /// `(n + m p) / (N + m)`.
        MEstimate = "m-estimate",
        /// Lidstone's with the number for each column that foresees held-out rows best.
        HeldOut = "held-out",
    }
}

choice! {
    /// How much the factor of a column counts.
    pub enum Weights {
        /// All count alike: naive Bayes.
        Equal = "equal",
        /// As much as makes the classes of the rows most probable.
        Learned = "learned",
    }
}

/// One kind of likelihood for all columns, one a column, or some by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Likelihoods {
    /// The same for all.
    One(Family),
    /// In order.
    Each(Vec<Family>),
    /// For the columns named; `auto` for the others.
    ByName(BTreeMap<String, Family>),
}

impl ParamValue for Likelihoods {
    const TYPE: &'static str = "str, list of str or dict of str to str";

    fn obeys(&self, _rule: crate::model::Rule) -> bool {
        true
    }
}

/// Numbers by column name.
pub type ByName = BTreeMap<String, Vec<f64>>;

impl ParamValue for ByName {
    const TYPE: &'static str = "dict of str to list of float";

    fn obeys(&self, rule: crate::model::Rule) -> bool {
        self.values().all(|numbers| numbers.obeys(rule))
    }
}

params! {
    /// Naive Bayes for tables as they are: every column has its own kind of likelihood.
    pub struct MixedNb {
        /// What `p(x | class)` is: `auto` takes the one that foresees held-out rows best, `schema` a bell
        /// curve for numbers and shares for words; or `gaussian`, `kernel`, `equal-width`,
        /// `equal-frequency`, `entropy`, `split`, `poisson`, `exponential`, `bernoulli`,
        /// `multinomial` for numbers, `categorical` or `bernoulli` for words. One for all columns, one
        /// a column, or by column name.
        likelihood: Likelihoods = Likelihoods::One(Family::Auto), Any;
        /// How a share follows from a count: `lidstone` adds `alpha` to every value's count,
        /// `laplace-by-classes` divides by the number of classes more as some lectures print it,
        /// `m-estimate` adds `m` rows of prior `p`, `held-out` adds for each column the number that
        /// foresees held-out rows best.
        estimate: Estimate = Estimate::Lidstone, OneOf(Estimate::WORDS);
        ..AlphaParam;
        /// How many rows the prior of an m-estimate is worth.
        m: f64 = 1.0, AtLeast(0.0);
        /// The prior of an m-estimate; `null` takes all values as equally likely.
        p: Option<f64> = None, Between(0.0, 1.0);
        /// A Dirichlet prior for some columns: what is added to the count of each value, in the order
        /// of the values, by column name.
        dirichlet: ByName = ByName::new(), AtLeast(0.0);
        /// How much each column counts: `equal` is naive Bayes; `learned` takes the factor of each column to
        /// a power, such that the classes of rows are most probable and columns that repeat each other do
        /// not count twice. It keeps up to 4096 rows in the summary.
        weights: Weights = Weights::Equal, OneOf(Weights::WORDS);
        /// How many bins `equal-width` and `equal-frequency` make.
        bins: usize = 10, Between(2.0, 1000.0);
        /// Whether variances are divided by the weight (`population`) or by the weight less one
        /// (`sample`).
        variance: Variance = Variance::Population, OneOf(Variance::WORDS);
        /// Share of a column's variance added to the variance of each class; means of counts are kept
        /// above the same share of theirs.
        var_smoothing: f64 = 1e-9, AtLeast(0.0);
        /// What becomes of a word that training never saw: it has no say (`ignore`), counts as seen
        /// zero times (`other`), or is refused (`error`).
        unseen: Unseen = Unseen::Ignore, OneOf(Unseen::WORDS);
        ..PriorParams;
    }
}

impl MixedNb {
    /// Whether the values of numbers must be kept, not just their moments.
    fn needs_values(&self) -> bool {
        let plain = |family: &Family| {
            matches!(
                family,
                Family::Schema
                    | Family::Gaussian
                    | Family::Poisson
                    | Family::Exponential
                    | Family::Multinomial
                    | Family::Categorical
            )
        };
        match &self.likelihood {
            Likelihoods::One(family) => !plain(family),
            Likelihoods::Each(families) => !families.iter().all(plain),
            // Columns without a name here are `auto`.
            Likelihoods::ByName(_) => true,
        }
    }

    /// The family of every column that is no word.
    fn families(&self, names: &[String], n_columns: usize) -> Result<Vec<Family>> {
        let refuse = |found: String, expected: String| {
            Err(Error::Parameter { name: "likelihood".into(), found, expected })
        };
        match &self.likelihood {
            Likelihoods::One(family) => Ok(vec![*family; n_columns]),
            Likelihoods::Each(families) if families.len() == n_columns => Ok(families.clone()),
            Likelihoods::Each(families) => refuse(
                format!("{} words", families.len()),
                format!("one word, or one for each of the {n_columns} columns"),
            ),
            Likelihoods::ByName(by_name) => {
                if let Some(name) = by_name.keys().find(|name| !names.contains(name)) {
                    let known = names.join(", ");
                    return refuse(format!("about `{name}`"), format!("about one of {known}"));
                }
                let family = |j: usize| names.get(j).and_then(|name| by_name.get(name));
                Ok((0..n_columns).map(|j| *family(j).unwrap_or(&Family::Auto)).collect())
            }
        }
    }

    /// What is added to the count of each value, and to all of them.
    fn added(&self, counts: &Matrix) -> (Vec<f64>, f64) {
        let (n_classes, n_values) = counts.dim();
        let each = |a: f64| vec![a; n_values];
        match self.estimate {
            Estimate::HeldOut => {
                let alpha = held_out_alpha(counts);
                (each(alpha), alpha * n_values as f64)
            }
            Estimate::Lidstone => (each(self.alpha), self.alpha * n_values as f64),
            Estimate::LaplaceByClasses => (each(self.alpha), self.alpha * n_classes as f64),
            Estimate::MEstimate => {
                let p = self.p.unwrap_or(1.0 / n_values.max(1) as f64);
                (each(self.m * p), self.m)
            }
        }
    }

    fn categorical(&self, counts: Matrix, name: Option<&String>) -> Result<Categorical> {
        let Some((name, prior)) = name.and_then(|name| self.dirichlet.get_key_value(name)) else {
            let (added, in_all) = self.added(&counts);
            return Ok(Categorical::new(counts, added, in_all));
        };
        if prior.len() != counts.ncols() {
            return Err(Error::Parameter {
                name: "dirichlet".into(),
                found: format!("{} numbers for `{name}`", prior.len()),
                expected: format!("one for each of its {} values", counts.ncols()),
            });
        }
        let in_all = prior.iter().sum();
        Ok(Categorical::new(counts, prior.clone(), in_all))
    }

    fn less(&self) -> f64 {
        if self.variance == Variance::Sample { 1.0 } else { 0.0 }
    }

    /// The likelihood of a column of numbers.
    fn curve(&self, family: Family, column: &Numbers<'_>, name: &str) -> Result<Likelihood> {
        let smoothing = self.var_smoothing;
        let bins = |cut| Histogram::fit(column, cut, |bins| self.added(bins));
        let positive = column.tally.cells().first().is_none_or(|low| *low >= 0.0)
            && column.means.iter().all(|m| *m >= 0.0);
        let refuse = |what: &str| {
            Err(Error::Kind {
                column: name.to_owned(),
                found: what.to_owned(),
                expected: "another likelihood".to_owned(),
            })
        };
        Ok(match family {
            Family::Auto => self.best_curve(column, positive),
            Family::Gaussian | Family::Schema => {
                Likelihood::Gaussian(Gaussian::fit(column, self.less(), smoothing))
            }
            Family::Kernel => Likelihood::Kernel(Kernel::fit(column).0),
            Family::EqualWidth => Likelihood::Histogram(bins(Cut::EqualWidth(self.bins))),
            Family::EqualFrequency => Likelihood::Histogram(bins(Cut::EqualFrequency(self.bins))),
            Family::SoftmaxLoss => Likelihood::Histogram(bins(Cut::SoftmaxLoss)),
            Family::Split => Likelihood::Histogram(bins(Cut::Split)),
            Family::Bernoulli => Likelihood::Histogram(bins(Cut::Presence)),
            Family::Poisson | Family::Exponential if !positive => {
                return refuse("a column with numbers below zero");
            }
            Family::Poisson => Likelihood::Poisson(Poisson::fit(column, smoothing)),
            Family::Exponential => Likelihood::Exponential(Exponential::fit(column, smoothing)),
            Family::Categorical => {
                return refuse("a column of numbers; read it as categorical or name it so");
            }
            Family::Multinomial => return refuse("a column of counts"),
        })
    }

    /// The curve that foresees held-out rows best; ties go to the simpler one.
    fn best_curve(&self, column: &Numbers<'_>, positive: bool) -> Likelihood {
        let (less, smoothing) = (self.less(), self.var_smoothing);
        let bins = |cut| {
            let bins = Histogram::fit(column, cut, |bins| self.added(bins));
            let foreseen = bins.held_out(column);
            (foreseen, Likelihood::Histogram(bins))
        };
        let values = column.tally.values();
        if values.len() < 2 {
            // One value tells nothing, and a curve of no width too much.
            return bins(Cut::SoftmaxLoss).1;
        }
        let gaussian = Gaussian::fit(column, less, smoothing);
        let mut best = (gaussian.held_out(column, less, smoothing), Likelihood::Gaussian(gaussian));
        let mut offer = |(foreseen, likelihood): (f64, Likelihood)| {
            if foreseen > best.0 {
                best = (foreseen, likelihood);
            }
        };
        if positive {
            let whole = column.tally.is_exact() && values.iter().all(|x| x.fract() == 0.0);
            // Waiting times are no whole numbers, and a density at zero is no share of zeros.
            if whole {
                let foreseen = Poisson::held_out(column, smoothing);
                offer((foreseen, Likelihood::Poisson(Poisson::fit(column, smoothing))));
            } else {
                let foreseen = Exponential::held_out(column, smoothing);
                offer((foreseen, Likelihood::Exponential(Exponential::fit(column, smoothing))));
            }
        }
        let (kernel, foreseen) = Kernel::fit(column);
        offer((foreseen, Likelihood::Kernel(kernel)));
        offer(bins(Cut::EqualWidth(self.bins)));
        offer(bins(Cut::EqualFrequency(self.bins)));
        offer(bins(Cut::SoftmaxLoss));
        best.1
    }

    /// The likelihoods of the columns that are no words.
    fn likelihoods(&self, groups: &Mixed) -> Result<Vec<Likelihood>> {
        let head =
            groups.measures.iter().take_while(|m| !matches!(m, Measure::TermCount(_))).count();
        let families = self.families(&groups.names, head)?;
        if let Some(name) = self.dirichlet.keys().find(|name| !groups.names.contains(name)) {
            return Err(Error::Parameter {
                name: "dirichlet".into(),
                found: format!("about `{name}`"),
                expected: format!("about one of {}", groups.names.join(", ")),
            });
        }
        let pooled = groups.moments.pooled();
        let bag = Bag::of(groups, &families);
        let (mut category, mut number) = (0, 0);
        let mut out = Vec::with_capacity(head);
        for (j, measure) in groups.measures[..head].iter().enumerate() {
            let name = groups.names.get(j);
            let shown = || name.cloned().unwrap_or_else(|| format!("x{j}"));
            match measure {
                Measure::Categorical(k) => {
                    let counts = groups.codes.column(category, *k);
                    category += 1;
                    // One word for all columns is about numbers: words have shares in any case.
                    let fits = matches!(self.likelihood, Likelihoods::One(_))
                        || matches!(
                            families[j],
                            Family::Auto | Family::Schema | Family::Categorical | Family::Bernoulli
                        );
                    if !fits {
                        return Err(Error::Kind {
                            column: shown(),
                            found: "not a column of numbers".into(),
                            expected: "the likelihood `categorical`".into(),
                        });
                    }
                    out.push(Likelihood::Categorical(self.categorical(counts, name)?));
                }
                _ => {
                    let at = number;
                    number += 1;
                    if families[j] == Family::Multinomial {
                        out.push(Likelihood::Counted(bag.counted(at, self.alpha, &shown())?));
                        continue;
                    }
                    let column = numbers(groups, &pooled, &groups.tallies.columns[at], at);
                    if !(column.mean.is_finite() && column.variance.is_finite()) {
                        return Err(Error::TooLarge { column: j });
                    }
                    out.push(self.curve(families[j], &column, &shown())?);
                }
            }
        }
        Ok(out)
    }

    /// The bags of words.
    fn texts(&self, groups: &Mixed) -> Vec<Text> {
        let words: Vec<usize> = (groups.measures.iter())
            .filter_map(|m| if let Measure::TermCount(text) = m { Some(*text) } else { None })
            .collect();
        let mut texts = Vec::new();
        let mut from = 0;
        for bag in words.chunk_by(|a, b| a == b) {
            let to = from + bag.len();
            let counts = groups.words.sums.slice_axis(Axis(1), Slice::from(from..to)).to_owned();
            let log_probabilities =
                Categorical::lidstone(counts.clone(), self.alpha).log_probabilities;
            texts.push(Text { counts, alpha: self.alpha, log_probabilities });
            from = to;
        }
        texts
    }
}

/// What is known about a column of numbers.
fn numbers<'a>(groups: &Mixed, pooled: &Moments, tally: &'a ValueCounts, at: usize) -> Numbers<'a> {
    let column = |m: &Matrix| m.column(at).to_vec();
    Numbers {
        tally,
        counts: tally.counts(),
        weights: column(&groups.moments.weights),
        means: column(&groups.moments.means),
        squares: column(&groups.moments.squares),
        mean: pooled.means[[0, at]],
        variance: pooled.variances(0.0)[[0, at]],
    }
}

/// The columns of numbers that are counts of things in one bag.
struct Bag {
    counts: Matrix,
    totals: Vec<f64>,
    n_things: usize,
}

impl Bag {
    fn of(groups: &Mixed, families: &[Family]) -> Bag {
        let counts = &groups.moments.weights * &groups.moments.means;
        let numbers = groups.measures.iter().zip(families).filter(|(m, _)| **m == Measure::Numeric);
        let inside: Vec<usize> = numbers
            .enumerate()
            .filter(|(_, (_, family))| **family == Family::Multinomial)
            .map(|(at, _)| at)
            .collect();
        let totals = counts.outer_iter().map(|row| inside.iter().map(|at| row[*at]).sum());
        Bag { totals: totals.collect(), n_things: inside.len(), counts }
    }

    fn counted(&self, at: usize, alpha: f64, name: &str) -> Result<Counted> {
        let counts = self.counts.column(at).to_vec();
        if counts.iter().any(|n| *n < 0.0) {
            return Err(Error::Kind {
                column: name.to_owned(),
                found: "a column with numbers below zero".into(),
                expected: "counts".into(),
            });
        }
        Ok(Counted::new(counts, self.totals.clone(), alpha, self.n_things))
    }
}

/// What to add to the counts of values, one row a class, so that every row is as probable as can be under
/// the other rows of its class.
fn held_out_alpha(counts: &Matrix) -> f64 {
    const STEPS: [f64; 10] = [1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 1e-3, 1e-4, 1e-6];
    let log_likelihood = |alpha: f64| -> f64 {
        let of_class = |row: ndarray::ArrayView1<'_, f64>| {
            let others = (row.sum() - 1.0).max(0.0) + alpha * row.len() as f64;
            let seen = row.iter().filter(|n| **n > 0.0);
            seen.map(|n| n * (((n - 1.0).max(0.0) + alpha) / others).ln()).sum::<f64>()
        };
        counts.outer_iter().map(of_class).sum()
    };
    let mut best = (f64::NEG_INFINITY, STEPS[0]);
    for alpha in STEPS {
        let value = log_likelihood(alpha);
        if value > best.0 {
            best = (value, alpha);
        }
    }
    best.1
}

impl Accumulate for MixedNb {
    type Stats = ByClass<Mixed>;
    type Model = MixedNbModel;

    fn observe(&self, stats: &mut Self::Stats, batch: &Dataset<'_>) -> Result<()> {
        let by_name = matches!(self.likelihood, Likelihoods::ByName(_));
        let rows = self.weights == Weights::Learned;
        let keep = Keep {
            values: self.needs_values(),
            names: by_name || !self.dirichlet.is_empty(),
            rows,
        };
        stats.push_rows(batch, |batch, slots, class_weights| {
            Mixed::of_rows(batch, slots, class_weights, keep)
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
        let (weights, stopped) = model.lessons(&groups.sample, monitor)?.learn(monitor);
        model.weights = weights;
        Ok((model, stopped))
    }

    /// How near the weights are to the best, where they were learned.
    fn certificate(&self, stats: &Self::Stats, model: &Self::Model) -> Certificate {
        if self.weights == Weights::Equal {
            return Certificate::closed_form();
        }
        let Ok(lessons) = model.lessons(&stats.groups().sample, &Monitor::quiet()) else {
            return Certificate::closed_form();
        };
        let loss = lessons.loss(&model.weights);
        Certificate::iterative(true, None)
            .objective("penalized log loss of the sampled rows", loss.value)
            .dual(loss.value - loss.left(&model.weights))
            .iterations(1)
    }
}
