//! Tree-augmented naive Bayes: beside the class, every column may lean on one other column.
//!
//! `log p(c, x) = log p(c) + Σⱼ log p(xⱼ | x_parent(j), c)`,
//! `p(b | a, c) = (N_abc + α) / (N_a·c + α kⱼ)`
//!
//! The tree is the one with the largest `Σ I(Xⱼ; X_parent(j) | C)` (Friedman, Geiger & Goldszmidt, 1997).
//! Fitting needs how often each pair of columns shows each pair of codes in each class and nothing else,
//! so any split of the rows gives the same model. A missing cell is summed over, exactly: the columns
//! form a tree, so messages from the leaves do it.

use super::learn::{Gain, mutual_information, spanning_forest};
use crate::bayes::log_priors;
use crate::model::{AlphaParam, PriorParams};
use crate::prelude::*;
use crate::stats::{ByClass, PairCounts, category, not_a_category};
use mercer_num::random::Random;
use mercer_num::special::log_sum_exp;
use ndarray::ArrayView1;
use rayon::prelude::*;

/// Rows scored by one thread at a time.
const CHUNK: usize = 256;

params! {
    /// Tree-augmented naive Bayes, for columns of categories that depend on each other.
    pub struct TanNb {
        ..AlphaParam;
        /// Columns are joined only if that gains more than this many nats of likelihood a row. Larger
        /// values leave fewer edges; without any it is categorical naive Bayes.
        min_gain: f64 = 0.0, AtLeast(0.0);
        /// The column the tree hangs from, counted from 0.
        root: usize = 0, Any;
        ..PriorParams;
    }
}

/// A tree over the columns and a conditional table for each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TanNbModel {
    /// The classes in code order.
    pub classes: Classes,
    /// `log P(class)`.
    pub log_priors: Vec<f64>,
    /// How many codes each column has.
    pub levels: Vec<usize>,
    /// The column each column leans on.
    pub parents: Vec<Option<usize>>,
    /// What was added to every count.
    pub alpha: f64,
    /// The counts of all tables, column after column; in each, codes of the parent, codes of the
    /// column, classes, the last turning fastest.
    pub counts: Vec<f64>,
    /// `log p(code | code of the parent, class)`, laid out like the counts.
    pub log_probabilities: Vec<f64>,
}

impl Accumulate for TanNb {
    type Stats = ByClass<PairCounts>;
    type Model = TanNbModel;

    fn observe(&self, stats: &mut Self::Stats, batch: &Dataset<'_>) -> Result<()> {
        stats.push_rows(batch, |batch, slots, class_weights| {
            PairCounts::of_rows(batch.rows(), slots, batch.weights(), class_weights.len())
        })
    }

    fn finish(&self, stats: &Self::Stats) -> Result<Self::Model> {
        stats.classes().check_several()?;
        let log_priors = log_priors(&self.class_prior, self.fit_prior, &stats.weights())?;
        let (codes, counts) = stats.seen();
        let levels = used_levels(counts, codes.len());
        let total = stats.weights().iter().sum::<f64>();
        let parents = self.tree(counts, codes.len(), &levels, total)?;
        let n_classes = stats.classes().len();
        let counts = tables(counts, codes, &levels, &parents, n_classes);
        let mut model = TanNbModel {
            classes: stats.classes().clone(),
            log_priors,
            levels,
            parents,
            alpha: self.alpha,
            log_probabilities: vec![0.0; counts.len()],
            counts,
        };
        model.smooth();
        Ok(model)
    }
}

impl TanNb {
    /// The parent of each column.
    fn tree(
        &self,
        counts: &PairCounts,
        n_groups: usize,
        levels: &[usize],
        total: f64,
    ) -> Result<Vec<Option<usize>>> {
        let n = levels.len();
        if self.root >= n {
            return Err(Error::Parameter {
                name: "root".into(),
                found: self.root.to_string(),
                expected: format!("the place of one of the {n} columns, counted from 0"),
            });
        }
        let starts = counts.starts();
        // A pair gains only in the rows that show both.
        let gains: Vec<Vec<Gain>> = (0..n)
            .into_par_iter()
            .map(|j| {
                let with = |k: usize| {
                    let nats: f64 = (0..n_groups)
                        .map(|g| counts.pair(g, j, k, &starts))
                        .map(|pair| mutual_information(pair, counts.levels()[k]))
                        .sum();
                    Gain::nats(nats / total)
                };
                (j + 1..n).map(with).collect()
            })
            .collect();
        let least = Gain::nats(self.min_gain);
        Ok(spanning_forest(n, self.root, least, |j, k| gains[j][k - j - 1]))
    }
}

/// How many codes each column uses: up to the largest that was seen with any weight.
fn used_levels(counts: &PairCounts, n_groups: usize) -> Vec<usize> {
    let used = |j: usize| {
        let last = |g: usize| counts.single(g, j).iter().rposition(|n| *n > 0.0);
        (0..n_groups).filter_map(last).map(|code| code + 1).max().unwrap_or(0)
    };
    (0..counts.levels().len()).map(used).collect()
}

/// The counts that the tables of a tree need.
fn tables(
    counts: &PairCounts,
    codes: &[u32],
    levels: &[usize],
    parents: &[Option<usize>],
    n_classes: usize,
) -> Vec<f64> {
    let starts = counts.starts();
    let room = counts.levels();
    let mut out = Vec::new();
    for (j, parent) in parents.iter().enumerate() {
        let start = out.len();
        let n_rows = parent.map_or(1, |p| levels[p]);
        out.resize(start + n_rows * levels[j] * n_classes, 0.0);
        for (g, c) in codes.iter().enumerate() {
            for a in 0..n_rows {
                for b in 0..levels[j] {
                    let n = match parent {
                        None => counts.single(g, j)[b],
                        Some(p) if *p < j => counts.pair(g, *p, j, &starts)[a * room[j] + b],
                        Some(p) => counts.pair(g, j, *p, &starts)[b * room[*p] + a],
                    };
                    out[start + (a * levels[j] + b) * n_classes + *c as usize] = n;
                }
            }
        }
    }
    out
}

impl TanNbModel {
    fn smooth(&mut self) {
        let n_classes = self.classes.len();
        let starts = self.starts();
        for (j, start) in starts.iter().enumerate() {
            let k = self.levels[j];
            for a in 0..self.parent_levels(j) {
                let start = start + a * k * n_classes;
                for c in 0..n_classes {
                    let places = (0..k).map(|b| start + b * n_classes + c);
                    let total: f64 = places.clone().map(|at| self.counts[at] + self.alpha).sum();
                    for at in places {
                        // Never seen and nothing added: even odds.
                        self.log_probabilities[at] = if total > 0.0 {
                            ((self.counts[at] + self.alpha) / total).ln()
                        } else {
                            -(k as f64).ln()
                        };
                    }
                }
            }
        }
    }

    fn parent_levels(&self, j: usize) -> usize {
        self.parents[j].map_or(1, |p| self.levels[p])
    }

    /// Where the table of each column begins.
    fn starts(&self) -> Vec<usize> {
        let mut start = 0;
        (0..self.levels.len())
            .map(|j| {
                let here = start;
                start += self.parent_levels(j) * self.levels[j] * self.classes.len();
                here
            })
            .collect()
    }

    /// Every column after its parent.
    fn order(&self) -> Vec<usize> {
        let mut children = vec![Vec::new(); self.parents.len()];
        let mut order = Vec::with_capacity(self.parents.len());
        for (j, parent) in self.parents.iter().enumerate() {
            match parent {
                Some(p) => children[*p].push(j),
                None => order.push(j),
            }
        }
        let mut at = 0;
        while at < order.len() {
            order.extend_from_slice(&children[order[at]]);
            at += 1;
        }
        order
    }

    /// The codes of a row; a code that no training row had tells as little as a gap.
    fn codes(&self, row: &[f64]) -> std::result::Result<Vec<Option<usize>>, usize> {
        row.iter()
            .zip(&self.levels)
            .enumerate()
            .map(|(j, (value, levels))| {
                let code = category(*value).ok_or(j)?;
                Ok(code.map(|c| c as usize).filter(|c| c < levels))
            })
            .collect()
    }
}

/// The tables laid out for scoring.
struct Scorer<'a> {
    model: &'a TanNbModel,
    starts: Vec<usize>,
    order: Vec<usize>,
}

impl<'a> Scorer<'a> {
    fn new(model: &'a TanNbModel) -> Scorer<'a> {
        Scorer { model, starts: model.starts(), order: model.order() }
    }

    /// `log p(b | a, c)` for every class.
    fn shares(&self, j: usize, a: usize, b: usize) -> &[f64] {
        let n_classes = self.model.classes.len();
        let start = self.starts[j] + (a * self.model.levels[j] + b) * n_classes;
        &self.model.log_probabilities[start..start + n_classes]
    }

    /// `log p(c, what the codes show)`.
    fn score(&self, codes: &[Option<usize>], scores: &mut [f64]) {
        scores.copy_from_slice(&self.model.log_priors);
        if codes.iter().all(Option::is_some) {
            for (j, b) in codes.iter().enumerate() {
                let a = self.model.parents[j].and_then(|p| codes[p]).unwrap_or(0);
                add(scores, self.shares(j, a, b.unwrap_or(0)));
            }
            return;
        }
        self.score_past_gaps(codes, scores);
    }

    /// Messages from the leaves: a gap tells its parent the sum over its codes of what it is worth to
    /// have each. A gap below which nothing is seen is worth one, and says nothing.
    fn score_past_gaps(&self, codes: &[Option<usize>], scores: &mut [f64]) {
        let model = self.model;
        let n_classes = scores.len();
        let mut worth: Vec<Option<Vec<f64>>> = vec![None; codes.len()];
        let mut message = vec![0.0; n_classes];
        let mut terms = Vec::new();
        for j in self.order.iter().rev().copied() {
            let below = worth[j].take();
            if codes[j].is_none() && below.is_none() {
                continue;
            }
            let mut say = |a: usize, message: &mut Vec<f64>| match (codes[j], &below) {
                (Some(b), _) => message.copy_from_slice(self.shares(j, a, b)),
                (None, Some(below)) => {
                    for (c, m) in message.iter_mut().enumerate() {
                        terms.clear();
                        terms.extend(
                            (0..model.levels[j])
                                .map(|b| self.shares(j, a, b)[c] + below[b * n_classes + c]),
                        );
                        *m = log_sum_exp(&terms);
                    }
                }
                (None, None) => message.fill(0.0),
            };
            match model.parents[j].map(|p| (p, codes[p])) {
                Some((p, None)) => {
                    let size = model.levels[p] * n_classes;
                    let worth = worth[p].get_or_insert_with(|| vec![0.0; size]);
                    for (a, worth) in worth.chunks_exact_mut(n_classes).enumerate() {
                        say(a, &mut message);
                        add(worth, &message);
                    }
                }
                at => {
                    say(at.and_then(|(_, a)| a).unwrap_or(0), &mut message);
                    add(scores, &message);
                }
            }
        }
    }
}

fn add(sums: &mut [f64], terms: &[f64]) {
    sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
}

impl Classifier for TanNbModel {
    fn classes(&self) -> &Classes {
        &self.classes
    }

    fn n_columns(&self) -> usize {
        self.levels.len()
    }

    /// The joint log-likelihoods `log p(c, x)`.
    fn scores(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.check_columns(x)?;
        let n_classes = self.classes.len();
        let scorer = Scorer::new(self);
        let mut out = Matrix::zeros((x.n_rows(), n_classes));
        let cells = out.as_slice_mut().expect("a fresh matrix is contiguous");
        let scored: Vec<Result<()>> = cells
            .par_chunks_mut(CHUNK * n_classes)
            .enumerate()
            .map(|(k, scores)| {
                for (at, scores) in scores.chunks_exact_mut(n_classes).enumerate() {
                    let i = k * CHUNK + at;
                    let row = x.row(i);
                    let codes = self.codes(&row).map_err(|j| not_a_category(i, j, row[j]))?;
                    scorer.score(&codes, scores);
                }
                Ok(())
            })
            .collect();
        // The first bad cell in the order of the rows, whichever thread found one first.
        scored.into_iter().collect::<Result<()>>()?;
        Ok(out)
    }
}

impl Probabilistic for TanNbModel {}

impl Generative for TanNbModel {
    fn sample(&self, n: usize, random: &mut Random) -> (Matrix, Vec<u32>) {
        let scorer = Scorer::new(self);
        let priors: Vec<f64> = self.log_priors.iter().map(|p| p.exp()).collect();
        let mut rows = Matrix::from_elem((n, self.levels.len()), f64::NAN);
        let mut classes = Vec::with_capacity(n);
        for mut row in rows.outer_iter_mut() {
            let c = random.choice(&priors);
            classes.push(c as u32);
            // A column that never had a value stays a gap.
            for j in scorer.order.iter().copied().filter(|j| self.levels[*j] > 0) {
                let a = self.parents[j].map_or(0, |p| row[p] as usize);
                let shares: Vec<f64> =
                    (0..self.levels[j]).map(|b| scorer.shares(j, a, b)[c].exp()).collect();
                row[j] = random.choice(&shares) as f64;
            }
        }
        (rows, classes)
    }
}

impl FactorizedLikelihood for TanNbModel {
    fn log_priors(&self) -> &[f64] {
        &self.log_priors
    }

    /// `log p(xⱼ | x_parent, c)`. Where the parent is missing, `p(xⱼ | what is seen above, c)`: the
    /// factors are those of the chain rule in the order of the tree, so they always multiply to the
    /// score.
    fn log_factors(&self, row: &[f64]) -> Result<Matrix> {
        self.check_columns(&Rows::from(ArrayView1::from(row)))?;
        let codes = self.codes(row).map_err(|j| not_a_category(0, j, row[j]))?;
        let scorer = Scorer::new(self);
        let n_classes = self.classes.len();
        let mut factors = Matrix::zeros((row.len(), n_classes));
        let mut above = vec![None; row.len()];
        for j in scorer.order.iter().copied() {
            let Some(b) = codes[j] else { continue };
            let parent = self.parents[j].map(|p| codes[p]);
            let mut factor = factors.row_mut(j);
            if parent != Some(None) {
                let a = parent.flatten().unwrap_or(0);
                factor.assign(&ArrayView1::from(scorer.shares(j, a, b)));
            } else {
                let (mut before, mut after) = (vec![0.0; n_classes], vec![0.0; n_classes]);
                scorer.score(&above, &mut before);
                above[j] = codes[j];
                scorer.score(&above, &mut after);
                for (f, (after, before)) in factor.iter_mut().zip(after.iter().zip(&before)) {
                    // What was impossible before stays so whatever comes next.
                    *f = if *before == f64::NEG_INFINITY { 0.0 } else { after - before };
                }
            }
            above[j] = codes[j];
        }
        Ok(factors)
    }

    fn factor_formula(&self, column: usize, class: u32, value: f64) -> String {
        let mut row = vec![f64::NAN; self.levels.len()];
        row[column] = value;
        self.factor_formula_in(column, class, &row)
    }

    fn given(&self, column: usize) -> Option<usize> {
        self.parents.get(column).copied().flatten()
    }

    fn factor_formula_in(&self, column: usize, class: u32, row: &[f64]) -> String {
        let Ok(codes) = self.codes(row) else { return String::new() };
        let Some(b) = codes[column] else { return "never seen in training: 1".into() };
        let parent = self.parents[column];
        let a = match parent.map(|p| codes[p]) {
            None => 0,
            Some(Some(a)) => a,
            Some(None) => {
                return format!(
                    "averaged over column {}, which is missing",
                    parent.unwrap_or(0) + 1
                );
            }
        };
        let (k, n_classes) = (self.levels[column], self.classes.len());
        let start = self.starts()[column] + a * k * n_classes + class as usize;
        let total: f64 = (0..k).map(|b| self.counts[start + b * n_classes]).sum();
        let n = self.counts[start + b * n_classes];
        let p = self.log_probabilities[start + b * n_classes].exp();
        let given = parent.map_or(String::new(), |p| format!(", column {} being {a}", p + 1));
        format!(
            "({} + {}) / ({} + {} x {k}) = {}{given}",
            short(n),
            short(self.alpha),
            short(total),
            short(self.alpha),
            short(p)
        )
    }
}

impl Check for TanNbModel {
    fn check(&self) -> Result<()> {
        let (n, n_classes) = (self.levels.len(), self.classes.len());
        let bad = || Err(Error::File("a tree-augmented model that no fit could make".into()));
        let shaped = n > 0
            && n_classes >= 2
            && self.log_priors.len() == n_classes
            && self.parents.len() == n
            && self.parents.iter().flatten().all(|p| *p < n)
            && self.log_priors.iter().all(|p| *p <= 0.0);
        if !shaped || self.order().len() != n {
            return bad();
        }
        let cells = (0..n).try_fold(0usize, |sum, j| {
            let table =
                self.parent_levels(j).checked_mul(self.levels[j])?.checked_mul(n_classes)?;
            sum.checked_add(table)
        });
        let fits = cells == Some(self.counts.len())
            && cells == Some(self.log_probabilities.len())
            && self.alpha.is_finite()
            && self.alpha >= 0.0
            && self.counts.iter().all(|n| n.is_finite() && *n >= 0.0)
            && self.log_probabilities.iter().all(|p| *p <= 0.0);
        if fits { Ok(()) } else { bad() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    /// WithinClassScatter both classes the second column copies the first; the third is its own.
    fn copies() -> (Matrix, Vec<u32>, Classes) {
        let x = array![
            [0.0, 0.0, 1.0],
            [1.0, 1.0, 0.0],
            [1.0, 1.0, 1.0],
            [0.0, 0.0, 0.0],
            [2.0, 1.0, 0.0],
            [0.0, 0.0, 1.0]
        ];
        (x, vec![0, 0, 0, 1, 1, 1], Classes::from_names(["n", "y"]))
    }

    fn fit(params: TanNb) -> TanNbModel {
        let (x, codes, classes) = copies();
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        params.fit(&data, &Monitor::quiet()).unwrap().model
    }

    #[test]
    fn columns_that_copy_each_other_are_joined() {
        let model = fit(TanNb::new());

        assert_eq!(model.parents[0], None);
        assert_eq!(model.parents[1], Some(0));
        // P(second = 1 | first = 1, n) = (2 + 1) / (2 + 2)
        let factors = model.log_factors(&[1.0, 1.0, 0.0]).unwrap();
        assert!((factors[[1, 0]].exp() - 0.75).abs() < 1e-15);
        let told = model.factor_formula_in(1, 0, &[1.0, 1.0, 0.0]);
        assert_eq!(told, "(2 + 1) / (2 + 1 x 2) = 0.75, column 1 being 1");
    }

    #[test]
    fn the_tree_hangs_from_the_root_that_was_asked() {
        assert_eq!(fit(TanNb::new().root(1)).parents[..2], [Some(1), None]);
        let (x, codes, classes) = copies();
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        let error = TanNb::new().root(3).fit(&data, &Monitor::quiet()).unwrap_err();
        assert!(matches!(error, Error::Parameter { name, .. } if name == "root"));
    }

    #[test]
    fn without_edges_it_is_categorical_naive_bayes() {
        let model = fit(TanNb::new().min_gain(100.0));
        let (x, _, _) = copies();

        let scores = model.scores(&Rows::from(&x)).unwrap();

        // P(n) (1 + 1)/(3 + 3) (1 + 1)/(3 + 2) (2 + 1)/(3 + 2) for the first row.
        let by_hand = 0.5 * (2.0 / 6.0) * (2.0 / 5.0) * (3.0 / 5.0);
        assert!((scores[[0, 0]].exp() - by_hand).abs() < 1e-15);
        assert!(model.parents.iter().all(Option::is_none));
    }

    #[test]
    fn a_gap_is_the_sum_over_its_codes() {
        let (x, _, _) = copies();
        let model = fit(TanNb::new());
        for row in x.outer_iter() {
            for gaps in 0..8usize {
                let mut sums = [0.0; 2];
                for code in 0..27 {
                    let filled: Vec<f64> = (0..3)
                        .map(|j| match gaps >> j & 1 {
                            0 => row[j],
                            _ => (code / [1, 3, 9][j] % 3) as f64,
                        })
                        .collect();
                    let first = (0..3).all(|j| gaps >> j & 1 == 1 || code / [1, 3, 9][j] % 3 == 0);
                    let known = (0..3).all(|j| (filled[j] as usize) < model.levels[j]);
                    if first && known {
                        let scores = model.scores(&Rows::from(ArrayView1::from(&filled))).unwrap();
                        (0..2).for_each(|c| sums[c] += scores[[0, c]].exp());
                    }
                }
                let holes: Vec<f64> =
                    (0..3).map(|j| if gaps >> j & 1 == 1 { f64::NAN } else { row[j] }).collect();

                let scores = model.scores(&Rows::from(ArrayView1::from(&holes))).unwrap();

                for c in 0..2 {
                    assert!((scores[[0, c]].exp() - sums[c]).abs() < 1e-14, "{holes:?}");
                }
            }
        }
    }

    #[test]
    fn a_code_nobody_had_tells_as_little_as_a_gap() {
        let model = fit(TanNb::new());

        let x = array![[9.0, 1.0, 0.0], [f64::NAN, 1.0, 0.0]];
        let scores = model.scores(&Rows::from(&x)).unwrap();

        assert_eq!(scores.row(0), scores.row(1));
        assert!(model.scores(&Rows::from(&array![[-1.0, 0.0, 0.0]])).is_err());
    }
}
