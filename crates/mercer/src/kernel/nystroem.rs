//! The Nyström approximation: explicit features of any kernel from a few landmarks.
//!
//! With landmarks `z` and `K(z, z) = U D Uᵀ`, `φ(x) = U D^(−½) Uᵀ K(z, x)`, where zero eigenvalues are omitted (Williams &
//! Seeger 2001). Then `φ(x)·φ(x') = K(x, z) K(z, z)⁺ K(z, x')`, which equals the kernel if `x` or `x'` is a landmark and never
//! exceeds it on the diagonal. With the Cholesky factor `K(z, z) = L Lᵀ`, `L⁻¹ K(z, x)` has the same inner products in half
//! the time.

use super::approximation::{check_usable, error_message, filled, sampled_certificate};
use super::landmarks::{
    LandmarkSelection, Landmarks, k_means, randomly_pivoted_cholesky,
    randomly_pivoted_cholesky_until, sample_by_weight,
};
use super::unique_rows::UniqueRows;
use super::{
    Function, Kernel, KernelExpansion, KernelRows, Precision, Storage, center_of, check_square,
};
use crate::kernel::KernelParams;
use crate::model::{Cached, Stop};
use crate::prelude::*;
use mercer_num::Float;
use mercer_num::linalg::{Cholesky, SymmetricEigen, multiply_transposed, solve_lower};
use mercer_num::parallel::prelude::*;
use ndarray::{Array2, ArrayView2};
use std::time::Instant;

/// Eigenvalues below this fraction of the largest are rounding.
const RELATIVE_ROUNDING: f64 = 1e-12;
/// A Cholesky factor is as accurate as an eigendecomposition if all eigenvalues exceed rounding by this factor.
const CHOLESKY_MARGIN: f64 = 100.0;
/// Rows mapped by one thread at a time.
const ROWS_PER_BLOCK: usize = 256;
/// Rows whose features are compared with their kernel values.
const COMPARED_ROWS: usize = 512;
/// What memory is reserved for besides the rows.
const GRAM_MEMORY: &str = "the kernel matrix of the landmarks";
/// The smallest number of landmarks that is tried if an error is requested.
const MIN_LANDMARKS: usize = 16;
/// k-means stores rows densely: sparse rows with more columns are refused.
const MAX_DENSE_COLUMNS: usize = 4096;

choice! {
    /// The coordinates of the features; inner products are the same.
    pub enum Basis {
        /// The inverse symmetric square root of the kernel matrix of the landmarks.
        Symmetric = "symmetric",
        /// The inverse of its Cholesky factor.
        Cholesky = "cholesky",
    }
}

params! {
    /// Nyström approximation: columns whose inner products approximate a kernel, from a few landmarks.
    pub struct Nystroem {
        ..KernelParams(kernel = Kernel::Rbf);
        /// Number of landmarks and of features, or its maximum if an `error` is given. Larger values approximate the
        /// kernel more closely.
        n_components: usize = 100, Between(1.0, 1e6);
        /// Relative trace error `tr(K − K̂) / tr(K)` of the approximation `K̂` to reach: landmarks are added until the error
        /// is at most this (doubling their number, or one by one for `pivoted-cholesky`), or `n_components` is reached.
        /// `None` uses `n_components` landmarks.
        error: Option<f64> = None, Inside(0.0, 1.0);
        /// Selection of the landmarks: rows sampled by weight (`uniform`), the means of a k-means clustering
        /// (`k-means`), or the pivots of a randomly pivoted Cholesky factorization (`pivoted-cholesky`), which has the
        /// smallest error and takes longest.
        landmarks: LandmarkSelection = LandmarkSelection::Uniform, OneOf(LandmarkSelection::VALUES);
        /// Normalization of the features: the inverse symmetric square root of the kernel matrix of the landmarks, as in
        /// scikit-learn (`symmetric`), or the inverse of its Cholesky factor, in half the time (`cholesky`). Inner products
        /// are the same. An ill-conditioned kernel matrix falls back to `symmetric`.
        basis: Basis = Basis::Symmetric, OneOf(Basis::VALUES);
        ..RandomState;
    }
    formula = "φ(x) = K(z, z)^(−½) K(z, x)  for landmarks z";
    lecture = 13;
    attributes = [
        of_field(
            "components_",
            "expansion",
            "expansion_rows",
            "ndarray or sparse matrix of shape (n_components, n_features)",
            "Landmarks `z`.",
        ),
        of_field(
            "component_indices_",
            "support",
            "int64",
            "ndarray of shape (n_components,)",
            "Indices of the landmarks in the training data.",
        ),
        field(
            "normalization_",
            "coefficients",
            "ndarray of shape (n_components, n_components)",
            "Normalization `K(z, z)^(−½)`, or the inverse Cholesky factor.",
        ),
        own("rank_", "int", "Numerical rank of the kernel matrix of the landmarks."),
        field("error_", "relative_trace_error", "float", "Relative trace error of the approximation."),
        of_model("n_components_", "output_count_of_model", "int", "Number of features after the transformation."),
    ];
    sklearn {
        positional: &["kernel"],
        extra: &[
            N_JOBS,
            honored(
                "kernel_params",
                "dict | None",
                "None",
                "Keyword arguments of a kernel that is a Python function; for other kernels `gamma`, `coef0` and `degree`.",
            ),
        ],
        // The dictionary `kernel_params` supplies what is `None`.
        restated: &[
            restated("coef0", "float | None", "None", "`None` is 1."),
            restated("degree", "int | None", "None", "`None` is 3."),
        ],
        spellings: &[POLYNOMIAL, default_if("coef0", "None"), default_if("degree", "None")],
        translations: &[Translation::KernelParamsSupplyMissing],
        kernel_of_two_rows: true,
    }
}

/// Landmarks, and the normalization of kernel values with them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NystroemModel {
    /// The landmarks, with the coefficients `L⁻¹` or `U D^(−½) Uᵀ`.
    pub expansion: KernelExpansion,
    /// The numerical rank of the kernel matrix of the landmarks.
    pub rank: usize,
    /// `tr(K − K̂) / tr(K)`: over all rows for `pivoted-cholesky`, else over a sample of the rows.
    pub relative_trace_error: f64,
    #[serde(skip)]
    double: Cached<PreparedMap<f64>>,
    #[serde(skip)]
    single: Cached<PreparedMap<f32>>,
}

/// The parameters of the map in one precision.
#[derive(Debug)]
struct PreparedMap<T> {
    /// The center that is subtracted from rows; empty for none.
    center: Vec<f64>,
    landmarks: KernelRows<T>,
    /// `L⁻¹` or `U D^(−½) Uᵀ`.
    normalization: Vec<T>,
    /// Whether the normalization is zero above its diagonal.
    lower_triangular: bool,
}

impl Fit for Nystroem {
    type Model = NystroemModel;

    fn fit(&self, data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<Fitted<NystroemModel>> {
        let start = Instant::now();
        self.check()?;
        check_usable(data, monitor)?;
        let rows = data.rows();
        let function = self.kernel.with(self.gamma, self.coef0, self.degree, data);
        function.check_rows(rows)?;
        if self.kernel == Kernel::Precomputed {
            check_square(rows)?;
        }
        let unique = UniqueRows::of(rows, data.weights(), self.random_state as u64);
        let most = self.n_components.min(unique.indices.len());
        // Pivoted Cholesky stops by itself at the requested error; the other selections are tried with growing `m`.
        let search = self.error.is_some() && self.landmarks != LandmarkSelection::PivotedCholesky;
        let mut m = if search { MIN_LANDMARKS.min(most) } else { most };
        loop {
            let found = self.map_of(m, function.clone(), data, &unique, monitor);
            let (model, error, mut stopped) = match (found, monitor.stop()) {
                // Few landmarks are better than no map.
                (Err(Error::Stopped), Some(stop)) => {
                    let few = m.min(MIN_LANDMARKS);
                    let quiet = Monitor::quiet();
                    let (model, error, _) =
                        self.map_of(few, function.clone(), data, &unique, &quiet)?;
                    (model, error, Some(stop))
                }
                (found, _) => found?,
            };
            let reached =
                self.error.is_none_or(|requested| model.relative_trace_error <= requested);
            let last = reached || m == most;
            stopped = stopped.or_else(|| if last { None } else { monitor.stop() });
            if last || stopped.is_some() {
                let (n, trace_error) = (model.n_outputs(), model.relative_trace_error);
                monitor.report(n as u64, Some(n as u64));
                let certificate = sampled_certificate(data, error, Some(trace_error), start);
                let mut certificate = certificate.stopped_by(stopped);
                certificate.notes.extend(
                    self.error.map(|requested| {
                        error_message(requested, trace_error, n, self.n_components)
                    }),
                );
                return Ok(Fitted { model, certificate });
            }
            m = (2 * m).min(most);
        }
    }
}

/// Landmarks, and what their selection found out.
struct Selected {
    landmarks: Landmarks,
    /// Over all rows, if the selection computes it.
    relative_trace_error: Option<f64>,
    stopped: Option<Stop>,
}

impl Nystroem {
    /// The map of at most `m` landmarks, its error, and whether the monitor stopped the selection.
    fn map_of(
        &self,
        m: usize,
        function: Function,
        data: &Dataset<'_>,
        unique: &UniqueRows,
        monitor: &Monitor<'_>,
    ) -> Result<(NystroemModel, f64, Option<Stop>)> {
        let rows = data.rows();
        let selected = self.select(m, &function, rows, unique, monitor)?;
        let model = match &selected.landmarks {
            Landmarks::Rows(positions) => {
                let indices = positions.iter().map(|k| unique.indices[*k as usize]).collect();
                NystroemModel::of_while(function, rows, indices, self.basis, monitor)?
            }
            Landmarks::Means(means) => {
                let indices = (0..means.nrows() as u32).collect();
                let means = Rows::from(means);
                NystroemModel::of_while(function, &means, indices, self.basis, monitor)?
            }
        };
        let (sampled, error) = model.sampled_errors(rows, unique)?;
        let relative_trace_error = selected.relative_trace_error.unwrap_or(sampled);
        Ok((NystroemModel { relative_trace_error, ..model }, error, selected.stopped))
    }

    /// Selects at most `m` landmarks; with pivoted Cholesky and a requested error, as few as reach it.
    fn select(
        &self,
        m: usize,
        function: &Function,
        rows: &Rows<'_>,
        unique: &UniqueRows,
        monitor: &Monitor<'_>,
    ) -> Result<Selected> {
        let seed = self.random_state as u64;
        let gram_bytes = |m: usize| 40 * (m * m) as u64;
        let tolerance = self.error.filter(|_| self.landmarks == LandmarkSelection::PivotedCholesky);
        if tolerance.is_none() {
            monitor.reserve(GRAM_MEMORY, gram_bytes(m))?;
        }
        match self.landmarks {
            LandmarkSelection::Uniform => Ok(Selected {
                landmarks: Landmarks::Rows(sample_by_weight(unique, m)),
                relative_trace_error: None,
                stopped: None,
            }),
            LandmarkSelection::PivotedCholesky => {
                let cells = 8 * (unique.indices.len() * rows.n_columns()) as u64;
                monitor.reserve("prepared rows", cells)?;
                let prepared: KernelRows<f64> = KernelRows::new(
                    function.clone(),
                    Storage::of(function, rows),
                    rows,
                    &unique.indices,
                    &[],
                    &unique.indices,
                );
                let weights = &unique.weights;
                let factored = match tolerance {
                    Some(tolerance) => randomly_pivoted_cholesky_until(
                        tolerance, &prepared, weights, m, seed, monitor,
                    )?,
                    None => randomly_pivoted_cholesky(&prepared, weights, m, seed, monitor)?,
                };
                monitor.reserve(GRAM_MEMORY, gram_bytes(factored.pivots.len()))?;
                Ok(Selected {
                    relative_trace_error: Some(factored.relative_trace_error),
                    stopped: factored.stopped,
                    landmarks: Landmarks::Rows(factored.pivots),
                })
            }
            LandmarkSelection::KMeans => {
                self.check_k_means(rows)?;
                let cells = 8 * (unique.indices.len() * (rows.n_columns() + 4)) as u64;
                monitor.reserve("rows in dense storage", cells)?;
                let means = k_means(rows, unique, m, seed, monitor);
                Ok(Selected {
                    landmarks: Landmarks::Means(means),
                    relative_trace_error: None,
                    stopped: monitor.stop(),
                })
            }
        }
    }

    /// Refuses k-means of precomputed kernel values, which have no means, and of sparse rows with many columns.
    fn check_k_means(&self, rows: &Rows<'_>) -> Result<()> {
        let refuse = |expected: &str| {
            Err(Error::Parameter {
                name: "landmarks".into(),
                found: "k-means".into(),
                expected: expected.into(),
            })
        };
        match rows {
            _ if self.kernel == Kernel::Precomputed => {
                refuse("uniform or pivoted-cholesky for a precomputed kernel")
            }
            Rows::Sparse(x) if x.n_columns() > MAX_DENSE_COLUMNS => {
                refuse("uniform or pivoted-cholesky for sparse rows with more than 4096 columns")
            }
            _ => Ok(()),
        }
    }
}

impl NystroemModel {
    /// The map whose landmarks are the rows at the given indices.
    ///
    /// # Errors
    /// If the kernel values of the landmarks are not finite.
    pub fn of(
        function: Function,
        rows: &Rows<'_>,
        landmarks: Vec<u32>,
        basis: Basis,
    ) -> Result<NystroemModel> {
        NystroemModel::of_while(function, rows, landmarks, basis, &Monitor::quiet())
    }

    /// The same under a monitor.
    fn of_while(
        function: Function,
        rows: &Rows<'_>,
        landmarks: Vec<u32>,
        basis: Basis,
        monitor: &Monitor<'_>,
    ) -> Result<NystroemModel> {
        let n = landmarks.len();
        let prepared: KernelRows<f64> = KernelRows::new(
            function.clone(),
            Storage::of(&function, rows),
            rows,
            &landmarks,
            &[],
            &landmarks,
        );
        let gram = prepared.whole_gram(monitor).ok_or(Error::Stopped)?;
        let gram = ArrayView2::from_shape((n, n), &gram).expect("a square matrix");
        let factor = if basis == Basis::Cholesky { inverse_cholesky(gram) } else { None };
        let (normalization, rank) = match factor {
            Some(inverse) => (inverse, n),
            None => inverse_square_root(gram, monitor)?.ok_or_else(|| Error::Number {
                what: "a kernel value of two landmarks".into(),
                value: f64::NAN,
                expected: "a finite number; scale the columns down".into(),
            })?,
        };
        let expansion = KernelExpansion::of_rows(
            function,
            Precision::Double,
            rows,
            landmarks,
            Vec::new(),
            normalization,
            vec![0.0; n],
        );
        Ok(NystroemModel {
            expansion,
            rank,
            relative_trace_error: 0.0,
            double: Cached::default(),
            single: Cached::default(),
        })
    }

    fn prepare<T: Float>(&self, centered: bool) -> Result<PreparedMap<T>> {
        let expansion = &self.expansion;
        let center =
            match centered && expansion.sparse_vectors.is_none() && !expansion.vectors.is_empty() {
                true => {
                    let rows = Rows::from(&expansion.vectors);
                    center_of(&expansion.function, Storage::of(&expansion.function, &rows), &rows)
                }
                false => Vec::new(),
            };
        let landmarks = expansion.kernel_rows_around(&center)?;
        let normalization = expansion.coefficients.iter().map(|v| T::narrow(*v)).collect();
        let mut lines = expansion.coefficients.outer_iter().enumerate();
        let lower_triangular = lines.all(|(i, line)| line.iter().skip(i + 1).all(|v| *v == 0.0));
        Ok(PreparedMap { center, landmarks, normalization, lower_triangular })
    }

    /// The features in one precision: the kernel values of a block of rows are normalized while they are in cache.
    fn map<T: Float>(&self, x: &Rows<'_>, prepared: &PreparedMap<T>, out: &mut [T]) {
        let m = self.n_outputs();
        out.par_chunks_mut(ROWS_PER_BLOCK * m).enumerate().for_each(|(k, out)| {
            let first = (k * ROWS_PER_BLOCK) as u32;
            let indices: Vec<u32> = (first..first + (out.len() / m) as u32).collect();
            let rows = prepared.landmarks.matching(x, &indices, &prepared.center);
            T::scratch(out.len(), |values| {
                rows.block(&prepared.landmarks, 0..m, values);
                match prepared.lower_triangular {
                    true => T::lower_triangular_products(
                        values,
                        &prepared.normalization,
                        out,
                        indices.len(),
                    ),
                    false => T::dot_products(values, &prepared.normalization, m, out),
                }
            });
        });
    }

    /// The relative trace error, and the root mean square error of kernel values, over an evenly spaced sample of rows.
    fn sampled_errors(&self, rows: &Rows<'_>, unique: &UniqueRows) -> Result<(f64, f64)> {
        let stride = unique.indices.len().div_ceil(COMPARED_ROWS);
        let indices: Vec<u32> = unique.indices.iter().copied().step_by(stride).collect();
        let weights = unique.weights.iter().copied().step_by(stride);
        let cells: Vec<f64> = indices.iter().flat_map(|i| rows.row(*i as usize)).collect();
        let x = Matrix::from_shape_vec((indices.len(), rows.n_columns()), cells)
            .expect("rows of one width");
        let features = self.transform(&Rows::from(&x))?;
        let products = multiply_transposed(features.view(), features.view());
        let all: Vec<u32> = (0..indices.len() as u32).collect();
        let exact: KernelRows<f64> = KernelRows::new(
            self.expansion.function.clone(),
            Storage::Dense,
            &Rows::from(&x),
            &all,
            &[],
            &indices,
        );
        let gram = exact.gram();
        let (mut trace_error, mut trace, mut sum) = (0.0, 0.0, 0.0);
        for (i, w) in weights.enumerate() {
            let own = gram[i * indices.len() + i];
            trace_error += w * (own - products[[i, i]]);
            trace += w * own;
        }
        for (product, value) in products.iter().zip(&gram) {
            sum += (product - value) * (product - value);
        }
        let relative = if trace > 0.0 { (trace_error / trace).max(0.0) } else { 0.0 };
        Ok((relative, (sum / gram.len() as f64).sqrt()))
    }
}

/// `L⁻¹` with `L Lᵀ` the kernel matrix of the landmarks; `None` if it is too ill-conditioned for a Cholesky factor.
fn inverse_cholesky(gram: ArrayView2<'_, f64>) -> Option<Matrix> {
    let factor = Cholesky::of(gram)?;
    let n = gram.nrows();
    let mut inverse = Matrix::eye(n);
    solve_lower(factor.lower().view(), inverse.as_slice_mut()?, n);
    // The smallest eigenvalue is at least 1 / ‖L⁻¹‖²_F, the largest at most the largest row sum of |K|.
    let smallest = 1.0 / inverse.iter().map(|v| v * v).sum::<f64>();
    let sums = gram.outer_iter().map(|row| row.iter().map(|v| v.abs()).sum::<f64>());
    let largest = sums.fold(0.0, f64::max);
    (smallest > CHOLESKY_MARGIN * RELATIVE_ROUNDING * largest).then_some(inverse)
}

/// `U D^(−½) Uᵀ` of a matrix of any rank, and its numerical rank; `None` if the matrix is not finite.
fn inverse_square_root(
    gram: ArrayView2<'_, f64>,
    monitor: &Monitor<'_>,
) -> Result<Option<(Matrix, usize)>> {
    let Some(eigen) = SymmetricEigen::of_while(gram, || monitor.stop().is_none()) else {
        return if monitor.stop().is_some() { Err(Error::Stopped) } else { Ok(None) };
    };
    let largest = eigen.values.last().copied().unwrap_or(0.0).max(0.0);
    let root =
        |value: f64| if value > RELATIVE_ROUNDING * largest { 1.0 / value.sqrt() } else { 0.0 };
    let roots: Vec<f64> = eigen.values.iter().map(|v| root(*v)).collect();
    let scaled = &eigen.vectors * &ndarray::ArrayView1::from(&roots);
    let rank = roots.iter().filter(|r| **r > 0.0).count();
    Ok(Some((multiply_transposed(scaled.view(), eigen.vectors.view()), rank)))
}

impl Transformer for NystroemModel {
    fn n_inputs(&self) -> usize {
        self.expansion.n_columns
    }

    fn n_outputs(&self) -> usize {
        self.expansion.coefficients.nrows()
    }

    fn transform(&self, x: &Rows<'_>) -> Result<Matrix> {
        filled(x.n_rows(), self.n_outputs(), |out| self.transform_into(x, out))
    }

    fn transform_f32(&self, x: &Rows<'_>) -> Result<Array2<f32>> {
        filled(x.n_rows(), self.n_outputs(), |out| self.transform_f32_into(x, out))
    }

    fn transform_into(&self, x: &Rows<'_>, out: &mut [f64]) -> Result<()> {
        self.expansion.check_rows(x)?;
        self.map(x, self.double.get_or_fail(|| self.prepare(false))?, out);
        Ok(())
    }

    fn transform_f32_into(&self, x: &Rows<'_>, out: &mut [f32]) -> Result<()> {
        self.expansion.check_rows(x)?;
        self.map(x, self.single.get_or_fail(|| self.prepare(true))?, out);
        Ok(())
    }
}

impl Check for NystroemModel {
    fn check(&self) -> Result<()> {
        self.expansion.check()?;
        let n = self.expansion.n_vectors();
        let fits = n > 0
            && self.expansion.coefficients.nrows() == n
            && self.expansion.intercepts.len() == n
            && self.rank <= n
            && self.relative_trace_error >= 0.0;
        if fits {
            Ok(())
        } else {
            Err(Error::File("Nyström model with inconsistent fields".into()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_num::random::Random;

    fn rows(n: usize, d: usize) -> Matrix {
        let mut random = Random::new(8);
        Matrix::from_shape_simple_fn((n, d), || random.uniform())
    }

    #[test]
    fn the_map_is_exact_at_its_landmarks_and_below_the_kernel_elsewhere() {
        let x = rows(90, 3);
        let data = Dataset::unlabeled(&x);
        for kernel in [Kernel::Rbf, Kernel::Poly, Kernel::Laplacian, Kernel::Chi2, Kernel::Linear] {
            for landmarks in [LandmarkSelection::Uniform, LandmarkSelection::PivotedCholesky] {
                let params =
                    Nystroem::new().kernel(kernel.clone()).n_components(12).landmarks(landmarks);

                let fitted = params.fit(&data, &Monitor::quiet()).unwrap();

                let new = fitted.transform(&Rows::from(&x)).unwrap();
                let products = new.dot(&new.t());
                let function = &fitted.expansion.function;
                let value =
                    |i: usize, j: usize| function.value(&x.row(i).to_vec(), &x.row(j).to_vec());
                for c in &fitted.expansion.support {
                    for i in 0..90 {
                        let off = (products[[i, *c as usize]] - value(i, *c as usize)).abs();
                        assert!(off < 1e-6, "{kernel:?} {off}");
                    }
                }
                // K − K̂ is positive semi-definite.
                let rest = Matrix::from_shape_fn((90, 90), |(i, j)| value(i, j)) - products;
                let smallest = SymmetricEigen::of(rest.view()).unwrap().values[0];
                assert!(smallest > -1e-7, "{kernel:?} {smallest}");
            }
        }
    }

    #[test]
    fn the_cholesky_basis_has_the_inner_products_of_the_symmetric_one() {
        let x = rows(80, 6);
        let params = Nystroem::new().gamma(Some(2.0.into())).n_components(30);
        let params = params.basis(Basis::Cholesky);
        let mut model = params.fit(&Dataset::unlabeled(&x), &Monitor::quiet()).unwrap().model;
        let new = model.transform(&Rows::from(&x)).unwrap();
        let above = model.expansion.coefficients.indexed_iter().filter(|((i, j), _)| j > i);
        assert!(above.clone().count() > 0 && above.clone().all(|(_, v)| *v == 0.0));

        let gram = new.select(
            ndarray::Axis(0),
            &model.expansion.support.iter().map(|i| *i as usize).collect::<Vec<_>>(),
        );
        let (root, rank) =
            inverse_square_root(gram.dot(&gram.t()).view(), &Monitor::quiet()).unwrap().unwrap();
        model.expansion.coefficients = root;
        let other = model.clone().transform(&Rows::from(&x)).unwrap();

        assert_eq!((rank, model.rank), (30, 30));
        assert!((new.dot(&new.t()) - other.dot(&other.t())).iter().all(|v| v.abs() < 1e-8));
    }

    #[test]
    fn duplicate_landmarks_fall_back_to_the_symmetric_basis() {
        let x = rows(40, 2);
        let params = Nystroem::new().kernel(Kernel::Linear).n_components(10);
        let params = params.basis(Basis::Cholesky);

        let fitted = params.fit(&Dataset::unlabeled(&x), &Monitor::quiet()).unwrap();

        assert_eq!(fitted.rank, 2);
        let new = fitted.transform(&Rows::from(&x)).unwrap();
        assert!((new.dot(&new.t()) - x.dot(&x.t())).iter().all(|v| v.abs() < 1e-12));
    }

    #[test]
    fn single_precision_keeps_its_digits_far_from_zero() {
        let x = rows(60, 3) + 500.0;
        let fitted = Nystroem::new().n_components(10).gamma(Some(0.5.into()));
        let fitted = fitted.fit(&Dataset::unlabeled(&x), &Monitor::quiet()).unwrap();

        let double = fitted.transform(&Rows::from(&x)).unwrap();
        let single = fitted.transform_f32(&Rows::from(&x)).unwrap();

        let off = |(a, b): (&f64, &f32)| (a - f64::from(*b)).abs();
        assert!(double.iter().zip(&single).map(off).fold(0.0, f64::max) < 1e-3);
    }

    #[test]
    fn all_rows_as_landmarks_have_no_trace_error() {
        let x = rows(40, 5);
        let params = Nystroem::new().n_components(1000);

        let fitted = params.fit(&Dataset::unlabeled(&x), &Monitor::quiet()).unwrap();

        assert_eq!(fitted.n_outputs(), 40);
        assert!(fitted.relative_trace_error < 1e-9);
        assert!(fitted.certificate.violation.as_ref().unwrap().value < 1e-8);
    }

    #[test]
    fn landmarks_are_added_until_the_requested_error() {
        let x = rows(600, 3);
        for landmarks in [
            LandmarkSelection::Uniform,
            LandmarkSelection::KMeans,
            LandmarkSelection::PivotedCholesky,
        ] {
            let params = Nystroem::new().gamma(Some(2.0.into())).landmarks(landmarks);
            let params = params.n_components(600);
            let mut last = 0;
            for requested in [0.5, 0.1, 0.01, 0.001] {
                let some = params.clone().error(Some(requested));

                let fitted = some.fit(&Dataset::unlabeled(&x), &Monitor::quiet()).unwrap();

                let (n, left) = (fitted.n_outputs(), fitted.relative_trace_error);
                assert!(left <= requested && n >= last, "{landmarks:?}: {left} with {n}");
                // Pivoted Cholesky measures the trace error over all rows.
                let new = fitted.transform(&Rows::from(&x)).unwrap();
                let lacking = 1.0 - new.iter().map(|v| v * v).sum::<f64>() / 600.0;
                assert!(
                    landmarks != LandmarkSelection::PivotedCholesky
                        || (lacking - left).abs() < 1e-6,
                    "{lacking}"
                );
                let report = fitted.certificate.to_string();
                assert!(
                    report.contains(&format!("for an error of at most {requested}")),
                    "{report}"
                );
                last = n;
            }
            assert!(last < 600, "{landmarks:?}: {last}");
        }
    }

    #[test]
    fn an_error_that_is_not_reached_is_reported() {
        let x = rows(300, 6);
        for landmarks in [
            LandmarkSelection::Uniform,
            LandmarkSelection::KMeans,
            LandmarkSelection::PivotedCholesky,
        ] {
            let params =
                Nystroem::new().gamma(Some(3.0.into())).landmarks(landmarks).n_components(20);

            let fitted = params.clone().error(Some(1e-3));
            let fitted = fitted.fit(&Dataset::unlabeled(&x), &Monitor::quiet()).unwrap();

            let plain = params.fit(&Dataset::unlabeled(&x), &Monitor::quiet()).unwrap();
            assert_eq!(fitted.model, plain.model, "{landmarks:?}");
            let report = fitted.certificate.to_string();
            assert!(
                fitted.relative_trace_error > 1e-3
                    && report.contains("NOT the requested error of 0.001"),
                "{report}"
            );
            assert!(report.contains("20 features, the limit of n_components"), "{report}");
        }
    }

    #[test]
    fn a_precomputed_kernel_gives_the_same_map() {
        let x = rows(30, 4);
        let gram = x.dot(&x.t());
        let plain = Nystroem::new().kernel(Kernel::Linear).n_components(9);
        let given = Nystroem::new().kernel(Kernel::Precomputed).n_components(9);

        let plain = plain.fit(&Dataset::unlabeled(&x), &Monitor::quiet()).unwrap();
        let given = given.fit(&Dataset::unlabeled(&gram), &Monitor::quiet()).unwrap();

        // Other rows are sampled, but nine rows of rank four determine a linear kernel.
        let (a, b) = (
            plain.transform(&Rows::from(&x)).unwrap(),
            given.transform(&Rows::from(&gram)).unwrap(),
        );
        assert!((a.dot(&a.t()) - b.dot(&b.t())).iter().all(|v| v.abs() < 1e-9));
    }

    #[test]
    fn k_means_landmarks_have_a_smaller_error_than_uniform_ones() {
        let mut random = Random::new(2);
        let x =
            Matrix::from_shape_fn((300, 2), |(i, _)| (i % 6) as f64 * 3.0 + 0.2 * random.normal());
        let left = |landmarks| {
            let params =
                Nystroem::new().landmarks(landmarks).n_components(6).gamma(Some(0.5.into()));
            params.fit(&Dataset::unlabeled(&x), &Monitor::quiet()).unwrap().relative_trace_error
        };

        assert!(left(LandmarkSelection::KMeans) < left(LandmarkSelection::Uniform));
    }
}
