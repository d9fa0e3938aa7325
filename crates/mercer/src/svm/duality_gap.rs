//! How far a solution is from the optimum, from nothing but the rows, `β` and `b`, in double precision.
//!
//! For `min ½ βᵀKβ − zᵀβ + ε‖β‖₁` over a box with fixed sums `δ_g`, any `β` in the box and any `b_g` give
//!
//! `P = ½ βᵀKβ + Σᵢ max over the box of (t (zᵢ − fᵢ − b) − ε|t|) + Σ_g b_g δ_g  ≥  D = zᵀβ − ε‖β‖₁ − ½ βᵀKβ`
//!
//! with `f = Kβ`, equal only at the optimum. For classification `P` is `½‖w‖² + Σ Cᵢ max(0, 1 − yᵢ(fᵢ+b))`. Where
//! slack costs a power of its length, its cost is in `P` and the conjugate of it, at `|β|`, is taken from `D`.

use crate::kernel::KernelRows;
use crate::solver::BoxQp;

/// What was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Measured {
    pub primal: f64,
    pub dual: f64,
    /// The largest amount by which a variable that may rise is cheaper than one that may fall.
    pub violation: f64,
}

impl Measured {
    /// How far primal and dual are apart, as a share of the larger.
    pub fn relative_gap(&self) -> f64 {
        let size = self.primal.abs().max(self.dual.abs()).max(f64::MIN_POSITIVE);
        (self.primal - self.dual).abs() / size
    }
}

/// Measures a solution; also gives `Kβ`.
pub(super) fn measure(
    rows: &KernelRows<f64>,
    problem: &BoxQp<'_>,
    beta: &[f64],
    level: [f64; 2],
) -> (Measured, Vec<f64>) {
    let f = outputs(rows, beta);
    let mut out = Measured::default();
    let mut quadratic = 0.0;
    let (mut linear, mut losses) = (0.0, 0.0);
    let mut sums = [0.0; 2];
    let mut prices = [(f64::NEG_INFINITY, f64::INFINITY); 2];
    for (i, (b, f)) in beta.iter().zip(&f).enumerate() {
        let g = usize::from(i >= problem.split);
        let rest = problem.linear[i] - f;
        quadratic += b * f;
        linear += problem.linear[i] * b - problem.tube * b.abs();
        sums[g] += b;
        let mut own = 0.0;
        match problem.slack {
            None => losses += loss(rest - level[g], problem.tube, problem.low[i], problem.high[i]),
            Some(slack) => {
                let side = if problem.high[i] > 0.0 { 1.0 } else { -1.0 };
                losses += slack.loss(i, (side * (rest - level[g])).max(0.0));
                linear -= slack.conjugate(i, b.abs());
                own = slack.slope(i, *b);
            }
        }
        let rest = rest - own;
        let (top, bottom) = &mut prices[g];
        if *b < problem.high[i] {
            *top = top.max(rest - if *b >= 0.0 { problem.tube } else { -problem.tube });
        }
        if *b > problem.low[i] {
            *bottom = bottom.min(rest - if *b > 0.0 { problem.tube } else { -problem.tube });
        }
    }
    out.primal = 0.5 * quadratic + losses + level[0] * sums[0] + level[1] * sums[1];
    out.dual = linear - 0.5 * quadratic;
    out.violation = prices.iter().map(|(top, bottom)| top - bottom).fold(0.0, f64::max);
    (out, f)
}

/// The largest `t r − ε|t|` with `t` between the bounds, which have zero between them.
fn loss(r: f64, tube: f64, low: f64, high: f64) -> f64 {
    let above = if r > tube && high > 0.0 { high * (r - tube) } else { 0.0 };
    let below = if r < -tube && low < 0.0 { low * (r + tube) } else { 0.0 };
    above.max(below)
}

/// `Kβ`: among the rows that carry it every kernel value serves two of them.
fn outputs(rows: &KernelRows<f64>, beta: &[f64]) -> Vec<f64> {
    let places = |carry: bool| -> Vec<u32> {
        (0..beta.len() as u32).filter(|i| (beta[*i as usize] != 0.0) == carry).collect()
    };
    let (carriers, others) = (places(true), places(false));
    let values: Vec<f64> = carriers.iter().map(|i| beta[*i as usize]).collect();
    let carrying = rows.select(&carriers);
    let mut out = vec![0.0; beta.len()];
    let of_carriers = carrying.symmetric_sums(&values);
    let of_others = carrying.weighted_sums(&values, &rows.select(&others));
    for (i, f) in carriers.iter().zip(of_carriers).chain(others.iter().zip(of_others)) {
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
    fn two_points_by_hand() {
        // Distance 2 apart on a line: α = 2/d² = ½, objective ½, and nothing is violated.
        let x = array![[-1.0], [1.0]];
        let rows = KernelRows::all(Function::linear(), Storage::Dense, &Rows::from(&x), &[], &[]);
        let problem = BoxQp {
            linear: &[-1.0, 1.0],
            low: &[-10.0, 0.0],
            high: &[0.0, 10.0],
            tube: 0.0,
            split: 2,
            start: vec![0.0; 2],
            outputs: None,
            slack: None,
        };

        let (best, _) = measure(&rows, &problem, &[-0.5, 0.5], [0.0; 2]);
        let (off, _) = measure(&rows, &problem, &[-0.4, 0.4], [0.1, 0.0]);

        assert_eq!(best, Measured { primal: 0.5, dual: 0.5, violation: 0.0 });
        // w = 0.8: ½ 0.64 + 10 (1 − 0.8 − 0.1) + 10 (1 − 0.8 + 0.1); dual 0.8 − 0.32.
        assert!((off.primal - (0.32 + 1.0 + 3.0)).abs() < 1e-14);
        assert!((off.dual - 0.48).abs() < 1e-15);
        assert!((off.violation - 0.4).abs() < 1e-15);
    }
}
