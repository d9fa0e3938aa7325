//! Dual coordinate descent for the multiclass SVM of Crammer & Singer (2001; Keerthi et al. 2008; solver 4 of LIBLINEAR).
//!
//! Minimize `½ Σₘ ‖wₘ‖² + Σᵢ Cᵢ maxₘ (eᵢₘ + wₘ·xᵢ − w_y·xᵢ)` with `eᵢₘ = 1` for every class `m` but the row's own `y`. In the
//! dual every row has one variable per class, `wₘ = Σᵢ αᵢₘ xᵢ`:
//!
//! `min ½ Σₘ ‖wₘ‖² + Σᵢₘ eᵢₘ αᵢₘ`  subject to  `Σₘ αᵢₘ = 0`, `αᵢᵧ ≤ Cᵢ` and `αᵢₘ ≤ 0` for the other classes.
//!
//! The minimum over the variables of one row is [`CrammerSingerSubproblem`]. Any feasible `α` bounds the distance from the
//! optimum: the terms `Cᵢ ξᵢ + Σₘ αᵢₘ (eᵢₘ + wₘ·xᵢ)`, none of which is negative, add up to the duality gap.

use super::active_set::{ActiveSet, Visit};
use crate::data::design_matrix::{DesignMatrix, RowAccess};
use crate::model::{Certificate, Monitor, Stop};
use crate::solver::CrammerSingerSubproblem;
use crate::solver::duality_gap::DualityGap;
use std::time::Instant;

/// Epochs over the active rows, at most, before all rows are visited again.
const MAX_SHRUNK_EPOCHS: u64 = 20;
/// The violation up to which the first epochs go before the duality gap is computed.
const FIRST_TOLERANCE: f64 = 0.1;

/// The training rows of the multiclass problem.
pub(crate) struct CrammerSinger<'a, 'd> {
    pub design: &'a DesignMatrix<'d>,
    /// The index of each row's class among the `n_classes` observed ones.
    pub class_indices: &'a [u32],
    pub n_classes: usize,
    /// `Cᵢ`.
    pub costs: Vec<f64>,
    /// `1/λ₀`: how much an intercept changes with a dual variable; zero without intercepts.
    pub intercept_scale: f64,
}

/// When the epochs end.
pub(crate) struct CrammerSingerLimits<'a> {
    pub tol: f64,
    /// A relative duality gap to stop at instead of `tol`.
    pub gap: Option<f64>,
    pub max_epochs: u64,
    pub monitor: &'a Monitor<'a>,
}

/// The weights and how far they are from the optimum.
pub(crate) struct CrammerSingerWeights {
    /// Feature by feature, one weight per class; the intercepts last.
    pub weights: Vec<f64>,
    pub epochs: u64,
    pub converged: bool,
    pub stopped: Option<Stop>,
    gap: DualityGap,
}

/// The dual variables and the weights during the iterations.
struct DualState<'p, 'd> {
    problem: &'p CrammerSinger<'p, 'd>,
    rows: RowAccess<'d>,
    /// One weight vector per class, the intercept last.
    w: Vec<Vec<f64>>,
    /// Row by row, one variable per class.
    alpha: Vec<f64>,
    /// `‖x‖² + 1/λ₀`.
    xsq: Vec<f64>,
    subproblem: CrammerSingerSubproblem,
}

/// Minimizes, and computes the duality gap.
pub(crate) fn solve(
    problem: &CrammerSinger<'_, '_>,
    limits: &CrammerSingerLimits<'_>,
) -> CrammerSingerWeights {
    let mut state = DualState::new(problem);
    let n = problem.class_indices.len() as u32;
    let weighted = (0..n).filter(|i| problem.costs[*i as usize] > 0.0);
    let mut active = ActiveSet::new(weighted.collect());
    let mut shrunk_epochs = 0;
    let mut tolerance = FIRST_TOLERANCE;
    loop {
        let mut pg_max = 0.0f64;
        let stopped = active.run_epoch(limits.monitor, |i, _| {
            let (pg, visit) = state.update(i);
            pg_max = pg_max.max(pg);
            visit
        });
        // An interrupted epoch counts.
        let epochs = active.epochs + u64::from(stopped.is_some());
        shrunk_epochs += 1;
        let is_last = stopped.is_some() || epochs >= limits.max_epochs;
        if is_last || (active.is_complete() && pg_max <= tolerance) {
            let gap = state.duality_gap(active.all());
            let satisfied = limits.gap.is_some() || gap.kkt_violation <= limits.tol;
            let converged = gap.is_within(limits.gap.unwrap_or(limits.tol)) && satisfied;
            if is_last || converged {
                let weights = state.interleaved_weights();
                return CrammerSingerWeights { weights, epochs, converged, stopped, gap };
            }
            tolerance = (0.3 * tolerance).min(0.5 * gap.kkt_violation);
        }
        if active.shrink(pg_max <= tolerance || shrunk_epochs >= MAX_SHRUNK_EPOCHS) {
            shrunk_epochs = 0;
        }
    }
}

impl<'p, 'd> DualState<'p, 'd> {
    fn new(problem: &'p CrammerSinger<'p, 'd>) -> DualState<'p, 'd> {
        let (n, m) = (problem.class_indices.len(), problem.n_classes);
        let squared_norms = problem.design.squared_norms();
        let xsq: Vec<f64> = squared_norms.iter().map(|s| s + problem.intercept_scale).collect();
        let mut alpha = vec![0.0; n * m];
        for i in (0..n).filter(|i| xsq[*i] == 0.0) {
            // No weights change the scores of a row of zeros: its variables are at their bounds.
            let own = problem.class_indices[i] as usize;
            alpha[i * m + own] = problem.costs[i];
            alpha[i * m + usize::from(own == 0)] = -problem.costs[i];
        }
        DualState {
            problem,
            rows: problem.design.row_access(),
            w: vec![vec![0.0; problem.design.n_weights()]; m],
            alpha,
            xsq,
            subproblem: CrammerSingerSubproblem::new(m),
        }
    }

    /// `eᵢₘ + wₘ·xᵢ`.
    fn score(&self, i: usize, class: usize) -> f64 {
        let w = &self.w[class];
        let intercept = match w.last() {
            Some(b) if self.problem.intercept_scale > 0.0 => *b,
            _ => 0.0,
        };
        let own = self.problem.class_indices[i] as usize == class;
        self.rows.dot(i, w) + intercept + f64::from(u8::from(!own))
    }

    /// Minimizes over the variables of one row; returns the largest change of a score, and shrinks rows that did not
    /// change.
    fn update(&mut self, i: usize) -> (f64, Visit) {
        let (m, xsq) = (self.problem.n_classes, self.xsq[i]);
        let (own, cost) = (self.problem.class_indices[i] as usize, self.problem.costs[i]);
        if xsq == 0.0 {
            return (0.0, Visit::Shrink);
        }
        for class in 0..m {
            self.subproblem.b[class] = self.score(i, class) - xsq * self.alpha[i * m + class];
        }
        self.subproblem.solve(own, cost, xsq);
        let mut change = 0.0f64;
        for class in 0..m {
            let step = self.subproblem.alpha[class] - self.alpha[i * m + class];
            if step != 0.0 {
                change = change.max(xsq * step.abs());
                self.alpha[i * m + class] = self.subproblem.alpha[class];
                self.rows.add_to(i, step, &mut self.w[class]);
                let scale = self.problem.intercept_scale;
                if let (Some(b), true) = (self.w[class].last_mut(), scale > 0.0) {
                    *b += step * scale;
                }
            }
        }
        (change, if change == 0.0 { Visit::Shrink } else { Visit::Keep })
    }

    /// The objective, the duality gap and the largest KKT violation, from weights that are summed anew.
    fn duality_gap(&mut self, rows: &[u32]) -> DualityGap {
        self.sum_weights(rows);
        let m = self.problem.n_classes;
        let (mut losses, mut gap, mut violation) = (0.0, 0.0, 0.0f64);
        for i in rows.iter().map(|i| *i as usize) {
            let (own, cost) = (self.problem.class_indices[i] as usize, self.problem.costs[i]);
            let scores: Vec<f64> = (0..m).map(|class| self.score(i, class)).collect();
            let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let slack = highest - scores[own];
            losses += cost * slack;
            let alpha = &self.alpha[i * m..(i + 1) * m];
            gap += cost * slack + alpha.iter().zip(&scores).map(|(a, z)| a * z).sum::<f64>();
            let may_increase = |class: usize| alpha[class] < if class == own { cost } else { 0.0 };
            let lowest = (0..m).filter(|class| may_increase(*class)).map(|class| scores[class]);
            violation = violation.max(highest - lowest.fold(highest, f64::min));
        }
        let gap = DualityGap::from_gap(losses + self.penalty(), gap.max(0.0));
        DualityGap { kkt_violation: violation, ..gap }
    }

    /// `wₘ = Σᵢ αᵢₘ xᵢ`.
    fn sum_weights(&mut self, rows: &[u32]) {
        let m = self.problem.n_classes;
        for (class, w) in self.w.iter_mut().enumerate() {
            w.fill(0.0);
            let mut intercept = 0.0;
            for i in rows.iter().map(|i| *i as usize) {
                let alpha = self.alpha[i * m + class];
                if alpha != 0.0 {
                    self.rows.add_to(i, alpha, w);
                    intercept += alpha * self.problem.intercept_scale;
                }
            }
            if let (Some(b), true) = (w.last_mut(), self.problem.intercept_scale > 0.0) {
                *b = intercept;
            }
        }
    }

    /// `½ Σₘ ‖wₘ‖²`, including the penalty on the intercepts.
    fn penalty(&self) -> f64 {
        let (width, scale) = (self.problem.design.width(), self.problem.intercept_scale);
        let squared_norm = |w: &Vec<f64>| {
            let (w, intercepts) = w.split_at(width);
            let intercepts: f64 = intercepts.iter().map(|b| b * b).sum();
            let penalized = if scale > 0.0 { intercepts / scale } else { 0.0 };
            w.iter().map(|w| w * w).sum::<f64>() + penalized
        };
        0.5 * self.w.iter().map(squared_norm).sum::<f64>()
    }

    fn interleaved_weights(&self) -> Vec<f64> {
        let n_weights = self.problem.design.n_weights();
        (0..n_weights).flat_map(|j| self.w.iter().map(move |w| w[j])).collect()
    }
}

impl CrammerSingerWeights {
    /// The certificate of a fit of so many rows.
    pub fn certificate(&self, rows: usize, began: Instant) -> Certificate {
        Certificate::iterative(self.converged, self.stopped)
            .objective("primal objective", self.gap.primal)
            .dual(self.gap.dual)
            .violation("largest KKT violation", self.gap.kkt_violation)
            .note("dual coordinate descent over all classes jointly")
            .rows(rows as u64)
            .iterations(self.epochs)
            .since(began)
    }
}
