//! Kernel ridge regression: least squares with a price in the space of a kernel.
//!
//! Minimize `Σᵢ wᵢ (yᵢ − f(xᵢ))² + α‖f‖²`. The best function is `f(x) = Σᵢ cᵢ K(xᵢ, x)` with
//! `(K + α W⁻¹) c = y` (Saunders, Gammerman & Vovk 1998). What the function would have said of a row without
//! the row itself misses by `cᵢ / (G⁻¹)ᵢᵢ`, `G = K + α W⁻¹`, so every row is left out at the price of one
//! inverse; of a row of weight two, one of two is left out.

use super::Ground;
use crate::kernel::{Gamma, Kernel, KernelRows, Machine, Precision, Segment};
use crate::model::{Cached, Stop};
use crate::prelude::*;
use mercer_num::linalg::{
    Factored, SymmetricEigen, cholesky_in_place, inverse_diagonal, solve_lower,
    solve_lower_transposed,
};
use mercer_num::special::{Tails, normal_quantile};
use ndarray::ArrayView2;
use rayon::prelude::*;
use std::time::Instant;

/// Most rows for which a matrix that is not positive definite is taken apart into eigenvectors.
const MOST_APART: usize = 3000;
/// Residuals above this, relative to the targets, are worth a second solve.
const REFINED: f64 = 1e-13;
/// Rows whose variances one thread works out at a time.
const ROWS: usize = 64;

params! {
    /// Kernel ridge regression: least squares in a kernel's space, with a price on size.
    pub struct KernelRidge {
        /// The price on the squared size of the function. Larger values make it smoother.
        alpha: f64 = 1.0, AtLeast(0.0);
        /// The kernel: `linear`, `poly`, `rbf`, `sigmoid`, `laplacian`, `chi2`, or `precomputed` where
        /// the rows are kernel values.
        kernel: Kernel = Kernel::Linear, OneOf(Kernel::WORDS);
        /// How fast a kernel falls with distance: a number, `scale` for `1 / (columns · variance)`, or
        /// `auto` for `1 / columns`. Nothing is `auto`, and 1 for `chi2`.
        gamma: Option<Gamma> = None, AtLeast(0.0);
        /// The power of the kernel `poly`.
        degree: usize = 3, Between(0.0, 1000.0);
        /// The constant in the kernels `poly` and `sigmoid`.
        coef0: f64 = 1.0, Any;
        /// Whether to keep what variances and intervals need: as many numbers as there are pairs of rows.
        variance: bool = false, Any;
    }
}

/// A function as a sum over all rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelRidgeModel {
    /// The rows and their coefficients.
    pub machine: Machine,
    /// The price.
    pub alpha: f64,
    /// `yᵀG⁻¹y / Σw`: the variance of targets in units of the kernel, where they are a Gaussian process.
    pub scale: f64,
    /// The mean squared error on rows left out, one at a time; `None` where time was up or the matrix has no
    /// factor.
    pub left_out_error: Option<f64>,
    /// `L` with `L Lᵀ = G`; nothing where variances were not asked for.
    pub factor: Matrix,
    #[serde(skip)]
    ready: Cached<Option<KernelRows<f64>>>,
}

impl Fit for KernelRidge {
    type Model = KernelRidgeModel;

    fn fit(&self, data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<Fitted<KernelRidgeModel>> {
        let start = Instant::now();
        self.check()?;
        let y = data.number_target()?;
        let KernelRidge { alpha, kernel, gamma, degree, coef0, variance } = *self;
        let ground = Ground::new(data, kernel, gamma, coef0, degree, monitor)?;
        ground.reserve(if variance { 2 } else { 1 }, monitor)?;
        let n = ground.picks.len();
        let y: Vec<f64> = ground.picks.iter().map(|i| y[*i as usize]).collect();
        let ridge: Vec<f64> = ground.weights.iter().map(|w| alpha / w).collect();
        let ready = ground.ready();
        let system = System { ready: &ready, ridge: &ridge, y: &y };
        let Solved { coefficients, factor, stopped, apart } = system.solve(self, monitor)?;

        // Where time was up, the first rows are all there is.
        let m = coefficients.len();
        let misses = system.misses(&coefficients);
        let largest = y[..m].iter().fold(0.0f64, |a, y| a.max(y.abs())).max(f64::MIN_POSITIVE);
        let violation = misses.iter().fold(0.0f64, |a, r| a.max(r.abs())) / largest;
        let weights = &ground.weights[..m];
        let l = (!apart).then(|| part(&factor, n, m));
        let diagonal = match stopped {
            None => l.and_then(|l| inverse_diagonal(l, || monitor.stop().is_none())),
            Some(_) => None,
        };
        let left_out_error = diagonal.map(|d| left_out_error(&coefficients, &d, &ridge, weights));
        let total: f64 = weights.iter().sum();
        let scale = y.iter().zip(&coefficients).map(|(y, c)| y * c).sum::<f64>() / total;
        let condition = l.map(|l| {
            let pivots = l.diag();
            let (low, high) = pivots
                .iter()
                .fold((f64::INFINITY, 0.0f64), |(low, high), v| (low.min(*v), high.max(*v)));
            (high / low).powi(2)
        });
        let proof = Proof {
            objective: left_out_error.map(|e| ("mean squared error on rows left out".into(), e)),
            violation: Some(("largest residual of the equations, relative".into(), violation)),
            condition,
            how: apart.then(|| "no factor: solved by eigenvectors".into()),
            ..Proof::closed_form()
        };
        let kept = if variance && !apart {
            let l = part(&factor, n, m);
            Matrix::from_shape_fn((m, m), |(i, j)| if j <= i { l[[i, j]] } else { 0.0 })
        } else {
            Matrix::zeros((0, 0))
        };
        let machine = Machine::of_rows(
            ground.function,
            Precision::Double,
            &ground.rows,
            ground.picks[..m].to_vec(),
            ground.center.clone(),
            Matrix::from_shape_vec((1, m), coefficients).expect("a row of values"),
            vec![0.0],
        );
        let model = KernelRidgeModel {
            machine,
            alpha,
            scale: scale.max(0.0),
            left_out_error,
            factor: kept,
            ready: Cached::default(),
        };
        let certificate = Certificate {
            proof,
            rows: if m == n { data.n_rows() } else { m } as u64,
            rounds: 1,
            stopped,
            seconds: start.elapsed().as_secs_f64(),
        };
        Ok(Fitted { model, certificate })
    }
}

/// `(K + diag(ridge)) c = y`.
struct System<'a> {
    ready: &'a KernelRows<f64>,
    ridge: &'a [f64],
    y: &'a [f64],
}

struct Solved {
    coefficients: Vec<f64>,
    /// Row-major, as wide as there are rows; its lower triangle counts.
    factor: Vec<f64>,
    stopped: Option<Stop>,
    /// Whether there is no factor.
    apart: bool,
}

impl System<'_> {
    fn matrix(&self) -> Vec<f64> {
        let n = self.y.len();
        let mut out = self.ready.lower_gram();
        self.ridge.iter().enumerate().for_each(|(i, r)| out[i * n + i] += r);
        out
    }

    fn solve(&self, params: &KernelRidge, monitor: &Monitor<'_>) -> Result<Solved> {
        let n = self.y.len();
        let mut factor = self.matrix();
        let mut stopped = None;
        let how = cholesky_in_place(&mut factor, n, |done| {
            monitor.report(done as u64, Some(n as u64));
            stopped = monitor.stop();
            stopped.is_none()
        });
        let m = match how {
            Factored::All => n,
            Factored::First(0) => return Err(Error::Stopped),
            Factored::First(m) => m,
            Factored::Indefinite => return self.apart(params, monitor),
        };
        let solve = |b: &[f64]| -> Vec<f64> {
            let l = part(&factor, n, m);
            let mut x = b.to_vec();
            solve_lower(l, &mut x, 1);
            solve_lower_transposed(l, &mut x, 1);
            x
        };
        let mut coefficients = solve(&self.y[..m]);
        let misses = self.misses(&coefficients);
        let size = |v: &[f64]| v.iter().fold(0.0f64, |a, v| a.max(v.abs()));
        if size(&misses) > REFINED * size(&self.y[..m]) {
            let better: Vec<f64> =
                coefficients.iter().zip(solve(&misses)).map(|(c, d)| c + d).collect();
            if size(&self.misses(&better)) < size(&misses) {
                coefficients = better;
            }
        }
        monitor.report(n as u64, Some(n as u64));
        Ok(Solved { coefficients, factor, stopped, apart: false })
    }

    /// The shortest solution of a system whose matrix is not positive definite.
    fn apart(&self, params: &KernelRidge, monitor: &Monitor<'_>) -> Result<Solved> {
        let n = self.y.len();
        let matrix = self.matrix();
        let view = part(&matrix, n, n);
        let eigen = (n <= MOST_APART).then(|| SymmetricEigen::of(view)).flatten();
        let Some(eigen) = eigen else {
            return Err(Error::Parameter {
                name: "alpha".into(),
                found: params.alpha.to_string(),
                expected: "larger: the kernel matrix with it is not positive definite".into(),
            });
        };
        let largest = eigen.values.iter().fold(0.0f64, |a, v| a.max(v.abs()));
        let mut coefficients = ndarray::Array1::zeros(n);
        let y = ndarray::ArrayView1::from(self.y);
        for (value, vector) in eigen.values.iter().zip(eigen.vectors.columns()) {
            if value.abs() > 1e-12 * largest {
                coefficients.scaled_add(vector.dot(&y) / value, &vector);
            }
        }
        monitor.report(n as u64, Some(n as u64));
        let coefficients = coefficients.to_vec();
        Ok(Solved { coefficients, factor: Vec::new(), stopped: None, apart: true })
    }

    /// `y − (K + diag(ridge)) c`, from the rows afresh.
    fn misses(&self, coefficients: &[f64]) -> Vec<f64> {
        let m = coefficients.len();
        let places: Vec<u32> = (0..m as u32).collect();
        let some = self.ready.select(&places);
        let sums = some.weighted_sums(coefficients, &some);
        (0..m).map(|i| self.y[i] - sums[i] - self.ridge[i] * coefficients[i]).collect()
    }
}

/// The first rows and columns of a square matrix.
fn part(cells: &[f64], n: usize, m: usize) -> ArrayView2<'_, f64> {
    let all = ArrayView2::from_shape((n, n), cells).expect("a square of the rows");
    all.split_at(ndarray::Axis(0), m).0.split_at(ndarray::Axis(1), m).0
}

/// The mean squared error on rows left out, one at a time.
fn left_out_error(
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

impl KernelRidgeModel {
    /// The variance of the function at every row, in units of the targets, where they are a Gaussian
    /// process with this kernel and noise; `None` where the model did not keep what that needs.
    ///
    /// # Errors
    /// If the width differs or a cell is not finite.
    pub fn variances(&self, x: &Rows<'_>) -> Result<Option<Vec<f64>>> {
        self.machine.check_rows(x)?;
        let n = self.machine.n_vectors();
        // Of given kernel values, that of a new row with itself is not among them.
        if self.factor.nrows() != n || self.machine.function.kernel == Kernel::Precomputed {
            return Ok(None);
        }
        let ready = self.ready.get(|| self.machine.ready_in().ok());
        let Some(ready) = ready else { return Ok(None) };
        let mut out = vec![0.0; x.n_rows()];
        out.par_chunks_mut(ROWS).enumerate().for_each(|(k, out)| {
            let first = (k * ROWS) as u32;
            let picks: Vec<u32> = (first..first + out.len() as u32).collect();
            let some = ready.beside(x, &picks, &self.machine.center);
            let mut values = vec![0.0; n * out.len()];
            // One row a row learned from, one column a row asked about.
            transposed(&some, ready, &mut values);
            solve_lower(self.factor.view(), &mut values, out.len());
            for (j, (out, own)) in out.iter_mut().zip(some.diagonal()).enumerate() {
                let told: f64 = values.iter().skip(j).step_by(picks.len()).map(|v| v * v).sum();
                *out = self.scale * (own - told).max(0.0);
            }
        });
        Ok(Some(out))
    }
}

/// The kernel of all rows learned from with some others, a row each.
fn transposed(some: &KernelRows<f64>, ready: &KernelRows<f64>, out: &mut [f64]) {
    let (n, m) = (ready.n_rows(), some.n_rows());
    let mut values = vec![0.0; n * m];
    some.block(ready, 0..n, &mut values);
    for i in 0..n {
        for j in 0..m {
            out[i * m + j] = values[j * n + i];
        }
    }
}

impl Regressor for KernelRidgeModel {
    fn n_columns(&self) -> usize {
        self.machine.n_columns
    }

    fn predict(&self, x: &Rows<'_>) -> Result<Vec<f64>> {
        let all = [Segment::all(&self.machine)];
        Ok(self.machine.decisions(x, &all)?.column(0).to_vec())
    }

    fn intervals(&self, x: &Rows<'_>, level: f64) -> Result<Option<Vec<(f64, f64)>>> {
        let Some(variances) = self.variances(x)? else { return Ok(None) };
        let tail = 0.5 * (1.0 - level);
        let far = -normal_quantile(Tails { lower: tail, upper: 1.0 - tail });
        let ends = |(y, v): (f64, f64)| {
            let reach = far * (v + self.scale * self.alpha).sqrt();
            (y - reach, y + reach)
        };
        Ok(Some(self.predict(x)?.into_iter().zip(variances).map(ends).collect()))
    }
}

impl Check for KernelRidgeModel {
    fn check(&self) -> Result<()> {
        self.machine.check()?;
        let n = self.machine.n_vectors();
        let factor = self.factor.is_empty()
            || (self.factor.dim() == (n, n) && self.factor.diag().iter().all(|v| *v > 0.0));
        let fits = self.machine.coefficients.nrows() == 1
            && self.machine.intercepts.len() == 1
            && factor
            && self.factor.iter().all(|v| v.is_finite())
            && [self.alpha, self.scale].iter().all(|v| *v >= 0.0 && v.is_finite())
            && self.left_out_error.is_none_or(f64::is_finite);
        if fits { Ok(()) } else { Err(Error::File("a regression that no rows could have".into())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::Ridge;
    use mercer_num::random::Random;
    use std::time::Duration;

    fn rows(n: usize, d: usize, seed: u64) -> (Matrix, Vec<f64>) {
        let mut random = Random::new(seed);
        let x = Matrix::from_shape_simple_fn((n, d), || random.normal());
        let y = x.outer_iter().map(|r| r[0].sin() + 0.1 * random.normal() + 2.0).collect();
        (x, y)
    }

    fn fit(params: &KernelRidge, x: &Matrix, y: &[f64]) -> Fitted<KernelRidgeModel> {
        params.fit(&Dataset::numbers(x, y).unwrap(), &Monitor::quiet()).unwrap()
    }

    #[test]
    fn a_linear_kernel_is_ridge_without_a_constant() {
        let (x, y) = rows(50, 4, 1);
        let data = Dataset::numbers(&x, &y).unwrap();
        for alpha in [0.01, 1.0, 30.0] {
            let kernel = fit(&KernelRidge::new().alpha(alpha), &x, &y);
            let plain = Ridge::new().alpha(alpha).fit_intercept(false);
            let plain = plain.fit(&data, &Monitor::quiet()).unwrap();

            let (a, b) =
                (kernel.predict(&Rows::from(&x)).unwrap(), plain.predict(&Rows::from(&x)).unwrap());
            for (a, b) in a.iter().zip(&b) {
                assert!((a - b).abs() < 1e-10, "{a} and {b}");
            }
        }
    }

    #[test]
    fn the_error_on_rows_left_out_is_that_of_leaving_them_out() {
        let (x, y) = rows(12, 2, 2);
        let params = KernelRidge::new().kernel(Kernel::Rbf).gamma(Some(0.5.into())).alpha(0.1);
        let weights = [1.0, 2.0, 1.0, 3.0, 1.0, 1.0, 0.0, 1.0, 1.0, 2.0, 1.0, 1.0];
        let fit = |weights: &[f64]| {
            let data = Dataset::numbers(&x, &y).unwrap().weighted(weights).unwrap();
            params.fit(&data, &Monitor::quiet()).unwrap()
        };

        let fitted = fit(&weights);

        let (mut sum, mut total) = (0.0, 0.0);
        for i in 0..12 {
            if weights[i] == 0.0 {
                continue;
            }
            let mut without = weights;
            without[i] -= 1.0;
            let miss = y[i] - fit(&without).predict(&Rows::from(x.row(i))).unwrap()[0];
            sum += weights[i] * miss * miss;
            total += weights[i];
        }
        assert!((fitted.left_out_error.unwrap() - sum / total).abs() < 1e-10);
    }

    #[test]
    fn variances_are_those_of_a_gaussian_process() {
        // One row: K = 1, so the variance at distance t is s² (1 − k²/(1 + α)), s² = y²/(1 + α).
        let (x, y) = (ndarray::array![[0.0]], [3.0]);
        let params = KernelRidge::new().kernel(Kernel::Rbf).gamma(Some(1.0.into())).alpha(0.5);

        let fitted = fit(&params.clone().variance(true), &x, &y);

        let scale = 9.0 / 1.5;
        let at = ndarray::array![[0.0], [1.0], [9.0]];
        let found = fitted.variances(&Rows::from(&at)).unwrap().unwrap();
        for (t, found) in [0.0f64, 1.0, 9.0].iter().zip(found) {
            let k = (-t * t).exp();
            assert!((found - scale * (1.0 - k * k / 1.5)).abs() < 1e-12);
        }
        assert!(fitted.intervals(&Rows::from(&at), 0.9).unwrap().is_some());
        assert_eq!(fit(&params, &x, &y).variances(&Rows::from(&at)).unwrap(), None);
    }

    #[test]
    fn no_price_on_rows_that_repeat_is_solved_all_the_same() {
        let x = ndarray::array![[1.0], [1.0], [2.0]];
        let y = [1.0, 3.0, 4.0];

        let fitted = fit(&KernelRidge::new().alpha(0.0), &x, &y);

        // Least squares through the origin: Σxy / Σx² = 12 / 6.
        let found = fitted.predict(&Rows::from(&x)).unwrap();
        assert!(found.iter().zip([2.0, 2.0, 4.0]).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?}");
    }

    #[test]
    fn who_runs_out_of_time_learns_from_the_first_rows() {
        let (x, y) = rows(600, 2, 3);
        let data = Dataset::numbers(&x, &y).unwrap();
        let late = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let raise = |at: crate::model::Progress| {
            late.store(at.done >= 512, std::sync::atomic::Ordering::Relaxed);
        };
        let monitor =
            Monitor::quiet().on_progress(raise).cancelled_by(std::sync::Arc::clone(&late));
        let params = KernelRidge::new().kernel(Kernel::Rbf);

        let fitted = params.fit(&data, &monitor).unwrap();

        assert_eq!(fitted.certificate.stopped, Some(Stop::Cancelled));
        assert_eq!(fitted.certificate.rows, 512);
        let first = params.fit(&data.slice(0..512), &Monitor::quiet()).unwrap();
        let (a, b) = (fitted.predict(&Rows::from(&x)).unwrap(), first.predict(&Rows::from(&x)));
        assert!(a.iter().zip(b.unwrap()).all(|(a, b)| (a - b).abs() < 1e-9));
        let none = Monitor::quiet().time_limit(Duration::ZERO);
        assert_eq!(params.fit(&data, &none).err(), Some(Error::Stopped));
    }
}
