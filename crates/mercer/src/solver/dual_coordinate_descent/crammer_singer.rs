//! Planes of many classes, learned together.
//!
//! Minimize `½ Σₘ ‖wₘ‖² + Σᵢ Cᵢ max over m of (eᵢₘ + wₘ·xᵢ − w_y·xᵢ)` with `eᵢₘ` one for every class but the row's own
//! `y` (Crammer & Singer 2001). In the dual every row has a pull on every class, `w = Σᵢ αᵢ xᵢ`:
//!
//! `min ½ Σₘ ‖wₘ‖² + Σᵢₘ eᵢₘ αᵢₘ`  with  `Σₘ αᵢₘ = 0`, `αᵢᵧ ≤ Cᵢ` and `αᵢₘ ≤ 0` for the others.
//!
//! With the other rows held, the best pulls of one row have a formula ([`CrammerSingerSubproblem`]; Keerthi et al. 2008, solver 4 of
//! LIBLINEAR). Any pulls within their bounds prove how far from the best the weights are: row by row,
//! `Cᵢ ξᵢ + Σₘ αᵢₘ (eᵢₘ + wₘ·xᵢ)`, never below zero, adds up to the gap.

use crate::data::design_matrix::{DesignMatrix, Lines};
use crate::model::{Certificate, Monitor, Stop};
use crate::solver::CrammerSingerSubproblem;
use mercer_num::random::Random;
use std::time::Instant;

/// Visits between two looks at the clock.
const VISITS: usize = 1024;
/// Passes over rows that were not set aside, at most, before all are looked at.
const ASIDE: u64 = 20;

/// Rows, their classes and what they count.
pub(crate) struct CrammerSinger<'a, 'd> {
    pub design: &'a DesignMatrix<'d>,
    /// Where each row's class stands among the `m` present ones.
    pub places: &'a [u32],
    pub m: usize,
    /// `Cᵢ`.
    pub costs: Vec<f64>,
    /// How much a constant term moves with a pull; zero where there are none.
    pub lift: f64,
}

/// When to stop.
pub(crate) struct Until<'a> {
    pub tol: f64,
    pub gap: Option<f64>,
    pub max_passes: u64,
    pub monitor: &'a Monitor<'a>,
}

/// Where it ended.
pub(crate) struct Solved {
    /// The weights, feature by feature and the constant terms last.
    pub weights: Vec<f64>,
    pub passes: u64,
    pub converged: bool,
    pub stopped: Option<Stop>,
    value: f64,
    gap: f64,
    violation: f64,
}

/// The pulls and the weights they make.
struct Descent<'p, 'd> {
    problem: &'p CrammerSinger<'p, 'd>,
    lines: Lines<'d>,
    /// Weights class by class, the constant term behind the features.
    weights: Vec<Vec<f64>>,
    pulls: Vec<f64>,
    norms: Vec<f64>,
    /// Of the row looked at.
    row: CrammerSingerSubproblem,
}

/// Minimizes, and measures what came out.
pub(crate) fn solve(problem: &CrammerSinger<'_, '_>, until: &Until<'_>) -> Solved {
    let mut descent = Descent::new(problem);
    let all: Vec<u32> =
        (0..problem.places.len() as u32).filter(|i| problem.costs[*i as usize] > 0.0).collect();
    let mut random = Random::new(0);
    let mut active = all.clone();
    let (mut passes, mut aside) = (0, 0);
    let mut stopped = None;
    // Rows that no pass of the last round moved by more are set aside until the next look at all of them.
    let mut tolerance = 0.1f64;
    let share = until.gap.unwrap_or(until.tol);
    loop {
        random.shuffle(&mut active);
        let (mut worst, mut kept) = (0.0f64, 0);
        for visit in 0..active.len() {
            if visit.is_multiple_of(VISITS) {
                stopped = until.monitor.stop();
                if stopped.is_some() {
                    break;
                }
            }
            let i = active[visit];
            let (off, quiet) = descent.visit(i as usize);
            worst = worst.max(off);
            active[kept] = i;
            kept += usize::from(!quiet);
        }
        passes += 1;
        aside += 1;
        let whole = active.len() == all.len();
        let over = stopped.is_some() || passes >= until.max_passes;
        if over || (whole && worst <= tolerance) {
            let (value, gap, violation) = descent.measure(&all);
            let right = until.gap.is_some() || violation <= until.tol;
            let converged = gap <= share * value && right;
            if over || converged {
                let weights = descent.by_feature();
                return Solved { weights, passes, converged, stopped, value, gap, violation };
            }
            tolerance = (0.3 * tolerance).min(0.5 * violation);
        }
        if worst <= tolerance || kept == 0 || aside >= ASIDE {
            active.clone_from(&all);
            aside = 0;
        } else {
            active.truncate(kept);
        }
    }
}

impl<'p, 'd> Descent<'p, 'd> {
    fn new(problem: &'p CrammerSinger<'p, 'd>) -> Descent<'p, 'd> {
        let (n, m) = (problem.places.len(), problem.m);
        let lines = problem.design.lines();
        let norms: Vec<f64> =
            problem.design.squared_norms().iter().map(|square| square + problem.lift).collect();
        let mut pulls = vec![0.0; n * m];
        for i in (0..n).filter(|i| norms[*i] == 0.0) {
            // No weights move the scores of a row of zeros: it pulls with all its might and to no effect.
            let own = problem.places[i] as usize;
            pulls[i * m + own] = problem.costs[i];
            pulls[i * m + usize::from(own == 0)] = -problem.costs[i];
        }
        Descent {
            problem,
            lines,
            weights: vec![vec![0.0; problem.design.n_weights()]; m],
            pulls,
            norms,
            row: CrammerSingerSubproblem::new(m),
        }
    }

    /// What a class's score of a row is, and one more for the classes that are not its own.
    fn score(&self, i: usize, class: usize) -> f64 {
        let weights = &self.weights[class];
        let constant = match weights.last() {
            Some(b) if self.problem.lift > 0.0 => *b,
            _ => 0.0,
        };
        let own = self.problem.places[i] as usize == class;
        self.lines.dot(i, weights) + constant + f64::from(u8::from(!own))
    }

    /// Sets the pulls of a row to their best; says by how much a score was off, and whether the row is far from
    /// pulling.
    fn visit(&mut self, i: usize) -> (f64, bool) {
        let (m, norm) = (self.problem.m, self.norms[i]);
        let (own, cost) = (self.problem.places[i] as usize, self.problem.costs[i]);
        if norm == 0.0 {
            return (0.0, true);
        }
        for class in 0..m {
            self.row.held[class] = self.score(i, class) - norm * self.pulls[i * m + class];
        }
        self.row.solve(own, cost, norm);
        let mut off = 0.0f64;
        for class in 0..m {
            let step = self.row.best[class] - self.pulls[i * m + class];
            if step != 0.0 {
                off = off.max(norm * step.abs());
                self.pulls[i * m + class] = self.row.best[class];
                self.lines.add_to(i, step, &mut self.weights[class]);
                if let (Some(b), true) = (self.weights[class].last_mut(), self.problem.lift > 0.0) {
                    *b += step * self.problem.lift;
                }
            }
        }
        (off, off == 0.0)
    }

    /// The objective, how far it is above what the pulls prove, and the largest violation of the optimum's
    /// conditions; weights are summed afresh.
    fn measure(&mut self, all: &[u32]) -> (f64, f64, f64) {
        let m = self.problem.m;
        for (class, weights) in self.weights.iter_mut().enumerate() {
            weights.fill(0.0);
            let mut constant = 0.0;
            for i in all.iter().map(|i| *i as usize) {
                let pull = self.pulls[i * m + class];
                if pull != 0.0 {
                    self.lines.add_to(i, pull, weights);
                    constant += pull * self.problem.lift;
                }
            }
            if let (Some(b), true) = (weights.last_mut(), self.problem.lift > 0.0) {
                *b = constant;
            }
        }
        let (mut losses, mut gap, mut violation) = (0.0, 0.0, 0.0f64);
        for i in all.iter().map(|i| *i as usize) {
            let (own, cost) = (self.problem.places[i] as usize, self.problem.costs[i]);
            let scores: Vec<f64> = (0..m).map(|class| self.score(i, class)).collect();
            let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let slack = highest - scores[own];
            losses += cost * slack;
            let pulls = &self.pulls[i * m..(i + 1) * m];
            gap += cost * slack + pulls.iter().zip(&scores).map(|(a, z)| a * z).sum::<f64>();
            let may_rise = |class: usize| pulls[class] < if class == own { cost } else { 0.0 };
            let lowest = (0..m).filter(|class| may_rise(*class)).map(|class| scores[class]);
            violation = violation.max(highest - lowest.fold(highest, f64::min));
        }
        (losses + self.half_squares(), gap.max(0.0), violation)
    }

    /// `½ Σₘ ‖wₘ‖²`, with the constant terms at their price.
    fn half_squares(&self) -> f64 {
        let width = self.problem.design.width();
        let of = |weights: &Vec<f64>| {
            let (weights, constants) = weights.split_at(width);
            let constants: f64 = constants.iter().map(|b| b * b).sum();
            let priced = if self.problem.lift > 0.0 { constants / self.problem.lift } else { 0.0 };
            weights.iter().map(|w| w * w).sum::<f64>() + priced
        };
        0.5 * self.weights.iter().map(of).sum::<f64>()
    }

    fn by_feature(&self) -> Vec<f64> {
        let n_weights = self.problem.design.n_weights();
        (0..n_weights).flat_map(|j| self.weights.iter().map(move |w| w[j])).collect()
    }
}

impl Solved {
    /// The certificate of a fit of so many rows.
    pub fn certificate(&self, rows: usize, began: Instant) -> Certificate {
        Certificate::iterative(self.converged, self.stopped)
            .objective("primal objective", self.value)
            .dual(self.value - self.gap)
            .violation("largest KKT violation", self.violation)
            .note("dual coordinate descent over all classes jointly")
            .rows(rows as u64)
            .iterations(self.passes)
            .since(began)
    }
}
