//! The model of mixed naive Bayes: scores, factors and sampling.

use super::Unseen;
use crate::bayes::likelihood::{Likelihood, Multinomial, is_log_probability, log_probability};
use crate::bayes::multinomial::{
    draw_counts, log_coefficient, mean_length, without_duplicate_cells,
};
use crate::bayes::{are_priors, drawn_classes, each_chunk};
use crate::explain::{ClassMeans, Domain};
use crate::prelude::*;
use crate::stats::not_a_count;
use mercer_num::parallel;
use mercer_num::random::Random;
use std::borrow::Cow;
use std::ops::Range;

/// A likelihood for every column and a multinomial distribution over terms for every text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MixedNbModel {
    /// The classes in code order.
    pub classes: Classes,
    /// `log P(class)`.
    pub log_priors: Vec<f64>,
    /// The total sample weight of each class.
    pub class_weights: Vec<f64>,
    /// One entry per column that is not a term.
    pub likelihoods: Vec<Likelihood>,
    /// One entry per text; its terms are columns after all others.
    pub texts: Vec<Text>,
    /// The treatment of unknown categories.
    pub unseen: Unseen,
    /// The weight of each column, then of each text; empty if the weights are equal.
    #[serde(default)]
    pub weights: Vec<f64>,
}

/// The multinomial distributions over the terms of one text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Text {
    /// The count of each term, one row per class.
    pub counts: Matrix,
    /// The smoothing.
    pub alpha: f64,
    /// The logarithms of the probabilities.
    pub log_probabilities: Matrix,
}

impl Text {
    /// `Σ n log θ` over the terms of a row; estimated without the row itself if it belongs to the class.
    pub(super) fn log_factor(&self, terms: &[(usize, f64)], class: usize, leave_out: bool) -> f64 {
        let log_p = self.log_probabilities.row(class);
        if !leave_out {
            return terms.iter().map(|(j, n)| n * log_p[*j]).sum();
        }
        let counts = self.counts.row(class);
        let own: f64 = terms.iter().map(|(_, n)| n).sum();
        let others = (counts.sum() - own).max(0.0) + self.alpha * counts.len() as f64;
        let log_probability = |(j, n): &(usize, f64)| {
            n * log_probability((counts[*j] - n).max(0.0) + self.alpha, others)
        };
        terms.iter().map(log_probability).sum()
    }
}

impl MixedNbModel {
    /// The number of columns that are not terms.
    pub(super) fn n_likelihoods(&self) -> usize {
        self.likelihoods.len()
    }

    /// `log θ` of the terms, one row per term, times the weight of their text if `weighted`.
    fn by_term(&self, weighted: bool) -> Vec<f64> {
        let mut out = Vec::new();
        for (t, text) in self.texts.iter().enumerate() {
            let weight = if weighted { self.weight(self.n_likelihoods() + t) } else { 1.0 };
            let log_p = text.log_probabilities.columns().into_iter().flat_map(|c| c.to_vec());
            out.extend(log_p.map(|p| power(weight, p)));
        }
        out
    }

    /// The cells of some rows that are not terms, and the stride between those of a column; `visit` gets row, column
    /// and count of every term that occurs.
    fn read<'x>(
        &self,
        x: &'x Rows<'_>,
        first: usize,
        n: usize,
        mut visit: impl FnMut(usize, usize, f64),
    ) -> Result<(Cow<'x, [f64]>, usize)> {
        let (head, width) = (self.n_likelihoods(), self.n_columns());
        let mut term = |i: usize, j: usize, count: f64| {
            if !(count.is_finite() && count >= 0.0) {
                return Err(not_a_count(first + i, j, count));
            }
            if count > 0.0 {
                visit(i, j, count);
            }
            Ok(())
        };
        if let Some(block) = x.block(first..first + n) {
            for (i, row) in block.chunks_exact(width).enumerate() {
                for (j, count) in row.iter().enumerate().skip(head) {
                    term(i, j, *count)?;
                }
            }
            return Ok((block, width));
        }
        let mut cells = vec![0.0; n * head];
        if let Rows::Sparse(x) = x.slice(first..first + n) {
            let whole = x.sum_duplicates();
            for (i, (columns, values)) in whole.view().iter().enumerate() {
                for (j, value) in columns.iter().zip(values) {
                    match *j as usize {
                        j if j < head => cells[i * head + j] = *value,
                        j => term(i, j, *value)?,
                    }
                }
            }
        }
        Ok((cells.into(), head))
    }

    /// Adds the log-factors of some rows to their scores.
    fn add_rows(
        &self,
        x: &Rows<'_>,
        first: usize,
        by_term: &[f64],
        weighted: bool,
        scores: &mut [f64],
    ) -> Result<()> {
        let (head, n_classes) = (self.n_likelihoods(), self.classes.len());
        let n = scores.len() / n_classes;
        let mut factors = Vec::new();
        let (cells, stride) = self.read(x, first, n, |i, j, count| {
            let log_p = &by_term[(j - head) * n_classes..(j - head + 1) * n_classes];
            let scores = &mut scores[i * n_classes..(i + 1) * n_classes];
            scores.iter_mut().zip(log_p).for_each(|(s, p)| *s += count * p);
        })?;
        for (j, likelihood) in self.likelihoods.iter().enumerate() {
            let column = cells.iter().skip(j).step_by(stride).copied();
            let weight = if weighted { self.weight(j) } else { 1.0 };
            if weight == 1.0 {
                likelihood.add_factors(self.unseen, (first, j), column, scores, n_classes)?;
                continue;
            }
            factors.resize(scores.len(), 0.0);
            factors.fill(0.0);
            likelihood.add_factors(self.unseen, (first, j), column, &mut factors, n_classes)?;
            scores.iter_mut().zip(&factors).for_each(|(s, f)| *s += power(weight, *f));
        }
        Ok(())
    }

    /// The scores with the learned weights, or with weights of one.
    fn sums_of_factors(&self, x: &Rows<'_>, weighted: bool) -> Result<Matrix> {
        self.check_columns(x)?;
        let n_classes = self.classes.len();
        let by_term = self.by_term(weighted);
        let layout = parallel::Layout::Dense;
        let chunk = parallel::chunk_rows(self.n_likelihoods().max(1), layout).min(4096);
        let mut out = Matrix::zeros((x.n_rows(), n_classes));
        each_chunk(&mut out, chunk, |first, scores| {
            scores.chunks_exact_mut(n_classes).for_each(|s| s.copy_from_slice(&self.log_priors));
            self.add_rows(x, first, &by_term, weighted, scores)
        })?;
        Ok(out)
    }

    /// The columns of the terms of each text.
    fn text_columns(&self) -> Vec<Range<usize>> {
        let mut from = self.n_likelihoods();
        let mut next = |text: &Text| {
            from += text.counts.ncols();
            from - text.counts.ncols()..from
        };
        self.texts.iter().map(&mut next).collect()
    }

    /// The columns with a joint multinomial distribution.
    fn multinomial_columns(&self) -> Vec<usize> {
        let multinomial = |l: &Likelihood| matches!(l, Likelihood::Multinomial(_));
        (0..self.n_likelihoods()).filter(|j| multinomial(&self.likelihoods[*j])).collect()
    }

    /// A weight by its index: columns that are not terms, then texts.
    fn weight(&self, index: usize) -> f64 {
        self.weights.get(index).copied().unwrap_or(1.0)
    }

    /// The index of the weight of a column.
    fn weight_index(&self, column: usize) -> usize {
        let mut term = column.saturating_sub(self.n_likelihoods());
        if column < self.n_likelihoods() {
            return column;
        }
        let text = self.texts.iter().position(|text| {
            let inside = term < text.counts.ncols();
            term -= if inside { 0 } else { text.counts.ncols() };
            inside
        });
        self.n_likelihoods() + text.unwrap_or(0)
    }

    /// The value of a weighted factor, for its formula.
    fn power(&self, column: usize, class: usize, value: f64, weight: f64) -> String {
        let mut factors = vec![0.0; self.classes.len()];
        match self.likelihoods.get(column) {
            Some(likelihood) => {
                let (n, cells) = (factors.len(), std::iter::once(value));
                // A refused value has no formula.
                if likelihood.add_factors(self.unseen, (0, column), cells, &mut factors, n).is_err()
                {
                    return String::new();
                }
            }
            None => {
                let log_p = self.by_term(false);
                let at = (column - self.n_likelihoods()) * factors.len();
                factors.iter_mut().zip(&log_p[at..]).for_each(|(f, p)| *f = value * p);
            }
        }
        format!(" = {}", short(power(weight, factors[class]).exp()))
    }
}

/// A weight times a log-factor; zero for a weight of zero, even if the factor is zero.
fn power(weight: f64, log_factor: f64) -> f64 {
    if weight == 0.0 { 0.0 } else { weight * log_factor }
}

impl Classifier for MixedNbModel {
    fn classes(&self) -> &Classes {
        &self.classes
    }

    fn log_prior_fallback(&self) -> Option<Vec<f64>> {
        Some(self.log_priors.clone())
    }

    fn n_columns(&self) -> usize {
        self.n_likelihoods() + self.texts.iter().map(|text| text.counts.ncols()).sum::<usize>()
    }

    /// The center of a term is its probability.
    fn class_means(&self) -> Option<ClassMeans> {
        let n_classes = self.classes.len();
        let terms = self.by_term(false);
        Some(ClassMeans::of_columns(n_classes, self.n_columns(), |c, j| {
            match self.likelihoods.get(j) {
                Some(likelihood) => likelihood.moments(c),
                None => (terms[(j - self.n_likelihoods()) * n_classes + c].exp(), 0.0),
            }
        }))
    }

    /// The joint log-likelihoods `log p(c, x)` with weighted factors.
    fn scores(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.sums_of_factors(x, true)
    }
}

impl Probabilistic for MixedNbModel {}

impl Generative for MixedNbModel {
    /// With weights of one, because powers of densities are not densities, and with the multinomial coefficients of
    /// texts and counts: their density is conditional on their length.
    fn log_joint(&self, x: &Rows<'_>) -> Result<Matrix> {
        let mut joint = self.sums_of_factors(x, false)?;
        let (texts, columns) = (self.text_columns(), self.multinomial_columns());
        if texts.is_empty() && columns.is_empty() {
            return Ok(joint);
        }
        without_duplicate_cells(x, |x| {
            for (i, mut row) in joint.outer_iter_mut().enumerate() {
                row += texts.iter().map(|text| log_coefficient(x, i, text.clone())).sum::<f64>();
                if !columns.is_empty() {
                    let counts: Vec<f64> = columns.iter().map(|j| x.get(i, *j)).collect();
                    let present: Vec<f64> = counts.into_iter().filter(|n| !n.is_nan()).collect();
                    let counts = Rows::from(ndarray::ArrayView1::from(&present));
                    row += log_coefficient(&counts, 0, 0..present.len());
                }
            }
        });
        Ok(joint)
    }

    fn scores_are_joint(&self) -> bool {
        self.weights.is_empty()
    }

    /// Texts and multinomial columns are as long as the mean of their class, rounded.
    fn sample(&self, n: usize, given: Option<u32>, random: &mut Random) -> (Matrix, Vec<u32>) {
        let codes = drawn_classes(&self.log_priors, n, given, random);
        let (texts, columns) = (self.text_columns(), self.multinomial_columns());
        let mut rows = Matrix::zeros((n, self.n_columns()));
        for (mut row, code) in rows.outer_iter_mut().zip(&codes) {
            let c = *code as usize;
            for (j, likelihood) in self.likelihoods.iter().enumerate() {
                if !matches!(likelihood, Likelihood::Multinomial(_)) {
                    row[j] = likelihood.sample(c, random);
                }
            }
            if let Some(Likelihood::Multinomial(first)) =
                columns.first().map(|j| &self.likelihoods[*j])
            {
                let length = mean_length(first.totals[c], self.class_weights[c]);
                let log_p = columns.iter().map(|j| match &self.likelihoods[*j] {
                    Likelihood::Multinomial(l) => l.log_probabilities[c],
                    _ => f64::NEG_INFINITY,
                });
                let log_p: Vec<f64> = log_p.collect();
                draw_counts(length, &log_p, random, |k| row[columns[k]] += 1.0);
            }
            for (text, range) in self.texts.iter().zip(&texts) {
                let length = mean_length(text.counts.row(c).sum(), self.class_weights[c]);
                let log_p = text.log_probabilities.row(c).to_vec();
                draw_counts(length, &log_p, random, |k| row[range.start + k] += 1.0);
            }
        }
        (rows, codes)
    }
}

impl FactorizedLikelihood for MixedNbModel {
    fn log_priors(&self) -> &[f64] {
        &self.log_priors
    }

    fn log_factors(&self, row: &[f64]) -> Result<Matrix> {
        let mut out = Matrix::zeros((row.len(), self.classes.len()));
        self.for_each_factor(&Rows::from(ndarray::ArrayView1::from(row)), &mut |j, _, factors| {
            out.row_mut(j).assign(&ndarray::ArrayView1::from(factors));
        })?;
        Ok(out)
    }

    /// Column by column, so that the constants of a likelihood are computed once. Terms that do not occur are left
    /// out.
    fn for_each_factor(
        &self,
        x: &Rows<'_>,
        visit: &mut dyn FnMut(usize, usize, &[f64]),
    ) -> Result<()> {
        self.check_columns(x)?;
        let (head, n, n_classes) = (self.n_likelihoods(), x.n_rows(), self.classes.len());
        let by_term = self.by_term(true);
        let mut factors = vec![0.0; n_classes];
        let (cells, stride) = self.read(x, 0, n, |i, j, count| {
            let log_p = &by_term[(j - head) * n_classes..];
            factors.iter_mut().zip(log_p).for_each(|(f, p)| *f = count * p);
            visit(j, i, &factors);
        })?;
        let mut factors = vec![0.0; n * n_classes];
        for (j, likelihood) in self.likelihoods.iter().enumerate() {
            factors.fill(0.0);
            let column = cells.iter().skip(j).step_by(stride).copied();
            likelihood.add_factors(self.unseen, (0, j), column, &mut factors, n_classes)?;
            if self.weight(j) != 1.0 {
                factors.iter_mut().for_each(|f| *f = power(self.weight(j), *f));
            }
            factors.chunks_exact(n_classes).enumerate().for_each(|(i, f)| visit(j, i, f));
        }
        Ok(())
    }

    fn domain(&self, column: usize) -> Domain {
        self.likelihoods.get(column).map_or(Domain::Outcome, Likelihood::domain)
    }

    fn factor_formula(&self, column: usize, class: u32, value: f64) -> String {
        let class = class as usize;
        let formula = match self.likelihoods.get(column) {
            Some(likelihood) => likelihood.formula(class, value, self.unseen),
            None => self.term_formula(column - self.n_likelihoods(), class, value),
        };
        match self.weight(self.weight_index(column)) {
            1.0 => formula,
            w => format!("({formula})^{}{}", short(w), self.power(column, class, value, w)),
        }
    }
}

impl MixedNbModel {
    fn term_formula(&self, mut term: usize, class: usize, count: f64) -> String {
        for text in &self.texts {
            let n_terms = text.counts.ncols();
            if term < n_terms {
                let counts = text.counts.row(class);
                let (n, total) = (vec![counts[term]], vec![counts.sum()]);
                let term = Multinomial::new(n, total, text.alpha, n_terms);
                return Likelihood::Multinomial(term).formula(0, count, self.unseen);
            }
            term -= n_terms;
        }
        String::new()
    }
}

impl Check for MixedNbModel {
    fn check(&self) -> Result<()> {
        let n = self.classes.len();
        let text = |t: &Text| {
            t.counts.nrows() == n
                && t.log_probabilities.dim() == t.counts.dim()
                && t.alpha.is_finite()
                && t.counts.iter().all(|c| c.is_finite() && *c >= 0.0)
                && t.log_probabilities.iter().all(|p| is_log_probability(*p))
        };
        let fits = are_priors(n, &self.log_priors, &self.class_weights)
            && self.n_columns() > 0
            && self.likelihoods.iter().all(|l| l.fits(n))
            && self.texts.iter().all(text)
            && [0, self.n_likelihoods() + self.texts.len()].contains(&self.weights.len())
            && self.weights.iter().all(|w| w.is_finite() && *w >= 0.0);
        if fits { Ok(()) } else { Err(crate::bayes::inconsistent("mixed")) }
    }
}
