//! What mixed naive Bayes has learned, and how it tells classes apart by it.

use super::Unseen;
use crate::bayes::likelihood::{Counted, Likelihood, log_probability};
use crate::bayes::{each_chunk, sample};
use crate::explain::ClassMeans;
use crate::prelude::*;
use crate::stats::not_a_count;
use mercer_num::parallel;
use mercer_num::random::Random;
use std::borrow::Cow;

/// A likelihood for every column and a bag of words for every text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MixedNbModel {
    /// The classes in code order.
    pub classes: Classes,
    /// `log P(class)`.
    pub log_priors: Vec<f64>,
    /// The weight of the rows of each class.
    pub class_weights: Vec<f64>,
    /// One entry a column that is no word.
    pub likelihoods: Vec<Likelihood>,
    /// One entry a text, whose words are columns behind all others.
    pub texts: Vec<Text>,
    /// What becomes of a word that training never saw.
    pub unseen: Unseen,
    /// The power of each column's factor, then of each text's; empty where all count alike.
    #[serde(default)]
    pub weights: Vec<f64>,
}

/// The bags of words of one text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Text {
    /// How often each word occurs, one row a class.
    pub counts: Matrix,
    /// What is added to each count.
    pub alpha: f64,
    /// The logarithm of the shares.
    pub log_probabilities: Matrix,
}

impl Text {
    /// `Σ n log θ` over words; under the shares of the other rows, if `own` are the words of one of them.
    pub(super) fn log_factor(&self, words: &[(usize, f64)], class: usize, own: bool) -> f64 {
        let shares = self.log_probabilities.row(class);
        if !own {
            return words.iter().map(|(j, n)| n * shares[*j]).sum();
        }
        let counts = self.counts.row(class);
        let said: f64 = words.iter().map(|(_, n)| n).sum();
        let others = (counts.sum() - said).max(0.0) + self.alpha * counts.len() as f64;
        let log_probability = |(j, n): &(usize, f64)| {
            n * log_probability((counts[*j] - n).max(0.0) + self.alpha, others)
        };
        words.iter().map(log_probability).sum()
    }
}

impl MixedNbModel {
    /// How many columns are no words.
    pub(super) fn head(&self) -> usize {
        self.likelihoods.len()
    }

    /// `log θ` of the words, classes side by side, times the weight of their text if asked.
    fn by_word(&self, weighted: bool) -> Vec<f64> {
        let mut out = Vec::new();
        for (t, text) in self.texts.iter().enumerate() {
            let weight = if weighted { self.weight(self.head() + t) } else { 1.0 };
            let shares = text.log_probabilities.columns().into_iter().flat_map(|c| c.to_vec());
            out.extend(shares.map(|p| power(weight, p)));
        }
        out
    }

    /// The cells of some rows that are no words, and how far apart those of a column are; every word
    /// that occurs is told by row, column and count.
    fn read<'x>(
        &self,
        x: &'x Rows<'_>,
        first: usize,
        n: usize,
        mut tell: impl FnMut(usize, usize, f64),
    ) -> Result<(Cow<'x, [f64]>, usize)> {
        let (head, width) = (self.head(), self.n_columns());
        let mut word = |i: usize, j: usize, count: f64| {
            if !(count.is_finite() && count >= 0.0) {
                return Err(not_a_count(first + i, j, count));
            }
            if count > 0.0 {
                tell(i, j, count);
            }
            Ok(())
        };
        if let Some(block) = x.block(first..first + n) {
            for (i, row) in block.chunks_exact(width).enumerate() {
                for (j, count) in row.iter().enumerate().skip(head) {
                    word(i, j, *count)?;
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
                        j => word(i, j, *value)?,
                    }
                }
            }
        }
        Ok((cells.into(), head))
    }

    /// Adds the factors of all rows of a range.
    fn add_rows(
        &self,
        x: &Rows<'_>,
        first: usize,
        by_word: &[f64],
        weighted: bool,
        scores: &mut [f64],
    ) -> Result<()> {
        let (head, n_classes) = (self.head(), self.classes.len());
        let n = scores.len() / n_classes;
        let mut factors = Vec::new();
        let (cells, stride) = self.read(x, first, n, |i, j, count| {
            let shares = &by_word[(j - head) * n_classes..(j - head + 1) * n_classes];
            let scores = &mut scores[i * n_classes..(i + 1) * n_classes];
            scores.iter_mut().zip(shares).for_each(|(s, p)| *s += count * p);
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

    /// Scores with the weights that were learned, or as if all were one.
    fn sums_of_factors(&self, x: &Rows<'_>, weighted: bool) -> Result<Matrix> {
        self.check_columns(x)?;
        let n_classes = self.classes.len();
        let by_word = self.by_word(weighted);
        let layout = parallel::Layout::Dense;
        let chunk = parallel::chunk_rows(self.head().max(1), layout).min(4096);
        let mut out = Matrix::zeros((x.n_rows(), n_classes));
        each_chunk(&mut out, chunk, |first, scores| {
            scores.chunks_exact_mut(n_classes).for_each(|s| s.copy_from_slice(&self.log_priors));
            self.add_rows(x, first, &by_word, weighted, scores)
        })?;
        Ok(out)
    }

    /// The weight of a column that is no word, or of a text behind them.
    fn weight(&self, place: usize) -> f64 {
        self.weights.get(place).copied().unwrap_or(1.0)
    }

    /// The place of a column's weight.
    fn place_of(&self, column: usize) -> usize {
        let mut words = column.saturating_sub(self.head());
        if column < self.head() {
            return column;
        }
        let text = self.texts.iter().position(|text| {
            let inside = words < text.counts.ncols();
            words -= if inside { 0 } else { text.counts.ncols() };
            inside
        });
        self.head() + text.unwrap_or(0)
    }

    /// What the power of a factor comes to, for its formula.
    fn power(&self, column: usize, class: usize, value: f64, weight: f64) -> String {
        let mut factors = vec![0.0; self.classes.len()];
        match self.likelihoods.get(column) {
            Some(likelihood) => {
                let (n, cells) = (factors.len(), std::iter::once(value));
                // A value that is refused has no formula either.
                if likelihood.add_factors(self.unseen, (0, column), cells, &mut factors, n).is_err()
                {
                    return String::new();
                }
            }
            None => {
                let shares = self.by_word(false);
                let at = (column - self.head()) * factors.len();
                factors.iter_mut().zip(&shares[at..]).for_each(|(f, p)| *f = value * p);
            }
        }
        format!(" = {}", short(power(weight, factors[class]).exp()))
    }
}

/// A weight times a log-factor; without weight even what is impossible has no say.
fn power(weight: f64, log_factor: f64) -> f64 {
    if weight == 0.0 { 0.0 } else { weight * log_factor }
}

impl Classifier for MixedNbModel {
    fn classes(&self) -> &Classes {
        &self.classes
    }

    fn n_columns(&self) -> usize {
        self.head() + self.texts.iter().map(|text| text.counts.ncols()).sum::<usize>()
    }

    /// CategoryEncoding of a text are things in a bag.
    fn class_means(&self) -> Option<ClassMeans> {
        let n_classes = self.classes.len();
        let words = self.by_word(false);
        Some(ClassMeans::of_columns(n_classes, self.n_columns(), |c, j| {
            match self.likelihoods.get(j) {
                Some(likelihood) => likelihood.moments(c),
                None => (words[(j - self.head()) * n_classes + c].exp(), 0.0),
            }
        }))
    }

    /// The joint log-likelihoods `log p(c, x)`, each factor to the power that was learned for it.
    fn scores(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.sums_of_factors(x, true)
    }
}

impl Probabilistic for MixedNbModel {}

impl Generative for MixedNbModel {
    /// With all weights one: powers of densities tell classes apart and are no densities.
    fn log_joint(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.sums_of_factors(x, false)
    }

    /// CategoryEncoding of a text are not drawn: how long a text is, the model does not know.
    fn sample(&self, n: usize, random: &mut Random) -> (Matrix, Vec<u32>) {
        sample(&self.log_priors, n, self.n_columns(), random, |j, class, random| {
            self.likelihoods.get(j).map_or(0.0, |likelihood| likelihood.sample(class, random))
        })
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

    /// Column by column: what the rows of a column share is worked out once. CategoryEncoding that do not occur
    /// are left out.
    fn for_each_factor(
        &self,
        x: &Rows<'_>,
        tell: &mut dyn FnMut(usize, usize, &[f64]),
    ) -> Result<()> {
        self.check_columns(x)?;
        let (head, n, n_classes) = (self.head(), x.n_rows(), self.classes.len());
        let by_word = self.by_word(true);
        let mut factors = vec![0.0; n_classes];
        let (cells, stride) = self.read(x, 0, n, |i, j, count| {
            let shares = &by_word[(j - head) * n_classes..];
            factors.iter_mut().zip(shares).for_each(|(f, p)| *f = count * p);
            tell(j, i, &factors);
        })?;
        let mut factors = vec![0.0; n * n_classes];
        for (j, likelihood) in self.likelihoods.iter().enumerate() {
            factors.fill(0.0);
            let column = cells.iter().skip(j).step_by(stride).copied();
            likelihood.add_factors(self.unseen, (0, j), column, &mut factors, n_classes)?;
            if self.weight(j) != 1.0 {
                factors.iter_mut().for_each(|f| *f = power(self.weight(j), *f));
            }
            factors.chunks_exact(n_classes).enumerate().for_each(|(i, f)| tell(j, i, f));
        }
        Ok(())
    }

    fn factor_formula(&self, column: usize, class: u32, value: f64) -> String {
        let class = class as usize;
        let formula = match self.likelihoods.get(column) {
            Some(likelihood) => likelihood.formula(class, value, self.unseen),
            None => self.word_formula(column - self.head(), class, value),
        };
        match self.weight(self.place_of(column)) {
            1.0 => formula,
            w => format!("({formula})^{}{}", short(w), self.power(column, class, value, w)),
        }
    }
}

impl MixedNbModel {
    fn word_formula(&self, mut word: usize, class: usize, count: f64) -> String {
        for text in &self.texts {
            let n_words = text.counts.ncols();
            if word < n_words {
                let counts = text.counts.row(class);
                let (n, total) = (vec![counts[word]], vec![counts.sum()]);
                let word = Counted::new(n, total, text.alpha, n_words);
                return Likelihood::Counted(word).formula(0, count, self.unseen);
            }
            word -= n_words;
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
                && t.log_probabilities.iter().all(|p| !p.is_nan())
        };
        let fits = n >= 2
            && self.n_columns() > 0
            && self.log_priors.len() == n
            && self.class_weights.len() == n
            && self.log_priors.iter().all(|p| !p.is_nan())
            && self.likelihoods.iter().all(|l| l.fits(n))
            && self.texts.iter().all(text)
            && [0, self.head() + self.texts.len()].contains(&self.weights.len())
            && self.weights.iter().all(|w| w.is_finite() && *w >= 0.0);
        if fits {
            Ok(())
        } else {
            Err(Error::File("a mixed naive Bayes model that no fit could make".into()))
        }
    }
}
