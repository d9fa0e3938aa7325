//! Random Fourier features of the Gaussian kernel.
//!
//! `φₖ(x) = √(2/M) cos(wₖ·x + bₖ)`, `k = 1..M`, with `w ~ N(0, 2 gamma I)` and `b` uniform in `[0, 2π)`. Then
//! `E φ(x)·φ(z) = exp(−gamma ‖x − z‖²)` by Bochner's theorem, with an error of order `1/√M` (Rahimi & Recht 2007).
//! Orthogonal directions have the same expectation and a smaller variance; structured ones approximate them by
//! Hadamard transforms in `d log d` operations per `d` features (Yu et al. 2016).

use super::Gamma;
use super::approximation::{
    check_usable, comparison_rows, error_message, filled, sampled_certificate, sampled_error,
};
use super::structured_orthogonal::{HadamardRotation, PreparedRotation};
use crate::data::{check_cells, check_storage};
use crate::model::Cached;
use crate::prelude::*;
use mercer_num::Float;
use mercer_num::linalg::Qr;
use mercer_num::parallel::prelude::*;
use mercer_num::random::Random;
use mercer_num::rows::Missing;
use mercer_num::simd::sparse_product::ColumnPanels;
use ndarray::Array2;
use std::ops::Mul;
use std::time::Instant;

/// Rows mapped by one thread at a time.
const ROWS_PER_BLOCK: usize = 128;
/// A row with at most one nonzero in this many cells is multiplied as a sparse row, unless it has few columns: the
/// dense matrix product is faster per cell.
const MIN_CELLS_PER_NONZERO: usize = 2;
const MIN_SPARSE_COLUMNS: usize = 32;
/// The smallest number of features that is tried if an error is requested.
const MIN_COMPONENTS: usize = 16;

choice! {
    /// The distribution of the directions `w`.
    pub enum Directions {
        /// Independent Gaussian vectors.
        Gaussian = "gaussian",
        /// Orthogonal within each block of as many directions as there are columns.
        Orthogonal = "orthogonal",
        /// Approximately orthogonal, by random signs and Hadamard transforms.
        Structured = "structured",
    }
}

params! {
    /// Random Fourier features: columns whose inner products approximate the Gaussian kernel.
    pub struct RbfSampler {
        /// Coefficient of the squared distance in the Gaussian kernel: a number, `scale` for
        /// `1 / (columns · variance)`, or `auto` for `1 / columns`. Larger values make the kernel narrower.
        gamma: Gamma = Gamma::Number(1.0), AtLeast(0.0);
        /// Number of features, or its maximum if an `error` is given. The approximation error is inversely
        /// proportional to its square root.
        n_components: usize = 100, Between(1.0, 1e9);
        /// Root mean square error of the kernel values of sampled pairs of rows to reach: features are added until the
        /// error is at most this, or `n_components` is reached. `None` uses `n_components` features.
        error: Option<f64> = None, Inside(0.0, 1.0);
        /// Distribution of the random directions: independent (`gaussian`), orthogonal to each other
        /// (`orthogonal`), which has a smaller error for the same number of features, or structured orthogonal by Hadamard
        /// transforms (`structured`), which is many times faster for many columns.
        directions: Directions = Directions::Gaussian, OneOf(Directions::VALUES);
        ..RandomState;
    }
    formula = "φₖ(x) = √(2/M) cos(wₖ·x + bₖ),  w ~ N(0, 2γI),  b ~ U[0, 2π)";
    lecture = 13;
    attributes = [
        own(
            "random_weights_",
            "ndarray of shape (n_features, n_components)",
            "Random directions `w`, one column per component.",
        ),
        own("random_offset_", "ndarray of shape (n_components,)", "Random phases `b`."),
        own("gamma_", "float", "The `gamma` of the kernel."),
        own(
            "error_",
            "float or None",
            "Measured root mean square error of the kernel values, if an `error` was given.",
        ),
        of_model("n_components_", "output_count_of_model", "int", "Number of features after the transformation."),
    ];
}

/// Random directions and phases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RbfSamplerModel {
    /// Coefficient of the squared distance in the kernel.
    pub gamma: f64,
    /// `w`: one row per column of the data, one column per feature.
    pub random_weights: Matrix,
    /// `b`: one phase per feature.
    pub random_offset: Vec<f64>,
    /// The Hadamard rotations of structured directions.
    #[serde(default)]
    pub rotations: Option<HadamardRotation>,
    /// Measured root mean square error of the kernel values of sampled pairs of rows.
    #[serde(default)]
    pub error: Option<f64>,
    #[serde(skip)]
    double: Cached<PreparedFeatures<f64>>,
    #[serde(skip)]
    single: Cached<PreparedFeatures<f32>>,
}

/// The parameters of the map in one precision.
#[derive(Debug)]
struct PreparedFeatures<T> {
    /// For structured directions.
    rotation: Option<PreparedRotation<T>>,
    /// One direction per row.
    directions: Cached<Vec<T>>,
    /// The same in the layout of sparse products.
    panels: Cached<ColumnPanels<T>>,
    phases: Vec<T>,
}

impl Fit for RbfSampler {
    type Model = RbfSamplerModel;

    /// Samples the features. They depend on the number of columns, on the variance if `gamma` is `scale`, and on the
    /// kernel values of some pairs if an `error` is given.
    fn fit(&self, data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<Fitted<RbfSamplerModel>> {
        let start = Instant::now();
        self.check()?;
        check_usable(data, monitor)?;
        let (d, most) = (data.n_columns(), self.n_components);
        let gamma = self.gamma.of(data);
        let kernel = super::Function::rbf(gamma);
        let compared = self.error.map(|_| comparison_rows(data));
        let mut m = self.initial_components();
        loop {
            monitor.reserve("directions of random Fourier features", 16 * (d * m) as u64)?;
            let model = self.sample(gamma, d, m);
            let error_over = |rows: &Rows<'_>| {
                sampled_error(
                    rows,
                    model.n_outputs(),
                    |x| model.transform(x),
                    |x, z| kernel.value(x, z),
                )
            };
            let error = match &compared {
                Some(few) => error_over(&Rows::from(few)),
                None => error_over(data.rows()),
            }?;
            let near = self.error.is_none_or(|requested| error <= requested);
            let stopped = if near || m == most { None } else { monitor.stop() };
            if near || m == most || stopped.is_some() {
                monitor.report(m as u64, Some(m as u64));
                let mut certificate =
                    sampled_certificate(data, error, None, start).stopped_by(stopped);
                certificate
                    .notes
                    .extend(self.error.map(|requested| error_message(requested, error, m, most)));
                return Ok(Fitted {
                    model: RbfSamplerModel { error: Some(error), ..model },
                    certificate,
                });
            }
            monitor.report(m as u64, Some(most as u64));
            m = next_components(m).min(most);
        }
    }
}

impl RbfSampler {
    /// The number of features to try first: all, or for a requested error about half of what its expectation needs.
    /// Fewer could only reach the error by chance.
    fn initial_components(&self) -> usize {
        let Some(requested) = self.error else { return self.n_components };
        let least = 1.0 / (8.0 * requested * requested);
        let mut m = MIN_COMPONENTS;
        while (m as f64) < least && m < self.n_components {
            m = next_components(m);
        }
        m.min(self.n_components)
    }

    /// `m` random features of `d` columns.
    fn sample(&self, gamma: f64, d: usize, m: usize) -> RbfSamplerModel {
        let mut random = Random::new(self.random_state as u64);
        let mut weights = match self.directions {
            Directions::Gaussian => Matrix::from_shape_simple_fn((d, m), || random.normal()),
            Directions::Orthogonal => orthogonal_directions(d, m, &mut random),
            Directions::Structured => Matrix::zeros((d, m)),
        };
        weights *= (2.0 * gamma).sqrt();
        let rotations = match self.directions {
            Directions::Structured => Some(HadamardRotation::sample(d, m, gamma, &mut random)),
            Directions::Gaussian | Directions::Orthogonal => None,
        };
        let offsets: Vec<f64> = (0..m).map(|_| std::f64::consts::TAU * random.uniform()).collect();
        if let Some(rotations) = &rotations {
            weights = rotations.directions(d);
        }
        RbfSamplerModel { rotations, ..RbfSamplerModel::new(gamma, weights, offsets) }
    }
}

/// The next number of features to try: a quarter more. The sequence is the same for every requested error, so that a
/// smaller error never results in fewer features.
fn next_components(m: usize) -> usize {
    (m + m / 4).next_multiple_of(8)
}

/// Orthogonal random features: directions that are orthogonal within blocks of `d`, with the lengths of Gaussian vectors.
fn orthogonal_directions(d: usize, m: usize, random: &mut Random) -> Matrix {
    let mut out = Matrix::zeros((d, m));
    for first in (0..m).step_by(d) {
        let some = d.min(m - first);
        let drawn = Matrix::from_shape_simple_fn((d, some), || random.normal());
        let turned = Qr::of(drawn.view()).q();
        for k in 0..some {
            let square: f64 = (0..d).map(|_| random.normal().powi(2)).sum();
            // The signs of the Householder QR factor are not uniform.
            let sign = if random.uniform() < 0.5 { -1.0 } else { 1.0 };
            let column = &turned.column(k) * (sign * square.sqrt());
            out.column_mut(first + k).assign(&column);
        }
    }
    out
}

impl RbfSamplerModel {
    /// The map with given directions (one row per column of the data, one column per feature) and phases.
    ///
    /// # Panics
    /// If there are not as many phases as directions.
    pub fn new(gamma: f64, random_weights: Matrix, random_offset: Vec<f64>) -> RbfSamplerModel {
        assert_eq!(random_weights.ncols(), random_offset.len(), "one phase per feature");
        RbfSamplerModel {
            gamma,
            random_weights,
            random_offset,
            rotations: None,
            error: None,
            double: Cached::default(),
            single: Cached::default(),
        }
    }

    fn prepare<T: Float>(&self) -> PreparedFeatures<T> {
        PreparedFeatures {
            rotation: self.rotations.as_ref().map(HadamardRotation::prepare),
            directions: Cached::default(),
            panels: Cached::default(),
            phases: self.random_offset.iter().map(|v| T::narrow(*v)).collect(),
        }
    }

    fn check_rows(&self, x: &Rows<'_>) -> Result<()> {
        check_storage(x)?;
        let (found, expected) = (x.n_columns(), self.n_inputs());
        if found != expected {
            return Err(Error::Columns { found, expected });
        }
        check_cells(x, Missing::Refused)
    }

    /// The features in one precision: products and cosines of one block of rows while it is in cache.
    fn map<T: Float + Mul<Output = T>>(
        &self,
        x: &Rows<'_>,
        prepared: &PreparedFeatures<T>,
        out: &mut [T],
    ) {
        let (d, m) = self.random_weights.dim();
        let scale = (2.0 / m as f64).sqrt();
        let cosines = |out: &mut [T]| {
            out.chunks_exact_mut(m).for_each(|row| T::scaled_cosines(row, &prepared.phases, scale))
        };
        out.par_chunks_mut(ROWS_PER_BLOCK * m).enumerate().for_each(|(k, out)| {
            let first = k * ROWS_PER_BLOCK;
            let rows = first..first + out.len() / m;
            if let Rows::Sparse(x) = x {
                let cells = rows.map(|i| x.row(i)).map(|(columns, values)| {
                    columns.iter().zip(values).map(|(j, v)| (*j, T::narrow(*v)))
                });
                self.multiply_sparse(cells, prepared, out);
                return cosines(out);
            }
            let block = T::block(x, rows).unwrap_or_default();
            let Some(rotation) = &prepared.rotation else {
                self.multiply_dense(&block, prepared, out);
                return cosines(out);
            };
            let mut scratch = Vec::new();
            for (row, out) in block.chunks_exact(d).zip(out.chunks_exact_mut(m)) {
                rotation.apply(row, &mut scratch, out);
                cosines(out);
            }
        });
    }

    /// The inner products of dense rows with all directions. The choice between the dense and the sparse product depends
    /// on the row alone, so that its features have the same bits in any block.
    fn multiply_dense<T: Float>(&self, rows: &[T], prepared: &PreparedFeatures<T>, out: &mut [T]) {
        let (d, m) = self.random_weights.dim();
        let zero = T::default();
        let is_sparse = |row: &[T]| {
            d >= MIN_SPARSE_COLUMNS
                && MIN_CELLS_PER_NONZERO * row.iter().filter(|v| **v != zero).count() <= d
        };
        let sparse: Vec<bool> = rows.chunks_exact(d).map(is_sparse).collect();
        let taken = |kind: bool| {
            rows.chunks_exact(d)
                .zip(&sparse)
                .filter(move |(_, sparse)| **sparse == kind)
                .map(|(row, _)| row)
        };
        let n_sparse = sparse.iter().filter(|sparse| **sparse).count();
        let cells =
            taken(true).map(|row| (0..).zip(row.iter().copied()).filter(|(_, v)| *v != zero));
        if n_sparse == sparse.len() {
            return self.multiply_sparse(cells, prepared, out);
        }
        let directions = prepared
            .directions
            .get(|| self.random_weights.t().iter().map(|v| T::narrow(*v)).collect());
        if n_sparse == 0 {
            return T::dot_products(rows, directions, d, out);
        }
        let mut products = vec![zero; n_sparse * m];
        self.multiply_sparse(cells, prepared, &mut products);
        let mut others = vec![zero; (sparse.len() - n_sparse) * m];
        T::dot_products(&taken(false).collect::<Vec<_>>().concat(), directions, d, &mut others);
        let (mut products, mut others) = (products.chunks_exact(m), others.chunks_exact(m));
        for (out, sparse) in out.chunks_exact_mut(m).zip(&sparse) {
            let row = if *sparse { products.next() } else { others.next() };
            out.copy_from_slice(row.expect("one product per row"));
        }
    }

    /// The inner products of sparse rows with all directions.
    fn multiply_sparse<T: Float>(
        &self,
        rows: impl Iterator<Item = impl Iterator<Item = (i32, T)>>,
        prepared: &PreparedFeatures<T>,
        out: &mut [T],
    ) {
        let (d, m) = self.random_weights.dim();
        let panels = prepared
            .panels
            .get(|| ColumnPanels::new(d, m, |j, k| T::narrow(self.random_weights[[j, k]])));
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in rows {
            for (j, v) in row {
                columns.push(j);
                values.push(v);
            }
            offsets.push(columns.len());
        }
        panels.times(&offsets, &columns, &values, out);
    }
}

impl Transformer for RbfSamplerModel {
    fn n_inputs(&self) -> usize {
        self.random_weights.nrows()
    }

    fn n_outputs(&self) -> usize {
        self.random_weights.ncols()
    }

    fn transform(&self, x: &Rows<'_>) -> Result<Matrix> {
        filled(x.n_rows(), self.n_outputs(), |out| self.transform_into(x, out))
    }

    fn transform_f32(&self, x: &Rows<'_>) -> Result<Array2<f32>> {
        filled(x.n_rows(), self.n_outputs(), |out| self.transform_f32_into(x, out))
    }

    fn transform_into(&self, x: &Rows<'_>, out: &mut [f64]) -> Result<()> {
        self.check_rows(x)?;
        self.map(x, self.double.get(|| self.prepare()), out);
        Ok(())
    }

    fn transform_f32_into(&self, x: &Rows<'_>, out: &mut [f32]) -> Result<()> {
        self.check_rows(x)?;
        self.map(x, self.single.get(|| self.prepare()), out);
        Ok(())
    }
}

impl Check for RbfSamplerModel {
    fn check(&self) -> Result<()> {
        let numbers = self.random_weights.iter().chain(&self.random_offset);
        let fits = !self.random_weights.is_empty()
            && self.random_offset.len() == self.random_weights.ncols()
            && self.gamma >= 0.0
            && self
                .rotations
                .as_ref()
                .is_none_or(|rotations| rotations.fits(self.random_weights.dim()))
            && self.error.is_none_or(|error| error.is_finite() && error >= 0.0)
            && numbers.chain([&self.gamma]).all(|v| v.is_finite());
        if fits {
            Ok(())
        } else {
            Err(Error::File("random Fourier features with inconsistent fields".into()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Function;

    fn rows(n: usize, d: usize) -> Matrix {
        let mut random = Random::new(3);
        Matrix::from_shape_simple_fn((n, d), || random.normal())
    }

    fn fit(params: &RbfSampler, x: &Matrix) -> RbfSamplerModel {
        params.fit(&Dataset::unlabeled(x), &Monitor::quiet()).unwrap().model
    }

    #[test]
    fn features_are_the_cosines_of_the_definition() {
        let x = rows(200, 3);
        let model = fit(&RbfSampler::new().n_components(70), &x);

        let new = model.transform(&Rows::from(&x)).unwrap();
        let single = model.transform_f32(&Rows::from(&x)).unwrap();

        for (i, k) in [(0, 0), (137, 69), (199, 31)] {
            let dot: f64 = (0..3).map(|j| x[[i, j]] * model.random_weights[[j, k]]).sum();
            let feature = (2.0f64 / 70.0).sqrt() * (dot + model.random_offset[k]).cos();
            assert!((new[[i, k]] - feature).abs() < 1e-15);
            assert!((f64::from(single[[i, k]]) - feature).abs() < 1e-6);
        }
    }

    #[test]
    fn features_of_a_row_do_not_depend_on_the_block() {
        let mut random = Random::new(4);
        // One row in three is dense, the others are sparse.
        let x = Matrix::from_shape_fn((200, 40), |(i, _)| {
            if i % 3 == 0 || random.uniform() < 0.1 { random.normal() } else { 0.0 }
        });
        for directions in [Directions::Gaussian, Directions::Structured] {
            let model = fit(&RbfSampler::new().n_components(75).directions(directions), &x);

            let all = model.transform(&Rows::from(&x)).unwrap();

            for i in [0, 1, 2, 130, 199] {
                let single = x.select(ndarray::Axis(0), &[i]);
                let single = model.transform(&Rows::from(&single)).unwrap();
                assert_eq!(single.row(0), all.row(i), "{directions:?} row {i}");
                let dot: f64 = (0..40).map(|j| x[[i, j]] * model.random_weights[[j, 71]]).sum();
                let feature = (2.0f64 / 75.0).sqrt() * (dot + model.random_offset[71]).cos();
                assert!((all[[i, 71]] - feature).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn hadamard_rotations_have_the_stored_directions() {
        let x = rows(21, 5);
        let model = fit(&RbfSampler::new().n_components(19).directions(Directions::Structured), &x);

        let new = model.transform(&Rows::from(&x)).unwrap();
        let single = model.transform_f32(&Rows::from(&x)).unwrap();

        let unstructured =
            RbfSamplerModel::new(1.0, model.random_weights.clone(), model.random_offset.clone());
        let expected = unstructured.transform(&Rows::from(&x)).unwrap();
        for ((a, b), c) in new.iter().zip(&expected).zip(&single) {
            assert!((a - b).abs() < 1e-13 && (a - f64::from(*c)).abs() < 1e-5);
        }
        // Over all padded columns, directions are orthogonal.
        let all = model.rotations.as_ref().unwrap().directions(64);
        let product: f64 = (0..64).map(|j| all[[j, 2]] * all[[j, 7]]).sum();
        assert!(product.abs() < 1e-12);
        model.check().unwrap();
    }

    #[test]
    fn features_are_added_until_the_requested_error() {
        let x = rows(300, 4);
        for directions in [Directions::Gaussian, Directions::Orthogonal, Directions::Structured] {
            let params = RbfSampler::new().gamma(0.3.into()).directions(directions);
            let params = params.n_components(100_000);
            let mut last = 0;
            for requested in [0.3, 0.1, 0.05, 0.02] {
                let some = params.clone().error(Some(requested));

                let fitted = some.fit(&Dataset::unlabeled(&x), &Monitor::quiet()).unwrap();

                let (n, error) = (fitted.n_outputs(), fitted.error.unwrap());
                assert!(error <= requested && n >= last, "{directions:?}: {error} with {n}");
                assert_eq!(fitted.certificate.violation.as_ref().unwrap().value, error);
                // The squared error is about 1/M, and the number of features grows by a quarter.
                assert!(
                    (n as f64) < 2.0 / (requested * requested),
                    "{directions:?}: {n} for {requested}"
                );
                // A fit with that number of features is the same map; its error is measured on other rows.
                let same = fit(&params.clone().n_components(n), &x);
                let error = fitted.error;
                assert_eq!(fitted.model, RbfSamplerModel { error, ..same });
                last = n;
            }
        }
    }

    #[test]
    fn an_error_that_is_not_reached_is_reported() {
        let x = rows(100, 4);
        let params = RbfSampler::new().error(Some(0.01));

        let fitted = params.fit(&Dataset::unlabeled(&x), &Monitor::quiet()).unwrap();

        assert_eq!(fitted.n_outputs(), 100);
        assert!(fitted.error.unwrap() > 0.01);
        let told = fitted.certificate.to_string();
        assert!(
            told.contains("NOT the requested error of 0.01") && told.contains("n_components"),
            "{told}"
        );
    }

    #[test]
    fn a_stopped_search_returns_the_features_so_far() {
        let x = rows(100, 4);
        let flag = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let raise = |_| flag.store(true, std::sync::atomic::Ordering::Relaxed);
        let monitor = Monitor::quiet().on_progress(raise).cancelled_by(flag.clone());
        // The first try has half of the expected number of features; the search stops after it.
        let params = RbfSampler::new().n_components(1 << 20).error(Some(0.01));

        let fitted = params.fit(&Dataset::unlabeled(&x), &monitor).unwrap();

        assert_eq!(fitted.certificate.stopped(), Some(crate::model::Stop::Cancelled));
        assert!(fitted.n_outputs() < 3000);
    }

    #[test]
    fn errors_outside_zero_to_one_are_refused() {
        let x = rows(10, 2);
        for bad in [0.0, 1.0, -0.1, f64::NAN] {
            let params = RbfSampler::new().error(Some(bad));

            let refused = params.fit(&Dataset::unlabeled(&x), &Monitor::quiet()).unwrap_err();

            assert!(matches!(refused, Error::Parameter { name, .. } if name == "error"));
        }
    }

    #[test]
    fn inner_products_are_unbiased_and_the_error_falls_with_the_root_of_n_components() {
        let x = rows(12, 4);
        let kernel =
            |i: usize, j: usize| Function::rbf(0.3).value(&x.row(i).to_vec(), &x.row(j).to_vec());
        // Mean error over seeds, and root mean square error, over all pairs.
        let errors = |directions: Directions, m: usize| {
            let params = RbfSampler::new().gamma(0.3.into()).directions(directions).n_components(m);
            let draws = 200;
            let mut sums = Matrix::zeros((12, 12));
            let mut square = 0.0;
            for seed in 0..draws {
                let new = fit(&params.clone().random_state(seed), &x);
                let new = new.transform(&Rows::from(&x)).unwrap();
                let off =
                    new.dot(&new.t()) - Matrix::from_shape_fn((12, 12), |(i, j)| kernel(i, j));
                square += off.iter().map(|v| v * v).sum::<f64>() / 144.0;
                sums += &off;
            }
            let largest = sums.iter().fold(0.0f64, |a, v| a.max(v.abs())) / draws as f64;
            (largest, (square / draws as f64).sqrt())
        };

        let (few, many) = (errors(Directions::Gaussian, 32), errors(Directions::Gaussian, 512));
        let orthogonal = errors(Directions::Orthogonal, 32);
        let structured = errors(Directions::Structured, 32);

        // The mean over 200 seeds lies within five of its standard errors of zero.
        for (mean, spread) in [few, many, orthogonal, structured] {
            assert!(mean < 5.0 * spread / 200f64.sqrt(), "{mean} of {spread}");
        }
        // Sixteen times as many features have a quarter of the error.
        assert!((few.1 / many.1 - 4.0).abs() < 0.4, "{} and {}", few.1, many.1);
        assert!(orthogonal.1 < few.1, "{} and {}", orthogonal.1, few.1);
        assert!(structured.1 < 1.1 * few.1, "{} and {}", structured.1, few.1);
    }
}
