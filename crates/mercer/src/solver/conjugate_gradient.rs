//! Preconditioned conjugate gradients (Hestenes & Stiefel 1952).
//!
//! Solve `A x = b` for symmetric positive definite `A` that is only ever multiplied with, for several
//! right-hand sides that share their products. `P`, near to the inverse of `A`, makes few rounds of many.

use crate::model::{Monitor, Stop};

/// Where the rounds have come to.
pub(crate) struct Gradients {
    /// One solution a right-hand side.
    pub x: Vec<Vec<f64>>,
    /// Products made.
    pub rounds: u64,
    /// Whether every residual came below the tolerance.
    pub converged: bool,
    /// Why the rounds ended before.
    pub stopped: Option<Stop>,
}

/// `product` may give up, which ends the rounds; a residual counts relative to its right-hand side.
pub(crate) fn conjugate_gradient(
    b: &[Vec<f64>],
    mut product: impl FnMut(&[Vec<f64>]) -> Option<Vec<Vec<f64>>>,
    precondition: impl Fn(&[f64]) -> Vec<f64>,
    tol: f64,
    most: u64,
    monitor: &Monitor<'_>,
) -> Gradients {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let sizes: Vec<f64> = b.iter().map(|b| dot(b, b).sqrt()).collect();
    let mut x: Vec<Vec<f64>> = b.iter().map(|b| vec![0.0; b.len()]).collect();
    let mut r = b.to_vec();
    let mut z: Vec<Vec<f64>> = r.iter().map(|r| precondition(r)).collect();
    let mut p = z.clone();
    let mut rz: Vec<f64> = r.iter().zip(&z).map(|(r, z)| dot(r, z)).collect();
    let near = |r: &[f64], size: f64| dot(r, r).sqrt() <= tol * size;
    let (mut rounds, mut stopped) = (0, None);
    loop {
        let open: Vec<usize> = (0..b.len()).filter(|k| !near(&r[*k], sizes[*k])).collect();
        if open.is_empty() || rounds >= most {
            return Gradients { converged: open.is_empty(), x, rounds, stopped };
        }
        monitor.report(rounds, None);
        stopped = monitor.stop();
        let some: Vec<Vec<f64>> = open.iter().map(|k| p[*k].clone()).collect();
        let made = if stopped.is_some() { None } else { product(&some) };
        let Some(made) = made else {
            stopped = stopped.or_else(|| monitor.stop()).or(Some(Stop::Cancelled));
            return Gradients { converged: false, x, rounds, stopped };
        };
        rounds += 1;
        let mut stuck = true;
        for (k, ap) in open.iter().copied().zip(&made) {
            let curve = dot(&p[k], ap);
            // No direction is left, or rounding has eaten what makes the matrix definite.
            if curve.is_nan() || curve <= 0.0 || rz[k] == 0.0 {
                continue;
            }
            stuck = false;
            let step = rz[k] / curve;
            x[k].iter_mut().zip(&p[k]).for_each(|(x, p)| *x += step * p);
            r[k].iter_mut().zip(ap).for_each(|(r, ap)| *r -= step * ap);
            z[k] = precondition(&r[k]);
            let next = dot(&r[k], &z[k]);
            let keep = next / rz[k];
            rz[k] = next;
            p[k].iter_mut().zip(&z[k]).for_each(|(p, z)| *p = z + keep * *p);
        }
        if stuck {
            return Gradients { converged: false, x, rounds, stopped };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_num::Matrix;
    use mercer_num::random::Random;
    use ndarray::Array1;

    #[test]
    fn as_many_rounds_as_unknowns_solve_and_a_good_guess_takes_one() {
        let mut random = Random::new(1);
        let a = Matrix::from_shape_simple_fn((8, 8), || random.normal());
        let a = a.dot(&a.t()) + Matrix::eye(8);
        let b: Vec<Vec<f64>> = (0..2).map(|_| (0..8).map(|_| random.normal()).collect()).collect();
        let times = |v: &[Vec<f64>]| {
            Some(v.iter().map(|v| a.dot(&Array1::from(v.clone())).to_vec()).collect())
        };

        let plain = conjugate_gradient(&b, times, |r| r.to_vec(), 1e-10, 100, &Monitor::quiet());
        let inverse = mercer_num::linalg::Cholesky::of(a.view()).unwrap();
        let told =
            conjugate_gradient(&b, times, |r| inverse.solve(r), 1e-10, 100, &Monitor::quiet());

        assert!(plain.converged && plain.rounds <= 12 && told.rounds == 1);
        for (x, b) in plain.x.iter().zip(&b) {
            let off = a.dot(&Array1::from(x.clone())) - Array1::from(b.clone());
            assert!(off.iter().all(|v| v.abs() < 1e-8));
        }
    }
}
