//! Kernel ridge regression by a Cholesky factorization `G = K + D = L Lᵀ`.
//!
//! For many rows the factor is stored in single precision, in half the memory and half the time, and preconditions
//! conjugate gradients whose products and residuals are computed in double precision (mixed-precision iterative
//! refinement; Higham & Mary 2022). A matrix that is too ill-conditioned for that is factored again in double
//! precision, and the certificate reports it.

use super::KernelProblem;
use super::ridge::{Answer, INSTEAD, KernelRidge};
use crate::kernel::KernelRows;
use crate::model::Stop;
use crate::prelude::*;
use crate::solver::conjugate_gradient;
use mercer_num::Float;
use mercer_num::linalg::{
    CholeskyProgress, SymmetricEigen, cholesky_in_place, inverse_diagonal, solve_lower,
    solve_lower_transposed,
};
use ndarray::ArrayView2;

/// Maximum number of rows for which an indefinite matrix is solved by its eigendecomposition.
const MAX_EIGENDECOMPOSITION_ROWS: usize = 3000;
/// Relative residual above which the solution is refined.
const REFINEMENT_THRESHOLD: f64 = 1e-13;
/// Largest relative residual that is accepted from a factor in single precision.
const MAX_SINGLE_RESIDUAL: f64 = 1e-11;
/// Relative residual above which the solution is not exact up to rounding.
const MAX_RESIDUAL: f64 = 1e-6;
/// The note for such a solution.
const ILL_CONDITIONED: &str =
    "the equations are ill-conditioned: center and scale the columns, or increase `alpha`";
/// Maximum number of refinements with a factor in single precision.
const MAX_REFINEMENTS: usize = 4;
/// Relative tolerance and maximum number of iterations of each refinement.
const REFINEMENT_STOPPING_RULE: (f64, u64) = (1e-7, 20);

/// Solves by a factorization of the full matrix, in single precision if that is accurate enough.
pub(super) fn solve_by_cholesky(
    params: &KernelRidge,
    problem: &KernelProblem<'_>,
    ridge: &[f64],
    targets: &[Vec<f64>],
    monitor: &Monitor<'_>,
) -> Result<Answer> {
    let n = problem.indices.len();
    let ready = problem.kernel_rows();
    let system = System { ready: &ready, ridge, targets };
    let (mut how, mut plan): (Option<&str>, _) = (None, None);
    if params.in_single(n) {
        if let Some(answer) = system.by_single(&problem.weights, monitor)? {
            return Ok(answer);
        }
        how = Some("too near to singular for a factor in single precision");
        problem.reserve_or(8, monitor, INSTEAD)?;
        let way =
            "a factor of the kernel matrix in double precision, single being too little".into();
        plan = problem.plan(way, problem.matrix_bytes(8), 8, monitor);
    }
    let Solved { coefficients, factor, stopped } = system.by_double(params, monitor)?;
    let m = coefficients.first().map_or(0, Vec::len);
    let l = factor.as_ref().map(|factor| part(factor, n, m));
    let weights = &problem.weights[..m];
    let diagonal = match stopped {
        None if n <= params.leave_one_out_rows => {
            l.and_then(|l| inverse_diagonal(l, || monitor.stop().is_none()))
        }
        _ => None,
    };
    let leave_one_out_error = diagonal.map(|d| {
        let of = |c: &Vec<f64>| leave_one_out_error(c, &d, ridge, weights);
        coefficients.iter().map(of).sum::<f64>() / targets.len() as f64
    });
    if l.is_none() {
        how = Some("no factor: solved by eigenvectors");
    }
    let mut certificate = system.certificate(&coefficients).plan(plan);
    if let Some(error) = leave_one_out_error {
        certificate = certificate.objective("leave-one-out mean squared error", error);
    }
    certificate.condition = l.map(condition);
    certificate.notes.extend(how.map(str::to_owned));
    let kept = match l {
        Some(l) if params.variance => {
            Matrix::from_shape_fn((m, m), |(i, j)| if j <= i { l[[i, j]] } else { 0.0 })
        }
        _ => Matrix::zeros((0, 0)),
    };
    let answer = Answer {
        scale: system.scale(&coefficients, weights),
        ..Answer::new(coefficients, certificate)
    };
    Ok(Answer { leave_one_out_error, factor: kept, stopped, ..answer })
}

/// `(K + diag(ridge)) c = y` for every vector of targets `y`.
struct System<'a> {
    ready: &'a KernelRows<f64>,
    ridge: &'a [f64],
    targets: &'a [Vec<f64>],
}

struct Solved {
    coefficients: Vec<Vec<f64>>,
    /// Row-major; only the lower triangle is used. `None` if the matrix has no Cholesky factor.
    factor: Option<Vec<f64>>,
    stopped: Option<Stop>,
}

impl System<'_> {
    fn matrix<T: Float>(&self, monitor: &Monitor<'_>) -> Result<Vec<T>> {
        let n = self.ridge.len();
        let mut out: Vec<T> = self.ready.lower_gram(monitor).ok_or(Error::Stopped)?;
        for (i, r) in self.ridge.iter().enumerate() {
            let own: f64 = out[i * n + i].into();
            out[i * n + i] = T::narrow(own + r);
        }
        Ok(out)
    }

    /// `None` if single precision is not accurate enough.
    fn by_single(&self, weights: &[f64], monitor: &Monitor<'_>) -> Result<Option<Answer>> {
        let n = self.ridge.len();
        let mut cells: Vec<f32> = self.matrix(monitor)?;
        let mut stopped = None;
        let how = cholesky_in_place(&mut cells, n, |done| {
            report_progress(done, n, &mut stopped, monitor)
        });
        let Some(m) = n_factored(how, n)? else { return Ok(None) };
        let l = part(&cells, n, m);
        let solve = |r: &[f64]| -> Vec<f64> {
            // A size of one keeps small residuals within the range of single precision.
            let size = largest(r).max(f64::MIN_POSITIVE);
            let mut x: Vec<f32> = r.iter().map(|v| (v / size) as f32).collect();
            solve_lower(l, &mut x, 1);
            solve_lower_transposed(l, &mut x, 1);
            x.into_iter().map(|v| size * f64::from(v)).collect()
        };
        let mut coefficients = vec![vec![0.0; m]; self.targets.len()];
        let mut rounds = 0;
        for _ in 0..MAX_REFINEMENTS {
            let residuals = self.residuals(&coefficients);
            if self.violation(&residuals) <= REFINEMENT_THRESHOLD {
                break;
            }
            // Time that is up is not asked for again: what is factored is soon solved.
            let (tol, most) = REFINEMENT_STOPPING_RULE;
            let product = |v: &[Vec<f64>]| Some(self.times(v));
            let step = conjugate_gradient(&residuals, product, solve, tol, most, &Monitor::quiet());
            rounds += step.iterations;
            for (c, d) in coefficients.iter_mut().zip(&step.x) {
                c.iter_mut().zip(d).for_each(|(c, d)| *c += d);
            }
        }
        let certificate = self.certificate(&coefficients).condition(condition(l)).note(format!(
            "Cholesky factor in single precision, {rounds} conjugate gradient iterations"
        ));
        let enough = certificate.violation.as_ref().is_some_and(|v| v.value <= MAX_SINGLE_RESIDUAL);
        let scale = self.scale(&coefficients, &weights[..m]);
        let answer = Answer {
            scale,
            rounds: rounds.max(1),
            stopped,
            ..Answer::new(coefficients, certificate)
        };
        Ok(enough.then_some(answer))
    }

    fn by_double(&self, params: &KernelRidge, monitor: &Monitor<'_>) -> Result<Solved> {
        let n = self.ridge.len();
        let mut factor: Vec<f64> = self.matrix(monitor)?;
        let mut stopped = None;
        let how = cholesky_in_place(&mut factor, n, |done| {
            report_progress(done, n, &mut stopped, monitor)
        });
        let Some(m) = n_factored(how, n)? else { return self.apart(params, monitor) };
        let l = part(&factor, n, m);
        let solve = |b: &[f64]| -> Vec<f64> {
            let mut x = b.to_vec();
            solve_lower(l, &mut x, 1);
            solve_lower_transposed(l, &mut x, 1);
            x
        };
        let mut coefficients: Vec<Vec<f64>> = self.targets.iter().map(|y| solve(&y[..m])).collect();
        let residuals = self.residuals(&coefficients);
        if self.violation(&residuals) > REFINEMENT_THRESHOLD {
            let better: Vec<Vec<f64>> = (coefficients.iter().zip(&residuals))
                .map(|(c, r)| c.iter().zip(solve(r)).map(|(c, d)| c + d).collect())
                .collect();
            if self.violation(&self.residuals(&better)) < self.violation(&residuals) {
                coefficients = better;
            }
        }
        Ok(Solved { coefficients, factor: Some(factor), stopped })
    }

    /// The minimum-norm solution of a system whose matrix is not positive definite.
    fn apart(&self, params: &KernelRidge, monitor: &Monitor<'_>) -> Result<Solved> {
        let n = self.ridge.len();
        let matrix: Vec<f64> = self.matrix(monitor)?;
        let view = part(&matrix, n, n);
        let go_on = || monitor.stop().is_none();
        let eigen = (n <= MAX_EIGENDECOMPOSITION_ROWS)
            .then(|| SymmetricEigen::of_while(view, go_on))
            .flatten();
        if eigen.is_none() && monitor.stop().is_some() {
            return Err(Error::Stopped);
        }
        let Some(eigen) = eigen else {
            return Err(Error::Parameter {
                name: "alpha".into(),
                found: params.alpha.to_string(),
                expected: "larger: the kernel matrix with it is not positive definite".into(),
            });
        };
        let largest = eigen.values.iter().fold(0.0f64, |a, v| a.max(v.abs()));
        let solve = |y: &Vec<f64>| {
            let mut coefficients = ndarray::Array1::zeros(n);
            let y = ndarray::ArrayView1::from(y);
            for (value, vector) in eigen.values.iter().zip(eigen.vectors.columns()) {
                if value.abs() > 1e-12 * largest {
                    coefficients.scaled_add(vector.dot(&y) / value, &vector);
                }
            }
            coefficients.to_vec()
        };
        let coefficients = self.targets.iter().map(solve).collect();
        Ok(Solved { coefficients, factor: None, stopped: None })
    }

    /// `(K + diag(ridge)) v` for several `v` of the first rows, from the rows afresh.
    fn times(&self, v: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let positions: Vec<u32> = (0..v.first().map_or(0, Vec::len) as u32).collect();
        let some = self.ready.select(&positions);
        let mut out = some.weighted_tables(v, &some);
        for (out, v) in out.iter_mut().zip(v) {
            out.iter_mut().zip(v.iter().zip(self.ridge)).for_each(|(o, (v, r))| *o += r * v);
        }
        out
    }

    /// `y − (K + diag(ridge)) c`.
    fn residuals(&self, coefficients: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let made = self.times(coefficients);
        let off =
            |(y, made): (&Vec<f64>, Vec<f64>)| y.iter().zip(made).map(|(y, m)| y - m).collect();
        self.targets.iter().zip(made).map(off).collect()
    }

    /// The largest residual, relative to the targets.
    fn violation(&self, residuals: &[Vec<f64>]) -> f64 {
        let of = |(y, r): (&Vec<f64>, &Vec<f64>)| {
            largest(r) / largest(&y[..r.len()]).max(f64::MIN_POSITIVE)
        };
        self.targets.iter().zip(residuals).map(of).fold(0.0f64, f64::max)
    }

    fn certificate(&self, coefficients: &[Vec<f64>]) -> Certificate {
        let violation = self.violation(&self.residuals(coefficients));
        let certificate = match violation <= MAX_RESIDUAL {
            true => Certificate::closed_form(),
            false => Certificate::iterative(false, None).iterations(1).note(ILL_CONDITIONED),
        };
        certificate.violation("largest relative residual of the equations", violation)
    }

    /// `yᵀG⁻¹y / Σw`, of all targets together.
    fn scale(&self, coefficients: &[Vec<f64>], weights: &[f64]) -> f64 {
        let product =
            |(y, c): (&Vec<f64>, &Vec<f64>)| y.iter().zip(c).map(|(y, c)| y * c).sum::<f64>();
        let sum: f64 = self.targets.iter().zip(coefficients).map(product).sum();
        sum / weights.iter().sum::<f64>() / self.targets.len() as f64
    }
}

/// Number of factored rows; `None` if the matrix is not positive definite.
fn n_factored(how: CholeskyProgress, n: usize) -> Result<Option<usize>> {
    match how {
        CholeskyProgress::Complete => Ok(Some(n)),
        CholeskyProgress::Partial(0) => Err(Error::Stopped),
        CholeskyProgress::Partial(m) => Ok(Some(m)),
        CholeskyProgress::Indefinite => Ok(None),
    }
}

/// Reports the progress of a factorization; whether to continue.
fn report_progress(
    done: usize,
    n: usize,
    stopped: &mut Option<Stop>,
    monitor: &Monitor<'_>,
) -> bool {
    monitor.report(done as u64, Some(n as u64));
    *stopped = monitor.stop();
    stopped.is_none()
}

fn largest(v: &[f64]) -> f64 {
    v.iter().fold(0.0f64, |a, v| a.max(v.abs()))
}

/// The first rows and columns of a square matrix.
fn part<T>(cells: &[T], n: usize, m: usize) -> ArrayView2<'_, T> {
    let all = ArrayView2::from_shape((n, n), cells).expect("a square of the rows");
    all.split_at(ndarray::Axis(0), m).0.split_at(ndarray::Axis(1), m).0
}

/// An estimate of the condition number from the pivots.
fn condition<T: Float>(l: ArrayView2<'_, T>) -> f64 {
    let (low, high) = l.diag().iter().fold((f64::INFINITY, 0.0f64), |(low, high), v| {
        let v: f64 = (*v).into();
        (low.min(v), high.max(v))
    });
    (high / low).powi(2)
}

/// The leave-one-out mean squared error.
fn leave_one_out_error(
    coefficients: &[f64],
    inverse_diagonal: &[f64],
    ridge: &[f64],
    weights: &[f64],
) -> f64 {
    let (mut sum, mut total) = (0.0, 0.0);
    for (i, w) in weights.iter().enumerate() {
        let (c, own) = (coefficients[i], inverse_diagonal[i]);
        let miss = if *w <= 1.0 {
            c / own
        } else {
            // One of `w` copies goes, and its share of the row's say in its own prediction.
            ridge[i] * c / (1.0 - (1.0 - ridge[i] * own) / w)
        };
        sum += w * miss * miss;
        total += w;
    }
    sum / total
}
