//! Multiclass classification by binary subproblems: one-vs-one or one-vs-rest.
//!
//! Coefficients are stored as LIBSVM stores them. One-vs-one: a support vector of class `c` has one coefficient per other
//! class, in class order, and a decision value is positive for the first class of a pair. Two classes have a single
//! decision function, which is positive for the second class. One-vs-rest: one coefficient and one decision value per
//! class, positive for the class itself.

use super::dual_problem::DualProblem;
use super::params::SvmOptions;
use super::subproblem::Subproblem;
pub(super) use crate::calibrate::coupling::{pair_index, pairs};
use crate::calibrate::map::{Calibration, CalibrationMap};
use crate::choice;
use crate::data::{ClassWeight, Classes, Dataset};
use crate::error::{Error, Result};
use crate::kernel::{KernelExpansion, Segment};
use crate::model::Monitor;
use mercer_num::Matrix;
use std::ops::Range;

/// The intercept of a class that was not observed in training: its score is never the highest.
pub(super) const UNOBSERVED_INTERCEPT: f64 = -1e300;

choice! {
    /// The reduction of a multiclass problem.
    pub enum Multiclass {
        /// One binary classifier per pair of classes; the class with most votes wins.
        OneVsOne = "ovo",
        /// One binary classifier per class against all others; the highest decision value wins.
        OneVsRest = "ovr",
        /// One function per class, trained jointly so that the function of a row's class is highest.
        CrammerSinger = "crammer_singer",
    }
}

choice! {
    /// The shape of the decision function of more than two classes.
    pub enum DecisionShape {
        /// One column per class.
        OneVsRest = "ovr",
        /// One column per pair of classes.
        OneVsOne = "ovo",
    }
}

/// Bytes per pair of classes and per row of a pair: the quadratic program, its solution and its decision function.
const PAIR_BYTES: u64 = 640;
const PAIR_ROW_BYTES: u64 = 64;
/// Memory for the subproblems if there is no memory budget.
const DEFAULT_PAIR_BYTES: u64 = 4 << 30;

/// A dual problem whose rows are sorted by class.
pub(super) struct ClassProblem<'a, 'd> {
    pub problem: DualProblem<'a>,
    pub classes: &'d Classes,
    /// The class of each row.
    pub codes: Vec<u32>,
    /// The rows of each class, empty for a class that was not observed.
    pub ranges: Vec<Range<usize>>,
    /// The weight of each class in the loss.
    pub class_weights: Vec<f64>,
}

impl<'a, 'd> ClassProblem<'a, 'd> {
    /// Sorts the rows by class and computes the class weights. `max_bound` is the largest bound of a dual variable.
    ///
    /// # Errors
    /// If fewer than two classes are observed, or the rows do not suit the kernel.
    pub fn new(
        params: &SvmOptions,
        class_weight: Option<&ClassWeight>,
        data: &'d Dataset<'a>,
        max_bound: f64,
        monitor: &Monitor<'_>,
    ) -> Result<ClassProblem<'a, 'd>> {
        let (all_codes, classes) = data.class_target()?;
        if data.n_rows() > 0 && data.n_columns() > 0 {
            classes.check_several()?;
        }
        let problem = DualProblem::new(params, data, |i| all_codes[i], max_bound, monitor)?;
        let codes: Vec<u32> = problem.indices.iter().map(|i| all_codes[*i as usize]).collect();
        let ranges = class_ranges(classes.len(), &codes);
        check_observed(classes, &ranges)?;
        // As scikit-learn's SVC: `balanced` counts rows, not sample weights.
        let mut by_class = vec![0.0; classes.len()];
        all_codes.iter().for_each(|c| by_class[*c as usize] += 1.0);
        let class_weights = ClassWeight::factors(class_weight, classes, &by_class)?;
        Ok(ClassProblem { problem, classes, codes, ranges, class_weights })
    }

    /// Checks the memory budget for one subproblem per pair of classes.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub fn reserve_pairs(&self, monitor: &Monitor<'_>) -> Result<()> {
        let n_classes = self.ranges.iter().filter(|r| !r.is_empty()).count() as u64;
        let n_pairs = n_classes * (n_classes - 1) / 2;
        // Every row is in a pair with each other class.
        let n_rows = self.codes.len() as u64 * (n_classes - 1);
        let bytes = PAIR_BYTES * n_pairs + PAIR_ROW_BYTES * n_rows;
        let what = format!("storing {n_pairs} one-vs-one subproblems of {n_classes} classes");
        let remedy = "raise the memory budget, set `multiclass` to `ovr`, or use linear-svc, sgd, gaussian-nb or lda";
        monitor.reserve_or(&what, bytes, DEFAULT_PAIR_BYTES, remedy)
    }

    /// The weight of a row in the loss: its sample weight times its class weight, times `scale`.
    pub fn row_weight(&self, scale: f64, row: usize) -> f64 {
        scale * self.problem.weights[row] * self.class_weights[self.codes[row] as usize]
    }
}

/// The rows of each class, with the rows sorted by class.
fn class_ranges(n_classes: usize, sorted: &[u32]) -> Vec<Range<usize>> {
    (0..n_classes as u32)
        .map(|c| {
            let first = sorted.partition_point(|code| *code < c);
            first..sorted.partition_point(|code| *code <= c)
        })
        .collect()
}

/// Refuses rows of a single class.
fn check_observed(classes: &Classes, ranges: &[Range<usize>]) -> Result<()> {
    let mut observed = ranges.iter().enumerate().filter(|(_, r)| !r.is_empty()).map(|(c, _)| c);
    match (observed.next(), observed.next()) {
        (Some(c), None) => Err(Error::OneClass { class: classes.label(c as u32).to_string() }),
        _ => Ok(()),
    }
}

/// The reduction of a multiclass problem to binary subproblems.
#[derive(Clone, Copy)]
pub(super) enum Decomposition<'r> {
    /// One subproblem per pair of observed classes.
    OneVsOne(&'r [Range<usize>]),
    /// One subproblem per observed class, over all rows.
    OneVsRest(&'r [Range<usize>]),
}

/// A solved binary decision function: its coefficients and its intercept.
pub(super) type BinaryFunction = (Vec<f64>, f64);

impl Decomposition<'_> {
    fn ranges(&self) -> &[Range<usize>] {
        match self {
            Decomposition::OneVsOne(ranges) | Decomposition::OneVsRest(ranges) => ranges,
        }
    }

    pub fn is_one_vs_one(&self) -> bool {
        matches!(self, Decomposition::OneVsOne(_))
    }

    /// The form in which models store the reduction.
    pub fn multiclass(&self) -> Multiclass {
        match self {
            Decomposition::OneVsOne(_) => Multiclass::OneVsOne,
            Decomposition::OneVsRest(_) => Multiclass::OneVsRest,
        }
    }

    /// The class of the positive rows and, for one-vs-one, that of the negative rows of every subproblem.
    pub fn class_pairs(&self) -> Vec<(usize, Option<usize>)> {
        match self {
            Decomposition::OneVsOne(ranges) => {
                observed_pairs(ranges).map(|(a, b)| (a, Some(b))).collect()
            }
            Decomposition::OneVsRest(ranges) => {
                observed_classes(ranges).map(|c| (c, None)).collect()
            }
        }
    }

    /// The binary subproblems with the given upper bounds of the dual variables.
    pub fn subproblems(&self, bound: impl Fn(usize) -> f64) -> Vec<Subproblem> {
        match self {
            Decomposition::OneVsOne(ranges) => observed_pairs(ranges)
                .map(|(a, b)| {
                    let rows = ranges[a].clone().chain(ranges[b].clone());
                    Subproblem::binary(rows, |k| ranges[a].contains(&k), &bound)
                })
                .collect(),
            Decomposition::OneVsRest(ranges) => {
                let n_rows = ranges.iter().map(|r| r.len()).sum();
                observed_classes(ranges)
                    .map(|c| Subproblem::binary(0..n_rows, |k| ranges[c].contains(&k), &bound))
                    .collect()
            }
        }
    }

    /// One value per row and subproblem in the layout of the coefficients, one column per row.
    pub fn table<'v>(
        &self,
        n_rows: usize,
        subproblems: &[Subproblem],
        values: impl Fn(usize) -> &'v [f64],
    ) -> Matrix {
        match self {
            Decomposition::OneVsOne(ranges) => {
                let mut table = Matrix::zeros((ranges.len() - 1, n_rows));
                for (k, ((a, b), sub)) in observed_pairs(ranges).zip(subproblems).enumerate() {
                    for (row, value) in sub.rows.iter().zip(values(k)) {
                        let first = ranges[a].contains(&(*row as usize));
                        table[[if first { b - 1 } else { a }, *row as usize]] = *value;
                    }
                }
                table
            }
            Decomposition::OneVsRest(ranges) => {
                let mut table = Matrix::zeros((ranges.len(), n_rows));
                for (k, c) in observed_classes(ranges).enumerate() {
                    table.row_mut(c).iter_mut().zip(values(k)).for_each(|(to, v)| *to = *v);
                }
                table
            }
        }
    }

    /// The intercepts of all decision functions, for rows that are not centered.
    fn intercepts(
        &self,
        problem: &DualProblem<'_>,
        subproblems: &[Subproblem],
        functions: &[BinaryFunction],
    ) -> Vec<f64> {
        let input_intercepts: Vec<f64> = subproblems
            .iter()
            .zip(functions)
            .map(|(sub, (beta, b))| problem.input_intercept(&sub.rows, beta, *b))
            .collect();
        match self {
            Decomposition::OneVsOne(ranges) => {
                let n = ranges.len();
                let sign = binary_sign(n);
                // A pair with a class that was not observed votes for the other class.
                let mut intercepts: Vec<f64> = pairs(n)
                    .map(|(a, b)| {
                        let observed = [a, b].map(|c| !ranges[c].is_empty());
                        sign * f64::from(i8::from(observed[0]) - i8::from(observed[1]))
                    })
                    .collect();
                for ((a, b), intercept) in observed_pairs(ranges).zip(input_intercepts) {
                    intercepts[pair_index(n, a, b)] = sign * intercept;
                }
                intercepts
            }
            Decomposition::OneVsRest(ranges) => {
                let mut intercepts = vec![UNOBSERVED_INTERCEPT; ranges.len()];
                for (c, intercept) in observed_classes(ranges).zip(input_intercepts) {
                    intercepts[c] = intercept;
                }
                intercepts
            }
        }
    }

    /// The kernel expansion of all decision functions, and the number of support vectors of each class.
    pub fn expansion(
        &self,
        problem: &DualProblem<'_>,
        subproblems: &[Subproblem],
        functions: &[BinaryFunction],
    ) -> (KernelExpansion, Vec<u32>) {
        let mut table = self.table(problem.indices.len(), subproblems, |k| &functions[k].0);
        if self.is_one_vs_one() {
            table *= binary_sign(self.ranges().len());
        }
        let intercepts = self.intercepts(problem, subproblems, functions);
        expansion_of_table(problem, self.ranges(), &table, intercepts)
    }

    /// The calibration maps of all decision functions, from the leave-one-out decision values of every subproblem.
    pub fn calibrate(
        &self,
        kind: Calibration,
        problem: &DualProblem<'_>,
        subproblems: &[Subproblem],
        scores: &[Vec<f64>],
    ) -> Vec<CalibrationMap> {
        let fit = |sub: &Subproblem, scores: &[f64], negated: bool| {
            let (positive, weights) = (sub.is_positive(), sub.weights(problem));
            match negated {
                true => CalibrationMap::fit_negated(kind, scores, &positive, &weights),
                false => CalibrationMap::fit(kind, scores, &positive, &weights),
            }
        };
        let fitted = subproblems.iter().zip(scores);
        match self {
            Decomposition::OneVsOne(ranges) => {
                let n = ranges.len();
                let mut maps = vec![CalibrationMap::placeholder(); n * (n - 1) / 2];
                for ((a, b), (sub, scores)) in observed_pairs(ranges).zip(fitted) {
                    // The decision function of two classes is positive for the second, the subproblem for the first.
                    maps[pair_index(n, a, b)] = fit(sub, scores, n == 2);
                }
                maps
            }
            Decomposition::OneVsRest(ranges) => {
                let mut maps = vec![CalibrationMap::placeholder(); ranges.len()];
                for (c, (sub, scores)) in observed_classes(ranges).zip(fitted) {
                    maps[c] = fit(sub, scores, false);
                }
                maps
            }
        }
    }
}

/// The sign between the decision function of a pair and its subproblem: negative for two classes.
pub(super) fn binary_sign(n_classes: usize) -> f64 {
    if n_classes == 2 { -1.0 } else { 1.0 }
}

fn observed_classes(ranges: &[Range<usize>]) -> impl Iterator<Item = usize> {
    (0..ranges.len()).filter(|c| !ranges[*c].is_empty())
}

/// The pairs of classes that were both observed.
pub(super) fn observed_pairs(ranges: &[Range<usize>]) -> impl Iterator<Item = (usize, usize)> {
    pairs(ranges.len()).filter(|(a, b)| !ranges[*a].is_empty() && !ranges[*b].is_empty())
}

/// The kernel expansion of the rows with a nonzero coefficient, and the number of support vectors of each class.
pub(super) fn expansion_of_table(
    problem: &DualProblem<'_>,
    ranges: &[Range<usize>],
    table: &Matrix,
    intercepts: Vec<f64>,
) -> (KernelExpansion, Vec<u32>) {
    let rows: Vec<u32> = (0..table.ncols() as u32)
        .filter(|k| table.column(*k as usize).iter().any(|v| *v != 0.0))
        .collect();
    let count =
        |range: &Range<usize>| rows.iter().filter(|k| range.contains(&(**k as usize))).count();
    let n_support = ranges.iter().map(|range| count(range) as u32).collect();
    let selected: Vec<usize> = rows.iter().map(|k| *k as usize).collect();
    let coefficients = table.select(ndarray::Axis(1), &selected);
    (problem.expansion(&rows, coefficients, intercepts), n_support)
}

/// The decision function between two classes, and the sign with which it is positive for the first.
pub(super) fn decision_between(n: usize, first: usize, second: usize) -> (usize, f64) {
    let earlier = if first < second { 1.0 } else { -1.0 };
    (pair_index(n, first.min(second), first.max(second)), binary_sign(n) * earlier)
}

/// The coefficients of each class's support vectors and the one-vs-one decisions that they contribute to.
pub(super) fn pair_segments(n_support: &[u32]) -> Vec<Segment> {
    let n = n_support.len();
    let mut first = 0;
    n_support
        .iter()
        .enumerate()
        .map(|(c, count)| {
            let vectors = first..first + *count as usize;
            first = vectors.end;
            let others = (0..n).filter(|o| *o != c);
            Segment { vectors, to: others.map(|o| pair_index(n, c.min(o), c.max(o))).collect() }
        })
        .collect()
}

/// The number of one-vs-one votes for every class.
pub(super) fn votes(decisions: &Matrix, n: usize) -> Matrix {
    let mut out = Matrix::zeros((decisions.nrows(), n));
    for (row, mut out) in decisions.rows().into_iter().zip(out.rows_mut()) {
        for ((a, b), d) in pairs(n).zip(row) {
            out[if *d > 0.0 { a } else { b }] += 1.0;
        }
    }
    out
}

/// Class scores from one-vs-one decision values, as scikit-learn computes them: the votes plus the sum of the decision
/// values, which is transformed to less than one half so that it only breaks ties.
pub(super) fn vote_scores(decisions: &Matrix, n: usize) -> Matrix {
    let mut out = votes(decisions, n);
    for (row, mut out) in decisions.rows().into_iter().zip(out.rows_mut()) {
        let mut sums = vec![0.0; n];
        for ((a, b), d) in pairs(n).zip(row) {
            sums[a] += d;
            sums[b] -= d;
        }
        out.iter_mut().zip(&sums).for_each(|(v, s)| *v += s / (3.0 * (s.abs() + 1.0)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn pair_index_counts_pairs_in_order() {
        for n in 2..7 {
            for (k, (a, b)) in pairs(n).enumerate() {
                assert_eq!(pair_index(n, a, b), k);
            }
        }
    }

    #[test]
    fn votes_rank_before_sums_of_decision_values() {
        // Pairs (0, 1), (0, 2), (1, 2): class 0 wins both of its pairs, narrowly.
        let decisions = array![[0.1, 0.1, 9.0]];

        assert_eq!(votes(&decisions, 3), array![[2.0, 1.0, 0.0]]);
        let scores = vote_scores(&decisions, 3);
        assert!(scores[[0, 0]] > scores[[0, 1]]);
        assert!((scores[[0, 0]] - (2.0 + 0.2 / 3.6)).abs() < 1e-15);
    }
}
