//! Looks for a minimum of a smooth function from its values and gradients alone.
//!
//! Minimize `f(x)` over all `x`, given `f` and `∇f`: steps along `−H∇f` with `H` made of the last few steps and
//! the changes of the gradient along them (L-BFGS; Nocedal 1980, Liu & Nocedal 1989), each as long as
//! Wolfe's strong conditions allow (Nocedal & Wright 2006, algorithms 3.5 and 3.6). Where `f` is not convex,
//! what is found is a point where the gradient is small, and nothing is known about other such points.

use super::newton_cg::{Until, add_scaled, dots};
use crate::model::Stop;
use std::collections::VecDeque;

/// Steps that are remembered.
const REMEMBERED: usize = 10;
/// The share of the promised fall that a step must bring.
const FALL: f64 = 1e-4;
/// The share of the slope that may be left at the end of a step.
const FLAT: f64 = 0.9;
/// Values tried along one direction.
const TRIES: usize = 30;
/// Steps without any gain after which rounding is all that is left.
const STALE: usize = 5;

/// Writes the gradient at a point and gives the value, or `None` where it was told to stop.
pub(crate) type Smooth<'a> = dyn FnMut(&[f64], &mut [f64]) -> Option<f64> + 'a;

/// How it ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    pub steps: u64,
    /// How often the function was worked out.
    pub evaluations: u64,
    /// The value at the end.
    pub value: f64,
    /// The largest entry of the gradient.
    pub violation: f64,
    /// The length of the gradient, and of that at the start.
    pub norm: f64,
    pub first_norm: f64,
    pub stopped: Option<Stop>,
}

/// Goes down from a point; `None` where not even the first value came.
pub(crate) fn lbfgs(x: &mut [f64], f: &mut Smooth<'_>, until: &Until<'_>) -> Option<Ended> {
    let mut g = vec![0.0; x.len()];
    let value = f(x, &mut g)?;
    let (norm, violation) = (dot(&g, &g).sqrt(), largest(&g));
    let mut ended =
        Ended { steps: 0, evaluations: 1, value, violation, norm, first_norm: norm, stopped: None };
    let mut memory: VecDeque<Pair> = VecDeque::new();
    let (mut best, mut stale) = (violation, 0);
    while ended.violation > until.tolerance && ended.steps < until.most_steps && stale < STALE {
        ended.stopped = until.monitor.stop();
        if ended.stopped.is_some() {
            break;
        }
        let mut direction = downhill(&memory, &g);
        let mut slope = dot(&g, &direction);
        if slope >= 0.0 || !slope.is_finite() {
            memory.clear();
            direction = downhill(&memory, &g);
            slope = -dot(&g, &g);
        }
        // The first step goes about as far as one unit.
        let first = if memory.is_empty() { (1.0 / slope.abs().sqrt()).min(1.0) } else { 1.0 };
        let start = At { share: 0.0, value: ended.value, slope };
        let found = match search(x, &direction, start, first, f, &mut ended.evaluations) {
            Search::Lower(found) => found,
            Search::Stopped => {
                ended.stopped = until.monitor.stop();
                break;
            }
            // What is remembered may mislead; the gradient itself does not.
            Search::Nothing if !memory.is_empty() => {
                memory.clear();
                continue;
            }
            Search::Nothing => break,
        };
        let gained = ended.value - found.at.value;
        scale(&mut direction, found.at.share);
        add_scaled(&[1.0], &direction, x);
        let mut change = found.gradient.clone();
        add_scaled(&[-1.0], &g, &mut change);
        remember(&mut memory, direction, change);
        g = found.gradient;
        ended.steps += 1;
        ended.value = found.at.value;
        (ended.norm, ended.violation) = (dot(&g, &g).sqrt(), largest(&g));
        let lower = ended.violation < best || gained > noise(ended.value);
        stale = if lower { 0 } else { stale + 1 };
        best = best.min(ended.violation);
        until.monitor.report(ended.steps, Some(until.most_steps));
    }
    Some(ended)
}

/// A step, how the gradient changed along it, and one over their inner product.
struct Pair {
    step: Vec<f64>,
    change: Vec<f64>,
    inverse: f64,
}

/// Keeps a step along which the slope rose; others say nothing about curvature.
fn remember(memory: &mut VecDeque<Pair>, step: Vec<f64>, change: Vec<f64>) {
    let product = dot(&step, &change);
    if product <= f64::EPSILON * dot(&change, &change) {
        return;
    }
    if memory.len() == REMEMBERED {
        memory.pop_front();
    }
    memory.push_back(Pair { step, change, inverse: 1.0 / product });
}

/// `−H∇f` by two loops over what is remembered.
fn downhill(memory: &VecDeque<Pair>, g: &[f64]) -> Vec<f64> {
    let mut d: Vec<f64> = g.iter().map(|v| -v).collect();
    let mut shares = Vec::with_capacity(memory.len());
    for pair in memory.iter().rev() {
        let share = pair.inverse * dot(&pair.step, &d);
        add_scaled(&[-share], &pair.change, &mut d);
        shares.push(share);
    }
    if let Some(last) = memory.back() {
        scale(&mut d, 1.0 / (last.inverse * dot(&last.change, &last.change)));
    }
    for (pair, share) in memory.iter().zip(shares.iter().rev()) {
        let other = pair.inverse * dot(&pair.change, &d);
        add_scaled(&[share - other], &pair.step, &mut d);
    }
    d
}

/// A place along a direction.
#[derive(Clone, Copy)]
struct At {
    share: f64,
    value: f64,
    slope: f64,
}

struct Found {
    at: At,
    gradient: Vec<f64>,
}

enum Search {
    Lower(Found),
    /// No place that is lower was found.
    Nothing,
    Stopped,
}

/// A place along the direction that is low enough and flat enough; where there is none, as at a kink, the
/// lowest that was seen.
fn search(
    x: &[f64],
    direction: &[f64],
    start: At,
    first: f64,
    f: &mut Smooth<'_>,
    evaluations: &mut u64,
) -> Search {
    let mut low = Found { at: start, gradient: Vec::new() };
    let mut high: Option<At> = None;
    let mut share = first;
    let mut there = vec![0.0; x.len()];
    for _ in 0..TRIES {
        there.copy_from_slice(x);
        add_scaled(&[share], direction, &mut there);
        let mut gradient = vec![0.0; x.len()];
        let Some(value) = f(&there, &mut gradient) else { return Search::Stopped };
        *evaluations += 1;
        let at = At { share, value, slope: dot(&gradient, direction) };
        let enough = start.value + FALL * share * start.slope + noise(start.value);
        let lowest = low.at.value + noise(start.value);
        // What is no number is not low.
        let is_low = at.value <= enough && at.value <= lowest && at.slope.is_finite();
        if !is_low {
            high = Some(at);
        } else if at.slope.abs() <= FLAT * start.slope.abs() {
            return Search::Lower(Found { at, gradient });
        } else {
            let side = high.map_or(1.0, |high| high.share - low.at.share);
            if at.slope * side >= 0.0 {
                high = Some(low.at);
            }
            low = Found { at, gradient };
        }
        share = match high {
            None => 2.0 * share,
            Some(high) => between(low.at, high),
        };
        if share == low.at.share {
            break;
        }
    }
    match low.at.share > 0.0 {
        true => Search::Lower(low),
        false => Search::Nothing,
    }
}

/// Where the cubic through two places is lowest, not too near to either.
fn between(a: At, b: At) -> f64 {
    let width = b.share - a.share;
    let sum = a.slope + b.slope - 3.0 * (a.value - b.value) / (a.share - b.share);
    let root = (sum * sum - a.slope * b.slope).sqrt() * width.signum();
    let guess = b.share - width * (b.slope + root - sum) / (b.slope - a.slope + 2.0 * root);
    let share = (guess - a.share) / width;
    // What is no number is nowhere between.
    let share = if (0.1..=0.9).contains(&share) {
        share
    } else if share < 0.1 {
        0.1
    } else {
        0.5
    };
    a.share + share * width
}

/// What rounding can hide of a change of the value.
fn noise(value: f64) -> f64 {
    8.0 * f64::EPSILON * value.abs()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    dots(a, b, 1)[0]
}

fn scale(x: &mut [f64], by: f64) {
    x.iter_mut().for_each(|x| *x *= by);
}

/// The largest entry, without its sign; what is no number is the largest.
fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |most: f64, v| if v.abs() <= most { most } else { v.abs() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Monitor;

    fn minimize(
        x: &mut [f64],
        mut f: impl FnMut(&[f64], &mut [f64]) -> f64,
        tolerance: f64,
        most_steps: u64,
    ) -> Ended {
        let monitor = Monitor::quiet();
        let until = Until { tolerance, most_steps, monitor: &monitor };
        lbfgs(x, &mut |x, g| Some(f(x, g)), &until).unwrap()
    }

    #[test]
    fn the_bottom_of_rosenbrocks_valley_is_found() {
        // (1 − x)² + 100 (y − x²)², whose only minimum is zero at (1, 1).
        let valley = |x: &[f64], g: &mut [f64]| {
            let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
            g[0] = -2.0 * a - 400.0 * x[0] * b;
            g[1] = 200.0 * b;
            a * a + 100.0 * b * b
        };
        let mut x = [-1.2, 1.0];

        let ended = minimize(&mut x, valley, 1e-9, 200);

        assert!((x[0] - 1.0).abs() < 1e-8 && (x[1] - 1.0).abs() < 1e-8, "{x:?}");
        assert!(ended.violation <= 1e-9 && ended.steps < 60, "{}", ended.steps);
    }

    #[test]
    fn a_bowl_takes_few_steps_whatever_its_shape() {
        // ½ Σ j (xⱼ − 1)², thirty numbers.
        let bowl = |x: &[f64], g: &mut [f64]| {
            let mut value = 0.0;
            for (j, (x, g)) in x.iter().zip(g).enumerate() {
                let weight = (j + 1) as f64;
                *g = weight * (x - 1.0);
                value += 0.5 * weight * (x - 1.0).powi(2);
            }
            value
        };
        let mut x = [0.0; 30];

        let ended = minimize(&mut x, bowl, 1e-10, 200);

        assert!(x.iter().all(|x| (x - 1.0).abs() < 1e-9));
        assert!(ended.steps < 80 && ended.evaluations < 2 * ended.steps, "{ended:?}");
    }

    #[test]
    fn a_kink_ends_it_at_the_lowest_place_seen() {
        // |x| has no place that is flat.
        let kink = |x: &[f64], g: &mut [f64]| {
            g[0] = x[0].signum();
            x[0].abs()
        };
        let mut x = [3.7];

        let ended = minimize(&mut x, kink, 1e-6, 1000);

        assert!(ended.value < 1e-3, "{ended:?}");
        assert!(ended.violation == 1.0 && ended.steps < 1000);
    }

    #[test]
    fn no_number_is_stepped_over() {
        // x − log x: nothing left of zero.
        let log = |x: &[f64], g: &mut [f64]| {
            g[0] = 1.0 - 1.0 / x[0];
            if x[0] > 0.0 { x[0] - x[0].ln() } else { f64::NAN }
        };
        let mut x = [0.01];

        minimize(&mut x, log, 1e-9, 100);

        assert!((x[0] - 1.0).abs() < 1e-8, "{x:?}");
    }
}
