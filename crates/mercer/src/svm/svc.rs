//! Support vector classification with a soft margin.
//!
//! Minimize `½‖w‖² + Σᵢ Cᵢ max(0, 1 − yᵢ (w·φ(xᵢ) + b))ᵏ` (Cortes & Vapnik 1995). For `k = 1` the dual is
//! `max Σ αᵢ − ½ Σ αᵢαⱼ yᵢyⱼ K(xᵢ, xⱼ)` with `0 ≤ αᵢ ≤ Cᵢ` and `Σ αᵢyᵢ = 0`; for `k > 1` multipliers have a price in
//! place of the bound, see [`PowerSlack`](crate::solver::PowerSlack). The coefficients kept are `βᵢ = yᵢαᵢ`.

use super::approximate::of_pairs;
use super::dual_problem::{DualProblem, Kernelized, Solved};
use super::hard_margin::{Hulls, nearest};
use super::multiclass::{
    DecisionShape, Multiclass, Task, certificate, each_task, join_pairs, pair_maps, pair_table,
    ranges, shown_pairs, solve_all,
};
use super::plan::{Problems, plan};
use super::svc_model::SvcModel;
use crate::calibrate::map::{Calibration, CalibrationMap};
use crate::data::ClassWeight;
use crate::kernel::KernelExpansion;
use crate::kernel::{Gamma, GammaRule, Kernel};
use crate::model::Standing;
use crate::prelude::*;
use crate::solver::{PowerSlack, Tell};
use rayon::prelude::*;
use std::ops::Range;
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
        /// The power of the distance behind the margin that is priced: 1 for the distance itself, 2 for its
        /// square, or any number from 1 on. Larger values spare rows just behind it and punish those far behind.
        slack_power: f64 = 1.0, Between(1.0, 100.0);
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
        /// Where given, the fit ends when the objective is proved to be within this share of the best, in place of
        /// `tol`.
        gap: Option<f64> = None, Above(0.0);
        /// How much each class counts: `balanced`, or a weight by class. Nothing counts all the same.
        class_weight: Option<ClassWeight> = None, Above(0.0);
        /// Whether rows that are far from mattering may be set aside until the end.
        shrinking: bool = true, Any;
        /// Most memory for kernel values, in millions of bytes; taken as it is needed.
        cache_size: f64 = 256.0, Above(0.0);
        /// Most steps for a problem; -1 sets no limit.
        max_iter: i64 = -1, AtLeast(-1.0);
        /// Many classes by a machine for every pair (`ovo`), for every class against the rest (`ovr`), or by
        /// functions without constants that are learned together so that each row's own is highest
        /// (`crammer_singer`).
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
        /// How decisions become probabilities, where `probability` asks for them: by a `sigmoid`, by the best
        /// function that rises (`isotonic`), or by two of those, one for either answer (`venn-abers`). The last two
        /// want more rows and take any shape.
        calibration: Calibration = Calibration::Sigmoid, OneOf(Calibration::WORDS);
        /// How many rows stand for all where the exact machine would take too long; 0 is the exact machine. With
        /// them the squares of distances behind the margin are priced, and every class is told from the rest.
        approx: usize = 0, Between(0.0, 1e6);
        /// Whether the exact machine is learned after all, beginning at the rows that the approximate one finds
        /// behind the margin.
        polish: bool = false, Any;
    }
}

impl Svc {
    pub(super) fn kernelized(&self) -> Kernelized {
        Kernelized {
            kernel: self.kernel.clone(),
            gamma: self.gamma,
            coef0: self.coef0,
            degree: self.degree,
            // Whether hulls meet is a question for double precision.
            tol: if self.margin == Margin::Hard { self.tol.min(1e-9) } else { self.tol },
            gap: self.gap.filter(|_| self.margin == Margin::Soft),
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
        let first = self.first(data, monitor)?;
        let before = match &first {
            Some(approximate) if !self.polish => return Ok(approximate.clone()),
            Some(approximate) => Some(&approximate.model),
            None => before,
        };
        let (codes, classes) = data.class_target()?;
        if data.n_rows() > 0 && data.n_columns() > 0 {
            classes.check_several()?;
        }
        self.refuse_together()?;
        let powers = self.slack_power > 1.0;
        if powers && self.margin == Margin::Hard {
            return Err(Error::Parameter {
                name: "slack_power".into(),
                found: format!("{} with a hard margin", self.slack_power),
                expected: "1 there: nothing is behind the margin".into(),
            });
        }
        // Multipliers without a bound may be of any size, and pulls on all classes are found in double precision.
        let together = self.multiclass == Multiclass::CrammerSinger;
        let largest = if powers || together { f64::INFINITY } else { self.C };
        let ground = DualProblem::new(&self.kernelized(), data, |i| codes[i], largest, monitor)?;
        let sorted: Vec<u32> = ground.indices.iter().map(|i| codes[*i as usize]).collect();
        let n = classes.len();
        let ranges = ranges(n, &sorted);
        check_shown(classes, &ranges)?;
        let weight = |r: &Range<usize>| ground.weights[r.clone()].iter().sum::<f64>();
        let by_class: Vec<f64> = ranges.iter().map(weight).collect();
        let factors = ClassWeight::factors(self.class_weight.as_ref(), classes, &by_class)?;
        if together {
            let counted = (classes, factors);
            return Ok(self.learn_together(&ground, counted, &ranges, monitor, start));
        }
        let price = |place: usize| self.C * ground.weights[place] * factors[sorted[place] as usize];
        let bound = |place: usize| match self.margin {
            Margin::Soft if !powers => price(place),
            _ => f64::INFINITY,
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
        for task in tasks.iter_mut().filter(|_| powers) {
            let prices = task.places.iter().map(|k| price(*k as usize)).collect();
            task.slack = Some(PowerSlack { power: self.slack_power, prices });
        }
        let soft = self.margin == Margin::Soft;
        match before.filter(|m| m.classes == *classes && soft && !powers) {
            Some(before) if before.approximate && before.n_columns() == data.n_columns() => {
                let shown = |c: usize| !ranges[c].is_empty();
                let apart = match one_vs_one {
                    true => of_pairs(n, shown),
                    false => (0..n).filter(|c| shown(*c)).map(|c| (c, None)).collect(),
                };
                before.begin_at(data.rows(), &ground.indices, &apart, &mut tasks)?;
            }
            Some(before) if one_vs_one && before.multiclass == Multiclass::OneVsOne => {
                before.continue_with(&ground.indices, &ranges, &mut tasks);
            }
            _ => {}
        }
        let problems = if one_vs_one { Problems::Pairs } else { Problems::Rest };
        let plan = plan(&ground, problems, &tasks, monitor);
        let solved = match self.margin {
            Margin::Soft => solve_all(&ground, &tasks, monitor),
            Margin::Hard => self.solve_hard(&ground, &tasks, classes, &sorted, monitor)?,
        };
        let answers: Vec<(Vec<f64>, f64)> =
            solved.iter().map(|s| (s.beta.clone(), s.level[0])).collect();
        let (expansion, n_support) = if one_vs_one {
            join_pairs(&ground, &ranges, &tasks, &answers)
        } else {
            join_rest(&ground, &ranges, &answers)
        };
        let calibration = self.probability.then(|| {
            let said = |(task, solved): (&Task, &Solved)| {
                ground.leave_one_out(task, solved, 1.0, solved.level[0])
            };
            let scores: Vec<Vec<f64>> = tasks.par_iter().zip(&solved).map(said).collect();
            if one_vs_one {
                return pair_maps(self.calibration, &ground, &ranges, &tasks, &scores);
            }
            let mut maps = tasks.iter().zip(&scores).map(|(task, scores)| {
                let weights = task.weights(&ground);
                CalibrationMap::fit(self.calibration, scores, &task.positive(), &weights)
            });
            let of = |range: &Range<usize>| match range.is_empty() {
                true => CalibrationMap::placeholder(),
                false => maps.next().unwrap_or_else(CalibrationMap::placeholder),
            };
            ranges.iter().map(of).collect()
        });
        let mut certificate = certificate(&ground, plan, &solved, expansion.n_vectors(), start);
        let behind: Vec<Vec<f64>> =
            tasks.iter().zip(&solved).map(|(task, solved)| slacks(task, solved)).collect();
        let table = match one_vs_one {
            true => pair_table(&ground, &ranges, &tasks, |k| &behind[k]),
            false => rest_table(ranges.len(), ground.indices.len(), &ranges, |k| &behind[k]),
        };
        let place: std::collections::HashMap<u32, usize> =
            ground.indices.iter().copied().zip(0..).collect();
        let vectors: Vec<usize> = expansion.support.iter().map(|i| place[i]).collect();
        let margins: Vec<f64> = solved.iter().map(margin).collect();
        if let [margin] = &margins[..] {
            let count = |least: f64| table.iter().filter(|s| **s > least).count();
            // What is off by the tolerance is not inside.
            let (inside, wrong) = (count(self.tol), count(1.0));
            certificate = certificate.note(format!(
                "margin {margin:.4}, {inside} rows inside it, {wrong} of them misclassified"
            ));
        }
        let model = SvcModel {
            margins,
            slacks: table.select(ndarray::Axis(1), &vectors),
            calibration,
            classes: classes.clone(),
            expansion,
            n_support,
            n_iter: solved.iter().map(|s| s.steps).collect(),
            converged: solved.iter().all(|s| s.converged),
            class_weights: factors,
            multiclass: if one_vs_one { Multiclass::OneVsOne } else { Multiclass::OneVsRest },
            shape: self.decision_function_shape,
            break_ties: self.break_ties,
            approximate: false,
        };
        Ok(Fitted { model, certificate })
    }

    /// The approximate machine, where one is asked for.
    fn first(&self, data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<Option<Fitted<SvcModel>>> {
        let refuse = |name: &str, found: String, expected: &str| {
            let expected = format!("{expected} where `approx` rows stand for all");
            Err(Error::Parameter { name: name.into(), found, expected })
        };
        if self.approx == 0 {
            return Ok(None);
        }
        if self.margin == Margin::Hard {
            return refuse("margin", "hard".into(), "soft");
        }
        if self.multiclass == Multiclass::CrammerSinger {
            return refuse("multiclass", "crammer_singer".into(), "ovr or ovo");
        }
        if ![1.0, 2.0].contains(&self.slack_power) || (self.polish && self.slack_power != 1.0) {
            return refuse(
                "slack_power",
                self.slack_power.to_string(),
                "1, or 2 without `polish`,",
            );
        }
        self.approximate(data, monitor).map(Some)
    }
}

impl Svc {
    /// The hyperplanes that nothing is behind.
    fn solve_hard(
        &self,
        ground: &DualProblem<'_>,
        tasks: &[Task],
        classes: &Classes,
        sorted: &[u32],
        monitor: &Monitor<'_>,
    ) -> Result<Vec<Solved>> {
        let work = |task: &Task, _: &Tell<'_>| {
            // The share that is missing of the street's width, whose square is the objective.
            let tol = self.gap.map_or(self.tol, |gap| 1.0 - (1.0 - gap.min(1.0)).sqrt());
            let found = nearest(ground, task, tol, tasks.len(), monitor);
            let (shares, distance) = match found.ok_or(Error::Stopped)? {
                Hulls::Apart(solved) => return Ok(solved),
                Hulls::Meet { shares, distance } => (shares, distance),
            };
            let mixture = |sign: f64| -> Vec<(usize, f64)> {
                let some = task.places.iter().zip(&shares).filter(|(_, s)| **s * sign > 0.0);
                some.map(|(k, s)| (ground.indices[*k as usize] as usize, s.abs())).collect()
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
        let standing = |solved: &Result<Solved>| match solved {
            Ok(solved) => solved.standing(),
            Err(_) => Standing::default(),
        };
        each_task(tasks, monitor, work, standing).into_iter().collect()
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
    ranges: &[Range<usize>],
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
pub(super) fn check_shown(classes: &Classes, ranges: &[Range<usize>]) -> Result<()> {
    let mut shown = ranges.iter().enumerate().filter(|(_, r)| !r.is_empty()).map(|(c, _)| c);
    match (shown.next(), shown.next()) {
        (Some(c), None) => Err(Error::OneClass { class: classes.label(c as u32).to_string() }),
        _ => Ok(()),
    }
}

/// The problem of telling the rows at some places apart.
pub(super) fn task(
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
    Task { places, linear, low, high, start: vec![0.0; n], tube: 0.0, split: n, slack: None }
}

/// The machine of every class against the rest.
fn join_rest(
    ground: &DualProblem<'_>,
    ranges: &[Range<usize>],
    answers: &[(Vec<f64>, f64)],
) -> (KernelExpansion, Vec<u32>) {
    let table = rest_table(ranges.len(), ground.indices.len(), ranges, |k| &answers[k].0);
    // A class nobody showed is never the highest.
    let mut intercepts = vec![-1e300; ranges.len()];
    let present = (0..ranges.len()).filter(|c| !ranges[*c].is_empty());
    for (c, (_, level)) in present.zip(answers) {
        intercepts[c] = *level;
    }
    let places: Vec<u32> = (0..ground.indices.len() as u32)
        .filter(|k| table.column(*k as usize).iter().any(|v| *v != 0.0))
        .collect();
    let count =
        |r: &Range<usize>| places.iter().filter(|k| r.contains(&(**k as usize))).count() as u32;
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
