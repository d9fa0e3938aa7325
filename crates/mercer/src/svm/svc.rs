//! Support vector classification with a soft margin.
//!
//! Minimize `½‖w‖² + Σᵢ Cᵢ max(0, 1 − yᵢ (w·φ(xᵢ) + b))` (Cortes & Vapnik 1995); in the dual,
//! `max Σ αᵢ − ½ Σ αᵢαⱼ yᵢyⱼ K(xᵢ, xⱼ)` with `0 ≤ αᵢ ≤ Cᵢ` and `Σ αᵢyᵢ = 0`. The coefficients kept are
//! `βᵢ = yᵢαᵢ`.

use super::calibrate::{couple, sigmoid};
use super::ground::{Ground, Kernelized, Solved};
use super::hard_margin::{Hulls, nearest};
use super::pairwise::{
    DecisionShape, Multiclass, Task, certificate, each_task, join_pairs, pair_at, pair_segments,
    pair_table, pairs, ranges, scores, shown_pairs, solve_all, votes,
};
use super::weight::ClassWeight;
use crate::kernel::{Gamma, GammaRule, Kernel};
use crate::kernel::{Machine, Segment};
use crate::model::winners;
use crate::prelude::*;
use rayon::prelude::*;
use std::time::Instant;

choice! {
    /// Whether rows may be inside the margin.
    pub enum Margin {
        /// For a price.
        Soft = "soft",
        /// None may.
        Hard = "hard",
    }
}

params! {
    /// Support vector classification: the boundary that keeps farthest from both sides.
    pub struct Svc {
        /// The price on rows inside the margin or on the wrong side. Larger values fit the rows more
        /// closely.
        C: f64 = 1.0, Above(0.0);
        /// Whether rows may be inside the margin for the price `C` (`soft`), or none may at any price
        /// (`hard`): where the classes cannot be told apart then, the mixtures of both that meet are named.
        margin: Margin = Margin::Soft, OneOf(Margin::WORDS);
        /// The kernel: `linear`, `poly`, `rbf`, `sigmoid`, `laplacian`, `chi2`, sums and products of
        /// these as in `rbf(gamma=0.1)+2*linear`, or `precomputed` where the rows are kernel values.
        kernel: Kernel = Kernel::Rbf, Formula(Kernel::WORDS);
        /// The power of the kernel `poly`.
        degree: usize = 3, Between(0.0, 1000.0);
        /// How fast a kernel falls with distance: a number, `scale` for `1 / (columns · variance)`, or
        /// `auto` for `1 / columns`. Larger values make the boundary bend more.
        gamma: Gamma = Gamma::Rule(GammaRule::Scale), AtLeast(0.0);
        /// The constant in the kernels `poly` and `sigmoid`.
        coef0: f64 = 0.0, Any;
        /// The largest violation of the optimum's conditions to stop at. Smaller values are nearer to the
        /// optimum and take longer.
        tol: f64 = 1e-3, Above(0.0);
        /// How much each class counts: `balanced`, or a weight by class. Nothing counts all the same.
        class_weight: Option<ClassWeight> = None, Above(0.0);
        /// Whether rows that are far from mattering may be set aside until the end.
        shrinking: bool = true, Any;
        /// Most memory for kernel values, in millions of bytes; taken as it is needed.
        cache_size: f64 = 256.0, Above(0.0);
        /// Most steps for a problem; -1 sets no limit.
        max_iter: i64 = -1, AtLeast(-1.0);
        /// Many classes by a machine for every pair (`ovo`) or for every class against the rest (`ovr`).
        multiclass: Multiclass = Multiclass::OneVsOne, OneOf(Multiclass::WORDS);
        /// Whether decisions about more than two classes are a column a class (`ovr`) or a column a pair
        /// of classes (`ovo`).
        decision_function_shape: DecisionShape = DecisionShape::OneVsRest, OneOf(DecisionShape::WORDS);
        /// Whether classes with equally many votes are told apart by the sum of their decisions, not by
        /// their order.
        break_ties: bool = false, Any;
        /// Whether to learn probabilities too, from what the machine would have said of each row without
        /// it. Predictions then go to the most probable class.
        probability: bool = false, Any;
    }
}

/// Machines that tell classes apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SvcModel {
    /// The classes.
    pub classes: Classes,
    /// Support vectors, coefficients and constants.
    pub machine: Machine,
    /// Support vectors of each class.
    pub n_support: Vec<u32>,
    /// Steps of each problem.
    pub n_iter: Vec<u64>,
    /// Whether every problem came to its tolerance.
    pub converged: bool,
    /// How much each class counted.
    pub class_weights: Vec<f64>,
    /// How many classes are made of two.
    pub multiclass: Multiclass,
    /// What decisions about many classes look like.
    pub shape: DecisionShape,
    /// Whether equal votes are told apart by the sum of decisions.
    pub break_ties: bool,
    /// For every decision the `a` and `b` of its sigmoid `1 / (1 + exp(a d + b))`, where probabilities were
    /// asked for.
    pub sigmoids: Option<Matrix>,
    /// How far the edge of the margin is from the boundary, `1 / ‖w‖`, for each problem.
    #[serde(default)]
    pub margins: Vec<f64>,
    /// How far each support vector is behind the edge of its side, in units of the margin, as the coefficients
    /// are laid out. Above one it is on the wrong side; rows that are no support vectors are not behind.
    #[serde(default)]
    pub slacks: Matrix,
}

impl Svc {
    fn kernelized(&self) -> Kernelized {
        Kernelized {
            kernel: self.kernel.clone(),
            gamma: self.gamma,
            coef0: self.coef0,
            degree: self.degree,
            // Whether hulls meet is a question for double precision.
            tol: if self.margin == Margin::Hard { self.tol.min(1e-9) } else { self.tol },
            cache_size: self.cache_size,
            shrinking: self.shrinking,
            max_iter: self.max_iter,
        }
    }

    /// Learns from all rows, going on from a model of the same rows where there is one.
    fn learn(
        &self,
        data: &Dataset<'_>,
        monitor: &Monitor<'_>,
        before: Option<&SvcModel>,
    ) -> Result<Fitted<SvcModel>> {
        let start = Instant::now();
        self.check()?;
        let (codes, classes) = data.class_target()?;
        if data.n_rows() > 0 && data.n_columns() > 0 {
            classes.check_several()?;
        }
        let ground = Ground::new(&self.kernelized(), data, |i| codes[i], self.C, monitor)?;
        let sorted: Vec<u32> = ground.picks.iter().map(|i| codes[*i as usize]).collect();
        let n = classes.len();
        let ranges = ranges(n, &sorted);
        check_shown(classes, &ranges)?;
        let weight = |r: &std::ops::Range<usize>| ground.weights[r.clone()].iter().sum::<f64>();
        let by_class: Vec<f64> = ranges.iter().map(weight).collect();
        let factors = ClassWeight::factors(self.class_weight.as_ref(), classes, &by_class)?;
        let bound = |place: usize| match self.margin {
            Margin::Soft => self.C * ground.weights[place] * factors[sorted[place] as usize],
            Margin::Hard => f64::INFINITY,
        };
        let one_vs_one = n == 2 || self.multiclass == Multiclass::OneVsOne;
        let mut tasks: Vec<Task> = if one_vs_one {
            shown_pairs(&ranges)
                .map(|(a, b)| {
                    let places = ranges[a].clone().chain(ranges[b].clone());
                    task(places, |k| ranges[a].contains(&k), bound)
                })
                .collect()
        } else {
            (0..n)
                .filter(|c| !ranges[*c].is_empty())
                .map(|c| task(0..sorted.len(), |k| ranges[c].contains(&k), bound))
                .collect()
        };
        let soft = self.margin == Margin::Soft;
        if let Some(before) = before.filter(|m| m.classes == *classes && one_vs_one && soft) {
            before.continue_with(&ground.picks, &ranges, &mut tasks);
        }
        let solved = match self.margin {
            Margin::Soft => solve_all(&ground, &tasks, monitor),
            Margin::Hard => self.solve_hard(&ground, &tasks, classes, &sorted, monitor)?,
        };
        let answers: Vec<(Vec<f64>, f64)> =
            solved.iter().map(|s| (s.beta.clone(), s.level[0])).collect();
        let (machine, n_support) = if one_vs_one {
            join_pairs(&ground, &ranges, &tasks, &answers)
        } else {
            join_rest(&ground, &ranges, &answers)
        };
        let sigmoids = self.probability.then(|| {
            let flip = if n == 2 { -1.0 } else { 1.0 };
            let fitted: Vec<(f64, f64)> = tasks
                .par_iter()
                .zip(&solved)
                .map(|(task, solved)| {
                    let scores = ground.leave_one_out(&task.places, &task.problem(), solved);
                    let positive: Vec<bool> = task.linear.iter().map(|y| *y > 0.0).collect();
                    let weights: Vec<f64> =
                        task.places.iter().map(|k| ground.weights[*k as usize]).collect();
                    sigmoid(&scores, &positive, &weights)
                })
                .collect();
            // The sigmoid of a class nobody showed is never asked.
            let mut table = Matrix::zeros((machine.intercepts.len(), 2));
            let shown = |c: usize| !ranges[c].is_empty();
            let places: Vec<usize> = if one_vs_one {
                let all = pairs(n).enumerate();
                all.filter(|(_, (a, b))| shown(*a) && shown(*b)).map(|(k, _)| k).collect()
            } else {
                (0..n).filter(|c| shown(*c)).collect()
            };
            for (k, (a, b)) in places.into_iter().zip(fitted) {
                // Of two classes the decision is about the second: both its sign and its sense turn.
                table[[k, 0]] = a;
                table[[k, 1]] = flip * b;
            }
            table
        });
        let mut certificate = certificate(&ground, &solved, machine.n_vectors(), start);
        let behind: Vec<Vec<f64>> =
            tasks.iter().zip(&solved).map(|(task, solved)| slacks(task, solved)).collect();
        let table = match one_vs_one {
            true => pair_table(&ground, &ranges, &tasks, |k| &behind[k]),
            false => rest_table(ranges.len(), ground.picks.len(), &ranges, |k| &behind[k]),
        };
        let place: std::collections::HashMap<u32, usize> =
            ground.picks.iter().copied().zip(0..).collect();
        let vectors: Vec<usize> = machine.support.iter().map(|i| place[i]).collect();
        let margins: Vec<f64> = solved.iter().map(margin).collect();
        if let ([margin], Some(how)) = (&margins[..], &mut certificate.proof.how) {
            let count = |least: f64| table.iter().filter(|s| **s > least).count();
            // What is off by the tolerance is not inside.
            let (inside, wrong) = (count(self.tol), count(1.0));
            *how += &format!(
                "; margin {margin:.4}, {inside} rows inside it, {wrong} of them on the wrong side"
            );
        }
        let model = SvcModel {
            margins,
            slacks: table.select(ndarray::Axis(1), &vectors),
            sigmoids,
            classes: classes.clone(),
            machine,
            n_support,
            n_iter: solved.iter().map(|s| s.steps).collect(),
            converged: solved.iter().all(|s| s.converged),
            class_weights: factors,
            multiclass: if one_vs_one { Multiclass::OneVsOne } else { Multiclass::OneVsRest },
            shape: self.decision_function_shape,
            break_ties: self.break_ties,
        };
        Ok(Fitted { model, certificate })
    }
}

impl Svc {
    /// The hyperplanes that nothing is behind.
    fn solve_hard(
        &self,
        ground: &Ground<'_>,
        tasks: &[Task],
        classes: &Classes,
        sorted: &[u32],
        monitor: &Monitor<'_>,
    ) -> Result<Vec<Solved>> {
        let work = |task: &Task, _: &(dyn Fn(f64) + Sync)| {
            let found = nearest(ground, task, self.tol, tasks.len(), monitor);
            let (shares, distance) = match found.ok_or(Error::Stopped)? {
                Hulls::Apart(solved) => return Ok(solved),
                Hulls::Meet { shares, distance } => (shares, distance),
            };
            let mixture = |sign: f64| -> Vec<(usize, f64)> {
                let some = task.places.iter().zip(&shares).filter(|(_, s)| **s * sign > 0.0);
                some.map(|(k, s)| (ground.picks[*k as usize] as usize, s.abs())).collect()
            };
            // Of many classes against one, the others are named by the first of them.
            let name = |sign: f64| {
                let place = task.places.iter().zip(&task.linear).find(|(_, y)| **y == sign);
                let code = place.map_or(0, |(k, _)| sorted[*k as usize]);
                classes.label(code).to_string()
            };
            Err(Error::NotSeparable {
                first: name(1.0),
                second: name(-1.0),
                witness: [mixture(1.0), mixture(-1.0)],
                distance,
            })
        };
        each_task(tasks, monitor, work).into_iter().collect()
    }
}

/// `1 / ‖w‖`.
fn margin(solved: &Solved) -> f64 {
    let square: f64 = solved.beta.iter().zip(&solved.outputs).map(|(b, f)| b * f).sum();
    1.0 / square.max(f64::MIN_POSITIVE).sqrt()
}

/// How far the rows of a problem are behind the edge of their side.
fn slacks(task: &Task, solved: &Solved) -> Vec<f64> {
    let rows = task.linear.iter().zip(&solved.outputs);
    rows.map(|(y, f)| (1.0 - y * (f + solved.level[0])).max(0.0)).collect()
}

/// A number for every row and class against the rest; a column for every row.
fn rest_table<'v>(
    n_classes: usize,
    n_rows: usize,
    ranges: &[std::ops::Range<usize>],
    values: impl Fn(usize) -> &'v [f64],
) -> Matrix {
    let mut table = Matrix::zeros((n_classes, n_rows));
    let present = (0..n_classes).filter(|c| !ranges[*c].is_empty());
    for (k, c) in present.enumerate() {
        table.row_mut(c).iter_mut().zip(values(k)).for_each(|(to, v)| *to = *v);
    }
    table
}

/// Refuses rows of fewer than two classes.
pub(super) fn check_shown(classes: &Classes, ranges: &[std::ops::Range<usize>]) -> Result<()> {
    let mut shown = ranges.iter().enumerate().filter(|(_, r)| !r.is_empty()).map(|(c, _)| c);
    match (shown.next(), shown.next()) {
        (Some(c), None) => Err(Error::OneClass { class: classes.label(c as u32).to_string() }),
        _ => Ok(()),
    }
}

/// The problem of telling the rows at some places apart.
fn task(
    places: impl Iterator<Item = usize>,
    positive: impl Fn(usize) -> bool,
    bound: impl Fn(usize) -> f64,
) -> Task {
    let places: Vec<u32> = places.map(|k| k as u32).collect();
    let linear: Vec<f64> =
        places.iter().map(|k| if positive(*k as usize) { 1.0 } else { -1.0 }).collect();
    let bounds = places.iter().map(|k| bound(*k as usize));
    let low = bounds.clone().zip(&linear).map(|(c, y)| if *y > 0.0 { 0.0 } else { -c }).collect();
    let high = bounds.zip(&linear).map(|(c, y)| if *y > 0.0 { c } else { 0.0 }).collect();
    let n = places.len();
    Task { places, linear, low, high, start: vec![0.0; n], tube: 0.0, split: n }
}

/// The machine of every class against the rest.
fn join_rest(
    ground: &Ground<'_>,
    ranges: &[std::ops::Range<usize>],
    answers: &[(Vec<f64>, f64)],
) -> (Machine, Vec<u32>) {
    let table = rest_table(ranges.len(), ground.picks.len(), ranges, |k| &answers[k].0);
    // A class nobody showed is never the highest.
    let mut intercepts = vec![-1e300; ranges.len()];
    let present = (0..ranges.len()).filter(|c| !ranges[*c].is_empty());
    for (c, (_, level)) in present.zip(answers) {
        intercepts[c] = *level;
    }
    let places: Vec<u32> = (0..ground.picks.len() as u32)
        .filter(|k| table.column(*k as usize).iter().any(|v| *v != 0.0))
        .collect();
    let count = |r: &std::ops::Range<usize>| {
        places.iter().filter(|k| r.contains(&(**k as usize))).count() as u32
    };
    let n_support = ranges.iter().map(count).collect();
    let picks: Vec<usize> = places.iter().map(|k| *k as usize).collect();
    let coefficients = table.select(ndarray::Axis(1), &picks);
    (ground.machine(&places, coefficients, intercepts), n_support)
}

impl Fit for Svc {
    type Model = SvcModel;

    fn fit(&self, data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<Fitted<SvcModel>> {
        self.learn(data, monitor, None)
    }

    /// Coefficients of rows that are still there are where the search begins.
    fn fit_from(
        &self,
        start: &SvcModel,
        data: &Dataset<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Fitted<SvcModel>> {
        self.learn(data, monitor, Some(start))
    }
}

impl SvcModel {
    fn segments(&self) -> Vec<Segment> {
        match self.multiclass {
            Multiclass::OneVsOne => pair_segments(&self.n_support),
            Multiclass::OneVsRest => {
                let all = 0..self.machine.n_vectors();
                vec![Segment { vectors: all, to: (0..self.classes.len()).collect() }]
            }
        }
    }

    /// The decision of every problem: one against one, a column a pair, above zero for its first class
    /// (of two classes, for the second); one against the rest, a column a class.
    ///
    /// # Errors
    /// If the width differs or a cell is not finite.
    pub fn raw_decisions(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.machine.decisions(x, &self.segments())
    }

    fn scores_of(&self, decisions: Matrix) -> Matrix {
        match (self.classes.len(), self.multiclass) {
            (2, _) => Matrix::from_shape_fn((decisions.nrows(), 2), |(i, c)| {
                if c == 0 { -decisions[[i, 0]] } else { decisions[[i, 0]] }
            }),
            (_, Multiclass::OneVsRest) => decisions,
            (n, Multiclass::OneVsOne) => scores(&decisions, n),
        }
    }

    /// Whether there are probabilities.
    pub fn has_probabilities(&self) -> bool {
        self.sigmoids.is_some()
    }

    fn log_proba_of(&self, decisions: &Matrix, sigmoids: &Matrix) -> Matrix {
        let n = self.classes.len();
        let shown: Vec<usize> = (0..n).filter(|c| self.n_support[*c] > 0).collect();
        let chance = |row: ndarray::ArrayView1<'_, f64>, k: usize| {
            1.0 / (1.0 + (sigmoids[[k, 0]] * row[k] + sigmoids[[k, 1]]).exp())
        };
        let mut out = Matrix::from_elem((decisions.nrows(), n), 0.0);
        for (row, mut out) in decisions.rows().into_iter().zip(out.rows_mut()) {
            match self.multiclass {
                _ if n == 2 => {
                    let second = chance(row, 0);
                    (out[0], out[1]) = (1.0 - second, second);
                }
                Multiclass::OneVsOne => {
                    let of_pairs: Vec<f64> = pairs(shown.len())
                        .map(|(a, b)| chance(row, pair_at(n, shown[a], shown[b])))
                        .collect();
                    let p = couple(&of_pairs, shown.len());
                    shown.iter().zip(p).for_each(|(c, p)| out[*c] = p);
                }
                Multiclass::OneVsRest => {
                    shown.iter().for_each(|c| out[*c] = chance(row, *c).max(f64::MIN_POSITIVE));
                }
            }
            let sum: f64 = out.sum();
            out.iter_mut().for_each(|p| *p = (*p / sum).ln());
        }
        out
    }

    /// Begins the problems where this model ended, shrunk into their bounds.
    fn continue_with(&self, picks: &[u32], ranges: &[std::ops::Range<usize>], tasks: &mut [Task]) {
        let n = ranges.len();
        let sign = if n == 2 { -1.0 } else { 1.0 };
        let place: std::collections::HashMap<u32, usize> =
            self.machine.support.iter().copied().zip(0..).collect();
        for ((a, b), task) in shown_pairs(ranges).zip(tasks) {
            let mut start = Vec::with_capacity(task.places.len());
            for k in &task.places {
                let first = ranges[a].contains(&(*k as usize));
                let row = if first { b - 1 } else { a };
                let value = place
                    .get(&picks[*k as usize])
                    .map_or(0.0, |at| sign * self.machine.coefficients[[row, *at]]);
                start.push(value);
            }
            let bounds = task.low.iter().zip(&task.high);
            let shrink = start.iter().zip(bounds).fold(1.0f64, |shrink, (b, (low, high))| {
                let room = if *b > 0.0 { *high } else { -*low };
                if *b == 0.0 { shrink } else { shrink.min((room / b.abs()).max(0.0)) }
            });
            // Other rows than before, or none left: begin from nothing.
            let scale: f64 = start.iter().map(|b| b.abs()).sum();
            if start.iter().sum::<f64>().abs() > 1e-9 * scale || shrink == 0.0 {
                continue;
            }
            task.start = start
                .iter()
                .zip(task.low.iter().zip(&task.high))
                .map(|(b, (low, high))| (shrink * b).clamp(*low, *high))
                .collect();
        }
    }
}

impl Classifier for SvcModel {
    fn classes(&self) -> &Classes {
        &self.classes
    }

    fn n_columns(&self) -> usize {
        self.machine.n_columns
    }

    fn scores(&self, x: &Rows<'_>) -> Result<Matrix> {
        let decisions = self.raw_decisions(x)?;
        match &self.sigmoids {
            Some(sigmoids) => Ok(self.log_proba_of(&decisions, sigmoids)),
            None => Ok(self.scores_of(decisions)),
        }
    }

    fn predict(&self, x: &Rows<'_>) -> Result<Vec<u32>> {
        let decisions = self.raw_decisions(x)?;
        let n = self.classes.len();
        if let Some(sigmoids) = &self.sigmoids {
            return Ok(winners(&self.log_proba_of(&decisions, sigmoids)));
        }
        if n > 2 && self.multiclass == Multiclass::OneVsOne && !self.break_ties {
            return Ok(winners(&votes(&decisions, n)));
        }
        Ok(winners(&self.scores_of(decisions)))
    }
}

impl Probabilistic for SvcModel {
    fn log_proba(&self, x: &Rows<'_>) -> Result<Matrix> {
        let Some(sigmoids) = &self.sigmoids else {
            return Err(Error::Unable {
                estimator: "svc".into(),
                what: "give probabilities: train with `probability` set to true".into(),
            });
        };
        Ok(self.log_proba_of(&self.raw_decisions(x)?, sigmoids))
    }
}

impl Decides for SvcModel {
    fn decisions(&self, x: &Rows<'_>) -> Result<Matrix> {
        let decisions = self.raw_decisions(x)?;
        if self.classes.len() == 2 || self.shape == DecisionShape::OneVsOne {
            return Ok(decisions);
        }
        Ok(self.scores_of(decisions))
    }
}

impl Check for SvcModel {
    fn check(&self) -> Result<()> {
        self.machine.check()?;
        let n = self.classes.len();
        let (rows, decisions) = match self.multiclass {
            Multiclass::OneVsOne => (n.saturating_sub(1), n * n.saturating_sub(1) / 2),
            Multiclass::OneVsRest => (n, n),
        };
        let total: u64 = self.n_support.iter().map(|n| u64::from(*n)).sum();
        let fits = n >= 2
            && self.n_support.len() == n
            && total == self.machine.n_vectors() as u64
            && self.machine.coefficients.nrows() == rows
            && self.machine.intercepts.len() == decisions
            && self.class_weights.len() == n
            && self.class_weights.iter().all(|w| w.is_finite() && *w >= 0.0)
            && (self.slacks.is_empty() || self.slacks.dim() == self.machine.coefficients.dim())
            && self.sigmoids.as_ref().is_none_or(|table| {
                table.dim() == (decisions, 2) && table.iter().all(|v| v.is_finite())
            });
        if fits { Ok(()) } else { Err(Error::File("a classifier that no rows could have".into())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svm::{NuSvc, NuSvr, OneClassSvm, Svr};
    use mercer_num::random::Random;
    use ndarray::array;

    fn two() -> Classes {
        Classes::from_names(["minus", "plus"])
    }

    #[track_caller]
    fn near(found: f64, expected: f64, tolerance: f64) {
        assert!((found - expected).abs() <= tolerance, "{found}, not {expected}");
    }

    #[test]
    fn two_points_have_the_plane_between_them() {
        // At distance d: α = 2/d², ‖w‖ = 2/d, objective 2/d².
        let x = array![[1.0, 2.0], [4.0, 6.0]];
        let classes = two();
        let data = Dataset::classes(&x, &[0, 1], &classes).unwrap();

        let svc = Svc::new().kernel(Kernel::Linear).C(1e3).tol(1e-10);
        let fitted = svc.fit(&data, &Monitor::quiet()).unwrap();

        for (found, expected) in fitted.machine.coefficients.iter().zip([-0.08, 0.08]) {
            near(*found, expected, 1e-12);
        }
        let w = fitted.machine.weights().unwrap();
        near(w[[0, 0]], 0.24, 1e-12);
        near(w[[0, 1]], 0.32, 1e-12);
        near(fitted.certificate.proof.objective.as_ref().unwrap().1, 0.08, 1e-12);
        assert!(fitted.certificate.proof.gap().unwrap() < 1e-12);
        let decisions = fitted.decisions(&Rows::from(&x)).unwrap();
        near(decisions[[0, 0]], -1.0, 1e-12);
        near(decisions[[1, 0]], 1.0, 1e-12);
    }

    #[test]
    fn a_hard_margin_is_the_street_between_the_hulls() {
        // The nearest points are (1, 1) and the middle of (3, 1) and (1, 3): the street is √2 wide.
        let x = array![[0.0, 0.0], [1.0, 1.0], [3.0, 1.0], [1.0, 3.0], [4.0, 4.0]];
        let classes = two();
        let data = Dataset::classes(&x, &[0, 0, 1, 1, 1], &classes).unwrap();
        let svc = Svc::new().kernel(Kernel::Linear).margin(Margin::Hard).tol(1e-9);

        let fitted = svc.fit(&data, &Monitor::quiet()).unwrap();

        fitted.check().unwrap();
        near(fitted.margins[0], 0.5f64.sqrt(), 1e-8);
        let w = fitted.machine.weights().unwrap();
        near(w[[0, 0]], 1.0, 1e-8);
        near(w[[0, 1]], 1.0, 1e-8);
        near(fitted.machine.intercepts[0], -3.0, 1e-8);
        near(fitted.certificate.proof.objective.as_ref().unwrap().1, 1.0, 1e-8);
        assert!(fitted.certificate.proof.gap().unwrap().abs() < 1e-8);
        // A price that nobody pays gives the same plane.
        let soft = Svc::new().kernel(Kernel::Linear).C(1e4).tol(1e-9);
        let soft = soft.fit(&data, &Monitor::quiet()).unwrap();
        near(soft.margins[0], fitted.margins[0], 1e-8);
        assert!(soft.slacks.iter().all(|s| *s < 1e-8));
    }

    #[test]
    fn classes_that_meet_have_a_witness() {
        // Diagonals of a square cross in its middle.
        let x = array![[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [9.0, 0.0]];
        let classes = two();
        let data = Dataset::classes(&x, &[0, 0, 1, 1, 1], &classes).unwrap();
        let svc = Svc::new().kernel(Kernel::Linear).margin(Margin::Hard);

        let Err(Error::NotSeparable { first, second, witness, distance }) =
            svc.fit(&data, &Monitor::quiet())
        else {
            panic!("told apart")
        };

        assert_eq!((first.as_str(), second.as_str()), ("minus", "plus"));
        assert!(distance < 1e-5);
        let point = |parts: &[(usize, f64)], j: usize| -> f64 {
            near(parts.iter().map(|(_, share)| share).sum(), 1.0, 1e-9);
            parts.iter().map(|(row, share)| share * x[[*row, j]]).sum()
        };
        (0..2).for_each(|j| near(point(&witness[0], j), point(&witness[1], j), 1e-5));
        // Another kernel tells them apart.
        let bent = Svc::new().gamma(1.0.into()).margin(Margin::Hard);
        let fitted = bent.fit(&data, &Monitor::quiet()).unwrap();
        assert_eq!(fitted.predict(&Rows::from(&x)).unwrap(), [0, 0, 1, 1, 1]);
    }

    #[test]
    fn exclusive_or_with_a_quadratic_kernel() {
        // (1 + x·z)²: every α is 1/8, b = 0, objective 1/4.
        let x = array![[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]];
        let classes = two();
        let data = Dataset::classes(&x, &[0, 1, 1, 0], &classes).unwrap();
        let svc = Svc::new().kernel(Kernel::Poly).degree(2).gamma(1.0.into()).coef0(1.0);

        let fitted = svc.C(1e6).tol(1e-10).fit(&data, &Monitor::quiet()).unwrap();

        assert!(fitted.machine.coefficients.iter().all(|b| (b.abs() - 0.125).abs() < 1e-12));
        near(fitted.machine.intercepts[0], 0.0, 1e-12);
        near(fitted.certificate.proof.bound.unwrap(), 0.25, 1e-12);
        assert_eq!(fitted.predict(&Rows::from(&x)).unwrap(), [0, 1, 1, 0]);
    }

    #[test]
    fn copies_of_one_point_under_both_names_have_no_direction() {
        let x = Matrix::ones((6, 2));
        let classes = two();
        let data = Dataset::classes(&x, &[0, 1, 0, 1, 0, 1], &classes).unwrap();

        let fitted = Svc::new().C(2.0).fit(&data, &Monitor::quiet()).unwrap();

        assert!(fitted.machine.coefficients.iter().all(|b| b.abs() == 2.0));
        near(
            fitted.decisions(&Rows::from(&x)).unwrap()[[0, 0]],
            fitted.machine.intercepts[0],
            1e-12,
        );
        assert!(fitted.converged);
    }

    #[test]
    fn regression_through_two_points_is_flatter_by_the_tube() {
        let x = array![[-1.0], [1.0]];
        let data = Dataset::numbers(&x, &[-1.0, 1.0]).unwrap();
        let svr = Svr::new().kernel(Kernel::Linear).C(100.0).epsilon(0.2).tol(1e-10);

        let fitted = svr.fit(&data, &Monitor::quiet()).unwrap();

        near(fitted.machine.weights().unwrap()[[0, 0]], 0.8, 1e-12);
        near(fitted.predict(&Rows::from(&x)).unwrap()[1], 0.8, 1e-12);
        assert!(fitted.certificate.proof.gap().unwrap() < 1e-12);
    }

    #[test]
    fn one_class_of_identical_points_has_them_on_the_border() {
        let x = Matrix::ones((8, 3));
        let data = Dataset::unlabeled(&x);

        let fitted = OneClassSvm::new().nu(0.25).fit(&data, &Monitor::quiet()).unwrap();

        // ρ = Σ α = ν n, as every kernel value is one.
        near(-fitted.machine.intercepts[0], 2.0, 1e-6);
        assert!(fitted.inside(&Rows::from(&x)).unwrap().iter().all(|v| v.abs() < 1e-6));
    }

    fn blobs(n: usize, n_classes: usize, seed: u64) -> (Matrix, Vec<u32>, Classes) {
        let mut random = Random::new(seed);
        let codes: Vec<u32> = (0..n).map(|i| (i % n_classes) as u32).collect();
        let x = Matrix::from_shape_fn((n, 4), |(i, j)| {
            1.2 * f64::from(codes[i]) * (1.0 + j as f64 * 0.3) + 1.5 * random.normal()
        });
        (x, codes, Classes::from_names((0..n_classes).map(|c| format!("class {c}"))))
    }

    #[test]
    fn nu_bounds_the_shares() {
        let (x, codes, classes) = blobs(200, 2, 3);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();

        let fitted = NuSvc::new().nu(0.3).tol(1e-8).fit(&data, &Monitor::quiet()).unwrap();

        assert!(fitted.machine.n_vectors() as f64 >= 0.3 * 200.0);
        let decisions = fitted.decisions(&Rows::from(&x)).unwrap();
        let inside = decisions
            .column(0)
            .iter()
            .zip(&codes)
            .filter(|(d, c)| *d * (2.0 * f64::from(**c) - 1.0) < 1.0 - 1e-6)
            .count();
        assert!(inside as f64 <= 0.3 * 200.0, "{inside}");
        // The price it found gives the same machine.
        let svc = Svc::new().C(fitted.prices[0]).tol(1e-8);
        let same = svc.fit(&data, &Monitor::quiet()).unwrap();
        for (a, b) in decisions.iter().zip(&same.decisions(&Rows::from(&x)).unwrap()) {
            near(*a, *b, 1e-5);
        }
    }

    #[test]
    fn the_tube_that_nu_finds_gives_the_same_function() {
        let (x, codes, _) = blobs(150, 3, 4);
        let y: Vec<f64> = codes.iter().map(|c| f64::from(*c)).collect();
        let data = Dataset::numbers(&x, &y).unwrap();

        let nu = NuSvr::new().nu(0.4).C(2.0).tol(1e-8).fit(&data, &Monitor::quiet()).unwrap();
        let svr = Svr::new().C(2.0).epsilon(nu.tube).tol(1e-8);
        let same = svr.fit(&data, &Monitor::quiet()).unwrap();

        let rows = Rows::from(&x);
        for (a, b) in nu.predict(&rows).unwrap().iter().zip(same.predict(&rows).unwrap()) {
            near(*a, b, 1e-5);
        }
        assert!(nu.certificate.proof.gap().unwrap() < 1e-5);
    }

    #[test]
    fn the_gap_is_small_and_single_precision_is_honest_about_it() {
        let (x, codes, classes) = blobs(900, 3, 5);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        for (tol, relative) in [(1e-3, 1e-3), (1e-8, 1e-8)] {
            let fitted = Svc::new().C(5.0).tol(tol).fit(&data, &Monitor::quiet()).unwrap();

            let proof = &fitted.certificate.proof;
            let primal = proof.objective.as_ref().unwrap().1;
            assert!(primal >= proof.bound.unwrap());
            assert!(proof.gap().unwrap() <= relative * primal, "{proof:?}");
            assert!(proof.violation.as_ref().unwrap().1 <= 1.05 * tol, "{proof:?}");
        }
    }

    #[test]
    fn one_against_the_rest_and_one_against_one_mostly_agree() {
        let (x, codes, classes) = blobs(300, 4, 6);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        let right = |multiclass| {
            let fitted = Svc::new().multiclass(multiclass).fit(&data, &Monitor::quiet()).unwrap();
            fitted.check().unwrap();
            let predicted = fitted.predict(&Rows::from(&x)).unwrap();
            predicted.iter().zip(&codes).filter(|(a, b)| a == b).count()
        };

        let (pairs, rest) = (right(Multiclass::OneVsOne), right(Multiclass::OneVsRest));

        assert!(pairs.abs_diff(rest) < 15 && pairs > 180, "{pairs}, {rest}");
    }

    #[test]
    fn probabilities_are_calibrated_and_agree_with_predictions() {
        for n_classes in [2, 4] {
            let (x, codes, classes) = blobs(400, n_classes, 20);
            let (fresh, truth, _) = blobs(2000, n_classes, 21);
            let data = Dataset::classes(&x, &codes, &classes).unwrap();

            let fitted = Svc::new().probability(true).fit(&data, &Monitor::quiet()).unwrap();

            fitted.check().unwrap();
            let p = fitted.log_proba(&Rows::from(&fresh)).unwrap().mapv(f64::exp);
            let predicted = fitted.predict(&Rows::from(&fresh)).unwrap();
            let (mut confidence, mut right) = (0.0, 0.0);
            for (i, row) in p.rows().into_iter().enumerate() {
                assert!((row.sum() - 1.0).abs() < 1e-12);
                let most = row.iter().copied().fold(0.0, f64::max);
                assert_eq!(row[predicted[i] as usize], most);
                confidence += most / 2000.0;
                right += f64::from(u8::from(predicted[i] == truth[i])) / 2000.0;
            }
            near(confidence, right, 0.06);
        }
    }

    #[test]
    fn what_would_be_said_without_a_row_is_nearly_what_is() {
        let (x, codes, classes) = blobs(60, 2, 22);
        let svc = Svc::new().gamma(0.1.into()).C(1.0).tol(1e-9);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        let ground =
            Ground::new(&svc.kernelized(), &data, |i| codes[i], 1.0, &Monitor::quiet()).unwrap();
        let places = 0..60;
        let one = task(places, |k| codes[ground.picks[k] as usize] == 0, |_| 1.0);
        let solved = solve_all(&ground, &[one], &Monitor::quiet());
        let one = task(0..60, |k| codes[ground.picks[k] as usize] == 0, |_| 1.0);
        let said = ground.leave_one_out(&one.places, &one.problem(), &solved[0]);

        let mut worst = 0.0f64;
        for (k, i) in ground.picks.iter().enumerate() {
            let others: Vec<usize> = (0..60).filter(|j| *j != *i as usize).collect();
            let some = x.select(ndarray::Axis(0), &others);
            let some_codes: Vec<u32> = others.iter().map(|j| codes[*j]).collect();
            let left = Dataset::classes(&some, &some_codes, &classes).unwrap();
            let fitted = svc.fit(&left, &Monitor::quiet()).unwrap();
            let row = x.select(ndarray::Axis(0), &[*i as usize]);
            // The decision is about the second class, the problem about the first.
            let truth = -fitted.decisions(&Rows::from(&row)).unwrap()[[0, 0]];
            worst = worst.max((truth - said[k]).abs());
        }
        // The margin is one: no score is off by half of it, though support vectors may change hands.
        assert!(worst < 0.5, "{worst}");
    }

    #[test]
    fn a_warm_start_needs_few_steps() {
        let (x, codes, classes) = blobs(1000, 2, 7);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        let svc = Svc::new().C(1.0);
        let cold = svc.fit(&data, &Monitor::quiet()).unwrap();

        let warm = svc.fit_from(&cold, &data, &Monitor::quiet()).unwrap();

        assert!(warm.converged && warm.n_iter[0] * 10 < cold.n_iter[0], "{:?}", warm.n_iter);
    }

    #[test]
    fn a_deadline_gives_a_usable_model() {
        let (x, codes, classes) = blobs(4000, 2, 8);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        let monitor = Monitor::quiet().time_limit(std::time::Duration::from_millis(60));

        let fitted = Svc::new().C(1e4).tol(1e-9).fit(&data, &monitor).unwrap();

        assert!(fitted.certificate.stopped.is_some() && !fitted.converged);
        assert!(fitted.certificate.proof.gap().unwrap() > 0.0);
        assert_eq!(fitted.predict(&Rows::from(&x)).unwrap().len(), 4000);
    }

    #[test]
    fn given_kernel_values_are_the_kernel() {
        let (x, codes, classes) = blobs(60, 3, 9);
        let function = crate::kernel::Function::rbf(0.1);
        let gram = Matrix::from_shape_fn((60, 60), |(i, j)| {
            function.value(&x.row(i).to_vec(), &x.row(j).to_vec())
        });
        let fit = |svc: Svc, rows: &Matrix| {
            let data = Dataset::classes(rows, &codes, &classes).unwrap();
            svc.tol(1e-9).fit(&data, &Monitor::quiet()).unwrap()
        };

        let plain = fit(Svc::new().gamma(0.1.into()), &x);
        let given = fit(Svc::new().kernel(Kernel::Precomputed), &gram);

        given.check().unwrap();
        assert_eq!(given.machine.support, plain.machine.support);
        let (a, b) = (
            plain.decisions(&Rows::from(&x)).unwrap(),
            given.decisions(&Rows::from(&gram)).unwrap(),
        );
        a.iter().zip(&b).for_each(|(a, b)| near(*a, *b, 1e-7));
    }

    #[test]
    fn classes_weigh_as_told() {
        let (x, codes, classes) = blobs(120, 2, 10);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        let by_class = [("class 1".to_owned(), 2.0)].into_iter().collect();
        let weights: Vec<f64> = codes.iter().map(|c| 1.0 + f64::from(*c)).collect();
        let weighted = data.clone().weighted(&weights).unwrap();
        let svc = Svc::new().gamma(0.1.into()).tol(1e-9);

        let told = svc.clone().class_weight(Some(ClassWeight::ByClass(by_class)));
        let (a, b) = (
            told.fit(&data, &Monitor::quiet()).unwrap(),
            svc.fit(&weighted, &Monitor::quiet()).unwrap(),
        );

        assert_eq!(a.machine, b.machine);
        let unknown = [("class 7".to_owned(), 2.0)].into_iter().collect();
        let refused = Svc::new().class_weight(Some(ClassWeight::ByClass(unknown)));
        assert!(matches!(refused.fit(&data, &Monitor::quiet()), Err(Error::UnknownClass { .. })));
    }
}
