//! Minimizes smooth convex functions by Newton's method with preconditioned conjugate gradients.
//!
//! Every step solves `Hd = −g` only as far as it pays (Dembo, Eisenstat & Steihaug 1982) and goes
//! along `d` as far as the function falls enough (Armijo 1966). Near the optimum the steps double the
//! correct digits; what ends them is the measured gradient and nothing else.
//!
//! Several functions that know nothing of each other may share the products: their numbers alternate,
//! each has steps of its own, and the whole is done when the last of them is.

use crate::model::{Monitor, Stop};
use rayon::prelude::*;

/// Smooth convex functions, at a point they remember, with the direction they were last asked about.
pub(crate) trait Smooth {
    /// How many functions there are; number `j` of the point belongs to function `j mod lanes`.
    fn lanes(&self) -> usize {
        1
    }

    /// How many numbers the point has.
    fn dimension(&self) -> usize;

    /// The values and the gradient at the point.
    fn gradient(&mut self, out: &mut [f64]) -> Vec<f64>;

    /// How far a gradient is from that of an optimum, for every function.
    fn violations(&self, gradient: &[f64]) -> Vec<f64>;

    /// Makes ready for products with the second derivatives at the point.
    fn prepare(&mut self);

    /// `Hv`.
    fn product(&mut self, v: &[f64], out: &mut [f64]);

    /// About `H⁻¹r`: any positive definite guess does, a good one saves products.
    fn precondition(&self, r: &[f64], out: &mut [f64]);

    /// Forgets the direction.
    fn begin_direction(&mut self);

    /// Adds shares of the vector of the last product to the direction.
    fn extend_direction(&mut self, shares: &[f64]);

    /// How far along the direction to try first, where the lanes have a slope: all of it, if nothing better is
    /// known.
    fn first_shares(&mut self, lanes: &[Lane]) -> Vec<f64> {
        whole_shares(lanes)
    }

    /// The values at `point + shares · direction`.
    fn values_along(&mut self, shares: &[f64]) -> Vec<f64>;

    /// Goes to `point + shares · direction`.
    fn go(&mut self, shares: &[f64]);
}

/// When to stop, and whom to tell.
pub(crate) struct Until<'a> {
    /// The violation that is small enough.
    pub tolerance: f64,
    /// Steps after which to stop in any case.
    pub most_steps: u64,
    pub monitor: &'a Monitor<'a>,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ended {
    pub steps: u64,
    /// Products with the second derivatives.
    pub products: u64,
    /// Whether the violation is below the tolerance.
    pub converged: bool,
    pub stopped: Option<Stop>,
}

/// Where one of the functions has come to.
#[derive(Clone, Default)]
pub(crate) struct Lane {
    pub value: f64,
    pub violation: f64,
    /// What the direction promises.
    pub slope: f64,
    /// Neither value nor gradient can be told from the optimum's.
    pub at_rounding: bool,
    /// The violation at the start.
    first: f64,
    /// Whether there is more to gain.
    open: bool,
    /// Whether its equations are still being solved.
    solving: bool,
    rz: f64,
    enough: f64,
}

impl Lane {
    /// Whether to go on with it.
    pub fn is_open(&self, tolerance: f64) -> bool {
        // A violation that is no number is not below anything, and nothing helps it.
        !self.at_rounding && self.violation > tolerance && self.violation.is_finite()
    }

    /// Whether a direction may promise too much or too little: nearer to the optimum, digits double.
    pub fn is_far(&self) -> bool {
        /// Share of the value.
        const FAR: f64 = 1e-6;
        self.slope < -FAR * self.value.abs()
    }

    /// What rounding can hide of a change of the value.
    fn noise(&self) -> f64 {
        8.0 * f64::EPSILON * self.value.abs()
    }

    /// Takes what is true after a step.
    pub fn arrive(&mut self, share: f64, value: f64, violation: f64, tolerance: f64) {
        let fell = self.slope.abs() * share > self.noise();
        self.at_rounding = violation >= self.violation && !fell && violation > tolerance;
        (self.value, self.violation) = (value, violation);
    }
}

/// Minimizes.
pub(crate) fn newton(f: &mut impl Smooth, until: &Until<'_>) -> Ended {
    /// Share of the gradient that a first solution may leave.
    const LOOSE: f64 = 0.25;
    let (n, m) = (f.dimension(), f.lanes());
    let [mut g, mut r, mut z, mut p, mut hp] = [(); 5].map(|()| vec![0.0; n]);
    let mut ended = Ended { steps: 0, products: 0, converged: false, stopped: None };
    let mut lanes = vec![Lane::default(); m];
    let values = f.gradient(&mut g);
    let violations = f.violations(&g);
    for ((lane, value), violation) in lanes.iter_mut().zip(values).zip(violations) {
        (lane.value, lane.violation, lane.first) = (value, violation, violation);
    }
    loop {
        lanes.iter_mut().for_each(|lane| lane.open = lane.is_open(until.tolerance));
        ended.converged = lanes.iter().all(|lane| lane.violation <= until.tolerance);
        ended.stopped = until.monitor.stop();
        let enough = ended.steps >= until.most_steps;
        if ended.stopped.is_some() || enough || lanes.iter().all(|lane| !lane.open) {
            return ended;
        }
        f.prepare();
        f.begin_direction();
        r.copy_from_slice(&g);
        let signs: Vec<f64> = lanes.iter().map(|l| if l.open { -1.0 } else { 0.0 }).collect();
        scale(&signs, &mut r);
        f.precondition(&r, &mut z);
        p.copy_from_slice(&z);
        for (lane, rz) in lanes.iter_mut().zip(dots(&r, &z, m)) {
            // Digits beyond the tolerance are not worth their products.
            let loose = LOOSE.min((lane.violation / lane.first).sqrt());
            let share = loose.max(0.6 * until.tolerance / lane.violation);
            (lane.rz, lane.enough, lane.slope) = (rz, share * share * rz, 0.0);
            lane.solving = lane.open;
        }
        for _ in 0..2 * (n / m).max(8) {
            f.product(&p, &mut hp);
            ended.products += 1;
            let curvatures = dots(&p, &hp, m);
            let downhill = dots(&g, &p, m);
            let mut steps = vec![0.0; m];
            for (k, lane) in lanes.iter_mut().enumerate() {
                // Flat to rounding: there is nothing left to gain along here.
                lane.solving &= curvatures[k] > 0.0 && lane.rz > 0.0;
                if lane.solving {
                    steps[k] = lane.rz / curvatures[k];
                    lane.slope += steps[k] * downhill[k];
                }
            }
            f.extend_direction(&steps);
            steps.iter_mut().for_each(|step| *step = -*step);
            add_scaled(&steps, &hp, &mut r);
            f.precondition(&r, &mut z);
            let mut turns = vec![0.0; m];
            for (k, (lane, next)) in lanes.iter_mut().zip(dots(&r, &z, m)).enumerate() {
                lane.solving &= next > lane.enough;
                if lane.solving {
                    turns[k] = next / lane.rz;
                    lane.rz = next;
                }
            }
            if lanes.iter().all(|lane| !lane.solving) || until.monitor.stop().is_some() {
                break;
            }
            let going: Vec<f64> =
                lanes.iter().map(|lane| f64::from(u8::from(lane.solving))).collect();
            scale(&turns, &mut p);
            add_scaled(&going, &z, &mut p);
        }
        let first = f.first_shares(&lanes);
        let shares = search(f, &lanes, first);
        f.go(&shares);
        ended.steps += 1;
        let values = f.gradient(&mut g);
        let violations = f.violations(&g);
        for (k, lane) in lanes.iter_mut().enumerate().filter(|(_, lane)| lane.open) {
            lane.arrive(shares[k], values[k], violations[k], until.tolerance);
        }
        until.monitor.report(ended.steps, None);
    }
}

/// All of the direction for every function that it goes down.
pub(crate) fn whole_shares(lanes: &[Lane]) -> Vec<f64> {
    lanes.iter().map(|lane| if lane.slope < 0.0 { 1.0 } else { 0.0 }).collect()
}

/// How far to go along the direction, `shares` of it if that is right: as far as every function falls enough.
pub(crate) fn search(f: &mut impl Smooth, lanes: &[Lane], mut shares: Vec<f64>) -> Vec<f64> {
    loop {
        let values = f.values_along(&shares);
        let mut shorter = false;
        for ((share, lane), value) in shares.iter_mut().zip(lanes).zip(values) {
            let most = lane.value + 1e-4 * *share * lane.slope + lane.noise();
            // A value that is no number is not low enough.
            let low = value <= most;
            if !low && *share > 1e-9 {
                *share *= 0.5;
                shorter = true;
            }
        }
        if !shorter {
            return shares;
        }
    }
}

/// About where a convex function of one number is least that falls with `slope` at zero, by Newton's method from one
/// on; `at` gives its slope and how that rises.
pub(crate) fn least(slope: f64, mut at: impl FnMut(f64) -> (f64, f64)) -> f64 {
    /// The share of the first slope that may be left, and looks at most.
    const LEFT: f64 = 0.1;
    const LOOKS: usize = 8;
    let (mut low, mut high, mut share) = (0.0, f64::INFINITY, 1.0);
    for _ in 0..LOOKS {
        let (now, rise) = at(share);
        if now.abs() <= LEFT * slope.abs() {
            break;
        }
        if now < 0.0 {
            low = share
        } else {
            high = share
        }
        // No further than twice as far at a time, and never out of what is known to hold it.
        let next = (share - now / rise).min(2.0 * share);
        share = if next > low && next < high { next } else { 0.5 * (low + high.min(2.0 * share)) };
    }
    share
}

/// Numbers that one thread takes at a time.
const PART: usize = 1 << 14;

/// The inner product of every lane.
pub(crate) fn dots(a: &[f64], b: &[f64], m: usize) -> Vec<f64> {
    let part = PART.next_multiple_of(m);
    let parts: Vec<Vec<f64>> = a
        .par_chunks(part)
        .zip(b.par_chunks(part))
        .map(|(a, b)| {
            if m == 1 {
                return vec![dot(a, b)];
            }
            let mut sums = vec![0.0; m];
            for (a, b) in a.chunks_exact(m).zip(b.chunks_exact(m)) {
                sums.iter_mut().zip(a).zip(b).for_each(|((sum, a), b)| *sum += a * b);
            }
            sums
        })
        .collect();
    let mut sums = vec![0.0; m];
    for part in parts {
        sums.iter_mut().zip(part).for_each(|(sum, x)| *sum += x);
    }
    sums
}

/// `y += a x` with an `a` for every lane.
pub(crate) fn add_scaled(a: &[f64], x: &[f64], y: &mut [f64]) {
    let m = a.len();
    let part = PART.next_multiple_of(m);
    y.par_chunks_mut(part).zip(x.par_chunks(part)).for_each(|(y, x)| {
        if let [a] = a {
            return y.iter_mut().zip(x).for_each(|(y, x)| *y += a * x);
        }
        for (y, x) in y.chunks_exact_mut(m).zip(x.chunks_exact(m)) {
            y.iter_mut().zip(a).zip(x).for_each(|((y, a), x)| *y += a * x);
        }
    });
}

/// `x = a x` with an `a` for every lane.
fn scale(a: &[f64], x: &mut [f64]) {
    for x in x.chunks_exact_mut(a.len()) {
        x.iter_mut().zip(a).for_each(|(x, a)| *x *= a);
    }
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
