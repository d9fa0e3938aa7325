//! The likelihood of every column: requested by the user, given by the type of the column, or selected by
//! leave-one-out log-likelihood.

use super::{Estimate, Family, Likelihoods, MixedNb, Text};
use crate::bayes::Variance;
use crate::bayes::likelihood::{
    Categorical, Cut, Exponential, Gaussian, Histogram, Kernel, Likelihood, Multinomial,
    NumericColumn, Poisson,
};
use crate::data::Measure;
use crate::error::{Error, Result};
use crate::stats::{Mixed, Moments, ValueCounts};
use mercer_num::Matrix;
use ndarray::{Axis, Slice};

impl MixedNb {
    /// Whether the distinct values of numeric columns must be stored, not only their moments.
    pub(super) fn needs_values(&self) -> bool {
        let needs_moments_only = |family: &Family| {
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
            Likelihoods::One(family) => !needs_moments_only(family),
            Likelihoods::Each(families) => !families.iter().all(needs_moments_only),
            // Columns that are not named are `auto`.
            Likelihoods::ByName(_) => true,
        }
    }

    /// The likelihoods of all columns except those of terms.
    pub(super) fn likelihoods(&self, groups: &Mixed) -> Result<Vec<Likelihood>> {
        let n_columns =
            groups.measures.iter().take_while(|m| !matches!(m, Measure::TermCount(_))).count();
        let families = self.families(&groups.names, n_columns)?;
        if let Some(name) = self.dirichlet.keys().find(|name| !groups.names.contains(name)) {
            return Err(unknown_column("dirichlet", name, &groups.names));
        }
        let pooled = groups.moments.pooled();
        let multinomial = MultinomialColumns::of(groups, &families);
        let (mut n_categorical, mut n_numeric) = (0, 0);
        let mut out = Vec::with_capacity(n_columns);
        for (j, measure) in groups.measures[..n_columns].iter().enumerate() {
            let name = groups.names.get(j);
            let shown = || name.cloned().unwrap_or_else(|| format!("x{j}"));
            if let Measure::Categorical(k) = measure {
                let counts = groups.codes.column(n_categorical, *k);
                n_categorical += 1;
                self.check_categorical(families[j], shown)?;
                out.push(Likelihood::Categorical(self.categorical(counts, name)?));
                continue;
            }
            let at = n_numeric;
            n_numeric += 1;
            if families[j] == Family::Multinomial {
                let column = multinomial.column(at, self.alpha, &shown())?;
                out.push(Likelihood::Multinomial(column));
                continue;
            }
            let column = numeric_column(groups, &pooled, &groups.value_counts.columns[at], at);
            if !(column.mean.is_finite() && column.variance.is_finite()) {
                return Err(Error::TooLarge { column: j });
            }
            out.push(self.numeric(families[j], &column, &shown())?);
        }
        Ok(out)
    }

    /// The multinomial distributions over the terms of text columns.
    pub(super) fn texts(&self, groups: &Mixed) -> Vec<Text> {
        let text_of_term: Vec<usize> = (groups.measures.iter())
            .filter_map(|m| if let Measure::TermCount(text) = m { Some(*text) } else { None })
            .collect();
        let mut texts = Vec::new();
        let mut from = 0;
        for terms in text_of_term.chunk_by(|a, b| a == b) {
            let to = from + terms.len();
            let counts = groups.terms.sums.slice_axis(Axis(1), Slice::from(from..to)).to_owned();
            let log_probabilities =
                Categorical::lidstone(counts.clone(), self.alpha).log_probabilities;
            texts.push(Text { counts, alpha: self.alpha, log_probabilities });
            from = to;
        }
        texts
    }

    /// The requested family of every column except those of terms.
    fn families(&self, names: &[String], n_columns: usize) -> Result<Vec<Family>> {
        match &self.likelihood {
            Likelihoods::One(family) => Ok(vec![*family; n_columns]),
            Likelihoods::Each(families) if families.len() == n_columns => Ok(families.clone()),
            Likelihoods::Each(families) => Err(Error::Parameter {
                name: "likelihood".into(),
                found: format!("a list of {} likelihoods", families.len()),
                expected: format!("one likelihood, or one per column ({n_columns})"),
            }),
            Likelihoods::ByName(by_name) => {
                if let Some(name) = by_name.keys().find(|name| !names.contains(name)) {
                    return Err(unknown_column("likelihood", name, names));
                }
                let family = |j: usize| names.get(j).and_then(|name| by_name.get(name));
                Ok((0..n_columns).map(|j| *family(j).unwrap_or(&Family::Auto)).collect())
            }
        }
    }

    /// Refuses the likelihood of a numeric column for one that is not numeric. One family for all columns applies to
    /// the numeric ones only.
    fn check_categorical(&self, family: Family, name: impl Fn() -> String) -> Result<()> {
        let fits = matches!(self.likelihood, Likelihoods::One(_))
            || matches!(
                family,
                Family::Auto | Family::Schema | Family::Categorical | Family::Bernoulli
            );
        if fits {
            return Ok(());
        }
        Err(Error::Kind {
            column: name(),
            found: "not numeric".into(),
            expected: "the likelihood `categorical` or a numeric column".into(),
        })
    }

    /// The pseudocounts of every category, and their total.
    fn pseudocounts(&self, counts: &Matrix) -> (Vec<f64>, f64) {
        let (n_classes, n_categories) = counts.dim();
        let each = |a: f64| vec![a; n_categories];
        match self.estimate {
            Estimate::HeldOut => {
                let alpha = leave_one_out_alpha(counts);
                (each(alpha), alpha * n_categories as f64)
            }
            Estimate::Lidstone => (each(self.alpha), self.alpha * n_categories as f64),
            Estimate::LaplaceByClasses => (each(self.alpha), self.alpha * n_classes as f64),
            Estimate::MEstimate => {
                let p = self.p.unwrap_or(1.0 / n_categories.max(1) as f64);
                (each(self.m * p), self.m)
            }
        }
    }

    fn categorical(&self, counts: Matrix, name: Option<&String>) -> Result<Categorical> {
        let Some((name, prior)) = name.and_then(|name| self.dirichlet.get_key_value(name)) else {
            let (pseudocounts, total) = self.pseudocounts(&counts);
            return Ok(Categorical::new(counts, pseudocounts, total));
        };
        if prior.len() != counts.ncols() {
            return Err(Error::Parameter {
                name: "dirichlet".into(),
                found: format!("{} pseudocounts for `{name}`", prior.len()),
                expected: format!("one per category ({})", counts.ncols()),
            });
        }
        let total = prior.iter().sum();
        Ok(Categorical::new(counts, prior.clone(), total))
    }

    fn ddof(&self) -> f64 {
        if self.variance == Variance::Sample { 1.0 } else { 0.0 }
    }

    fn histogram(&self, column: &NumericColumn<'_>, cut: Cut) -> Histogram {
        Histogram::fit(column, cut, |bins| self.pseudocounts(bins))
    }

    /// The likelihood of a numeric column.
    fn numeric(
        &self,
        family: Family,
        column: &NumericColumn<'_>,
        name: &str,
    ) -> Result<Likelihood> {
        let smoothing = self.var_smoothing;
        let histogram = |cut| Likelihood::Histogram(self.histogram(column, cut));
        let nonnegative = column.values.bins().first().is_none_or(|low| *low >= 0.0)
            && column.means.iter().all(|m| *m >= 0.0);
        let refuse = |found: &str, expected: &str| {
            Err(Error::Kind {
                column: name.to_owned(),
                found: found.to_owned(),
                expected: expected.to_owned(),
            })
        };
        Ok(match family {
            Family::Auto => self.best_numeric(column, nonnegative),
            Family::Gaussian | Family::Schema => {
                Likelihood::Gaussian(Gaussian::fit(column, self.ddof(), smoothing))
            }
            Family::Kernel => Likelihood::Kernel(Kernel::fit(column).0),
            Family::EqualWidth => histogram(Cut::EqualWidth(self.bins)),
            Family::EqualFrequency => histogram(Cut::EqualFrequency(self.bins)),
            Family::Entropy => histogram(Cut::Entropy),
            Family::Split => histogram(Cut::Split),
            Family::Bernoulli => histogram(Cut::Presence),
            Family::Poisson | Family::Exponential if !nonnegative => {
                return refuse("a column with negative values", "a likelihood for real values");
            }
            Family::Poisson => Likelihood::Poisson(Poisson::fit(column, smoothing)),
            Family::Exponential => Likelihood::Exponential(Exponential::fit(column, smoothing)),
            Family::Categorical => {
                return refuse("numeric", "a categorical column for the likelihood `categorical`");
            }
            Family::Multinomial => return refuse("a column of counts", "another likelihood"),
        })
    }

    /// The likelihood of a numeric column with the largest leave-one-out log-likelihood; ties go to the one with fewer
    /// parameters.
    fn best_numeric(&self, column: &NumericColumn<'_>, nonnegative: bool) -> Likelihood {
        let (ddof, smoothing) = (self.ddof(), self.var_smoothing);
        let histogram = |cut| {
            let histogram = self.histogram(column, cut);
            let log_likelihood = histogram.leave_one_out(column);
            (log_likelihood, Likelihood::Histogram(histogram))
        };
        let values = column.values.values();
        if values.len() < 2 {
            // A constant column carries no information, and a density of variance zero is infinite.
            return histogram(Cut::Entropy).1;
        }
        let gaussian = Gaussian::fit(column, ddof, smoothing);
        let mut best =
            (gaussian.leave_one_out(column, ddof, smoothing), Likelihood::Gaussian(gaussian));
        let mut offer = |(log_likelihood, likelihood): (f64, Likelihood)| {
            if log_likelihood > best.0 {
                best = (log_likelihood, likelihood);
            }
        };
        if nonnegative {
            let integers = column.values.is_exact() && values.iter().all(|x| x.fract() == 0.0);
            // A density and a probability mass are comparable only at the resolution of integers.
            if integers {
                let log_likelihood = Poisson::leave_one_out(column, smoothing);
                offer((log_likelihood, Likelihood::Poisson(Poisson::fit(column, smoothing))));
            } else {
                let log_likelihood = Exponential::leave_one_out(column, smoothing);
                let exponential = Exponential::fit(column, smoothing);
                offer((log_likelihood, Likelihood::Exponential(exponential)));
            }
        }
        let (kernel, log_likelihood) = Kernel::fit(column);
        offer((log_likelihood, Likelihood::Kernel(kernel)));
        offer(histogram(Cut::EqualWidth(self.bins)));
        offer(histogram(Cut::EqualFrequency(self.bins)));
        offer(histogram(Cut::Entropy));
        best.1
    }
}

fn unknown_column(parameter: &str, name: &str, known: &[String]) -> Error {
    Error::Parameter {
        name: parameter.into(),
        found: format!("given for an unknown column `{name}`"),
        expected: format!("given for columns among {}", known.join(", ")),
    }
}

/// The statistics of a numeric column.
fn numeric_column<'a>(
    groups: &Mixed,
    pooled: &Moments,
    values: &'a ValueCounts,
    at: usize,
) -> NumericColumn<'a> {
    let column = |m: &Matrix| m.column(at).to_vec();
    NumericColumn {
        values,
        counts: values.counts(),
        weights: column(&groups.moments.weights),
        means: column(&groups.moments.means),
        squares: column(&groups.moments.squares),
        mean: pooled.means[[0, at]],
        variance: pooled.variances(0.0)[[0, at]],
    }
}

/// The numeric columns with a joint multinomial distribution.
struct MultinomialColumns {
    counts: Matrix,
    totals: Vec<f64>,
    n_columns: usize,
}

impl MultinomialColumns {
    fn of(groups: &Mixed, families: &[Family]) -> MultinomialColumns {
        let counts = &groups.moments.weights * &groups.moments.means;
        let numeric = groups.measures.iter().zip(families).filter(|(m, _)| **m == Measure::Numeric);
        let columns: Vec<usize> = numeric
            .enumerate()
            .filter(|(_, (_, family))| **family == Family::Multinomial)
            .map(|(at, _)| at)
            .collect();
        let totals = counts.outer_iter().map(|row| columns.iter().map(|at| row[*at]).sum());
        MultinomialColumns { totals: totals.collect(), n_columns: columns.len(), counts }
    }

    fn column(&self, at: usize, alpha: f64, name: &str) -> Result<Multinomial> {
        let counts = self.counts.column(at).to_vec();
        if counts.iter().any(|n| *n < 0.0) {
            return Err(Error::Kind {
                column: name.to_owned(),
                found: "a column with negative values".into(),
                expected: "counts for the likelihood `multinomial`".into(),
            });
        }
        Ok(Multinomial::new(counts, self.totals.clone(), alpha, self.n_columns))
    }
}

/// The Lidstone alpha of the largest leave-one-out log-likelihood, for counts with one row per class.
fn leave_one_out_alpha(counts: &Matrix) -> f64 {
    const CANDIDATES: [f64; 10] = [1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 1e-3, 1e-4, 1e-6];
    let log_likelihood = |alpha: f64| -> f64 {
        let of_class = |row: ndarray::ArrayView1<'_, f64>| {
            let others = (row.sum() - 1.0).max(0.0) + alpha * row.len() as f64;
            let observed = row.iter().filter(|n| **n > 0.0);
            observed.map(|n| n * (((n - 1.0).max(0.0) + alpha) / others).ln()).sum::<f64>()
        };
        counts.outer_iter().map(of_class).sum()
    };
    let mut best = (f64::NEG_INFINITY, CANDIDATES[0]);
    for alpha in CANDIDATES {
        let value = log_likelihood(alpha);
        if value > best.0 {
            best = (value, alpha);
        }
    }
    best.1
}
