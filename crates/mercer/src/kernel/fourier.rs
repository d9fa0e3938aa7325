//! Random Fourier features: a Gaussian kernel as an inner product of waves.
//!
//! `φ(x) = √(2/M) cos(wₖ·x + bₖ)`, `k = 1..M`, with `w ~ N(0, 2 gamma I)` and `b` even in `[0, 2π)`. Then
//! `E φ(x)·φ(z) = exp(−gamma ‖x − z‖²)` (Bochner's theorem; Rahimi & Recht 2007), with an error that falls
//! as `1/√M`. Directions that are drawn at right angles to each other cover the space more evenly and keep
//! the mean (Yu et al. 2016). Three rounds of drawn signs and sums and differences turn a row nearly as evenly,
//! in `d log d` operations instead of `d²`.

use super::structured_orthogonal::{HadamardRotation, PreparedRotation};
use super::{Gamma, UniqueRows};
use crate::data::{check_cells, check_storage};
use crate::model::{Cached, Certificate};
use crate::prelude::*;
use mercer_num::Float;
use mercer_num::linalg::Qr;
use mercer_num::memory::zeros_of;
use mercer_num::random::Random;
use mercer_num::rows::Missing;
use mercer_num::simd::sparse_product::ColumnPanels;
use ndarray::Array2;
use rayon::prelude::*;
use std::ops::Mul;
use std::time::Instant;

/// Rows mapped by one thread at a time.
const ROWS: usize = 128;
/// A row of which at most one cell in so many is not zero is multiplied by those cells alone, unless it is
/// narrow: a product of blocks is faster by cell.
const THIN: usize = 2;
const NARROW: usize = 32;
/// Rows whose kernel values are compared with what they stand for.
const COMPARED: usize = 64;
/// The fewest waves that are tried where an error is asked for.
const FEWEST: usize = 16;

choice! {
    /// How the directions of waves are drawn.
    pub enum Directions {
        /// Each for itself.
        Gaussian = "gaussian",
        /// At right angles, as many at a time as there are columns.
        Orthogonal = "orthogonal",
        /// At right angles by signs, sums and differences.
        Structured = "structured",
    }
}

params! {
    /// Random Fourier features: rows as waves whose inner products are near to a Gaussian kernel.
    pub struct RbfSampler {
        /// How fast the kernel falls with distance: a number, `scale` for `1 / (columns · variance)`, or
        /// `auto` for `1 / columns`.
        gamma: Gamma = Gamma::Number(1.0), AtLeast(0.0);
        /// How many waves; where an `error` is asked for, at most so many. The error falls with the square
        /// root of their number.
        n_components: usize = 100, Between(1.0, 1e9);
        /// How far kernel values of rows may be off, as a root mean square over sampled pairs: waves are added until
        /// they are that near, or `n_components` are drawn. Nothing draws `n_components` at once.
        error: Option<f64> = None, Inside(0.0, 1.0);
        /// How directions are drawn: each for itself (`plain`), at right angles to each other
        /// (`orthogonal`), which has smaller errors for as many waves, or so by sums and differences alone
        /// (`structured`), which is many times faster where columns are many.
        directions: Directions = Directions::Gaussian, OneOf(Directions::WORDS);
        /// The seed of what is drawn.
        random_state: usize = 0, Any;
    }
}

/// Directions and phases of waves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RbfSamplerModel {
    /// The width of the kernel.
    pub gamma: f64,
    /// `w`: one row a column of the data, one column a wave.
    pub random_weights: Matrix,
    /// `b` of every wave.
    pub random_offset: Vec<f64>,
    /// How rows are turned where directions are structured.
    #[serde(default)]
    pub rotations: Option<HadamardRotation>,
    /// The root mean square error of kernel values of sampled pairs of rows, where it was measured.
    #[serde(default)]
    pub error: Option<f64>,
    #[serde(skip)]
    ready: Cached<Waves<f64>>,
    #[serde(skip)]
    single: Cached<Waves<f32>>,
}

/// What rows are mapped with, in one precision.
#[derive(Debug)]
struct Waves<T> {
    /// Where directions are structured.
    rotation: Option<PreparedRotation<T>>,
    /// Directions, one a row.
    directions: Cached<Vec<T>>,
    /// The same by columns of the data.
    panels: Cached<ColumnPanels<T>>,
    phases: Vec<T>,
}

impl Fit for RbfSampler {
    type Model = RbfSamplerModel;

    /// Draws the waves; of the rows only the width is looked at, the variance where `gamma` asks for it, and
    /// the kernel values of some pairs.
    fn fit(&self, data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<Fitted<RbfSamplerModel>> {
        let start = Instant::now();
        self.check()?;
        check_usable(data, monitor)?;
        let (d, most) = (data.n_columns(), self.n_components);
        let gamma = self.gamma.of(data);
        let kernel = super::Function::rbf(gamma);
        let compared = self.error.map(|_| some_rows(data));
        let mut m = self.fewest();
        loop {
            monitor.reserve("keeping the directions of random waves", 16 * (d * m) as u64)?;
            let model = self.waves(gamma, d, m);
            let error_over = |rows: &Rows<'_>| {
                sampled_error(rows, |x| model.transform(x), |x, z| kernel.value(x, z))
            };
            let error = match &compared {
                Some(few) => error_over(&Rows::from(few)),
                None => error_over(data.rows()),
            }?;
            let near = self.error.is_none_or(|asked| error <= asked);
            let stopped = if near || m == most { None } else { monitor.stop() };
            if near || m == most || stopped.is_some() {
                monitor.report(m as u64, Some(m as u64));
                let mut certificate = drawn(data, error, None, start).stopped_by(stopped);
                certificate.notes.extend(self.error.map(|asked| met(asked, error, m, most)));
                return Ok(Fitted {
                    model: RbfSamplerModel { error: Some(error), ..model },
                    certificate,
                });
            }
            monitor.report(m as u64, Some(most as u64));
            m = more(m).min(most);
        }
    }
}

impl RbfSampler {
    /// How many waves are tried first: all, or where an error is asked for, about half of what the law of its
    /// fall says. Fewer would be near by luck alone.
    fn fewest(&self) -> usize {
        let Some(asked) = self.error else { return self.n_components };
        let least = 1.0 / (8.0 * asked * asked);
        let mut m = FEWEST;
        while (m as f64) < least && m < self.n_components {
            m = more(m);
        }
        m.min(self.n_components)
    }

    /// So many waves, drawn.
    fn waves(&self, gamma: f64, d: usize, m: usize) -> RbfSamplerModel {
        let mut random = Random::new(self.random_state as u64);
        let mut weights = match self.directions {
            Directions::Gaussian => Matrix::from_shape_simple_fn((d, m), || random.normal()),
            Directions::Orthogonal => orthogonal(d, m, &mut random),
            Directions::Structured => Matrix::zeros((d, m)),
        };
        weights *= (2.0 * gamma).sqrt();
        let rotations = match self.directions {
            Directions::Structured => Some(HadamardRotation::drawn(d, m, gamma, &mut random)),
            Directions::Gaussian | Directions::Orthogonal => None,
        };
        let offsets: Vec<f64> = (0..m).map(|_| std::f64::consts::TAU * random.uniform()).collect();
        if let Some(rotations) = &rotations {
            weights = rotations.directions(d);
        }
        RbfSamplerModel { rotations, ..RbfSamplerModel::new(gamma, weights, offsets) }
    }
}

/// The next number of waves that is tried: a quarter more. The numbers are the same for every error, so
/// that a smaller one never takes fewer.
fn more(m: usize) -> usize {
    (m + m / 4).next_multiple_of(8)
}

/// How an error that was asked for was met.
pub(super) fn met(asked: f64, error: f64, n: usize, most: usize) -> String {
    let columns = if n == 1 { "column" } else { "columns" };
    match () {
        () if error <= asked => format!("{n} {columns} for an error of at most {asked}"),
        () if n == most => format!(
            "NOT the error of {asked} that was asked for: {error:.3} with {n} {columns}, as many as \
             n_components allows"
        ),
        () => format!("NOT the error of {asked} that was asked for: {error:.3} with {n} {columns}"),
    }
}

/// Directions at right angles within every block of as many as there are columns, each as long as a
/// direction drawn for itself would be.
fn orthogonal(d: usize, m: usize, random: &mut Random) -> Matrix {
    let mut out = Matrix::zeros((d, m));
    for first in (0..m).step_by(d) {
        let some = d.min(m - first);
        let drawn = Matrix::from_shape_simple_fn((d, some), || random.normal());
        let turned = Qr::of(drawn.view()).q();
        for k in 0..some {
            let square: f64 = (0..d).map(|_| random.normal().powi(2)).sum();
            // The factor's own signs are not drawn evenly.
            let sign = if random.uniform() < 0.5 { -1.0 } else { 1.0 };
            let column = &turned.column(k) * (sign * square.sqrt());
            out.column_mut(first + k).assign(&column);
        }
    }
    out
}

/// Refuses what no map can be learned from.
pub(super) fn check_usable(data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<()> {
    if data.n_rows() == 0 || !weights_some(data) {
        return Err(Error::NoRows);
    }
    if data.n_columns() == 0 {
        return Err(Error::NoFeatures);
    }
    if monitor.stop().is_some() {
        return Err(Error::Stopped);
    }
    check_storage(data.rows())?;
    check_cells(data.rows(), Missing::Refused)
}

fn weights_some(data: &Dataset<'_>) -> bool {
    data.weights().is_empty() || data.weights().iter().any(|w| *w > 0.0)
}

/// The certificate of a map that was drawn.
pub(super) fn drawn(
    data: &Dataset<'_>,
    error: f64,
    relative_trace_error: Option<f64>,
    start: Instant,
) -> Certificate {
    let certificate = Certificate::sampled()
        .violation("root mean square error of sampled kernel values", error)
        .rows(data.n_rows() as u64)
        .iterations(1)
        .since(start);
    match relative_trace_error {
        Some(fraction) => {
            certificate.objective("fraction of the kernel's trace left out", fraction)
        }
        None => certificate,
    }
}

/// A few rows, the same wherever they stand, and however often: what they say decides how many waves there are.
fn some_rows(data: &Dataset<'_>) -> Matrix {
    let list = UniqueRows::of(data.rows(), data.weights(), 0);
    let mut order: Vec<usize> = (0..list.indices.len()).collect();
    order.sort_by(|a, b| list.draws[*a].total_cmp(&list.draws[*b]));
    order.truncate(COMPARED);
    let cells = order.iter().flat_map(|k| data.rows().row(list.indices[*k] as usize)).collect();
    Matrix::from_shape_vec((order.len(), data.n_columns()), cells).expect("rows of one width")
}

/// New rows, in a table made for them.
pub(super) fn written<T: Float>(
    n_rows: usize,
    width: usize,
    write: impl FnOnce(&mut [T]) -> Result<()>,
) -> Result<Array2<T>> {
    let mut out = zeros_of(n_rows * width);
    write(&mut out)?;
    Ok(Array2::from_shape_vec((n_rows, width), out).expect("a cell a column"))
}

/// How far inner products of new rows are from the kernel, over pairs of rows spread over all.
pub(super) fn sampled_error(
    rows: &Rows<'_>,
    transform: impl Fn(&Rows<'_>) -> Result<Matrix>,
    kernel: impl Fn(&[f64], &[f64]) -> f64,
) -> Result<f64> {
    let stride = rows.n_rows().div_ceil(COMPARED);
    let some: Vec<Vec<f64>> = (0..rows.n_rows()).step_by(stride).map(|i| rows.row(i)).collect();
    let x = Matrix::from_shape_vec((some.len(), rows.n_columns()), some.concat())
        .expect("rows of one width");
    let new = transform(&Rows::from(&x))?;
    let products = new.dot(&new.t());
    let mut sum = 0.0;
    for (i, a) in some.iter().enumerate() {
        for (j, b) in some.iter().enumerate().take(i + 1) {
            let off = products[[i, j]] - kernel(a, b);
            sum += off * off;
        }
    }
    Ok((sum / (some.len() * (some.len() + 1) / 2) as f64).sqrt())
}

impl RbfSamplerModel {
    /// The map with given directions (a row a column of the data, a column a wave) and phases.
    ///
    /// # Panics
    /// If there are not as many phases as directions.
    pub fn new(gamma: f64, random_weights: Matrix, random_offset: Vec<f64>) -> RbfSamplerModel {
        assert_eq!(random_weights.ncols(), random_offset.len(), "a phase a wave");
        RbfSamplerModel {
            gamma,
            random_weights,
            random_offset,
            rotations: None,
            error: None,
            ready: Cached::default(),
            single: Cached::default(),
        }
    }

    fn waves<T: Float>(&self) -> Waves<T> {
        Waves {
            rotation: self.rotations.as_ref().map(HadamardRotation::ready),
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

    /// The new rows in one precision: products and cosines of a block, while the block is in cache.
    fn map<T: Float + Mul<Output = T>>(&self, x: &Rows<'_>, waves: &Waves<T>, out: &mut [T]) {
        let (d, m) = self.random_weights.dim();
        let scale = (2.0 / m as f64).sqrt();
        let cosines = |out: &mut [T]| {
            out.chunks_exact_mut(m).for_each(|row| T::scaled_cosines(row, &waves.phases, scale))
        };
        out.par_chunks_mut(ROWS * m).enumerate().for_each(|(k, out)| {
            let first = k * ROWS;
            let rows = first..first + out.len() / m;
            if let Rows::Sparse(x) = x {
                let cells = rows.map(|i| x.row(i)).map(|(columns, values)| {
                    columns.iter().zip(values).map(|(j, v)| (*j, T::narrow(*v)))
                });
                self.multiply_thin(cells, waves, out);
                return cosines(out);
            }
            let block = T::block(x, rows).unwrap_or_default();
            let Some(rotation) = &waves.rotation else {
                self.multiply(&block, waves, out);
                return cosines(out);
            };
            let mut room = Vec::new();
            for (row, out) in block.chunks_exact(d).zip(out.chunks_exact_mut(m)) {
                rotation.turn(row, &mut room, out);
                cosines(out);
            }
        });
    }

    /// The inner products of dense rows with all directions. Which way a row goes is its own affair: in other
    /// company it has the same bits.
    fn multiply<T: Float>(&self, rows: &[T], waves: &Waves<T>, out: &mut [T]) {
        let (d, m) = self.random_weights.dim();
        let zero = T::default();
        let is_thin =
            |row: &[T]| d >= NARROW && THIN * row.iter().filter(|v| **v != zero).count() <= d;
        let thin: Vec<bool> = rows.chunks_exact(d).map(is_thin).collect();
        let taken = |kind: bool| {
            rows.chunks_exact(d)
                .zip(&thin)
                .filter(move |(_, thin)| **thin == kind)
                .map(|(row, _)| row)
        };
        let n_thin = thin.iter().filter(|thin| **thin).count();
        let cells =
            taken(true).map(|row| (0..).zip(row.iter().copied()).filter(|(_, v)| *v != zero));
        if n_thin == thin.len() {
            return self.multiply_thin(cells, waves, out);
        }
        let directions = waves
            .directions
            .get(|| self.random_weights.t().iter().map(|v| T::narrow(*v)).collect());
        if n_thin == 0 {
            return T::dot_products(rows, directions, d, out);
        }
        let mut products = vec![zero; n_thin * m];
        self.multiply_thin(cells, waves, &mut products);
        let mut others = vec![zero; (thin.len() - n_thin) * m];
        T::dot_products(&taken(false).collect::<Vec<_>>().concat(), directions, d, &mut others);
        let (mut products, mut others) = (products.chunks_exact(m), others.chunks_exact(m));
        for (out, thin) in out.chunks_exact_mut(m).zip(&thin) {
            let row = if *thin { products.next() } else { others.next() };
            out.copy_from_slice(row.expect("a product a row"));
        }
    }

    /// The inner products of rows given by their cells.
    fn multiply_thin<T: Float>(
        &self,
        rows: impl Iterator<Item = impl Iterator<Item = (i32, T)>>,
        waves: &Waves<T>,
        out: &mut [T],
    ) {
        let (d, m) = self.random_weights.dim();
        let panels = waves
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
        written(x.n_rows(), self.n_outputs(), |out| self.transform_into(x, out))
    }

    fn transform_f32(&self, x: &Rows<'_>) -> Result<Array2<f32>> {
        written(x.n_rows(), self.n_outputs(), |out| self.transform_f32_into(x, out))
    }

    fn transform_into(&self, x: &Rows<'_>, out: &mut [f64]) -> Result<()> {
        self.check_rows(x)?;
        self.map(x, self.ready.get(|| self.waves()), out);
        Ok(())
    }

    fn transform_f32_into(&self, x: &Rows<'_>, out: &mut [f32]) -> Result<()> {
        self.check_rows(x)?;
        self.map(x, self.single.get(|| self.waves()), out);
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
        if fits { Ok(()) } else { Err(Error::File("waves that nobody drew".into())) }
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
    fn new_rows_are_the_waves_of_the_lecture() {
        let x = rows(200, 3);
        let model = fit(&RbfSampler::new().n_components(70), &x);

        let new = model.transform(&Rows::from(&x)).unwrap();
        let single = model.transform_f32(&Rows::from(&x)).unwrap();

        for (i, k) in [(0, 0), (137, 69), (199, 31)] {
            let dot: f64 = (0..3).map(|j| x[[i, j]] * model.random_weights[[j, k]]).sum();
            let wave = (2.0f64 / 70.0).sqrt() * (dot + model.random_offset[k]).cos();
            assert!((new[[i, k]] - wave).abs() < 1e-15);
            assert!((f64::from(single[[i, k]]) - wave).abs() < 1e-6);
        }
    }

    #[test]
    fn rows_of_any_kind_keep_their_bits_in_any_company() {
        let mut random = Random::new(4);
        // One row in three is full, others have a few cells.
        let x = Matrix::from_shape_fn((200, 40), |(i, _)| {
            if i % 3 == 0 || random.uniform() < 0.1 { random.normal() } else { 0.0 }
        });
        for directions in [Directions::Gaussian, Directions::Structured] {
            let model = fit(&RbfSampler::new().n_components(75).directions(directions), &x);

            let all = model.transform(&Rows::from(&x)).unwrap();

            for i in [0, 1, 2, 130, 199] {
                let alone = x.select(ndarray::Axis(0), &[i]);
                let alone = model.transform(&Rows::from(&alone)).unwrap();
                assert_eq!(alone.row(0), all.row(i), "{directions:?} row {i}");
                let dot: f64 = (0..40).map(|j| x[[i, j]] * model.random_weights[[j, 71]]).sum();
                let wave = (2.0f64 / 75.0).sqrt() * (dot + model.random_offset[71]).cos();
                assert!((all[[i, 71]] - wave).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn turned_rows_have_the_directions_that_are_written_out() {
        let x = rows(21, 5);
        let model = fit(&RbfSampler::new().n_components(19).directions(Directions::Structured), &x);

        let new = model.transform(&Rows::from(&x)).unwrap();
        let single = model.transform_f32(&Rows::from(&x)).unwrap();

        let plain =
            RbfSamplerModel::new(1.0, model.random_weights.clone(), model.random_offset.clone());
        let expected = plain.transform(&Rows::from(&x)).unwrap();
        for ((a, b), c) in new.iter().zip(&expected).zip(&single) {
            assert!((a - b).abs() < 1e-13 && (a - f64::from(*c)).abs() < 1e-5);
        }
        // Woodbury all the numbers that are turned, directions are at right angles.
        let all = model.rotations.as_ref().unwrap().directions(64);
        let product: f64 = (0..64).map(|j| all[[j, 2]] * all[[j, 7]]).sum();
        assert!(product.abs() < 1e-12);
        model.check().unwrap();
    }

    #[test]
    fn waves_are_added_until_they_are_as_near_as_was_asked() {
        let x = rows(300, 4);
        for directions in [Directions::Gaussian, Directions::Orthogonal, Directions::Structured] {
            let params = RbfSampler::new().gamma(0.3.into()).directions(directions);
            let params = params.n_components(100_000);
            let mut last = 0;
            for asked in [0.3, 0.1, 0.05, 0.02] {
                let some = params.clone().error(Some(asked));

                let fitted = some.fit(&Dataset::unlabeled(&x), &Monitor::quiet()).unwrap();

                let (n, error) = (fitted.n_outputs(), fitted.error.unwrap());
                assert!(error <= asked && n >= last, "{directions:?}: {error} with {n}");
                assert_eq!(fitted.certificate.violation.as_ref().unwrap().value, error);
                // About 1/M is the square of the error, and a quarter more waves were tried in turn.
                assert!((n as f64) < 2.0 / (asked * asked), "{directions:?}: {n} for {asked}");
                // The waves are those of their number; the error is measured on other rows.
                let asked_for = fit(&params.clone().n_components(n), &x);
                let error = fitted.error;
                assert_eq!(fitted.model, RbfSamplerModel { error, ..asked_for });
                last = n;
            }
        }
    }

    #[test]
    fn waves_that_do_not_suffice_are_told() {
        let x = rows(100, 4);
        let params = RbfSampler::new().error(Some(0.01));

        let fitted = params.fit(&Dataset::unlabeled(&x), &Monitor::quiet()).unwrap();

        assert_eq!(fitted.n_outputs(), 100);
        assert!(fitted.error.unwrap() > 0.01);
        let told = fitted.certificate.to_string();
        assert!(told.contains("NOT the error of 0.01") && told.contains("n_components"), "{told}");
    }

    #[test]
    fn time_that_is_up_ends_the_search_with_the_waves_there_are() {
        let x = rows(100, 4);
        let flag = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let raise = |_| flag.store(true, std::sync::atomic::Ordering::Relaxed);
        let monitor = Monitor::quiet().on_progress(raise).cancelled_by(flag.clone());
        // A first try is half of what it takes, and after it nobody waits for more.
        let params = RbfSampler::new().n_components(1 << 20).error(Some(0.01));

        let fitted = params.fit(&Dataset::unlabeled(&x), &monitor).unwrap();

        assert_eq!(fitted.certificate.stopped(), Some(crate::model::Stop::Cancelled));
        assert!(fitted.n_outputs() < 3000);
    }

    #[test]
    fn errors_that_are_none_are_refused() {
        let x = rows(10, 2);
        for bad in [0.0, 1.0, -0.1, f64::NAN] {
            let params = RbfSampler::new().error(Some(bad));

            let refused = params.fit(&Dataset::unlabeled(&x), &Monitor::quiet()).unwrap_err();

            assert!(matches!(refused, Error::Parameter { name, .. } if name == "error"));
        }
    }

    #[test]
    fn inner_products_are_right_on_average_and_the_error_falls_with_the_root_of_the_waves() {
        let x = rows(12, 4);
        let kernel =
            |i: usize, j: usize| Function::rbf(0.3).value(&x.row(i).to_vec(), &x.row(j).to_vec());
        // Mean error over draws, and root of the mean square of it, over all pairs.
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
        let turned = errors(Directions::Orthogonal, 32);
        let structured = errors(Directions::Structured, 32);

        // The mean of 200 draws lies within five of its own standard errors of zero.
        for (mean, spread) in [few, many, turned, structured] {
            assert!(mean < 5.0 * spread / 200f64.sqrt(), "{mean} of {spread}");
        }
        // Sixteen times the waves, a quarter of the error.
        assert!((few.1 / many.1 - 4.0).abs() < 0.4, "{} and {}", few.1, many.1);
        assert!(turned.1 < few.1, "{} and {}", turned.1, few.1);
        assert!(structured.1 < 1.1 * few.1, "{} and {}", structured.1, few.1);
    }
}
