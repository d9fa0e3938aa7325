//! Nyström's map: any kernel as an inner product, exact between a few rows and close elsewhere.
//!
//! With centers `z` and `K(z, z) = U D Uᵀ`, `φ(x) = U D^(−½) Uᵀ K(z, x)`, directions without an eigenvalue
//! left out (Williams & Seeger 2001). Then `φ(x)·φ(x')` is `K(x, z) K(z, z)⁺ K(z, x')`: the kernel itself
//! where either is a center, and never too large on the diagonal elsewhere. With `K(z, z) = L Lᵀ`, `L⁻¹ K(z, x)` has
//! the same inner products, and a triangle takes half the time.

use super::fourier::{check_usable, drawn, met, written};
use super::landmarks::{
    randomly_pivoted_cholesky, randomly_pivoted_cholesky_until, sample_by_weight,
};
use super::unique_rows::UniqueRows;
use super::{
    Function, Gamma, Kernel, KernelExpansion, KernelRows, Precision, Storage, center_of,
    check_square, k_means,
};
use crate::model::{Cached, Stop};
use crate::prelude::*;
use mercer_num::Float;
use mercer_num::linalg::{Cholesky, SymmetricEigen, multiply_transposed, solve_lower};
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;
use std::time::Instant;

/// Eigenvalues below this share of the largest are rounding.
const NOTHING: f64 = 1e-12;
/// Where all are far above it, a triangle has as many digits.
const FAR: f64 = 100.0;
/// Rows mapped by one thread at a time.
const ROWS: usize = 256;
/// Rows at which the map is compared with the kernel.
const COMPARED: usize = 512;
/// What takes memory beside the rows.
const SQUARE: &str = "a kernel matrix of the centers";
/// The fewest centers that are tried where an error is asked for.
const FEWEST: usize = 16;
/// Cells of rows that means are made of where they are sparse: they are written out.
const WIDEST: usize = 4096;

choice! {
    /// Where centers come from.
    pub enum LandmarkSelection {
        /// Rows drawn by weight.
        Uniform = "uniform",
        /// Means of rows that lie together.
        KMeans = "k-means",
        /// Rows drawn by what the ones before do not tell.
        PivotedCholesky = "pivoted-cholesky",
    }
}

choice! {
    /// In which coordinates new rows are written; inner products are the same.
    pub enum Basis {
        /// Those of the root of the kernel matrix of the centers.
        Symmetric = "symmetric",
        /// Those of its triangle.
        Cholesky = "cholesky",
    }
}

params! {
    /// Nyström's map: columns whose inner products are near to a kernel, from a few rows.
    pub struct Nystroem {
        /// The kernel: `linear`, `poly`, `rbf`, `sigmoid`, `laplacian`, `chi2`, sums and products of
        /// these as in `rbf(gamma=0.1)+2*linear`, or `precomputed` where the rows are kernel values.
        kernel: Kernel = Kernel::Rbf, Formula(Kernel::WORDS);
        /// How fast a kernel falls with distance: a number, `scale` for `1 / (columns · variance)`, or
        /// `auto` for `1 / columns`. Nothing is `auto`, and 1 for `chi2`.
        gamma: Option<Gamma> = None, AtLeast(0.0);
        /// The constant in the kernels `poly` and `sigmoid`.
        coef0: f64 = 1.0, Any;
        /// The power of the kernel `poly`.
        degree: usize = 3, Between(0.0, 1000.0);
        /// How many centers, and columns of the new rows; where an `error` is asked for, at most so many. More
        /// are closer to the kernel.
        n_components: usize = 100, Between(1.0, 1e6);
        /// The share of the kernel's trace that the map may leave out: centers are added until no more is
        /// left (twice as many in turn, or one by one where they are pivots), or there are `n_components`. Nothing
        /// takes `n_components` at once.
        error: Option<f64> = None, Inside(0.0, 1.0);
        /// Where centers come from: rows drawn by weight (`uniform`), means of rows that lie together
        /// (`k-means`), or rows drawn by what the ones before do not tell (`pivots`), which leaves the
        /// least and takes longest.
        landmarks: LandmarkSelection = LandmarkSelection::Uniform, OneOf(LandmarkSelection::WORDS);
        /// In which coordinates new rows are written: those of the root of the kernel matrix of the centers, as
        /// scikit-learn has them (`root`), or of its triangle, in half the time (`triangle`). Inner products are the
        /// same; centers that tell nearly the same have a root only.
        basis: Basis = Basis::Symmetric, OneOf(Basis::WORDS);
        /// The seed of what is drawn.
        random_state: usize = 0, Any;
    }
}

/// LandmarkSelection, and how kernel values with them are turned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NystroemModel {
    /// The centers, and `L⁻¹` or `U D^(−½) Uᵀ`.
    pub expansion: KernelExpansion,
    /// Directions that have an eigenvalue.
    pub rank: usize,
    /// The share of the kernel's trace that the map leaves out: of all rows where centers are pivots, else
    /// of rows spread over all.
    pub relative_trace_error: f64,
    #[serde(skip)]
    double: Cached<Ready<f64>>,
    #[serde(skip)]
    single: Cached<Ready<f32>>,
}

/// What rows are mapped with, in one precision.
#[derive(Debug)]
struct Ready<T> {
    /// What is taken off rows; empty for nothing.
    center: Vec<f64>,
    centers: KernelRows<T>,
    /// `L⁻¹` or `U D^(−½) Uᵀ`.
    turned: Vec<T>,
    /// Whether there is nothing above its diagonal.
    triangle: bool,
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
        let list = UniqueRows::of(rows, data.weights(), self.random_state as u64);
        let most = self.n_components.min(list.indices.len());
        // PivotedCholesky know by themselves when they are enough; others are tried.
        let tried = self.error.is_some() && self.landmarks != LandmarkSelection::PivotedCholesky;
        let mut m = if tried { FEWEST.min(most) } else { most };
        loop {
            let (model, error, mut stopped) =
                self.with(m, function.clone(), data, &list, monitor)?;
            let near = self.error.is_none_or(|asked| model.relative_trace_error <= asked);
            let last = near || m == most;
            stopped = stopped.or_else(|| if last { None } else { monitor.stop() });
            if last || stopped.is_some() {
                let (n, left) = (model.n_outputs(), model.relative_trace_error);
                monitor.report(n as u64, Some(n as u64));
                let mut certificate = drawn(data, error, Some(left), start).stopped_by(stopped);
                let note = self.error.map(|asked| met(asked, left, n, self.n_components));
                certificate.notes.extend(note);
                return Ok(Fitted { model, certificate });
            }
            m = (2 * m).min(most);
        }
    }
}

enum Found {
    /// Places in the list of rows.
    Rows(Vec<u32>),
    Means(Matrix),
}

impl Nystroem {
    /// The map of so many centers (of pivots, as few as suffice), its error, and what cut its making short.
    fn with(
        &self,
        m: usize,
        function: Function,
        data: &Dataset<'_>,
        list: &UniqueRows,
        monitor: &Monitor<'_>,
    ) -> Result<(NystroemModel, f64, Option<Stop>)> {
        let (rows, seed) = (data.rows(), self.random_state as u64);
        let (mut stopped, mut left) = (None, None);
        let square = |m: usize| 40 * (m * m) as u64;
        let until = self.error.filter(|_| self.landmarks == LandmarkSelection::PivotedCholesky);
        if until.is_none() {
            monitor.reserve(SQUARE, square(m))?;
        }
        let found = match self.landmarks {
            LandmarkSelection::Uniform => Found::Rows(sample_by_weight(list, m)),
            LandmarkSelection::PivotedCholesky => {
                let cells = 8 * (list.indices.len() * rows.n_columns()) as u64;
                monitor.reserve("rows made ready", cells)?;
                let ready: KernelRows<f64> = KernelRows::new(
                    function.clone(),
                    Storage::of(&function, rows),
                    rows,
                    &list.indices,
                    &[],
                    &list.indices,
                );
                let factored = match until {
                    Some(enough) => randomly_pivoted_cholesky_until(
                        enough,
                        &ready,
                        &list.weights,
                        m,
                        seed,
                        monitor,
                    )?,
                    None => randomly_pivoted_cholesky(&ready, &list.weights, m, seed, monitor)?,
                };
                monitor.reserve(SQUARE, square(factored.pivots.len()))?;
                stopped = factored.stopped;
                left = Some(factored.relative_trace_error);
                Found::Rows(factored.pivots)
            }
            LandmarkSelection::KMeans => {
                self.check_means(rows)?;
                let cells = 8 * (list.indices.len() * (rows.n_columns() + 4)) as u64;
                monitor.reserve("rows written out", cells)?;
                let means = k_means::means(rows, list, m, seed, monitor);
                stopped = monitor.stop();
                Found::Means(means)
            }
        };
        let model = match &found {
            Found::Rows(positions) => {
                let indices: Vec<u32> =
                    positions.iter().map(|k| list.indices[*k as usize]).collect();
                NystroemModel::of(function, rows, indices, self.basis)?
            }
            Found::Means(means) => {
                let indices = (0..means.nrows() as u32).collect();
                NystroemModel::of(function, &Rows::from(means), indices, self.basis)?
            }
        };
        let (sampled, error) = model.compared(rows, list)?;
        let relative_trace_error = left.unwrap_or(sampled);
        Ok((NystroemModel { relative_trace_error, ..model }, error, stopped))
    }

    /// Refuses means of what has none, or of what is too wide to write out.
    fn check_means(&self, rows: &Rows<'_>) -> Result<()> {
        let refuse = |expected: &str| {
            Err(Error::Parameter {
                name: "landmarks".into(),
                found: "k-means".into(),
                expected: expected.into(),
            })
        };
        match rows {
            _ if self.kernel == Kernel::Precomputed => {
                refuse("uniform or pivoted-cholesky where kernel values are given")
            }
            Rows::Sparse(x) if x.n_columns() > WIDEST => {
                refuse("uniform or pivoted-cholesky for sparse rows of more than 4096 columns")
            }
            _ => Ok(()),
        }
    }
}

impl NystroemModel {
    /// The map with some of the rows as its centers.
    ///
    /// # Errors
    /// If the kernel values of the centers are not finite.
    pub fn of(
        function: Function,
        rows: &Rows<'_>,
        centers: Vec<u32>,
        basis: Basis,
    ) -> Result<NystroemModel> {
        let n = centers.len();
        let ready: KernelRows<f64> = KernelRows::new(
            function.clone(),
            Storage::of(&function, rows),
            rows,
            &centers,
            &[],
            &centers,
        );
        let gram = ready.gram();
        let gram = ArrayView2::from_shape((n, n), &gram).expect("a square of the centers");
        let factor = if basis == Basis::Cholesky { triangle(gram) } else { None };
        let (turned, rank) = match factor {
            Some(inverse) => (inverse, n),
            None => square_root(gram).ok_or_else(|| Error::Number {
                what: "a kernel value of two centers".into(),
                value: f64::NAN,
                expected: "a finite number; scale the columns down".into(),
            })?,
        };
        let expansion = KernelExpansion::of_rows(
            function,
            Precision::Double,
            rows,
            centers,
            Vec::new(),
            turned,
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

    fn ready<T: Float>(&self, centered: bool) -> Result<Ready<T>> {
        let expansion = &self.expansion;
        let center =
            match centered && expansion.sparse_vectors.is_none() && !expansion.vectors.is_empty() {
                true => {
                    let rows = Rows::from(&expansion.vectors);
                    center_of(&expansion.function, Storage::of(&expansion.function, &rows), &rows)
                }
                false => Vec::new(),
            };
        let centers = expansion.kernel_rows_around(&center)?;
        let turned = expansion.coefficients.iter().map(|v| T::narrow(*v)).collect();
        let mut lines = expansion.coefficients.outer_iter().enumerate();
        let triangle = lines.all(|(i, line)| line.iter().skip(i + 1).all(|v| *v == 0.0));
        Ok(Ready { center, centers, turned, triangle })
    }

    /// The new rows in one precision: kernel values of a block, turned while they are in cache.
    fn map<T: Float>(&self, x: &Rows<'_>, ready: &Ready<T>, out: &mut [T]) {
        let m = self.n_outputs();
        out.par_chunks_mut(ROWS * m).enumerate().for_each(|(k, out)| {
            let first = (k * ROWS) as u32;
            let indices: Vec<u32> = (first..first + (out.len() / m) as u32).collect();
            let rows = ready.centers.matching(x, &indices, &ready.center);
            T::scratch(out.len(), |values| {
                rows.block(&ready.centers, 0..m, values);
                match ready.triangle {
                    true => T::lower_triangular_products(values, &ready.turned, out, indices.len()),
                    false => T::dot_products(values, &ready.turned, m, out),
                }
            });
        });
    }

    /// The share of the trace that is left out, and the root mean square error of kernel values, over rows
    /// spread over all.
    fn compared(&self, rows: &Rows<'_>, list: &UniqueRows) -> Result<(f64, f64)> {
        let stride = list.indices.len().div_ceil(COMPARED);
        let indices: Vec<u32> = list.indices.iter().copied().step_by(stride).collect();
        let weights = list.weights.iter().copied().step_by(stride);
        let some: Vec<f64> = indices.iter().flat_map(|i| rows.row(*i as usize)).collect();
        let x = Matrix::from_shape_vec((indices.len(), rows.n_columns()), some)
            .expect("rows of one width");
        let new = self.transform(&Rows::from(&x))?;
        let products = multiply_transposed(new.view(), new.view());
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
        let (mut left, mut trace, mut sum) = (0.0, 0.0, 0.0);
        for (i, w) in weights.enumerate() {
            let own = gram[i * indices.len() + i];
            left += w * (own - products[[i, i]]);
            trace += w * own;
        }
        for (product, value) in products.iter().zip(&gram) {
            sum += (product - value) * (product - value);
        }
        let share = if trace > 0.0 { (left / trace).max(0.0) } else { 0.0 };
        Ok((share, (sum / gram.len() as f64).sqrt()))
    }
}

/// `L⁻¹` with `L Lᵀ` the kernel matrix of the centers, where rounding takes no more of it than of its root.
fn triangle(gram: ArrayView2<'_, f64>) -> Option<Matrix> {
    let factor = Cholesky::of(gram)?;
    let n = gram.nrows();
    let mut inverse = Matrix::eye(n);
    solve_lower(factor.lower().view(), inverse.as_slice_mut()?, n);
    // The smallest eigenvalue is at least one over the sum of squares, the largest at most a sum of a row.
    let smallest = 1.0 / inverse.iter().map(|v| v * v).sum::<f64>();
    let sums = gram.outer_iter().map(|row| row.iter().map(|v| v.abs()).sum::<f64>());
    let largest = sums.fold(0.0, f64::max);
    (smallest > FAR * NOTHING * largest).then_some(inverse)
}

/// `U D^(−½) Uᵀ` of a matrix of any rank, and the rank; `None` where it is not finite.
fn square_root(gram: ArrayView2<'_, f64>) -> Option<(Matrix, usize)> {
    let eigen = SymmetricEigen::of(gram)?;
    let largest = eigen.values.last().copied().unwrap_or(0.0).max(0.0);
    let root = |value: f64| if value > NOTHING * largest { 1.0 / value.sqrt() } else { 0.0 };
    let roots: Vec<f64> = eigen.values.iter().map(|v| root(*v)).collect();
    let scaled = &eigen.vectors * &ndarray::ArrayView1::from(&roots);
    let rank = roots.iter().filter(|r| **r > 0.0).count();
    Some((multiply_transposed(scaled.view(), eigen.vectors.view()), rank))
}

impl Transformer for NystroemModel {
    fn n_inputs(&self) -> usize {
        self.expansion.n_columns
    }

    fn n_outputs(&self) -> usize {
        self.expansion.coefficients.nrows()
    }

    fn transform(&self, x: &Rows<'_>) -> Result<Matrix> {
        written(x.n_rows(), self.n_outputs(), |out| self.transform_into(x, out))
    }

    fn transform_f32(&self, x: &Rows<'_>) -> Result<Array2<f32>> {
        written(x.n_rows(), self.n_outputs(), |out| self.transform_f32_into(x, out))
    }

    fn transform_into(&self, x: &Rows<'_>, out: &mut [f64]) -> Result<()> {
        self.expansion.check_rows(x)?;
        self.map(x, self.double.get_or_fail(|| self.ready(false))?, out);
        Ok(())
    }

    fn transform_f32_into(&self, x: &Rows<'_>, out: &mut [f32]) -> Result<()> {
        self.expansion.check_rows(x)?;
        self.map(x, self.single.get_or_fail(|| self.ready(true))?, out);
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
        if fits { Ok(()) } else { Err(Error::File("a map that no rows could have".into())) }
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
    fn the_map_is_exact_at_its_centers_and_below_the_kernel_elsewhere() {
        let x = rows(90, 3);
        let data = Dataset::unlabeled(&x);
        for kernel in [Kernel::Rbf, Kernel::Poly, Kernel::Laplacian, Kernel::Chi2, Kernel::Linear] {
            for centers in [LandmarkSelection::Uniform, LandmarkSelection::PivotedCholesky] {
                let params =
                    Nystroem::new().kernel(kernel.clone()).n_components(12).landmarks(centers);

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
                // K less the map is positive semi-definite.
                let rest = Matrix::from_shape_fn((90, 90), |(i, j)| value(i, j)) - products;
                let smallest = SymmetricEigen::of(rest.view()).unwrap().values[0];
                assert!(smallest > -1e-7, "{kernel:?} {smallest}");
            }
        }
    }

    #[test]
    fn a_triangle_has_the_inner_products_of_the_root_and_half_of_it_is_nothing() {
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
        let (root, rank) = square_root(gram.dot(&gram.t()).view()).unwrap();
        model.expansion.coefficients = root;
        let other = model.clone().transform(&Rows::from(&x)).unwrap();

        assert_eq!((rank, model.rank), (30, 30));
        assert!((new.dot(&new.t()) - other.dot(&other.t())).iter().all(|v| v.abs() < 1e-8));
    }

    #[test]
    fn centers_that_tell_the_same_have_a_root() {
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
    fn all_rows_as_centers_leave_nothing_out() {
        let x = rows(40, 5);
        let params = Nystroem::new().n_components(1000);

        let fitted = params.fit(&Dataset::unlabeled(&x), &Monitor::quiet()).unwrap();

        assert_eq!(fitted.n_outputs(), 40);
        assert!(fitted.relative_trace_error < 1e-9);
        assert!(fitted.certificate.violation.as_ref().unwrap().value < 1e-8);
    }

    #[test]
    fn centers_are_added_until_as_little_is_left_as_was_asked() {
        let x = rows(600, 3);
        for centers in [
            LandmarkSelection::Uniform,
            LandmarkSelection::KMeans,
            LandmarkSelection::PivotedCholesky,
        ] {
            let params = Nystroem::new().gamma(Some(2.0.into())).landmarks(centers);
            let params = params.n_components(600);
            let mut last = 0;
            for asked in [0.5, 0.1, 0.01, 0.001] {
                let some = params.clone().error(Some(asked));

                let fitted = some.fit(&Dataset::unlabeled(&x), &Monitor::quiet()).unwrap();

                let (n, left) = (fitted.n_outputs(), fitted.relative_trace_error);
                assert!(left <= asked && n >= last, "{centers:?}: {left} with {n}");
                // What inner products lack of the trace of all rows, where pivots were measured at all.
                let new = fitted.transform(&Rows::from(&x)).unwrap();
                let lacking = 1.0 - new.iter().map(|v| v * v).sum::<f64>() / 600.0;
                assert!(
                    centers != LandmarkSelection::PivotedCholesky || (lacking - left).abs() < 1e-6,
                    "{lacking}"
                );
                let told = fitted.certificate.to_string();
                assert!(told.contains(&format!("for an error of at most {asked}")), "{told}");
                last = n;
            }
            assert!(last < 600, "{centers:?}: {last}");
        }
    }

    #[test]
    fn centers_that_do_not_suffice_are_told() {
        let x = rows(300, 6);
        for centers in [
            LandmarkSelection::Uniform,
            LandmarkSelection::KMeans,
            LandmarkSelection::PivotedCholesky,
        ] {
            let params =
                Nystroem::new().gamma(Some(3.0.into())).landmarks(centers).n_components(20);

            let fitted = params.clone().error(Some(1e-3));
            let fitted = fitted.fit(&Dataset::unlabeled(&x), &Monitor::quiet()).unwrap();

            let plain = params.fit(&Dataset::unlabeled(&x), &Monitor::quiet()).unwrap();
            assert_eq!(fitted.model, plain.model, "{centers:?}");
            let told = fitted.certificate.to_string();
            assert!(
                fitted.relative_trace_error > 1e-3 && told.contains("NOT the error of 0.001"),
                "{told}"
            );
            assert!(told.contains("20 columns, as many as n_components allows"), "{told}");
        }
    }

    #[test]
    fn given_kernel_values_are_the_kernel() {
        let x = rows(30, 4);
        let gram = x.dot(&x.t());
        let plain = Nystroem::new().kernel(Kernel::Linear).n_components(9);
        let given = Nystroem::new().kernel(Kernel::Precomputed).n_components(9);

        let plain = plain.fit(&Dataset::unlabeled(&x), &Monitor::quiet()).unwrap();
        let given = given.fit(&Dataset::unlabeled(&gram), &Monitor::quiet()).unwrap();

        // Other rows are drawn, but nine rows of rank four tell a linear kernel whole.
        let (a, b) = (
            plain.transform(&Rows::from(&x)).unwrap(),
            given.transform(&Rows::from(&gram)).unwrap(),
        );
        assert!((a.dot(&a.t()) - b.dot(&b.t())).iter().all(|v| v.abs() < 1e-9));
    }

    #[test]
    fn means_tell_more_than_rows_drawn_blindly() {
        let mut random = Random::new(2);
        let x =
            Matrix::from_shape_fn((300, 2), |(i, _)| (i % 6) as f64 * 3.0 + 0.2 * random.normal());
        let left = |centers| {
            let params = Nystroem::new().landmarks(centers).n_components(6).gamma(Some(0.5.into()));
            params.fit(&Dataset::unlabeled(&x), &Monitor::quiet()).unwrap().relative_trace_error
        };

        assert!(left(LandmarkSelection::KMeans) < left(LandmarkSelection::Uniform));
    }
}
