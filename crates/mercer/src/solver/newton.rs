//! Minimizes a smooth convex function by Newton's method with preconditioned conjugate gradients.
//!
//! Every step solves `Hd = −g` only as far as it pays (Dembo, Eisenstat & Steihaug 1982) and goes
//! along `d` as far as the function falls enough (Armijo 1966). Near the optimum the steps double the
//! correct digits; what ends them is the measured gradient and nothing else.

use crate::model::{Monitor, Stop};

/// A smooth convex function, at a point it remembers, with the direction it was last asked about.
pub(crate) trait Smooth {
    /// How many numbers the point has.
    fn dimension(&self) -> usize;

    /// The value and the gradient at the point.
    fn gradient(&mut self, out: &mut [f64]) -> f64;

    /// How far a gradient is from that of an optimum.
    fn violation(&self, gradient: &[f64]) -> f64;

    /// Makes ready for products with the second derivatives at the point.
    fn prepare(&mut self);

    /// `Hv`.
    fn product(&mut self, v: &[f64], out: &mut [f64]);

    /// About `H⁻¹r`: any positive definite guess does, a good one saves products.
    fn precondition(&self, r: &[f64], out: &mut [f64]);

    /// Forgets the direction.
    fn begin_direction(&mut self);

    /// Adds `share` of the vector of the last product to the direction.
    fn extend_direction(&mut self, share: f64);

    /// The value at `point + share · direction`.
    fn value_along(&mut self, share: f64) -> f64;

    /// Goes to `point + share · direction`.
    fn go(&mut self, share: f64);
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

/// Minimizes.
pub(crate) fn newton(f: &mut impl Smooth, until: &Until<'_>) -> Ended {
    /// Share of the gradient that a first solution may leave.
    const LOOSE: f64 = 0.1;
    let n = f.dimension();
    let [mut g, mut r, mut z, mut p, mut hp] = [(); 5].map(|()| vec![0.0; n]);
    let mut ended = Ended { steps: 0, products: 0, converged: false, stopped: None };
    let mut value = f.gradient(&mut g);
    let mut violation = f.violation(&g);
    let first = violation;
    loop {
        // A violation that is no number is not below anything.
        ended.converged = violation <= until.tolerance;
        ended.stopped = until.monitor.stop();
        let enough = ended.steps >= until.most_steps;
        if ended.converged || ended.stopped.is_some() || enough || !violation.is_finite() {
            return ended;
        }
        f.prepare();
        f.begin_direction();
        r.iter_mut().zip(&g).for_each(|(r, g)| *r = -g);
        f.precondition(&r, &mut z);
        p.copy_from_slice(&z);
        let mut rz = dot(&r, &z);
        // Digits beyond the tolerance are not worth their products.
        let share = LOOSE.min((violation / first).sqrt()).max(0.3 * until.tolerance / violation);
        let (enough, mut slope) = (share * share * rz, 0.0);
        for _ in 0..2 * n.max(8) {
            f.product(&p, &mut hp);
            ended.products += 1;
            let curvature = dot(&p, &hp);
            // Flat to rounding: there is nothing left to gain along here.
            if !(curvature > 0.0 && rz > 0.0) {
                break;
            }
            let step = rz / curvature;
            f.extend_direction(step);
            slope += step * dot(&g, &p);
            r.iter_mut().zip(&hp).for_each(|(r, hp)| *r -= step * hp);
            f.precondition(&r, &mut z);
            let next = dot(&r, &z);
            if next <= enough || until.monitor.stop().is_some() {
                break;
            }
            let turn = next / rz;
            p.iter_mut().zip(&z).for_each(|(p, z)| *p = z + turn * *p);
            rz = next;
        }
        // What rounding can hide of a change of the value.
        let noise = 8.0 * f64::EPSILON * value.abs();
        let mut share = 1.0;
        while f.value_along(share) > value + 1e-4 * share * slope + noise && share > 1e-9 {
            share *= 0.5;
        }
        f.go(share);
        ended.steps += 1;
        let (last, fell) = (violation, slope.abs() * share > noise);
        value = f.gradient(&mut g);
        violation = f.violation(&g);
        if violation >= last && !fell && violation > until.tolerance {
            // Neither the value nor the gradient can be told from the optimum's.
            return ended;
        }
        until.monitor.report(ended.steps, None);
    }
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
