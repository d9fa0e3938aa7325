//! Whitening: a matrix `W` with `‖W (x − m)‖² = (x − m)ᵀ Σ⁻¹ (x − m)`, the squared Mahalanobis distance.
//!
//! The covariance is `Σ = D R D` with the standard deviations `D` and the correlations `R`, so that the units of columns do
//! not matter. If `R` is safely positive definite, `W = L⁻¹ D⁻¹` with its Cholesky factor `L`. Otherwise directions with a
//! standard deviation of at most `tol` in these units are the null space. A null space of few dimensions with the basis
//! `Q` is projected out, and `R + QQᵀ` is factored; for one of many dimensions, `W` is made of the eigenvectors of `R`.

use super::null_space::null_space;
use crate::model::Cached;
use mercer_num::Matrix;
use mercer_num::linalg::{
    Cholesky, SymmetricEigen, add_matrix_product, add_transposed_product, multiply, solve_lower,
    solve_lower_transposed,
};
use mercer_num::simd::centered_product::add_centered_squared_norms;
use mercer_num::simd::smo::dot_double;
use ndarray::ArrayView2;

/// A standard deviation below this fraction of the mean is the rounding error of a constant column.
const RELATIVE_ROUNDING: f64 = 1e-13;

/// Rows of `W` per block. A triangular `W` is multiplied block by block, so that the zeros above its diagonal are skipped.
pub(super) const DIRECTIONS_PER_BLOCK: usize = 128;

/// Up to so many columns, distances are computed row by row, without a matrix product. There is a single block then.
const MAX_SMALL_COLUMNS: usize = 32;

/// How directions with zero variance are treated.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NullSpace<'a> {
    /// They do not contribute to distances, as with a pseudo-inverse.
    Dropped,
    /// Their standard deviation is set to `tol` in units of their columns, so that every class has a proper density. The
    /// unit of a constant column is given by these variances.
    Floored(&'a [f64]),
}

/// The whitening matrix of a covariance.
#[derive(Clone, Debug)]
pub(crate) struct Whitening {
    /// The standard deviations `D` that columns are divided by; infinite for a dropped column.
    scales: Vec<f64>,
    form: Form,
    /// The whitening matrix in blocks of rows, computed with the first distance.
    blocks: Cached<Vec<Block>>,
    /// `log det Σ` over the retained directions.
    pub log_determinant: f64,
    /// The rank of the covariance.
    pub rank: usize,
    /// The number of directions that contribute to distances.
    pub dimension: usize,
    /// An estimate of the condition number of `R` over the retained directions.
    pub condition: f64,
}

#[derive(Clone, Debug)]
enum Form {
    /// `L` of `R + QQᵀ = L Lᵀ`, and the basis `Q` of the null space of `R`, with few columns or none.
    Cholesky(Matrix, Matrix),
    /// `V` and the diagonal of `S` of `R = V S² Vᵀ`.
    Eigen(Matrix, Vec<f64>),
}

/// The transpose of consecutive rows of a whitening matrix: one row per column of the data, up to the last with a
/// nonzero weight, and one column per direction.
#[derive(Clone, Debug)]
struct Block(Matrix);

impl Block {
    fn cells(&self) -> &[f64] {
        self.0.as_slice().expect("blocks are row-major")
    }
}

impl Form {
    /// The rows of `L⁻¹ D⁻¹` or `S⁻¹ Vᵀ D⁻¹`.
    fn blocks(&self, scales: &[f64]) -> Vec<Block> {
        let width = scales.len();
        match self {
            Form::Cholesky(lower, null_vectors) => {
                let mut inverse = Matrix::eye(width);
                let cells = inverse.as_slice_mut().expect("a fresh matrix is contiguous");
                project_out(null_vectors, cells, width);
                solve_lower(lower.view(), cells, width);
                let read = |end: usize| if null_vectors.ncols() == 0 { end } else { width };
                (0..width)
                    .step_by(DIRECTIONS_PER_BLOCK)
                    .map(|start| {
                        let end = (start + DIRECTIONS_PER_BLOCK).min(width);
                        Block(Matrix::from_shape_fn((read(end), end - start), |(j, k)| {
                            inverse[[start + k, j]] / scales[j]
                        }))
                    })
                    .collect()
            }
            Form::Eigen(axes, spreads) => {
                let size = axes.ncols();
                (0..size)
                    .step_by(DIRECTIONS_PER_BLOCK)
                    .map(|start| {
                        let end = (start + DIRECTIONS_PER_BLOCK).min(size);
                        Block(Matrix::from_shape_fn((width, end - start), |(j, k)| {
                            axes[[j, start + k]] / spreads[start + k] / scales[j]
                        }))
                    })
                    .collect()
            }
        }
    }
}

/// The decomposition `Σ = D R D` of a covariance, and how its null space is treated.
struct Correlations<'a> {
    /// `R`. The rows of constant columns are those of the identity.
    r: Matrix,
    /// The diagonal of `D`.
    scales: Vec<f64>,
    /// `log det D²` over the columns that are retained.
    log_scales: f64,
    /// Columns whose variance is rounding error.
    constant: Vec<bool>,
    /// An eigenvalue of `R` of at most so much belongs to the null space.
    min_eigenvalue: f64,
    null_space: NullSpace<'a>,
}

impl<'a> Correlations<'a> {
    fn new(
        covariance: ArrayView2<'_, f64>,
        mean: &[f64],
        tol: f64,
        null_space: NullSpace<'a>,
    ) -> Correlations<'a> {
        let width = covariance.nrows();
        let min_eigenvalue = (tol * tol).max(f64::EPSILON);
        let constant: Vec<bool> = covariance
            .diag()
            .iter()
            .zip(mean)
            .map(|(v, m)| *v <= (RELATIVE_ROUNDING * m) * (RELATIVE_ROUNDING * m))
            .collect();
        let mut log_scales = 0.0;
        let mut scales = Vec::with_capacity(width);
        for (j, constant) in constant.iter().enumerate() {
            let variance = match null_space {
                NullSpace::Dropped if *constant => f64::INFINITY,
                NullSpace::Floored(units) if *constant => min_eigenvalue * units[j],
                _ => covariance[[j, j]],
            };
            if variance.is_finite() {
                log_scales += variance.ln();
            }
            scales.push(variance.sqrt());
        }
        let r = Matrix::from_shape_fn((width, width), |(i, j)| {
            if i == j {
                1.0
            } else if constant[i] || constant[j] {
                0.0
            } else {
                covariance[[i, j]] / scales[i] / scales[j]
            }
        });
        Correlations { r, scales, log_scales, constant, min_eigenvalue, null_space }
    }

    /// Whitening by a Cholesky factor: of `R`, or of `R + QQᵀ` if the null space is dropped. `None` if neither is safely
    /// positive definite.
    fn cholesky(&self) -> Option<Whitening> {
        let width = self.scales.len();
        let dropped = matches!(self.null_space, NullSpace::Dropped);
        let full_rank = || Some((self.safe_factor(&self.r)?, Matrix::zeros((width, 0))));
        let completed = || {
            let null_vectors = null_space(&self.r, self.min_eigenvalue)?;
            let completed = &self.r + &multiply(null_vectors.view(), null_vectors.t());
            Some((self.safe_factor(&completed)?, null_vectors))
        };
        let ((factor, condition), null_vectors) =
            full_rank().or_else(|| if dropped { completed() } else { None })?;
        let n_constant = self.constant.iter().filter(|c| **c).count();
        let rank = width - n_constant - null_vectors.ncols();
        Some(Whitening {
            log_determinant: self.log_scales + factor.log_determinant(),
            rank,
            dimension: if dropped { rank } else { width },
            condition,
            blocks: Cached::default(),
            form: Form::Cholesky(factor.lower().clone(), null_vectors),
            scales: self.scales.clone(),
        })
    }

    /// The Cholesky factor and the condition number of a matrix whose smallest eigenvalue is above the threshold. The
    /// estimated norm of the inverse is nearly always within a factor of three below the truth, hence the factor of four.
    fn safe_factor(&self, a: &Matrix) -> Option<(Cholesky, f64)> {
        let factor = Cholesky::of(a.view())?;
        let inverse_norm = factor.inverse_norm();
        let safe = inverse_norm * 4.0 * self.min_eigenvalue < 1.0;
        safe.then(|| (factor, inverse_norm * one_norm(a)))
    }

    /// Whitening by the eigenvectors of `R`.
    fn eigen(&self) -> Option<Whitening> {
        let (width, floor, constant) = (self.scales.len(), self.min_eigenvalue, &self.constant);
        // A constant column is an eigenvector of its own, so that the decomposition needs the other columns only.
        let varying: Vec<usize> = (0..width).filter(|j| !constant[*j]).collect();
        let part = Matrix::from_shape_fn((varying.len(), varying.len()), |(i, j)| {
            self.r[[varying[i], varying[j]]]
        });
        let eigen = SymmetricEigen::of(part.view())?;
        let rank = eigen.values.iter().filter(|v| **v > floor).count();
        let floored = matches!(self.null_space, NullSpace::Floored(_));
        let retained: Vec<usize> =
            (0..varying.len()).filter(|k| floored || eigen.values[*k] > floor).collect();
        let constant_axes: Vec<usize> = (0..width).filter(|j| floored && constant[*j]).collect();
        let mut axes = Matrix::zeros((width, retained.len() + constant_axes.len()));
        for (vector, j) in eigen.vectors.outer_iter().zip(&varying) {
            let row = axes.row_mut(*j);
            row.into_iter().zip(&retained).for_each(|(cell, k)| *cell = vector[*k]);
        }
        constant_axes.iter().enumerate().for_each(|(k, j)| axes[[*j, retained.len() + k]] = 1.0);
        let mut values: Vec<f64> = retained.iter().map(|k| eigen.values[*k].max(floor)).collect();
        values.resize(axes.ncols(), 1.0);
        let largest = values.iter().copied().fold(1.0, f64::max);
        let smallest = values.iter().copied().fold(1.0, f64::min);
        Some(Whitening {
            log_determinant: self.log_scales + values.iter().map(|v| v.ln()).sum::<f64>(),
            rank,
            dimension: axes.ncols(),
            condition: largest / smallest,
            blocks: Cached::default(),
            form: Form::Eigen(axes, values.iter().map(|v| v.sqrt()).collect()),
            scales: self.scales.clone(),
        })
    }
}

impl Whitening {
    /// The whitening matrix of a covariance; `None` if the covariance has entries that are not finite.
    pub fn of(
        covariance: ArrayView2<'_, f64>,
        mean: &[f64],
        tol: f64,
        null_space: NullSpace<'_>,
    ) -> Option<Whitening> {
        let correlations = Correlations::new(covariance, mean, tol, null_space);
        correlations.cholesky().or_else(|| correlations.eigen())
    }

    /// The length of a whitened row.
    pub fn size(&self) -> usize {
        match &self.form {
            Form::Cholesky(lower, _) => lower.nrows(),
            Form::Eigen(axes, _) => axes.ncols(),
        }
    }

    /// The whitening matrix in blocks of rows.
    fn blocks(&self) -> &[Block] {
        self.blocks.get(|| self.form.blocks(&self.scales))
    }

    /// Whitens `n` differences from a mean, given as the columns of a matrix with one row per column of the data. The
    /// result has one row per direction.
    pub fn whiten(&self, differences: &[f64], n: usize) -> Vec<f64> {
        let mut scaled = differences.to_vec();
        divide_rows(&mut scaled, &self.scales, n);
        match &self.form {
            Form::Cholesky(lower, null_vectors) => {
                project_out(null_vectors, &mut scaled, n);
                solve_lower(lower.view(), &mut scaled, n);
                scaled
            }
            Form::Eigen(axes, spreads) => {
                let mut out = vec![0.0; spreads.len() * n];
                let axes = axes.as_slice().expect("axes are row-major");
                add_transposed_product(axes, spreads.len(), &scaled, n, &mut out);
                divide_rows(&mut out, spreads, n);
                out
            }
        }
    }

    /// The transpose of [`Whitening::whiten`]: from directions back to columns.
    pub fn whiten_transposed(&self, whitened: &[f64], n: usize) -> Vec<f64> {
        let mut out = whitened.to_vec();
        match &self.form {
            Form::Cholesky(lower, null_vectors) => {
                solve_lower_transposed(lower.view(), &mut out, n);
                project_out(null_vectors, &mut out, n);
            }
            Form::Eigen(axes, spreads) => {
                divide_rows(&mut out, spreads, n);
                let directions = std::mem::replace(&mut out, vec![0.0; self.scales.len() * n]);
                let axes = axes.as_slice().expect("axes are row-major");
                add_matrix_product(axes, spreads.len(), &directions, n, &mut out);
            }
        }
        divide_rows(&mut out, &self.scales, n);
        out
    }

    /// `Σ⁻¹ v` over the retained directions.
    pub fn solve(&self, v: &[f64]) -> Vec<f64> {
        self.whiten_transposed(&self.whiten(v, 1), 1)
    }

    /// The squared Mahalanobis distances of the rows of a row-major panel from a mean.
    pub fn distances(&self, panel: &[f64], mean: &[f64]) -> Vec<f64> {
        let width = mean.len();
        let n = panel.len() / width;
        let mut out = vec![0.0; n];
        if width <= MAX_SMALL_COLUMNS {
            self.blocks()
                .iter()
                .for_each(|b| add_centered_squared_norms(panel, mean, b.cells(), &mut out));
            return out;
        }
        let centered = centered_rows(panel, mean, 0..n, width);
        (0..self.n_blocks()).for_each(|k| self.add_block(k, &centered, &mut out));
        out
    }

    /// The number of leading columns that a block reads.
    pub fn columns(&self, block: usize) -> usize {
        self.blocks()[block].0.nrows()
    }

    /// The number of blocks whose partial sums make a distance.
    pub fn n_blocks(&self) -> usize {
        self.blocks().len()
    }

    /// Adds the squares along the directions of one block to the partial sums of centered rows, which have at least the
    /// columns that the block reads.
    pub fn add_block(&self, block: usize, centered: &[f64], sums: &mut [f64]) {
        let n = sums.len();
        if n == 0 {
            return;
        }
        let block = &self.blocks()[block];
        let size = block.0.ncols();
        let mut whitened = vec![0.0; size * n];
        add_matrix_product(centered, centered.len() / n, block.cells(), size, &mut whitened);
        for (sum, row) in sums.iter_mut().zip(whitened.chunks_exact(size)) {
            *sum += dot_double(row, row);
        }
    }

    /// A sample from `N(0, Σ)`, from [`Whitening::size`] standard normal values.
    pub fn unwhiten(&self, z: &[f64]) -> Vec<f64> {
        let mut out: Vec<f64> = match &self.form {
            Form::Cholesky(lower, null_vectors) => {
                let along =
                    |row: ndarray::ArrayView1<'_, f64>| row.iter().zip(z).map(|(l, z)| l * z).sum();
                let mut out: Vec<f64> = lower.outer_iter().map(along).collect();
                project_out(null_vectors, &mut out, 1);
                out
            }
            Form::Eigen(axes, spreads) => (axes.outer_iter())
                .map(|row| row.iter().zip(spreads).zip(z).map(|((v, s), z)| v * s * z).sum())
                .collect(),
        };
        for (v, scale) in out.iter_mut().zip(&self.scales) {
            *v = if scale.is_finite() { *v * scale } else { 0.0 };
        }
        out
    }
}

/// Projects the `n` columns of a matrix onto the orthogonal complement of the null vectors.
fn project_out(null_vectors: &Matrix, cells: &mut [f64], n: usize) {
    if null_vectors.ncols() > 0 {
        let columns = ArrayView2::from_shape((null_vectors.nrows(), n), &*cells)
            .expect("one row per column of the data");
        let along = multiply(null_vectors.view(), multiply(null_vectors.t(), columns).view());
        cells.iter_mut().zip(&along).for_each(|(cell, part)| *cell -= part);
    }
}

/// Divides each row of `n` values by its own divisor; an infinite divisor makes the row zero.
fn divide_rows(cells: &mut [f64], by: &[f64], n: usize) {
    for (row, by) in cells.chunks_exact_mut(n.max(1)).zip(by) {
        row.iter_mut().for_each(|v| *v /= by);
    }
}

/// `x − mean` of the given rows of a row-major panel, in their first columns.
pub(super) fn centered_rows(
    panel: &[f64],
    mean: &[f64],
    rows: impl ExactSizeIterator<Item = usize>,
    columns: usize,
) -> Vec<f64> {
    let width = mean.len();
    let mut out = Vec::with_capacity(rows.len() * columns);
    for i in rows {
        let row = &panel[i * width..i * width + columns];
        out.extend(row.iter().zip(mean).map(|(x, m)| x - m));
    }
    out
}

fn one_norm(a: &Matrix) -> f64 {
    a.outer_iter().map(|row| row.iter().map(|v| v.abs()).sum()).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_num::random::Random;
    use ndarray::array;

    const UNITS: [f64; 2] = [4.0, 9.0];

    #[test]
    fn distances_match_the_inverse_of_a_definite_covariance() {
        let covariance = array![[4.0, 2.0], [2.0, 5.0]];

        let root = Whitening::of(covariance.view(), &[0.0; 2], 1e-4, NullSpace::Dropped).unwrap();

        // The inverse is [[5, -2], [-2, 4]] / 16.
        let distances = root.distances(&[2.0, 1.0, 1.0, 4.0], &[1.0, 1.0]);
        assert!((distances[0] - 5.0 / 16.0).abs() < 1e-14);
        assert!((distances[1] - 36.0 / 16.0).abs() < 1e-14);
        assert!((root.log_determinant - 16f64.ln()).abs() < 1e-14);
        assert_eq!((root.rank, root.dimension), (2, 2));
    }

    #[test]
    fn collinear_columns_are_dropped_or_floored() {
        // Both columns are proportional: all variance lies along (2, 3).
        let covariance = array![[4.0, 6.0], [6.0, 9.0]];

        let dropped =
            Whitening::of(covariance.view(), &[0.0; 2], 1e-4, NullSpace::Dropped).unwrap();
        let floored =
            Whitening::of(covariance.view(), &[0.0; 2], 1e-4, NullSpace::Floored(&UNITS)).unwrap();

        // In units of the standard deviations, (2, 3) is (1, 1) and (2, -3) is orthogonal to it.
        let (along, across) = ([2.0, 3.0], [2.0, -3.0]);
        assert!((dropped.distances(&along, &[0.0; 2])[0] - 1.0).abs() < 1e-12);
        assert!(dropped.distances(&across, &[0.0; 2])[0].abs() < 1e-12);
        assert!((floored.distances(&along, &[0.0; 2])[0] - 1.0).abs() < 1e-12);
        assert!((floored.distances(&across, &[0.0; 2])[0] - 2e8).abs() < 1.0);
        assert_eq!((dropped.rank, dropped.dimension), (1, 1));
        assert_eq!((floored.rank, floored.dimension), (1, 2));
    }

    #[test]
    fn a_constant_column_is_dropped_or_takes_the_given_unit() {
        let covariance = array![[4.0, 0.0], [0.0, 1e-33]];
        let mean = [0.0, 0.1];

        let dropped = Whitening::of(covariance.view(), &mean, 1e-2, NullSpace::Dropped).unwrap();
        let floored =
            Whitening::of(covariance.view(), &mean, 1e-2, NullSpace::Floored(&UNITS)).unwrap();

        assert_eq!(dropped.distances(&[2.0, 7.0], &mean), [1.0]);
        assert_eq!((dropped.rank, dropped.dimension, floored.rank), (1, 1, 1));
        // A variance of 9 tol².
        let expected = 1.0 + 0.09 / 9e-4;
        assert!((floored.distances(&[2.0, 0.4], &mean)[0] - expected).abs() < 1e-9);
        assert_eq!(dropped.unwhiten(&[1.0, 1.0]), [2.0, 0.0]);
    }

    #[test]
    fn a_projected_null_space_matches_the_eigendecomposition() {
        let mut random = Random::new(9);
        let width = 70;
        let mut x = Matrix::from_shape_simple_fn((300, width), || 3.0 * random.normal());
        let sum = &x.column(0) + &x.column(1);
        x.column_mut(5).assign(&sum);
        x.column_mut(9).fill(2.0);
        let mean = x.mean_axis(ndarray::Axis(0)).unwrap();
        let centered = &x - &mean;
        let covariance = centered.t().dot(&centered) / 300.0;
        let mean = mean.to_vec();

        let root = Whitening::of(covariance.view(), &mean, 1e-4, NullSpace::Dropped).unwrap();

        assert!(matches!(&root.form, Form::Cholesky(_, null_vectors) if null_vectors.ncols() == 1));
        assert_eq!((root.rank, root.dimension), (68, 68));
        // The expected distances use the pseudo-inverse of the correlations.
        let scale = |j: usize| if j == 9 { f64::INFINITY } else { covariance[[j, j]].sqrt() };
        let r = Matrix::from_shape_fn((width, width), |(i, j)| {
            covariance[[i, j]] / scale(i) / scale(j)
        });
        let eigen = SymmetricEigen::of(r.view()).unwrap();
        let kept: Vec<usize> = (0..width).filter(|k| eigen.values[*k] > 1e-8).collect();
        let log_scales: f64 = (0..width).filter(|j| *j != 9).map(|j| 2.0 * scale(j).ln()).sum();
        let log_values: f64 = kept.iter().map(|k| eigen.values[*k].ln()).sum();
        assert!((root.log_determinant - log_scales - log_values).abs() < 1e-9);
        for row in x.outer_iter().take(5) {
            let z: Vec<f64> =
                (0..width).map(|j| (row[j] + (j % 3) as f64 - mean[j]) / scale(j)).collect();
            let along =
                |k: usize| eigen.vectors.column(k).iter().zip(&z).map(|(v, z)| v * z).sum::<f64>();
            let expected: f64 = kept.iter().map(|k| along(*k).powi(2) / eigen.values[*k]).sum();
            let moved: Vec<f64> = (0..width).map(|j| row[j] + (j % 3) as f64).collect();
            let centered: Vec<f64> = moved.iter().zip(&mean).map(|(x, m)| x - m).collect();
            let whitened: f64 = root.whiten(&centered, 1).iter().map(|v| v * v).sum();
            let found = root.distances(&moved, &mean)[0];
            assert!((found - expected).abs() < 1e-9 * expected, "{found} for {expected}");
            assert!((whitened - expected).abs() < 1e-9 * expected);
        }
        // Sampled rows satisfy the linear dependence of the columns.
        let z: Vec<f64> = (0..root.size()).map(|_| random.normal()).collect();
        let drawn = root.unwhiten(&z);
        assert!((drawn[0] + drawn[1] - drawn[5]).abs() < 1e-9 && drawn[9] == 0.0);
    }

    #[test]
    fn solve_inverts_the_covariance() {
        for covariance in [array![[4.0, 2.0], [2.0, 5.0]], array![[4.0, 6.0], [6.0, 9.0]]] {
            let root =
                Whitening::of(covariance.view(), &[0.0; 2], 1e-4, NullSpace::Dropped).unwrap();
            let v = [2.0, 3.0];

            let solved = root.solve(&v);

            let again = covariance.dot(&ndarray::Array1::from(solved));
            assert!((again[0] - v[0]).abs() < 1e-12 && (again[1] - v[1]).abs() < 1e-12);
        }
    }
}
