//! Minimizes distances from intervals by the pulls of the rows, one row at a time.
//!
//! In the dual problem every row has a pull `βᵢ`, and the weights are `w = Σᵢ βᵢ xᵢ`, `b = Σᵢ βᵢ / λ₀`. With the
//! others held, the best pull of a row has a formula: what brings its score to its interval, as far as
//! its bound allows (Hsieh et al. 2008; Ho & Lin 2012). Rows whose pull would not change for long are set
//! aside, and asked again at the end. Every class has a thread to itself while it is worked on, after first passes
//! for several classes at a time.
//!
//! Rows are read from a copy in single precision until the tolerance is finer than that; weights and what is proved
//! are summed afresh from the rows themselves. Passes are cheap and soon near the optimum; the last digits may be
//! left to others.

pub(crate) mod crammer_singer;
pub(crate) mod logistic;
mod simd_classes;

use super::dual_coordinate_descent::simd_classes::{Group, Sides};
use crate::data::design_matrix::Lines;
use crate::linear::loss::hinge::{LossPower, MarginLoss};
use crate::model::{Monitor, Stop};
use mercer_num::memory::prefetch;
use mercer_num::random::Random;
use mercer_num::simd::dot_rows;
use mercer_num::simd::packed_rows::PackedRows;
use rayon::prelude::*;
use std::cmp::Ordering;

/// Visits between two looks at the clock.
const VISITS: usize = 1024;
/// The finest tolerances that several classes at a time, and rows in single precision, are good for.
const COARSE: f64 = 2e-5;
const FINE: f64 = 1e-5;
/// How far a pull goes beyond its best, as a share of the way there: the others will follow. Any number below two gets
/// nearer to the optimum with every step (Cryer 1971).
pub(crate) const FURTHER: f64 = 1.4;
/// Squared lengths of rows that single precision has room for.
const LENGTHS: std::ops::Range<f64> = 1e-12..1e12;
/// Classes that go side by side: where they are more than two groups, the larger number.
const SOME: usize = 8;
const MANY: usize = 16;
/// Passes for several classes at a time, at most.
const TOGETHER: u64 = 40;

/// The pulls of all classes, to be made better pass by pass.
pub(crate) struct Descent<'a> {
    lines: Lines<'a>,
    /// The rows in single precision, where they have room there.
    packed: Option<PackedRows>,
    classes: Vec<Class>,
    n_weights: usize,
    /// What is far for a score.
    unit: f64,
    pub stopped: Option<Stop>,
}

/// What is known of a row.
#[derive(Clone, Copy)]
struct Row {
    /// The ends of its interval.
    low: f64,
    high: f64,
    cost: f64,
    /// How much its score moves with its pull.
    norm: f64,
    beta: f64,
}

/// The pulls of one class.
struct Class {
    rows: Vec<Row>,
    /// Those that count.
    all: Vec<u32>,
    weights: Vec<f64>,
    /// How much the constant term moves with a pull.
    lift: f64,
    power: LossPower,
    random: Random,
    passes: u64,
    /// Rows looked at.
    visits: u64,
    /// Whether the last pass found nothing to do.
    done: bool,
    /// Whether the weights are the sum of the pulls as it comes out in double precision.
    summed: bool,
    stopped: Option<Stop>,
}

/// When to end.
struct Targets<'m> {
    tolerance: f64,
    most_passes: u64,
    monitor: &'m Monitor<'m>,
}

/// Rows as they are, or in single precision.
#[derive(Clone, Copy)]
enum Sight<'a, 'b> {
    Exact(&'b Lines<'a>),
    Near(&'b PackedRows),
}

impl<'a> Descent<'a> {
    /// No pulls.
    pub fn new(problem: &MarginLoss<'a>) -> Descent<'a> {
        let lines = problem.design.lines();
        let (n, n_weights) = (problem.design.n_rows(), problem.design.n_weights());
        let lift = if problem.design.intercept { 1.0 / problem.costs.constant.0 } else { 0.0 };
        let norms: Vec<f64> =
            (0..n).into_par_iter().with_min_len(VISITS).map(|i| lines.square(i) + lift).collect();
        let classes = (0..problem.m).into_par_iter().map(|k| {
            let row = |(i, norm): (usize, &f64)| {
                let (low, high) = problem.ends(i, k);
                Row { low, high, cost: problem.cost(i, k), norm: *norm, beta: 0.0 }
            };
            let rows: Vec<Row> = norms.iter().enumerate().map(row).collect();
            Class {
                all: (0..n as u32).filter(|i| rows[*i as usize].cost > 0.0).collect(),
                rows,
                weights: vec![0.0; n_weights],
                lift,
                power: problem.power,
                random: Random::new(0),
                passes: 0,
                visits: 0,
                done: false,
                summed: true,
                stopped: None,
            }
        });
        let room = norms.iter().all(|norm| *norm == 0.0 || LENGTHS.contains(norm));
        let packed = match &lines {
            Lines::Thin(x) if room => PackedRows::of(&x.view()),
            _ => None,
        };
        let (classes, unit) = (classes.collect(), problem.unit);
        Descent { classes, lines, packed, n_weights, unit, stopped: None }
    }

    /// Passes over the rows until no score is further than `tolerance` from what its pull is right for, or
    /// until there were enough of them; says whether the former.
    pub fn run(&mut self, tolerance: f64, most_passes: u64, monitor: &Monitor<'_>) -> bool {
        let fresh = self.classes.iter().all(|class| class.passes == 0);
        // Done with what was asked for before.
        self.classes.iter_mut().for_each(|class| class.done = false);
        let aim = Targets { tolerance, most_passes, monitor };
        let Descent { lines, packed, classes, unit, .. } = self;
        let near = packed.as_ref().filter(|_| tolerance >= FINE * *unit);
        let alone = |class: &mut Class| {
            let sight = match near {
                _ if class.done || class.stopped.is_some() => return,
                Some(packed) => Sight::Near(packed),
                None => {
                    class.sum(lines);
                    Sight::Exact(lines)
                }
            };
            class.run(sight, &aim);
        };
        match &*packed {
            Some(packed) if fresh && classes.len() > 1 => {
                let many = classes.len() > 2 * SOME;
                let n_groups = classes.len().div_ceil(if many { MANY } else { SOME });
                let size = classes.len().div_ceil(n_groups);
                // First come, first served: classes go on alone while other groups are still together.
                rayon::scope_fifo(|scope| {
                    for group in classes.chunks_mut(size) {
                        let (lines, aim, alone) = (&*lines, &aim, &alone);
                        scope.spawn_fifo(move |scope| {
                            match many {
                                true => together::<MANY>(group, packed, lines, aim),
                                false => together::<SOME>(group, packed, lines, aim),
                            }
                            group.iter_mut().for_each(|class| scope.spawn_fifo(|_| alone(class)));
                        });
                    }
                });
            }
            _ => classes.par_iter_mut().with_max_len(1).for_each(alone),
        }
        self.stopped = self.classes.iter().find_map(|class| class.stopped);
        self.classes.iter().all(|class| class.done)
    }

    /// The most passes that a class needed.
    pub fn passes(&self) -> u64 {
        self.classes.iter().map(|class| class.passes).max().unwrap_or(0)
    }

    /// The weights, feature by feature and the constant terms last, summed afresh.
    pub fn weights(&mut self) -> Vec<f64> {
        let lines = &self.lines;
        self.classes.par_iter_mut().with_max_len(1).for_each(|class| class.sum(lines));
        let summed: Vec<&[f64]> = self.classes.iter().map(|class| &class.weights[..]).collect();
        side_by_side(&summed, self.n_weights)
    }

    /// Pulls as shares of their rows' costs, row by row.
    pub fn pulls(&self) -> Vec<f64> {
        let share = |row: &Row| if row.cost > 0.0 { row.beta / row.cost } else { 0.0 };
        let pulls: Vec<Vec<f64>> =
            self.classes.par_iter().map(|class| class.rows.iter().map(share).collect()).collect();
        let pulls: Vec<&[f64]> = pulls.iter().map(Vec::as_slice).collect();
        side_by_side(&pulls, pulls.first().map_or(0, |pulls| pulls.len()))
    }
}

/// Passes for some classes at a time, as near as those go.
fn together<const N: usize>(
    classes: &mut [Class],
    packed: &PackedRows,
    lines: &Lines<'_>,
    aim: &Targets<'_>,
) {
    let rows = (0..packed.n_rows()).map(|i| sides(classes, i)).collect();
    let (lift, power) = (classes[0].lift, classes[0].power);
    let mut group = Group::<N>::new(rows, packed.n_columns(), lift, power);
    let near = aim.tolerance.max(COARSE) as f32;
    group.run(packed, near, TOGETHER.min(aim.most_passes), aim.monitor);
    for (k, class) in classes.iter_mut().enumerate() {
        class.take(&group, k, lines);
        class.done = group.settled && aim.tolerance >= COARSE;
    }
}

/// What a row is for some classes.
fn sides<const N: usize>(classes: &[Class], i: usize) -> Sides<N> {
    let mut sides = Sides::unseen(classes[0].rows[i].norm as f32);
    for (k, class) in classes.iter().enumerate() {
        let Row { low, cost, norm, .. } = class.rows[i];
        if cost > 0.0 {
            sides.side[k] = if low.is_finite() { 1.0 } else { -1.0 };
            (sides.bound[k], sides.curve[k]) = match class.power {
                LossPower::Plain => (cost as f32, norm.max(LENGTHS.start) as f32),
                LossPower::Squared => (f32::INFINITY, (norm + 0.5 / cost) as f32),
            };
        }
    }
    sides
}

/// The first numbers of all, then the second ones, and so on.
fn side_by_side(columns: &[&[f64]], n: usize) -> Vec<f64> {
    let m = columns.len();
    let mut out = vec![0.0; n * m];
    out.par_chunks_mut(VISITS * m).enumerate().for_each(|(part, out)| {
        for (j, out) in (part * VISITS..).zip(out.chunks_exact_mut(m)) {
            out.iter_mut().zip(columns).for_each(|(out, column)| *out = column[j]);
        }
    });
    out
}

impl Class {
    /// Goes on from the pulls of a group's class.
    fn take<const N: usize>(&mut self, group: &Group<N>, k: usize, lines: &Lines<'_>) {
        let cap = |row: &Row| if self.power == LossPower::Plain { row.cost } else { f64::INFINITY };
        for (row, sides) in self.rows.iter_mut().zip(&group.rows) {
            row.beta = f64::from(sides.beta[k]).clamp(-cap(row), cap(row));
        }
        (self.passes, self.stopped, self.summed) = (group.passes, group.stopped, false);
        self.visits = group.passes * self.all.len() as u64;
        self.sum(lines);
    }

    fn run(&mut self, lines: Sight<'_, '_>, aim: &Targets<'_>) {
        let Targets { tolerance, most_passes, monitor } = *aim;
        let mut active = self.all.clone();
        // How sure it takes to set a row aside: further than any score was off in the last pass.
        let mut sure = f64::INFINITY;
        self.done = self.all.is_empty();
        while !self.done && self.visits < most_passes * self.all.len() as u64 {
            self.random.shuffle(&mut active);
            let whole = active.len() == self.all.len();
            let (mut worst, mut kept) = (0.0f64, 0);
            for visit in 0..active.len() {
                if visit.is_multiple_of(VISITS) {
                    self.stopped = monitor.stop();
                    if self.stopped.is_some() {
                        return;
                    }
                }
                if let Some(later) = active.get(visit + 2) {
                    prefetch(&self.rows[*later as usize..=*later as usize]);
                    lines.fetch(*later as usize);
                }
                let i = active[visit];
                let (off, quiet) = self.visit(lines, i as usize, sure);
                worst = worst.max(off);
                active[kept] = i;
                kept += usize::from(!quiet);
            }
            self.passes += 1;
            self.visits += active.len() as u64;
            self.done = worst <= tolerance && whole;
            if worst <= tolerance || kept == 0 {
                active.clone_from(&self.all);
                sure = f64::INFINITY;
            } else {
                active.truncate(kept);
                sure = worst;
            }
        }
    }

    /// Sets the pull of a row to its best; says by how much its score was off, and whether the pull will not
    /// soon change.
    #[inline]
    fn visit(&mut self, lines: Sight<'_, '_>, i: usize, sure: f64) -> (f64, bool) {
        let z = lines.dot(i, &self.weights) + self.constant();
        let Row { low, high, cost, norm, beta } = self.rows[i];
        let (bound, curve) = match self.power {
            LossPower::Plain => (cost, norm),
            LossPower::Squared => (f64::INFINITY, norm + 0.5 / cost),
        };
        // The score without the row's own pull, and what is left of the way to the interval.
        let rest = z - norm * beta;
        let way = (low - rest).max(0.0) + (high - rest).min(0.0);
        let best = if way == 0.0 { 0.0 } else { (way / curve).clamp(-bound, bound) };
        let further = match best.partial_cmp(&0.0) {
            Some(Ordering::Greater) => (beta + FURTHER * (best - beta)).clamp(0.0, bound),
            Some(Ordering::Less) => (beta + FURTHER * (best - beta)).clamp(-bound, 0.0),
            _ => 0.0,
        };
        let step = further - beta;
        if step != 0.0 {
            self.rows[i].beta = further;
            self.summed = false;
            lines.add_to(i, step, &mut self.weights);
            if let (Some(b), true) = (self.weights.last_mut(), self.lift > 0.0) {
                *b += step * self.lift;
            }
            return ((best - beta).abs() * curve, false);
        }
        let quiet = match best == 0.0 {
            true => z > low + sure && z < high - sure,
            false => best.abs() == bound && (z < low - sure || z > high + sure),
        };
        (0.0, quiet)
    }

    fn constant(&self) -> f64 {
        match self.weights.last() {
            Some(b) if self.lift > 0.0 => *b,
            _ => 0.0,
        }
    }

    /// Sums up the weights that the pulls make.
    fn sum(&mut self, lines: &Lines<'_>) {
        if self.summed {
            return;
        }
        let weights = &mut self.weights;
        weights.fill(0.0);
        let mut constant = 0.0;
        for (i, row) in self.rows.iter().enumerate().filter(|(_, row)| row.beta != 0.0) {
            lines.add_to(i, row.beta, weights);
            constant += row.beta * self.lift;
        }
        if let (Some(b), true) = (weights.last_mut(), self.lift > 0.0) {
            *b = constant;
        }
        self.summed = true;
    }
}

impl Sight<'_, '_> {
    #[inline]
    fn dot(self, i: usize, w: &[f64]) -> f64 {
        match self {
            Sight::Exact(lines) => lines.dot(i, w),
            Sight::Near(rows) => rows.dot(i, w),
        }
    }

    #[inline]
    fn add_to(self, i: usize, times: f64, w: &mut [f64]) {
        match self {
            Sight::Exact(lines) => lines.add_to(i, times, w),
            Sight::Near(rows) => rows.add_to(i, times, w),
        }
    }

    #[inline]
    fn fetch(self, i: usize) {
        match self {
            Sight::Exact(lines) => lines.fetch(i),
            Sight::Near(rows) => rows.prefetch_row(i),
        }
    }
}

impl Lines<'_> {
    /// `‖x‖²`.
    pub(crate) fn square(&self, i: usize) -> f64 {
        match self {
            Lines::Thin(x) => x.view().row(i).1.iter().map(|v| v * v).sum(),
            Lines::Dense(x) => x.block(i..i + 1).unwrap_or_default().iter().map(|v| v * v).sum(),
        }
    }

    /// `x·w`.
    #[inline]
    pub(crate) fn dot(&self, i: usize, w: &[f64]) -> f64 {
        match self {
            Lines::Thin(x) => x.view().dot(i, w),
            Lines::Dense(x) => {
                let mut sum = [0.0];
                dot_rows(&x.block(i..i + 1).unwrap_or_default(), &w[..x.n_columns()], &mut sum);
                sum[0]
            }
        }
    }

    /// `w += times · x`.
    #[inline]
    pub(crate) fn add_to(&self, i: usize, times: f64, w: &mut [f64]) {
        match self {
            Lines::Thin(x) => x.view().add_to(i, times, w),
            Lines::Dense(x) => {
                let row = x.block(i..i + 1).unwrap_or_default();
                w.iter_mut().zip(row.iter()).for_each(|(w, x)| *w += times * x);
            }
        }
    }

    #[inline]
    pub(crate) fn fetch(&self, i: usize) {
        if let Lines::Thin(x) = self {
            x.view().prefetch_row(i);
        }
    }
}
