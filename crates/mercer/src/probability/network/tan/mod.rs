//! Tree-augmented naive Bayes (TAN): every column has the class and at most one other column as parents.
//!
//! `log p(c, x) = log p(c) + Σⱼ log p(xⱼ | x_parent(j), c)`,
//! `p(b | a, c) = (N_abc + α) / (N_a·c + α kⱼ)`
//!
//! The tree maximizes `Σ I(Xⱼ; X_parent(j) | C)` (Friedman, Geiger & Goldszmidt, 1997). The sufficient statistics are
//! the counts of all pairs of codes of all pairs of columns in every class, so any split of the rows gives the same
//! model. Missing values are marginalized exactly by message passing on the tree.

mod scorer;

use super::learn::{Gain, mutual_information, spanning_forest};
use super::scoring::{codes_of, log_conditional, score_rows};
use crate::explain::Domain;
use crate::model::{AlphaParam, PriorParams};
use crate::prelude::*;
use crate::stats::log_priors;
use crate::stats::{ByClass, PairCounts};
use mercer_num::parallel::prelude::*;
use mercer_num::random::Random;
use ndarray::ArrayView1;
use scorer::Scorer;

params! {
    /// Tree-augmented naive Bayes, for dependent categorical columns.
    pub struct TanNb {
        ..AlphaParam;
        /// Minimum conditional mutual information of an edge, in nats per row. Larger values keep fewer edges; without
        /// edges the model is categorical naive Bayes.
        min_gain: f64 = 0.0, AtLeast(0.0);
        /// Index of the column that is the root of the tree.
        root: usize = 0, Any;
        ..PriorParams;
    }
    formula = "argmax_c log P(c) + Σⱼ log p(xⱼ | x_parent(j), c),  tree: max Σⱼ I(Xⱼ; X_parent(j) | C)";
    lecture = 3;
    attributes = [
        CLASS_LOG_PRIOR,
        own("levels_", "list of int", "Number of categories of each column."),
        own("parents_", "list of int or None", "Index of the parent of each column besides the class."),
        own("counts_", "ndarray", "Counts of all tables, concatenated by column: parent code, column code, class."),
        own("log_probabilities_", "ndarray", "`log p(code | code of the parent, class)`, in the order of `counts_`."),
    ];
}

/// A tree over the columns and a conditional probability table for each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TanNbModel {
    /// The classes in code order.
    pub classes: Classes,
    /// `log P(class)`.
    pub log_priors: Vec<f64>,
    /// The number of categories of each column.
    pub levels: Vec<usize>,
    /// The parent of each column besides the class.
    pub parents: Vec<Option<usize>>,
    /// The smoothing.
    pub alpha: f64,
    /// The counts of all tables, concatenated by column; each in row-major order of the code of the parent, the code of
    /// the column and the class.
    pub counts: Vec<f64>,
    /// `log p(code | code of the parent, class)`, in the same order as the counts.
    pub log_probabilities: Vec<f64>,
}

impl Accumulate for TanNb {
    type Stats = ByClass<PairCounts>;
    type Model = TanNbModel;

    fn observe(&self, stats: &mut Self::Stats, batch: &Dataset<'_>) -> Result<()> {
        stats.push_rows(batch, |batch, group_of_row, class_weights| {
            PairCounts::of_rows(batch.rows(), group_of_row, batch.weights(), class_weights.len())
        })
    }

    fn finish(&self, stats: &Self::Stats) -> Result<Self::Model> {
        stats.classes().check_several()?;
        let log_priors = log_priors(&self.class_prior, self.fit_prior, &stats.weights())?;
        let (codes, counts) = stats.observed();
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
                expected: format!("the index of one of the {n} columns, counted from 0"),
            });
        }
        let starts = counts.starts();
        // Mutual information of the rows in which both columns are observed.
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
        let min_gain = Gain::nats(self.min_gain);
        Ok(spanning_forest(n, self.root, min_gain, |j, k| gains[j][k - j - 1]))
    }
}

/// The number of categories of each column: the largest code with a positive weight, plus one.
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
    let stored = counts.levels();
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
                        Some(p) if *p < j => counts.pair(g, *p, j, &starts)[a * stored[j] + b],
                        Some(p) => counts.pair(g, j, *p, &starts)[b * stored[*p] + a],
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
                    let cells = (0..k).map(|b| start + b * n_classes + c);
                    let total: f64 = cells.clone().map(|at| self.counts[at] + self.alpha).sum();
                    for at in cells {
                        // No counts and no smoothing: uniform.
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

    /// The offset of the table of each column.
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
}

impl Classifier for TanNbModel {
    fn classes(&self) -> &Classes {
        &self.classes
    }

    fn log_prior_fallback(&self) -> Option<Vec<f64>> {
        Some(self.log_priors.clone())
    }

    fn n_columns(&self) -> usize {
        self.levels.len()
    }

    /// The joint log-likelihoods `log p(c, x)`.
    fn scores(&self, x: &Rows<'_>) -> Result<Matrix> {
        let scorer = Scorer::new(self);
        score_rows(self, &self.levels, x, |codes, scores| {
            scorer.score(codes, scores);
            Ok(())
        })
    }
}

impl Probabilistic for TanNbModel {}

impl Generative for TanNbModel {
    fn sample(&self, n: usize, given: Option<u32>, random: &mut Random) -> (Matrix, Vec<u32>) {
        let scorer = Scorer::new(self);
        let priors: Vec<f64> = self.log_priors.iter().map(|p| p.exp()).collect();
        let mut rows = Matrix::from_elem((n, self.levels.len()), f64::NAN);
        let mut classes = Vec::with_capacity(n);
        for mut row in rows.outer_iter_mut() {
            let c = given.map_or_else(|| random.choice(&priors), |c| c as usize);
            classes.push(c as u32);
            // A column that is always missing stays missing.
            for j in scorer.order.iter().copied().filter(|j| self.levels[*j] > 0) {
                let a = self.parents[j].map_or(0, |p| row[p] as usize);
                let p = |b: usize| scorer.log_probabilities(j, a, b)[c].exp();
                let probabilities: Vec<f64> = (0..self.levels[j]).map(p).collect();
                row[j] = random.choice(&probabilities) as f64;
            }
        }
        (rows, classes)
    }
}

impl FactorizedLikelihood for TanNbModel {
    fn log_priors(&self) -> &[f64] {
        &self.log_priors
    }

    /// `log p(xⱼ | x_parent, c)`. If the parent is missing, the factor is conditioned on all observed columns before it in
    /// the order of the tree: the factors are those of the chain rule, so they always multiply to the joint.
    fn log_factors(&self, row: &[f64]) -> Result<Matrix> {
        self.check_columns(&Rows::from(ArrayView1::from(row)))?;
        let codes = codes_of(row, &self.levels, 0)?;
        let scorer = Scorer::new(self);
        let n_classes = self.classes.len();
        let mut factors = Matrix::zeros((row.len(), n_classes));
        let mut observed = vec![None; row.len()];
        for j in scorer.order.iter().copied() {
            let Some(b) = codes[j] else { continue };
            let parent = self.parents[j].map(|p| codes[p]);
            let mut factor = factors.row_mut(j);
            if parent != Some(None) {
                let a = parent.flatten().unwrap_or(0);
                factor.assign(&ArrayView1::from(scorer.log_probabilities(j, a, b)));
            } else {
                let (mut before, mut after) = (vec![0.0; n_classes], vec![0.0; n_classes]);
                scorer.score(&observed, &mut before);
                observed[j] = codes[j];
                scorer.score(&observed, &mut after);
                for (f, (after, before)) in factor.iter_mut().zip(after.iter().zip(&before)) {
                    *f = log_conditional(*after, *before);
                }
            }
            observed[j] = codes[j];
        }
        Ok(factors)
    }

    fn domain(&self, column: usize) -> Domain {
        Domain::Categories(self.levels[column])
    }

    /// One distribution per state of the parent.
    fn parameters_of_column(&self, column: usize) -> Option<u64> {
        let states = self.parents[column].map_or(1, |parent| self.levels[parent]) as u64;
        Some(states * (self.levels[column] as u64).saturating_sub(1))
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
        let Ok(codes) = codes_of(row, &self.levels, 0) else { return String::new() };
        let Some(b) = codes[column] else { return "unknown category: no factor".into() };
        let parent = self.parents[column];
        let a = match parent.map(|p| codes[p]) {
            None => 0,
            Some(Some(a)) => a,
            Some(None) => {
                return format!(
                    "marginalized over column {}, which is missing",
                    parent.unwrap_or(0) + 1
                );
            }
        };
        let (k, n_classes) = (self.levels[column], self.classes.len());
        let start = self.starts()[column] + a * k * n_classes + class as usize;
        let total: f64 = (0..k).map(|b| self.counts[start + b * n_classes]).sum();
        let n = self.counts[start + b * n_classes];
        let p = self.log_probabilities[start + b * n_classes].exp();
        let given = parent.map_or(String::new(), |p| format!(" given column {} = {a}", p + 1));
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
        let bad = || {
            Err(Error::File(
                "the fields of the tree-augmented naive Bayes model are inconsistent".into(),
            ))
        };
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

    /// Within both classes the second column copies the first; the third is independent.
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
    fn dependent_columns_are_connected() {
        let model = fit(TanNb::new());

        assert_eq!(model.parents[0], None);
        assert_eq!(model.parents[1], Some(0));
        // P(second = 1 | first = 1, n) = (2 + 1) / (2 + 2)
        let factors = model.log_factors(&[1.0, 1.0, 0.0]).unwrap();
        assert!((factors[[1, 0]].exp() - 0.75).abs() < 1e-15);
        let formula = model.factor_formula_in(1, 0, &[1.0, 1.0, 0.0]);
        assert_eq!(formula, "(2 + 1) / (2 + 1 x 2) = 0.75 given column 1 = 1");
    }

    #[test]
    fn the_requested_column_is_the_root() {
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
    fn a_missing_value_is_marginalized() {
        let (x, _, _) = copies();
        let model = fit(TanNb::new());
        for row in x.outer_iter() {
            for mask in 0..8usize {
                let mut sums = [0.0; 2];
                for code in 0..27 {
                    let filled: Vec<f64> = (0..3)
                        .map(|j| match mask >> j & 1 {
                            0 => row[j],
                            _ => (code / [1, 3, 9][j] % 3) as f64,
                        })
                        .collect();
                    let first = (0..3).all(|j| mask >> j & 1 == 1 || code / [1, 3, 9][j] % 3 == 0);
                    let known = (0..3).all(|j| (filled[j] as usize) < model.levels[j]);
                    if first && known {
                        let scores = model.scores(&Rows::from(ArrayView1::from(&filled))).unwrap();
                        (0..2).for_each(|c| sums[c] += scores[[0, c]].exp());
                    }
                }
                let with_missing: Vec<f64> =
                    (0..3).map(|j| if mask >> j & 1 == 1 { f64::NAN } else { row[j] }).collect();

                let scores = model.scores(&Rows::from(ArrayView1::from(&with_missing))).unwrap();

                for c in 0..2 {
                    assert!((scores[[0, c]].exp() - sums[c]).abs() < 1e-14, "{with_missing:?}");
                }
            }
        }
    }

    #[test]
    fn an_unknown_category_is_treated_as_missing() {
        let model = fit(TanNb::new());

        let x = array![[9.0, 1.0, 0.0], [f64::NAN, 1.0, 0.0]];
        let scores = model.scores(&Rows::from(&x)).unwrap();

        assert_eq!(scores.row(0), scores.row(1));
        assert!(model.scores(&Rows::from(&array![[-1.0, 0.0, 0.0]])).is_err());
    }
}
