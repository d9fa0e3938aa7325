//! Primal objective, dual objective and KKT violation of a dual solution, computed in double precision from the rows, `β`
//! and the intercepts alone.
//!
//! For `min ½ βᵀKβ − zᵀβ + ε‖β‖₁` over a box with fixed group sums `δ_g`, any feasible `β` and any `b_g` satisfy
//!
//! `P = ½ βᵀKβ + Σᵢ max over the box of (t (zᵢ − fᵢ − b) − ε|t|) + Σ_g b_g δ_g  ≥  D = zᵀβ − ε‖β‖₁ − ½ βᵀKβ`
//!
//! with `f = Kβ`, and equality holds only at the optimum. For classification `P` is
//! `½‖w‖² + Σ Cᵢ max(0, 1 − yᵢ(fᵢ+b))`. With [`PowerSlack`](crate::solver::PowerSlack), `P` contains the cost of the slack
//! and `D` its convex conjugate at `|β|`.

use crate::kernel::KernelRows;
use crate::solver::{BoxQp, Solution};

/// The objectives at a solution, whose difference is the duality gap, and its KKT violation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct DualityGap {
    /// The primal objective; above what was computed by the rounding error of the losses, if that is more than a trifle.
    pub primal: f64,
    /// The dual objective; below what was computed by its rounding error, if that is more than a trifle.
    pub dual: f64,
    /// The largest KKT violation.
    pub violation: f64,
    /// `‖w‖² = βᵀKβ`.
    pub squared_norm: f64,
    /// An estimate of the rounding error of `βᵀKβ` and with it of both objectives.
    pub rounding: f64,
    /// An estimate of the rounding error of the losses, from that of the outputs `Kβ`.
    pub loss_rounding: f64,
    /// Whether the objectives are unknown, because the fit was stopped and measuring them would take long.
    pub unmeasured: bool,
    /// Objectives below it count as zero: without a linear term the optimum can be zero, and no gap is small beside it.
    pub negligible: f64,
}

/// Objectives of a problem without a linear term that are zero, as a fraction of `‖β‖₁² mean K(x, x)`.
const NEGLIGIBLE: f64 = 1e-6;

/// Rounding errors of an objective below this fraction of it are not worth a note.
pub(super) const MAX_ROUNDING: f64 = 1e-6;

impl DualityGap {
    /// After a stop: `‖w‖²` and the violation as the solver knows them, and no objectives.
    pub fn unmeasured(solution: &Solution) -> DualityGap {
        let terms = solution.beta.iter().zip(&solution.outputs).map(|(b, f)| b * f);
        DualityGap {
            primal: f64::NAN,
            dual: f64::NAN,
            violation: solution.violation,
            squared_norm: terms.sum::<f64>().max(0.0),
            unmeasured: true,
            ..DualityGap::default()
        }
    }

    /// At dual variables that are all zero, for any kernel.
    pub fn at_zero(qp: &BoxQp<'_>) -> DualityGap {
        let loss_of = |i: usize| match qp.slack {
            None => loss(qp.linear[i], qp.epsilon, qp.lower[i], qp.upper[i]),
            Some(slack) => slack.loss(i, qp.linear[i].abs()),
        };
        let high = qp.linear.iter().fold(f64::NEG_INFINITY, |a, z| a.max(*z));
        let low = qp.linear.iter().fold(f64::INFINITY, |a, z| a.min(*z));
        DualityGap {
            primal: (0..qp.linear.len()).map(loss_of).sum(),
            violation: (high - low).max(0.0),
            ..DualityGap::default()
        }
    }

    /// The duality gap divided by the larger objective.
    pub fn relative(&self) -> f64 {
        (self.primal - self.dual).abs() / self.size()
    }

    /// The larger objective.
    fn size(&self) -> f64 {
        let size = self.primal.abs().max(self.dual.abs());
        size.max(self.negligible).max(f64::MIN_POSITIVE)
    }

    /// Whether rounding in the kernel values is visible in the objectives.
    pub fn is_limited_by_rounding(&self) -> bool {
        self.total_rounding() > MAX_ROUNDING * self.primal.abs().max(self.dual.abs())
    }

    /// The part of the gap that only the rounding of kernel values causes.
    pub fn total_rounding(&self) -> f64 {
        self.rounding + self.loss_rounding
    }

    /// Lowers the dual objective and raises the primal one by their rounding errors if these matter, so that the optimum
    /// remains between them.
    fn with_rounding(self) -> DualityGap {
        match self.is_limited_by_rounding() {
            true => DualityGap {
                dual: self.dual - self.rounding,
                primal: self.primal + self.loss_rounding,
                ..self
            },
            false => self,
        }
    }
}

/// Measures a solution; also returns `Kβ`. `input_rounding` is the rounding error of an output in the units of the input,
/// beyond that of the kernel values.
pub(super) fn measure(
    rows: &KernelRows<f64>,
    qp: &BoxQp<'_>,
    beta: &[f64],
    intercepts: [f64; 2],
    input_rounding: f64,
) -> (DualityGap, Vec<f64>) {
    let f = outputs(rows, beta);
    // Errors of single kernel values are independent: their squares add up.
    let squares: f64 = beta.iter().map(|b| b * b).sum();
    let output_rounding = squares.sqrt() * rows.value_rounding() + input_rounding;
    let (mut quadratic, mut loss_rounding) = (0.0, 0.0);
    let (mut linear, mut losses) = (0.0, 0.0);
    let mut sums = [0.0; 2];
    // `m` and `M` of each group.
    let mut extremes = [(f64::NEG_INFINITY, f64::INFINITY); 2];
    for (i, (b, f)) in beta.iter().zip(&f).enumerate() {
        let g = usize::from(i >= qp.split);
        let residual = qp.linear[i] - f;
        quadratic += b * f;
        linear += qp.linear[i] * b - qp.epsilon * b.abs();
        sums[g] += b;
        let mut own = 0.0;
        match qp.slack {
            None => {
                let own = |r: f64| loss(r, qp.epsilon, qp.lower[i], qp.upper[i]);
                let r = residual - intercepts[g];
                let farthest = own(r + output_rounding).max(own(r - output_rounding));
                losses += own(r);
                loss_rounding += farthest - own(r);
            }
            Some(slack) => {
                let sign = if qp.upper[i] > 0.0 { 1.0 } else { -1.0 };
                let r = sign * (residual - intercepts[g]);
                losses += slack.loss(i, r.max(0.0));
                loss_rounding +=
                    slack.loss(i, (r + output_rounding).max(0.0)) - slack.loss(i, r.max(0.0));
                linear -= slack.conjugate(i, b.abs());
                own = slack.derivative(i, *b);
            }
        }
        let residual = residual - own;
        let (max_up, min_low) = &mut extremes[g];
        if *b < qp.upper[i] {
            *max_up = max_up.max(residual - if *b >= 0.0 { qp.epsilon } else { -qp.epsilon });
        }
        if *b > qp.lower[i] {
            *min_low = min_low.min(residual - if *b > 0.0 { qp.epsilon } else { -qp.epsilon });
        }
    }
    let gap = DualityGap {
        squared_norm: quadratic,
        unmeasured: false,
        negligible: negligible(rows, qp, beta),
        rounding: squares * rows.value_rounding(),
        loss_rounding,
        primal: 0.5 * quadratic + losses + intercepts[0] * sums[0] + intercepts[1] * sums[1],
        dual: linear - 0.5 * quadratic,
        violation: extremes.iter().map(|(max_up, min_low)| max_up - min_low).fold(0.0, f64::max),
    };
    (gap.with_rounding(), f)
}

/// The size below which the objectives of a problem without a linear term are zero.
fn negligible(rows: &KernelRows<f64>, qp: &BoxQp<'_>, beta: &[f64]) -> f64 {
    if qp.linear.iter().any(|z| *z != 0.0) {
        return 0.0;
    }
    let diagonal = rows.diagonal();
    let mean = diagonal.iter().map(|k| k.abs()).sum::<f64>() / diagonal.len().max(1) as f64;
    NEGLIGIBLE * mean * beta.iter().map(|b| b.abs()).sum::<f64>().powi(2)
}

/// The largest `t r − ε|t|` with `lower ≤ t ≤ upper`, where zero lies between the bounds.
fn loss(r: f64, epsilon: f64, lower: f64, upper: f64) -> f64 {
    let above = if r > epsilon && upper > 0.0 { upper * (r - epsilon) } else { 0.0 };
    let below = if r < -epsilon && lower < 0.0 { lower * (r + epsilon) } else { 0.0 };
    above.max(below)
}

/// `Kβ`. Kernel values among the support vectors are computed once for both of their rows.
fn outputs(rows: &KernelRows<f64>, beta: &[f64]) -> Vec<f64> {
    let indices = |nonzero: bool| -> Vec<u32> {
        (0..beta.len() as u32).filter(|i| (beta[*i as usize] != 0.0) == nonzero).collect()
    };
    let (support, others) = (indices(true), indices(false));
    let coefficients: Vec<f64> = support.iter().map(|i| beta[*i as usize]).collect();
    let vectors = rows.select(&support);
    let mut out = vec![0.0; beta.len()];
    let of_support = vectors.symmetric_sums(&coefficients);
    let of_others = vectors.weighted_sums(&coefficients, &rows.select(&others));
    for (i, f) in support.iter().zip(of_support).chain(others.iter().zip(of_others)) {
        out[*i as usize] = f;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Function, Storage};
    use mercer_num::Rows;
    use ndarray::array;

    #[test]
    fn rounding_of_large_kernel_values_lowers_the_dual_objective() {
        // K(x, x) = 1e20 with β = ±1: βᵀKβ = 0 for equal rows, known to no better than about 4e5.
        let x = array![[1e10], [1e10]];
        let rows = KernelRows::all(Function::linear(), Storage::Dense, &Rows::from(&x), &[], &[]);
        let qp = BoxQp::new(&[-1.0, 1.0], &[-1.0, 0.0], &[0.0, 1.0]);

        let (gap, _) = measure(&rows, &qp, &[-1.0, 1.0], [0.0; 2], 0.0);

        assert!(gap.is_limited_by_rounding());
        assert!(gap.dual < -1e5 && gap.primal >= 2.0);
    }

    #[test]
    fn two_points_by_hand() {
        // At distance 2 on a line: α = 2/d² = ½, both objectives ½, and no violation.
        let x = array![[-1.0], [1.0]];
        let rows = KernelRows::all(Function::linear(), Storage::Dense, &Rows::from(&x), &[], &[]);
        let qp = BoxQp::new(&[-1.0, 1.0], &[-10.0, 0.0], &[0.0, 10.0]);

        let (best, _) = measure(&rows, &qp, &[-0.5, 0.5], [0.0; 2], 0.0);
        let (off, _) = measure(&rows, &qp, &[-0.4, 0.4], [0.1, 0.0], 0.0);

        assert_eq!((best.primal, best.dual, best.violation), (0.5, 0.5, 0.0));
        assert_eq!(best.squared_norm, 1.0);
        // w = 0.8: ½ 0.64 + 10 (1 − 0.8 − 0.1) + 10 (1 − 0.8 + 0.1); dual 0.8 − 0.32.
        assert!((off.primal - (0.32 + 1.0 + 3.0)).abs() < 1e-14);
        assert!((off.dual - 0.48).abs() < 1e-15);
        assert!((off.violation - 0.4).abs() < 1e-15);
    }
}
