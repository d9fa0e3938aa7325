//! Preconditioned conjugate gradients (Hestenes & Stiefel 1952; Nocedal & Wright 2006, algorithm 5.3).
//!
//! Solve `A x = b` for a symmetric positive definite `A` that is only multiplied with. With `P ≈ A⁻¹`, residuals `r` and
//! search directions `p`,
//!
//! `α = rᵀPr / pᵀAp`,  `x += α p`,  `r −= α A p`,  `β = r'ᵀPr' / rᵀPr`,  `p = P r' + β p`.
//!
//! Two layouts share this recurrence. [`conjugate_gradient`] solves for several right-hand sides to a relative residual,
//! and multiplies only with those that have not converged. [`truncated_conjugate_gradient`] solves Newton's equations
//! `H d = −g` of interleaved subproblems to a forcing tolerance on `rᵀPr` (Dembo, Eisenstat & Steihaug 1982); its
//! solution is the search direction of the objective.

use super::interleaved::{add_scaled, dot, dots, scale};
use super::objective::SmoothObjective;
use crate::model::{Monitor, Stop};

/// `rᵀPr` of one right-hand side, from which both coefficients of the recurrence follow.
#[derive(Clone, Copy, Default)]
struct Recurrence {
    rz: f64,
}

impl Recurrence {
    /// `α` for the curvature `pᵀAp`; `None` where no direction is left or rounding has made the matrix indefinite.
    fn step(self, curvature: f64) -> Option<f64> {
        (curvature > 0.0 && self.rz != 0.0).then(|| self.rz / curvature)
    }

    /// `β`, and the next `rᵀPr`.
    fn conjugate(&mut self, next_rz: f64) -> f64 {
        let beta = next_rz / self.rz;
        self.rz = next_rz;
        beta
    }
}

/// What the iterations ended with.
pub(crate) struct CgSolution {
    /// One solution per right-hand side.
    pub x: Vec<Vec<f64>>,
    /// Products with the matrix.
    pub iterations: u64,
    /// Whether every relative residual is at most the tolerance.
    pub converged: bool,
    /// Why the iterations ended early.
    pub stopped: Option<Stop>,
}

/// Solves to `‖r‖ ≤ tol ‖b‖`; `product` may return `None`, which ends the iterations.
pub(crate) fn conjugate_gradient(
    b: &[Vec<f64>],
    mut product: impl FnMut(&[Vec<f64>]) -> Option<Vec<Vec<f64>>>,
    precondition: impl Fn(&[f64]) -> Vec<f64>,
    tol: f64,
    max_iterations: u64,
    monitor: &Monitor<'_>,
) -> CgSolution {
    let norms: Vec<f64> = b.iter().map(|b| dot(b, b).sqrt()).collect();
    let mut x: Vec<Vec<f64>> = b.iter().map(|b| vec![0.0; b.len()]).collect();
    let mut r = b.to_vec();
    let mut p: Vec<Vec<f64>> = r.iter().map(|r| precondition(r)).collect();
    let mut recurrences: Vec<Recurrence> =
        r.iter().zip(&p).map(|(r, z)| Recurrence { rz: dot(r, z) }).collect();
    let has_converged = |r: &[f64], norm: f64| dot(r, r).sqrt() <= tol * norm;
    let (mut iterations, mut stopped) = (0, None);
    loop {
        let active: Vec<usize> =
            (0..b.len()).filter(|k| !has_converged(&r[*k], norms[*k])).collect();
        if active.is_empty() || iterations >= max_iterations {
            return CgSolution { converged: active.is_empty(), x, iterations, stopped };
        }
        monitor.report(iterations, None);
        stopped = monitor.stop();
        let directions: Vec<Vec<f64>> = active.iter().map(|k| p[*k].clone()).collect();
        let products = if stopped.is_some() { None } else { product(&directions) };
        let Some(products) = products else {
            stopped = stopped.or_else(|| monitor.stop()).or(Some(Stop::Cancelled));
            return CgSolution { converged: false, x, iterations, stopped };
        };
        iterations += 1;
        let mut breakdown = true;
        for (k, ap) in active.iter().copied().zip(&products) {
            let Some(step) = recurrences[k].step(dot(&p[k], ap)) else { continue };
            breakdown = false;
            x[k].iter_mut().zip(&p[k]).for_each(|(x, p)| *x += step * p);
            r[k].iter_mut().zip(ap).for_each(|(r, ap)| *r -= step * ap);
            let z = precondition(&r[k]);
            let beta = recurrences[k].conjugate(dot(&r[k], &z));
            p[k].iter_mut().zip(&z).for_each(|(p, z)| *p = z + beta * *p);
        }
        if breakdown {
            return CgSolution { converged: false, x, iterations, stopped };
        }
    }
}

/// The system `H d = −g` of one subproblem.
#[derive(Clone, Copy)]
pub(crate) struct NewtonSystem {
    /// Whether to solve it at all; the direction of the others is zero.
    pub active: bool,
    /// The part of the first residual that may be left, in the norm of the preconditioner.
    pub forcing: f64,
}

/// Solves Newton's equations for the objective's search direction. Returns the directional derivative `gᵀd` of every
/// subproblem and the number of Hessian products.
pub(crate) fn truncated_conjugate_gradient(
    f: &mut impl SmoothObjective,
    g: &[f64],
    systems: &[NewtonSystem],
    monitor: &Monitor<'_>,
) -> (Vec<f64>, u64) {
    let (n, m) = (g.len(), systems.len());
    let [mut z, mut hp] = [(); 2].map(|()| vec![0.0; n]);
    f.reset_direction();
    let mut r = g.to_vec();
    let signs: Vec<f64> = systems.iter().map(|s| if s.active { -1.0 } else { 0.0 }).collect();
    scale(&signs, &mut r);
    f.precondition(&r, &mut z);
    let mut p = z.clone();
    let mut recurrences: Vec<Recurrence> =
        dots(&r, &z, m).into_iter().map(|rz| Recurrence { rz }).collect();
    let targets: Vec<f64> =
        systems.iter().zip(&recurrences).map(|(s, c)| s.forcing * s.forcing * c.rz).collect();
    let mut solving: Vec<bool> = systems.iter().map(|system| system.active).collect();
    let (mut slopes, mut products) = (vec![0.0; m], 0);
    for _ in 0..2 * (n / m).max(8) {
        f.hessian_product(&p, &mut hp);
        products += 1;
        let curvatures = dots(&p, &hp, m);
        let descents = dots(g, &p, m);
        let mut steps = vec![0.0; m];
        for k in 0..m {
            let step = recurrences[k].step(curvatures[k]).filter(|_| recurrences[k].rz > 0.0);
            solving[k] &= step.is_some();
            if let (true, Some(step)) = (solving[k], step) {
                steps[k] = step;
                slopes[k] += step * descents[k];
            }
        }
        f.extend_direction(&steps);
        steps.iter_mut().for_each(|step| *step = -*step);
        add_scaled(&steps, &hp, &mut r);
        f.precondition(&r, &mut z);
        let mut betas = vec![0.0; m];
        for (k, next_rz) in dots(&r, &z, m).into_iter().enumerate() {
            solving[k] &= next_rz > targets[k];
            if solving[k] {
                betas[k] = recurrences[k].conjugate(next_rz);
            }
        }
        if !solving.contains(&true) || monitor.stop().is_some() {
            break;
        }
        let continuing: Vec<f64> = solving.iter().map(|s| f64::from(u8::from(*s))).collect();
        scale(&betas, &mut p);
        add_scaled(&continuing, &z, &mut p);
    }
    (slopes, products)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_num::Matrix;
    use mercer_num::random::Random;
    use ndarray::Array1;

    #[test]
    fn it_solves_in_about_n_iterations_and_in_one_with_the_inverse_as_preconditioner() {
        let mut random = Random::new(1);
        let a = Matrix::from_shape_simple_fn((8, 8), || random.normal());
        let a = a.dot(&a.t()) + Matrix::eye(8);
        let b: Vec<Vec<f64>> = (0..2).map(|_| (0..8).map(|_| random.normal()).collect()).collect();
        let times = |v: &[Vec<f64>]| {
            Some(v.iter().map(|v| a.dot(&Array1::from(v.clone())).to_vec()).collect())
        };

        let plain = conjugate_gradient(&b, times, |r| r.to_vec(), 1e-10, 100, &Monitor::quiet());
        let inverse = mercer_num::linalg::Cholesky::of(a.view()).unwrap();
        let preconditioned =
            conjugate_gradient(&b, times, |r| inverse.solve(r), 1e-10, 100, &Monitor::quiet());

        assert!(plain.converged && plain.iterations <= 12 && preconditioned.iterations == 1);
        for (x, b) in plain.x.iter().zip(&b) {
            let residual = a.dot(&Array1::from(x.clone())) - Array1::from(b.clone());
            assert!(residual.iter().all(|v| v.abs() < 1e-8));
        }
    }
}
