//! Line searches: how far to go along a descent direction `d` from a point `x`.
//!
//! With `φ(t) = f(x + t d)` and `φ'(0) < 0`,
//!
//! - [`armijo_backtracking`] halves `t` until `φ(t) ≤ φ(0) + c₁ t φ'(0)` (Armijo 1966; Nocedal & Wright 2006,
//!   algorithm 3.1), for several independent functions at once;
//! - [`exact_line_search`] finds the root of `φ'` of a convex function by Newton's method inside a bracket. For the
//!   hinge losses `φ'` is piecewise linear, and steps to its root need fewer Newton iterations than unit steps, because
//!   fewer rows become active on the way (Keerthi & DeCoste 2005);
//! - [`strong_wolfe`] also bounds `|φ'(t)| ≤ c₂ |φ'(0)|`, by bracketing and cubic interpolation (Nocedal & Wright 2006,
//!   algorithms 3.5 and 3.6), for functions that are not convex.
//!
//! All of them allow for the rounding error of `φ(0)`.

use super::objective::{SmoothObjective, SubproblemState, rounding_error};

/// `c₁` of the Armijo condition: the part of the predicted decrease that a step must achieve.
const SUFFICIENT_DECREASE: f64 = 1e-4;
/// `c₂` of the strong Wolfe conditions: the part of the slope that may be left.
const CURVATURE: f64 = 0.9;
/// Step sizes below this are not halved again.
const MIN_ARMIJO_STEP: f64 = 1e-9;
/// Evaluations of a strong Wolfe search at most.
const MAX_WOLFE_EVALUATIONS: usize = 30;

/// The largest value at step size `t` that meets the Armijo condition.
fn armijo_bound(value: f64, slope: f64, t: f64) -> f64 {
    value + SUFFICIENT_DECREASE * t * slope + rounding_error(value)
}

/// Step sizes that meet the Armijo condition for every subproblem, from `steps` by halving.
pub(crate) fn armijo_backtracking(
    f: &mut impl SmoothObjective,
    states: &[SubproblemState],
    mut steps: Vec<f64>,
) -> Vec<f64> {
    loop {
        let values = f.values_along(&steps);
        let mut halved = false;
        for ((step, state), value) in steps.iter_mut().zip(states).zip(values) {
            // A value that is not a number fails the comparison.
            let accepted = value <= armijo_bound(state.value, state.slope, *step);
            if !accepted && *step > MIN_ARMIJO_STEP {
                *step *= 0.5;
                halved = true;
            }
        }
        if !halved {
            return steps;
        }
    }
}

/// How an exact line search chooses the next step size where Newton's method leaves the bracket.
#[derive(Clone, Copy)]
pub(crate) enum Safeguard {
    /// Newton steps at most double the step size; otherwise bisect what is left of the bracket up to there.
    Doubling,
    /// Newton steps may be arbitrarily long; otherwise bisect the bracket, or double while it has no upper end.
    Bracket,
}

/// How accurately an exact line search finds the minimum.
#[derive(Clone, Copy)]
pub(crate) struct LineSearchAccuracy {
    /// The part of `|φ'(0)|` that may be left.
    pub slope_tolerance: f64,
    pub max_evaluations: usize,
    pub safeguard: Safeguard,
}

impl LineSearchAccuracy {
    /// For a single function, of which a rough minimum is enough.
    pub const ROUGH: LineSearchAccuracy = LineSearchAccuracy {
        slope_tolerance: 0.1,
        max_evaluations: 8,
        safeguard: Safeguard::Doubling,
    };
    /// For several functions at once, each of which has its own active rows.
    pub const FINE: LineSearchAccuracy = LineSearchAccuracy {
        slope_tolerance: 0.01,
        max_evaluations: 12,
        safeguard: Safeguard::Bracket,
    };
}

/// An interval that contains the root of `φ'`.
#[derive(Clone, Copy)]
struct Bracket {
    low: f64,
    high: f64,
}

impl Bracket {
    /// Narrows the bracket by the sign of `φ'(t)`, and takes a safeguarded Newton step from `t`.
    fn newton_step(&mut self, t: f64, slope: f64, curvature: f64, safeguard: Safeguard) -> f64 {
        if slope < 0.0 {
            self.low = t
        } else {
            self.high = t
        }
        let Bracket { low, high } = *self;
        let newton = t - slope / curvature;
        let (next, fallback) = match safeguard {
            Safeguard::Doubling => (newton.min(2.0 * t), 0.5 * (low + high.min(2.0 * t))),
            Safeguard::Bracket if high.is_finite() => (newton, 0.5 * (low + high)),
            Safeguard::Bracket => (newton, 2.0 * t),
        };
        if next > low && next < high { next } else { fallback }
    }
}

/// Minimizes convex functions along a line, from step sizes `steps`; `slopes` are `φ'(0)` and `derivatives` returns
/// `φ'` and `φ''` of every function at given step sizes. A function whose step size is zero stays there.
pub(crate) fn exact_line_search(
    slopes: &[f64],
    mut steps: Vec<f64>,
    accuracy: LineSearchAccuracy,
    mut derivatives: impl FnMut(&[f64]) -> Vec<(f64, f64)>,
) -> Vec<f64> {
    let LineSearchAccuracy { slope_tolerance, max_evaluations, safeguard } = accuracy;
    let mut brackets = vec![Bracket { low: 0.0, high: f64::INFINITY }; steps.len()];
    for _ in 0..max_evaluations {
        let mut found = true;
        for (k, (slope, curvature)) in derivatives(&steps).into_iter().enumerate() {
            let undefined = slope.is_nan() && matches!(safeguard, Safeguard::Bracket);
            let flat = slope.abs() <= slope_tolerance * slopes[k].abs();
            if steps[k] == 0.0 || undefined || flat {
                continue;
            }
            steps[k] = brackets[k].newton_step(steps[k], slope, curvature, safeguard);
            found = false;
        }
        if found {
            break;
        }
    }
    steps
}

/// A point along a line: the step size `t`, `φ(t)` and `φ'(t)`.
#[derive(Clone, Copy)]
pub(crate) struct LinePoint {
    pub step: f64,
    pub value: f64,
    pub slope: f64,
}

/// What a strong Wolfe search ended with.
pub(crate) enum WolfeOutcome {
    /// A lower point and the gradient there.
    Decrease(LinePoint, Vec<f64>),
    /// No lower point was found.
    NoDecrease,
    /// An evaluation was interrupted.
    Stopped,
}

/// A point that meets the strong Wolfe conditions; where there is none, as at a kink, the lowest point evaluated.
///
/// `start` is the point at step size zero, and `evaluate` returns the point at a step size with its gradient, or
/// `None` when it is interrupted.
pub(crate) fn strong_wolfe(
    start: LinePoint,
    first_step: f64,
    mut evaluate: impl FnMut(f64) -> Option<(LinePoint, Vec<f64>)>,
) -> WolfeOutcome {
    let (mut low, mut low_gradient) = (start, Vec::new());
    let mut high: Option<LinePoint> = None;
    let mut step = first_step;
    for _ in 0..MAX_WOLFE_EVALUATIONS {
        let Some((at, gradient)) = evaluate(step) else { return WolfeOutcome::Stopped };
        let lowest = low.value + rounding_error(start.value);
        // A value that is not a number fails the comparisons.
        let is_low = at.value <= armijo_bound(start.value, start.slope, step)
            && at.value <= lowest
            && at.slope.is_finite();
        if !is_low {
            high = Some(at);
        } else if at.slope.abs() <= CURVATURE * start.slope.abs() {
            return WolfeOutcome::Decrease(at, gradient);
        } else {
            let width = high.map_or(1.0, |high| high.step - low.step);
            if at.slope * width >= 0.0 {
                high = Some(low);
            }
            (low, low_gradient) = (at, gradient);
        }
        step = match high {
            None => 2.0 * step,
            Some(high) => cubic_minimizer(low, high),
        };
        if step == low.step {
            break;
        }
    }
    match low.step > 0.0 {
        true => WolfeOutcome::Decrease(low, low_gradient),
        false => WolfeOutcome::NoDecrease,
    }
}

/// The minimizer of the cubic that interpolates values and slopes at two points (Nocedal & Wright 2006, equation
/// 3.59), kept away from both ends.
fn cubic_minimizer(a: LinePoint, b: LinePoint) -> f64 {
    let width = b.step - a.step;
    let d1 = a.slope + b.slope - 3.0 * (a.value - b.value) / (a.step - b.step);
    let d2 = (d1 * d1 - a.slope * b.slope).sqrt() * width.signum();
    let minimizer = b.step - width * (b.slope + d2 - d1) / (b.slope - a.slope + 2.0 * d2);
    let fraction = (minimizer - a.step) / width;
    // A fraction that is not a number is in no interval and bisects.
    let fraction = if (0.1..=0.9).contains(&fraction) {
        fraction
    } else if fraction < 0.1 {
        0.1
    } else {
        0.5
    };
    a.step + fraction * width
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_line_search_finds_the_root_of_the_slope() {
        // φ(t) = (t − 3)² + (t − 3)⁴, with its minimum at 3.
        let derivatives = |t: f64| {
            let u = t - 3.0;
            (2.0 * u + 4.0 * u * u * u, 2.0 + 12.0 * u * u)
        };
        for safeguard in [Safeguard::Doubling, Safeguard::Bracket] {
            let accuracy =
                LineSearchAccuracy { slope_tolerance: 1e-12, max_evaluations: 60, safeguard };
            let slopes = [derivatives(0.0).0];

            let steps = exact_line_search(&slopes, vec![1.0], accuracy, |steps| {
                steps.iter().map(|t| derivatives(*t)).collect()
            });

            assert!((steps[0] - 3.0).abs() < 1e-9, "{}", steps[0]);
        }
    }

    #[test]
    fn strong_wolfe_meets_both_conditions() {
        // φ(t) = (t − 5)² from t = 0, where a first step of 0.01 decreases too little of the slope.
        let at =
            |t: f64| LinePoint { step: t, value: (t - 5.0) * (t - 5.0), slope: 2.0 * (t - 5.0) };
        let start = at(0.0);

        let outcome = strong_wolfe(start, 0.01, |t| Some((at(t), vec![at(t).slope])));

        let WolfeOutcome::Decrease(found, gradient) = outcome else { panic!("no decrease") };
        assert!(found.value <= start.value + SUFFICIENT_DECREASE * found.step * start.slope);
        assert!(found.slope.abs() <= CURVATURE * start.slope.abs());
        assert_eq!(gradient, [found.slope]);
    }
}
