//! Minimizes distances from intervals by the pulls of the rows, one row at a time.
//!
//! In the dual problem every row has a pull `βᵢ`, and the weights are `w = Σᵢ βᵢ xᵢ`, `b = Σᵢ βᵢ / λ₀`. With the
//! others held, the best pull of a row has a formula: what brings its score to its interval, as far as
//! its bound allows (Hsieh et al. 2008; Ho & Lin 2012). Rows whose pull would not change for long are set
//! aside, and asked again at the end. One visit of a row serves several classes side by side.
//!
//! Passes are cheap and soon near the optimum; the last digits are left to others.

use super::design::RowCells;
use super::interval::{Intervals, Power};
use crate::model::{Monitor, Stop};
use mercer_num::random::Random;
use mercer_num::simd::{add_table_rows, dot_rows};
use rayon::prelude::*;

/// Classes that share the visits of one thread.
const TOGETHER: usize = 16;
/// Visits between two looks at the clock.
const VISITS: usize = 1024;

/// Where the passes ended.
pub(super) struct Descent {
    /// Feature by feature, the constant terms last.
    pub weights: Vec<f64>,
    /// Pulls as shares of their rows' costs.
    pub pulls: Vec<f64>,
    /// The most passes that a class needed.
    pub passes: u64,
    pub stopped: Option<Stop>,
}

/// Passes over the rows until no score is further than `tolerance` from what its pull is right for.
pub(super) fn descend(
    problem: &Intervals<'_>,
    tolerance: f64,
    most_passes: u64,
    monitor: &Monitor<'_>,
) -> Descent {
    let (m, n) = (problem.m, problem.design.n_rows());
    // Groups depend on the number of classes and on nothing else.
    let n_groups = m.div_ceil(TOGETHER);
    let size = m.div_ceil(n_groups);
    let norms = problem.design.squared_lengths();
    let groups: Vec<Group<'_, '_>> = (0..n_groups)
        .into_par_iter()
        .map(|g| {
            let mut group = Group::new(problem, &norms, g * size, size.min(m - g * size));
            group.run(tolerance, most_passes, monitor);
            group
        })
        .collect();
    let n_weights = problem.design.n_weights();
    let (mut weights, mut pulls) = (vec![0.0; n_weights * m], vec![0.0; n * m]);
    for group in &groups {
        let (first, width) = (group.first, group.width);
        let put = |from: &[f64], to: &mut [f64]| {
            for (from, to) in from.chunks_exact(width).zip(to.chunks_exact_mut(m)) {
                to[first..first + width].copy_from_slice(from);
            }
        };
        put(&group.weights, &mut weights);
        put(&group.betas, &mut pulls);
    }
    for (i, row) in pulls.chunks_exact_mut(m).enumerate() {
        for (k, pull) in row.iter_mut().enumerate() {
            let cost = problem.cost(i, k);
            *pull = if cost > 0.0 { *pull / cost } else { 0.0 };
        }
    }
    let passes = groups.iter().map(|group| group.passes).max().unwrap_or(0);
    Descent { weights, pulls, passes, stopped: groups.iter().find_map(|group| group.stopped) }
}

/// Some classes, side by side.
struct Group<'a, 'd> {
    problem: &'a Intervals<'d>,
    norms: &'a [f64],
    first: usize,
    width: usize,
    weights: Vec<f64>,
    betas: Vec<f64>,
    scores: Vec<f64>,
    steps: Vec<f64>,
    passes: u64,
    stopped: Option<Stop>,
}

/// What a visit found.
struct Visit {
    /// Whether no pull of the row will soon change.
    quiet: bool,
    /// By how much a score was off.
    off: f64,
}

impl<'a, 'd> Group<'a, 'd> {
    fn new(
        problem: &'a Intervals<'d>,
        norms: &'a [f64],
        first: usize,
        width: usize,
    ) -> Group<'a, 'd> {
        Group {
            problem,
            norms,
            first,
            width,
            weights: vec![0.0; problem.design.n_weights() * width],
            betas: vec![0.0; problem.design.n_rows() * width],
            scores: vec![0.0; width],
            steps: vec![0.0; width],
            passes: 0,
            stopped: None,
        }
    }

    fn run(&mut self, tolerance: f64, most_passes: u64, monitor: &Monitor<'_>) {
        let counts = |i: &u32| self.problem.cost(*i as usize, self.first) > 0.0;
        let all: Vec<u32> = (0..self.norms.len() as u32).filter(counts).collect();
        let mut random = Random::new(0);
        let mut active = all.clone();
        // How sure it takes to set a row aside: further than any score was off in the last pass.
        let mut sure = f64::INFINITY;
        while self.passes < most_passes {
            random.shuffle(&mut active);
            let mut worst = 0.0f64;
            let mut kept = Vec::with_capacity(active.len());
            for (visit, i) in active.iter().enumerate() {
                if visit.is_multiple_of(VISITS) {
                    self.stopped = monitor.stop();
                    if self.stopped.is_some() {
                        return;
                    }
                }
                let found = self.visit(*i as usize, sure);
                worst = worst.max(found.off);
                if !found.quiet {
                    kept.push(*i);
                }
            }
            self.passes += 1;
            let whole = active.len() == all.len();
            if worst <= tolerance && whole {
                return;
            }
            if worst <= tolerance || kept.is_empty() {
                active = all.clone();
                sure = f64::INFINITY;
            } else {
                active = kept;
                sure = worst;
            }
        }
    }

    /// Sets the pulls of a row to their best.
    fn visit(&mut self, i: usize, sure: f64) -> Visit {
        let (problem, g) = (self.problem, self.width);
        let n = problem.design.width() * g;
        let row = problem.design.row(i);
        let (weights, constants) = self.weights.split_at_mut(n);
        self.scores.fill(0.0);
        match &row {
            RowCells::Sparse(columns, values) => {
                add_table_rows(columns, values, weights, &mut self.scores);
            }
            RowCells::Dense(values) if g == 1 => dot_rows(values, weights, &mut self.scores),
            RowCells::Dense(values) => {
                for (weights, x) in weights.chunks_exact(g).zip(values.iter()) {
                    self.scores.iter_mut().zip(weights).for_each(|(z, w)| *z += x * w);
                }
            }
        }
        self.scores.iter_mut().zip(constants.iter()).for_each(|(z, b)| *z += b);
        let lift = match constants.is_empty() {
            true => 0.0,
            false => 1.0 / problem.costs.constant.0,
        };
        let norm = self.norms[i] + lift;
        let mut found = Visit { quiet: true, off: 0.0 };
        let mut moved = false;
        for l in 0..g {
            let k = self.first + l;
            let (cost, (low, high), z) = (problem.cost(i, k), problem.ends(i, k), self.scores[l]);
            let beta = &mut self.betas[i * g + l];
            let (bound, curve) = match problem.power {
                Power::Plain => (cost, norm),
                Power::Squared => (f64::INFINITY, norm + 0.5 / cost),
            };
            // The score without the row's own pull, and what is left of the way to the interval.
            let rest = z - norm * *beta;
            let way = if rest < low {
                low - rest
            } else if rest > high {
                high - rest
            } else {
                0.0
            };
            let best = if way == 0.0 { 0.0 } else { (way / curve).clamp(-bound, bound) };
            let step = best - *beta;
            self.steps[l] = step;
            found.off = found.off.max(step.abs() * curve);
            found.quiet &= step == 0.0
                && if best == 0.0 {
                    z > low + sure && z < high - sure
                } else {
                    best.abs() == bound && (z < low - sure || z > high + sure)
                };
            moved |= step != 0.0;
            *beta = best;
        }
        if moved {
            match &row {
                RowCells::Sparse(columns, values) => {
                    for (j, x) in columns.iter().zip(*values) {
                        let at = *j as usize * g;
                        let weights = &mut weights[at..at + g];
                        weights.iter_mut().zip(&self.steps).for_each(|(w, s)| *w += x * s);
                    }
                }
                RowCells::Dense(values) => {
                    for (weights, x) in weights.chunks_exact_mut(g).zip(values.iter()) {
                        weights.iter_mut().zip(&self.steps).for_each(|(w, s)| *w += x * s);
                    }
                }
            }
            constants.iter_mut().zip(&self.steps).for_each(|(b, s)| *b += s * lift);
        }
        found
    }
}
