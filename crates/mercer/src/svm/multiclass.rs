//! Many classes from machines that tell two apart: one against one, or one against the rest.

use super::dual_problem::{AT_ONCE, DualProblem, Solved};
pub(super) use crate::calibrate::coupling::{pair_index, pairs};
use crate::calibrate::map::{Calibration, CalibrationMap};
use crate::choice;
use crate::kernel::{KernelExpansion, Segment};
use crate::model::{Certificate, Monitor, Plan, Progress, Standing};
use crate::solver::{BoxQp, PowerSlack, Tell};
use mercer_num::Matrix;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

choice! {
    /// How many classes are made of two.
    pub enum Multiclass {
        /// A machine for every pair of classes; the class with most of them wins.
        OneVsOne = "ovo",
        /// A machine for every class against all others; the highest wins.
        OneVsRest = "ovr",
        /// A function for every class, learned together so that each row's own is highest.
        CrammerSinger = "crammer_singer",
    }
}

choice! {
    /// What a decision function of many classes returns.
    pub enum DecisionShape {
        /// A column for every class.
        OneVsRest = "ovr",
        /// A column for every pair of classes.
        OneVsOne = "ovo",
    }
}

/// A problem over some of the rows.
pub(super) struct Task {
    /// Which rows.
    pub places: Vec<u32>,
    pub linear: Vec<f64>,
    pub low: Vec<f64>,
    pub high: Vec<f64>,
    pub start: Vec<f64>,
    pub tube: f64,
    pub split: usize,
    pub slack: Option<PowerSlack>,
}

impl Task {
    pub fn problem(&self) -> BoxQp<'_> {
        BoxQp {
            linear: &self.linear,
            low: &self.low,
            high: &self.high,
            tube: self.tube,
            split: self.split,
            start: self.start.clone(),
            outputs: None,
            slack: self.slack.as_ref(),
        }
    }
}

impl Task {
    /// Which rows are on the side of its coefficients above zero.
    pub fn positive(&self) -> Vec<bool> {
        self.high.iter().map(|high| *high > 0.0).collect()
    }

    /// How often its rows count.
    pub fn weights(&self, ground: &DualProblem<'_>) -> Vec<f64> {
        self.places.iter().map(|k| ground.weights[*k as usize]).collect()
    }
}

/// Solves all, on all threads.
pub(super) fn solve_all(
    ground: &DualProblem<'_>,
    tasks: &[Task],
    monitor: &Monitor<'_>,
) -> Vec<Solved> {
    let work = |task: &Task, progress: &Tell<'_>| {
        ground.solve(&task.places, &task.problem(), tasks.len(), monitor, progress)
    };
    each_task(tasks, monitor, work, Solved::standing)
}

/// Does something with every task, on all threads. The work is told whom to tell how far it is; of many
/// tasks those that are done are told together.
pub(super) fn each_task<R: Send>(
    tasks: &[Task],
    monitor: &Monitor<'_>,
    work: impl Fn(&Task, &Tell<'_>) -> R + Sync,
    standing: impl Fn(&R) -> Standing + Sync,
) -> Vec<R> {
    const WHOLE: u64 = 1000;
    let total = WHOLE * tasks.len() as u64;
    let ended = Mutex::new((0, Standing::default()));
    let each =
        if rayon::current_num_threads() > AT_ONCE { tasks.len().div_ceil(AT_ONCE) } else { 1 };
    tasks
        .par_iter()
        .with_min_len(each)
        .with_max_len(each)
        .map(|task| {
            let alone = tasks.len() == 1;
            let tell = |done: u64, standing: Standing| {
                monitor.tell(Progress { done, total: Some(total), standing: Some(standing) });
            };
            let progress = |share: f64, standing: Standing| {
                if alone {
                    tell((share * (WHOLE - 1) as f64) as u64, standing);
                }
            };
            let solved = work(task, &progress);
            // Told one after the other, so that what is told never goes back.
            let mut ended = ended.lock().unwrap_or_else(PoisonError::into_inner);
            *ended = (ended.0 + WHOLE, ended.1.and(standing(&solved)));
            tell(ended.0, ended.1);
            solved
        })
        .collect()
}

/// The certificate of some problems: their objectives added up, their largest violation.
pub(super) fn certificate(
    ground: &DualProblem<'_>,
    plan: Option<Plan>,
    solved: &[Solved],
    n_vectors: usize,
    start: Instant,
) -> Certificate {
    let primal: f64 = solved.iter().map(|s| s.measured.primal).sum();
    let dual: f64 = solved.iter().map(|s| s.measured.dual).sum();
    let violation = solved.iter().map(|s| s.measured.violation).fold(0.0, f64::max);
    let steps: u64 = solved.iter().map(|s| s.steps).sum();
    let values: u64 = solved.iter().map(|s| s.kernel_values).sum();
    let stopped = solved.iter().find_map(|s| s.stopped);
    let precision = match ground.precision {
        super::Precision::Single => "single",
        super::Precision::Double => "double",
    };
    let unconverged = solved.iter().filter(|s| !s.converged).count();
    let mut certificate = Certificate::iterative(unconverged == 0, stopped)
        .objective("primal objective", primal)
        .dual(dual)
        .violation("largest KKT violation", violation)
        .note(format!("{n_vectors} support vectors"))
        .note(format!("{values} kernel values in {precision} precision"))
        .plan(plan)
        .rows(ground.indices.len() as u64)
        .iterations(steps)
        .since(start);
    if solved.len() > 1 {
        certificate = certificate.note(format!("{} binary subproblems", solved.len()));
    }
    if unconverged > 0 && stopped.is_none() {
        certificate = certificate.note(format!("{unconverged} subproblems did not converge"));
    }
    certificate
}

/// The decision between two classes, and the sign with which it is above zero for the first.
pub(super) fn decision_between(n: usize, first: usize, second: usize) -> (usize, f64) {
    // Of two classes it is above zero for the second, of more for the first of a pair.
    let earlier = if first < second { 1.0 } else { -1.0 };
    (pair_index(n, first.min(second), first.max(second)), if n == 2 { -earlier } else { earlier })
}

/// Where the rows of each class are, rows being sorted by class.
pub(super) fn ranges(n_classes: usize, sorted: &[u32]) -> Vec<Range<usize>> {
    (0..n_classes as u32)
        .map(|c| {
            let first = sorted.partition_point(|code| *code < c);
            first..sorted.partition_point(|code| *code <= c)
        })
        .collect()
}

/// The machine of all pairs, laid out as LIBSVM does: a support vector of class `c` has one coefficient
/// for every other class, in their order. Two classes have one decision, above zero for the second.
pub(super) fn join_pairs(
    ground: &DualProblem<'_>,
    ranges: &[Range<usize>],
    tasks: &[Task],
    answers: &[(Vec<f64>, f64)],
) -> (KernelExpansion, Vec<u32>) {
    let n = ranges.len();
    let sign = if n == 2 { -1.0 } else { 1.0 };
    // A pair with a class nobody showed goes to the other.
    let mut intercepts: Vec<f64> = pairs(n)
        .map(|(a, b)| {
            let shown = [a, b].map(|c| !ranges[c].is_empty());
            sign * f64::from(i8::from(shown[0]) - i8::from(shown[1]))
        })
        .collect();
    for ((a, b), (_, level)) in shown_pairs(ranges).zip(answers) {
        intercepts[pair_index(n, a, b)] = sign * level;
    }
    let table = pair_table(ground, ranges, tasks, |k| &answers[k].0) * sign;
    let places: Vec<u32> = (0..ground.indices.len() as u32)
        .filter(|k| table.column(*k as usize).iter().any(|v| *v != 0.0))
        .collect();
    let n_support = ranges
        .iter()
        .map(|range| places.iter().filter(|k| range.contains(&(**k as usize))).count() as u32)
        .collect();
    let picks: Vec<usize> = places.iter().map(|k| *k as usize).collect();
    let coefficients = table.select(ndarray::Axis(1), &picks);
    (ground.machine(&places, coefficients, intercepts), n_support)
}

/// The pairs of classes that were both shown.
pub(super) fn shown_pairs(ranges: &[Range<usize>]) -> impl Iterator<Item = (usize, usize)> {
    pairs(ranges.len()).filter(|(a, b)| !ranges[*a].is_empty() && !ranges[*b].is_empty())
}

/// A number for every row and problem of pairs, laid out as LIBSVM does; a column for every row.
pub(super) fn pair_table<'v>(
    ground: &DualProblem<'_>,
    ranges: &[Range<usize>],
    tasks: &[Task],
    values: impl Fn(usize) -> &'v [f64],
) -> Matrix {
    let mut table = Matrix::zeros((ranges.len() - 1, ground.indices.len()));
    for (k, ((a, b), task)) in shown_pairs(ranges).zip(tasks).enumerate() {
        for (place, value) in task.places.iter().zip(values(k)) {
            let first = ranges[a].contains(&(*place as usize));
            table[[if first { b - 1 } else { a }, *place as usize]] = *value;
        }
    }
    table
}

/// The maps of all pairs, from what was said of each task's rows without them.
pub(super) fn pair_maps(
    kind: Calibration,
    ground: &DualProblem<'_>,
    ranges: &[Range<usize>],
    tasks: &[Task],
    said: &[Vec<f64>],
) -> Vec<CalibrationMap> {
    let n = ranges.len();
    let mut maps = vec![CalibrationMap::placeholder(); n * (n - 1) / 2];
    for ((a, b), (task, said)) in shown_pairs(ranges).zip(tasks.iter().zip(said)) {
        let (positive, weights) = (task.positive(), task.weights(ground));
        // Of two classes the decision is about the second, the problem about the first.
        maps[pair_index(n, a, b)] = match n {
            2 => CalibrationMap::fit_negated(kind, said, &positive, &weights),
            _ => CalibrationMap::fit(kind, said, &positive, &weights),
        };
    }
    maps
}

/// Which coefficients serve which pair.
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

/// Votes of the pairs, and what the pairs say in all, between them: the whole part is the votes.
pub(super) fn votes(decisions: &Matrix, n: usize) -> Matrix {
    let mut out = Matrix::zeros((decisions.nrows(), n));
    for (row, mut out) in decisions.rows().into_iter().zip(out.rows_mut()) {
        for ((a, b), d) in pairs(n).zip(row) {
            out[if *d > 0.0 { a } else { b }] += 1.0;
        }
    }
    out
}

/// Scores of classes from decisions about pairs, as scikit-learn makes them: votes, and within equal
/// votes the sum of decisions, squeezed to below one half.
pub(super) fn scores(decisions: &Matrix, n: usize) -> Matrix {
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
    fn pairs_are_counted_in_order() {
        for n in 2..7 {
            for (k, (a, b)) in pairs(n).enumerate() {
                assert_eq!(pair_index(n, a, b), k);
            }
        }
    }

    #[test]
    fn votes_win_before_sums() {
        // Pairs (0, 1), (0, 2), (1, 2): class 0 wins both of its pairs, narrowly.
        let decisions = array![[0.1, 0.1, 9.0]];

        assert_eq!(votes(&decisions, 3), array![[2.0, 1.0, 0.0]]);
        let scores = scores(&decisions, 3);
        assert!(scores[[0, 0]] > scores[[0, 1]]);
        assert!((scores[[0, 0]] - (2.0 + 0.2 / 3.6)).abs() < 1e-15);
    }
}
