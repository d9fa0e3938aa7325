//! Kernel principal component analysis.
//!
//! The directions of largest variance are `vₖ = Σᵢ aᵢₖ (φ(xᵢ) − mean)`, with `a` from the eigenvectors of the centered kernel
//! matrix (Schölkopf, Smola & Müller 1998). The component of a row is `vₖ·(φ(x) − mean)`, a kernel expansion with an
//! intercept. A row of weight two is equivalent to two copies of it.

use super::pre_image::pre_images;
use super::{KernelProblem, KernelRidgeModel, fit_first_rows};
use crate::kernel::KernelParams;
use crate::kernel::{Kernel, KernelExpansion, Precision, Segment};
use crate::prelude::*;
use mercer_num::linalg::{SymmetricEigen, SymmetricMatrix, TopEigen, multiply};
use ndarray::{Array1, Axis};
use std::time::Instant;

/// Eigenvalues below this fraction of the largest are rounding.
const MIN_RELATIVE_EIGENVALUE: f64 = 1e-10;
/// Residual, relative to the largest eigenvalue, at which an eigenvector has converged.
const RESIDUAL_TOLERANCE: f64 = 1e-12;
/// Matrices up to this size get a full eigendecomposition.
const MAX_FULL_EIGEN_ROWS: usize = 400;

/// The reason why options of an iterative eigensolver have no effect.
const TO_ROUNDING: &str = "eigenvectors are computed to rounding by the fastest suitable method.";

params! {
    /// Kernel principal component analysis: the directions of largest variance in the space of a kernel.
    pub struct KernelPca {
        /// Number of components. `None` returns all components with a nonzero variance.
        n_components: Option<usize> = None, AtLeast(1.0);
        ..KernelParams(kernel = Kernel::Linear);
        /// Fit the inverse transform from components to rows (pre-images), by kernel ridge regression.
        fit_inverse_transform: bool = false, Any;
        /// Regularization strength of the inverse transform. Larger values make it smoother.
        alpha: f64 = 1.0, AtLeast(0.0);
    }
    formula = "K̃ uₖ = λₖ uₖ,  zₖ(x) = Σᵢ uₖᵢ K̃(xᵢ, x) / √λₖ,  K̃ the centered kernel";
    lecture = 13;
    attributes = [
        own(
            "eigenvalues_",
            "ndarray of shape (n_components,)",
            "Eigenvalues `λ` of the centered kernel matrix, in decreasing order.",
        ),
        of_model(
            "eigenvectors_",
            "kernel_eigenvectors",
            "ndarray of shape (n_rows, n_components)",
            "Eigenvectors `u` of the centered kernel matrix.",
        ),
        of_field("gamma_", "function", "kernel_gamma", "float", "The `gamma` of the kernel."),
        X_FIT,
    ];
    sklearn {
        positional: &["n_components"],
        extra: &[
            N_JOBS,
            NO_RANDOM_STATE,
            COPY_X,
            KERNEL_PARAMS,
            ignored(
                "eigen_solver",
                &["\"auto\"", "\"dense\"", "\"arpack\"", "\"randomized\""],
                "\"auto\"",
                TO_ROUNDING,
            ),
            ignored("tol", FLOAT, "0", TO_ROUNDING),
            ignored("max_iter", INT_OR_NONE, "None", TO_ROUNDING),
            ignored("iterated_power", INT_OR_AUTO, "\"auto\"", TO_ROUNDING),
            ignored("remove_zero_eig", BOOL, "False", "components with zero eigenvalue are always removed."),
        ],
        spellings: &[POLYNOMIAL],
        kernel_of_two_rows: true,
    }
}

/// The components as kernel expansions over all rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelPcaModel {
    /// The rows, their coefficients in every component, and the intercepts.
    pub expansion: KernelExpansion,
    /// The variance along every component times the number of rows, in decreasing order.
    pub eigenvalues: Vec<f64>,
    /// The sum of all eigenvalues, also of components that are not returned.
    pub total: f64,
    /// The ridge regression of the inverse transform, if it was fitted.
    #[serde(default)]
    pub pre_image_ridge: Option<Box<KernelRidgeModel>>,
}

impl Fit for KernelPca {
    type Model = KernelPcaModel;

    fn fit(&self, data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<Fitted<KernelPcaModel>> {
        let start = Instant::now();
        self.check()?;
        let KernelPca { n_components, ref kernel, gamma, degree, coef0, .. } = *self;
        let problem = KernelProblem::new(data, kernel, gamma, coef0, degree, monitor)?;
        let n = problem.indices.len();
        let wanted = n_components.unwrap_or(n).min(n);
        let whole = n <= MAX_FULL_EIGEN_ROWS || 4 * TopEigen::min_rows(wanted) > n;
        let bytes = if whole { 32 } else { 5 };
        problem.reserve(bytes, monitor)?;
        let way = match whole {
            true => "eigendecomposition of the whole kernel matrix".to_owned(),
            false => format!("half of the kernel matrix, its first {wanted} components"),
        };
        let plan = problem.plan(way, problem.matrix_bytes(bytes), 8, monitor);
        let Some(mut gram) = problem.kernel_rows().half_gram(monitor) else {
            let stop = monitor.stop().ok_or(Error::Stopped)?;
            return fit_first_rows(self, data, stop, start);
        };
        let means = center(&mut gram, &problem.weights);
        let total: f64 = gram.diagonal().iter().sum();
        if let Some(stop) = monitor.stop().filter(|_| whole) {
            return fit_first_rows(self, data, stop, start);
        }
        let found = match whole {
            true => eigenpairs(&gram.to_full(), wanted, monitor),
            false => top(&gram, n, wanted, monitor),
        };
        let stopped = monitor.stop();
        let Some(mut found) = found else {
            return match stopped {
                Some(stop) => fit_first_rows(self, data, stop, start),
                None => Err(Error::Number {
                    what: "a kernel value of two rows".into(),
                    value: f64::NAN,
                    expected: "a finite number; scale the columns down".into(),
                }),
            };
        };
        let cut = stopped.filter(|_| !whole && !found.converged());
        found.drop_zero_components();
        let expansion = expansion(&problem, &found, &means);
        let kept: f64 = found.values.iter().sum();
        let residual = found.residuals.iter().fold(0.0f64, |a, r| a.max(*r));
        let scale = found.values.first().copied().unwrap_or(1.0);
        let certificate = match whole {
            true => Certificate::closed_form().stopped_by(cut),
            false => Certificate::iterative(found.converged(), cut).iterations(1),
        };
        let mut certificate = certificate
            .violation("largest |Kv − λv|, relative", residual / scale)
            .plan(plan)
            .rows(data.n_rows() as u64)
            .since(start);
        if total > 0.0 {
            certificate =
                certificate.objective("explained variance ratio", (kept / total).min(1.0));
        }
        monitor.report(n as u64, Some(n as u64));
        let (eigenvalues, total) = (found.values, total.max(0.0));
        let mut model = KernelPcaModel { expansion, eigenvalues, total, pre_image_ridge: None };
        if self.fit_inverse_transform {
            let back = pre_images(&model, data, self.alpha, monitor)?;
            let inverse = back.certificate.to_string();
            certificate = certificate
                .note(format!("inverse transform by kernel ridge regression: {inverse}"))
                .stopped_by(cut.or(back.certificate.stopped()))
                .since(start);
            model.pre_image_ridge = Some(Box::new(back.model));
        }
        Ok(Fitted { model, certificate })
    }
}

/// Centers the kernel matrix and scales it by the square roots of the weights; returns the mean of every row and of
/// the whole matrix before centering.
fn center(gram: &mut SymmetricMatrix, weights: &[f64]) -> (Vec<f64>, f64) {
    let total: f64 = weights.iter().sum();
    let shares = Matrix::from_shape_fn((weights.len(), 1), |(i, _)| weights[i] / total);
    let means = gram.multiply(&shares).into_raw_vec_and_offset().0;
    let all: f64 = means.iter().zip(&shares).map(|(m, p)| m * p).sum();
    let roots: Vec<f64> = weights.iter().map(|w| w.sqrt()).collect();
    gram.map(|i, j, value| {
        let (i, j) = (i.max(j), i.min(j));
        roots[i] * roots[j] * (((value - means[i]) - means[j]) + all)
    });
    (means, all)
}

/// Eigenvalues, falling, their vectors and how well they solve.
struct Found {
    values: Vec<f64>,
    vectors: Matrix,
    residuals: Vec<f64>,
}

impl Found {
    fn converged(&self) -> bool {
        let largest = self.values.first().copied().unwrap_or(0.0).abs();
        self.residuals.iter().all(|r| *r <= RESIDUAL_TOLERANCE * largest)
    }

    fn drop_zero_components(&mut self) {
        let largest = self.values.first().copied().unwrap_or(0.0);
        let n_components =
            self.values.iter().take_while(|v| **v > MIN_RELATIVE_EIGENVALUE * largest).count();
        self.values.truncate(n_components);
        self.residuals.truncate(n_components);
        self.vectors = self.vectors.select(Axis(1), &(0..n_components).collect::<Vec<_>>());
    }
}

fn eigenpairs(matrix: &Matrix, wanted: usize, monitor: &Monitor<'_>) -> Option<Found> {
    let n = matrix.nrows();
    let eigen = SymmetricEigen::of_while(matrix.view(), || monitor.stop().is_none())?;
    let order: Vec<usize> = (0..wanted).map(|k| n - 1 - k).collect();
    let values: Vec<f64> = order.iter().map(|k| eigen.values[*k]).collect();
    let vectors = eigen.vectors.select(Axis(1), &order);
    let off = multiply(matrix.view(), vectors.view()) - &vectors * &Array1::from(values.clone());
    let residuals = off.columns().into_iter().map(|c| c.dot(&c).sqrt()).collect();
    Some(Found { values, vectors, residuals })
}

fn top(matrix: &SymmetricMatrix, n: usize, wanted: usize, monitor: &Monitor<'_>) -> Option<Found> {
    let go_on = || {
        monitor.report(0, None);
        monitor.stop().is_none()
    };
    let found = TopEigen::of(n, wanted, |v| matrix.multiply(v), RESIDUAL_TOLERANCE, go_on)?;
    Some(Found { values: found.values, vectors: found.vectors, residuals: found.residuals })
}

fn expansion(
    problem: &KernelProblem<'_>,
    found: &Found,
    (means, all): &(Vec<f64>, f64),
) -> KernelExpansion {
    let (n, k) = found.vectors.dim();
    let total: f64 = problem.weights.iter().sum();
    let mut coefficients = Matrix::zeros((k, n));
    let mut intercepts = vec![0.0; k];
    let columns = coefficients.rows_mut().into_iter().zip(&mut intercepts);
    for (c, (mut row, constant)) in columns.enumerate() {
        let vector = found.vectors.column(c);
        // The row that lies farthest out is on the positive side.
        let out = |i: usize| vector[i] / problem.weights[i].sqrt();
        let far = (0..n).fold(0, |best, i| if out(i).abs() > out(best).abs() { i } else { best });
        let sign = if n > 0 && vector[far] < 0.0 { -1.0 } else { 1.0 };
        let size = sign / found.values[c].sqrt();
        let a: Vec<f64> = (0..n).map(|i| size * problem.weights[i].sqrt() * vector[i]).collect();
        let sum: f64 = a.iter().sum();
        for i in 0..n {
            row[i] = a[i] - problem.weights[i] / total * sum;
        }
        let offset: f64 = a.iter().zip(means).map(|(a, m)| a * m).sum();
        *constant = sum * all - offset;
    }
    KernelExpansion::of_rows(
        problem.function.clone(),
        Precision::Double,
        &problem.rows,
        problem.indices.clone(),
        problem.center.clone(),
        coefficients,
        intercepts,
    )
}

impl Transformer for KernelPcaModel {
    fn n_inputs(&self) -> usize {
        self.expansion.n_columns
    }

    fn n_outputs(&self) -> usize {
        self.eigenvalues.len()
    }

    fn transform(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.expansion.decisions(x, &[Segment::all(&self.expansion)])
    }

    fn inverse(&self, new: &Rows<'_>) -> Result<Option<Matrix>> {
        self.pre_image_ridge.as_ref().map(|back| back.predict_many(new)).transpose()
    }
}

impl Check for KernelPcaModel {
    fn check(&self) -> Result<()> {
        self.expansion.check()?;
        let k = self.eigenvalues.len();
        let fits = self.expansion.coefficients.nrows() == k
            && self.expansion.intercepts.len() == k
            && self.eigenvalues.iter().all(|v| *v > 0.0 && v.is_finite())
            && self.total >= 0.0
            && self.total.is_finite()
            && self.pre_image_ridge.as_ref().is_none_or(|back| {
                back.n_columns() == k && back.n_targets() == self.expansion.n_columns
            });
        if let Some(back) = &self.pre_image_ridge {
            back.check()?;
        }
        if fits { Ok(()) } else { Err(Error::File("components that no rows could have".into())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_num::linalg::gram;
    use mercer_num::random::Random;

    fn rows(n: usize, d: usize) -> Matrix {
        let mut random = Random::new(4);
        Matrix::from_shape_fn((n, d), |(_, j)| (j + 1) as f64 * random.normal() + 5.0)
    }

    fn fit(params: &KernelPca, x: &Matrix) -> Fitted<KernelPcaModel> {
        params.fit(&Dataset::unlabeled(x), &Monitor::quiet()).unwrap()
    }

    #[test]
    fn a_linear_kernel_gives_principal_components() {
        let x = rows(60, 3);
        let centered = &x - &x.mean_axis(Axis(0)).unwrap();
        let plain = SymmetricEigen::of(gram(centered.view()).view()).unwrap();

        let fitted = fit(&KernelPca::new(), &x);

        let new = fitted.transform(&Rows::from(&x)).unwrap();
        assert_eq!(new.dim(), (60, 3));
        for k in 0..3 {
            assert!((fitted.eigenvalues[k] / plain.values[2 - k] - 1.0).abs() < 1e-11);
            let expected = centered.dot(&plain.vectors.column(2 - k));
            let sign = expected.dot(&new.column(k)).signum();
            assert!((&expected * sign - new.column(k)).iter().all(|v| v.abs() < 1e-10));
        }
    }

    #[test]
    fn the_largest_components_are_those_of_the_whole_matrix() {
        let x = rows(500, 4);
        let params = KernelPca::new().kernel(Kernel::Rbf).gamma(Some(0.05.into()));

        let few = fit(&params.clone().n_components(Some(5)), &x);

        let problem = KernelProblem::new(
            &Dataset::unlabeled(&x),
            &Kernel::Rbf,
            Some(0.05.into()),
            1.0,
            3,
            &Monitor::quiet(),
        );
        let problem = problem.unwrap();
        let mut gram = problem.kernel_rows().half_gram(&Monitor::quiet()).unwrap();
        center(&mut gram, &problem.weights);
        let whole = eigenpairs(&gram.to_full(), 5, &Monitor::quiet()).unwrap();
        for (found, expected) in few.eigenvalues.iter().zip(&whole.values) {
            assert!((found / expected - 1.0).abs() < 1e-10, "{found} and {expected}");
        }
        // New rows have the variances that were promised, and no mean.
        let new = few.transform(&Rows::from(&x)).unwrap();
        for k in 0..5 {
            let column = new.column(k);
            assert!(column.sum().abs() < 1e-8);
            assert!((column.dot(&column) / few.eigenvalues[k] - 1.0).abs() < 1e-9);
        }
    }
}
