//! Preconditioners for the Hessian `XᵀDX + λI` of linear models, with Hessian weights `D` per row.
//!
//! From the crudest to the exact one: the diagonal; one covariance matrix of the columns, shared by all subproblems; the
//! Hessian of every subproblem, computed anew at every iteration for few columns, or updated from iteration to iteration
//! ([`hessian`]); and its inverse through the Gram matrix of the active rows where those are fewer than the columns
//! ([`woodbury`]).
//!
//! Weights and intercept are separated by centering the columns: with `S = Σᵢ dᵢ`, `a = S / (S + λ₀)`, the means `μ` and the
//! penalty `λ₀` on the intercept, the solution of `(XᵀDX + λI)(w, b) = (r, r₀)` is `w = M⁻¹(r − aμr₀)`,
//! `b = r₀ / (S + λ₀) − aμ·w`, where `M` is the scatter matrix around `μ`, plus `λI`, plus `aλ₀ μμᵀ`.

mod hessian;
mod woodbury;

use crate::data::design_matrix::DesignMatrix;
use hessian::TrackedHessian;
use mercer_num::Matrix;
use mercer_num::linalg::{
    Cholesky, CholeskyProgress, cholesky_in_place, solve_lower, solve_lower_transposed,
};
use ndarray::ArrayView2;
use woodbury::Woodbury;

/// Dense columns up to which the Hessian is computed anew at every iteration.
pub(crate) const MAX_DENSE_HESSIAN_COLUMNS: usize = 128;
/// The same for sparse columns, provided that it costs no more than so many Hessian products.
const MAX_SPARSE_HESSIAN_COLUMNS: usize = 512;
const MAX_SPARSE_HESSIAN_COST: f64 = 16.0;
/// Dense columns up to which their covariance matrix is a preconditioner.
const MAX_COVARIANCE_COLUMNS: usize = 1024;
/// Dense columns up to which the Hessian is updated from iteration to iteration.
pub(crate) const MAX_TRACKED_HESSIAN_COLUMNS: usize = 8192;
/// Entries of all Hessians together; their factors take as many again.
pub(crate) const MAX_HESSIAN_ENTRIES: usize = 1 << 29;
/// The Hessian products that computing a Hessian may cost: what another preconditioner would soon need, or has needed at
/// the last iteration. At the first iteration all rows are active, and their Hessian weights are mostly the same in all
/// subproblems.
const MIN_HESSIAN_BUDGET: u64 = 45;
const FIRST_HESSIAN_BUDGET: u64 = 60;
/// How many times faster matrix products compute an entry than Hessian products, which are bound by memory.
const MATRIX_PRODUCT_SPEEDUP: f64 = 14.0;

/// An approximate inverse of the Hessian of `m` interleaved subproblems.
pub(crate) enum Preconditioner {
    None,
    /// The diagonal of the Hessian.
    Diagonal(Vec<f64>),
    /// One covariance matrix of the columns for all subproblems, times the sum of the Hessian weights of each.
    Shared {
        means: Vec<f64>,
        covariance: Matrix,
        factor: CenteredFactor,
        /// `Σᵢ dᵢ` of each subproblem.
        sums: Vec<f64>,
    },
    /// The Hessian of each subproblem.
    Exact(Vec<CenteredFactor>),
    /// The Hessian of each subproblem, updated from iteration to iteration.
    TrackedHessian(TrackedHessian),
    /// The inverse through the Gram matrix of the active rows.
    Woodbury(Woodbury),
}

/// What decides about the preconditioner.
#[derive(Clone, Copy)]
pub(crate) struct PreconditionerOptions {
    /// Whether the subproblems are independent, so that each has a Hessian of its own.
    pub independent: bool,
    /// Hessian products that the last preconditioner has needed.
    pub products_spent: u64,
    /// Entries that the Hessians may have; their factors take as many again.
    pub max_entries: usize,
}

/// The L2 penalties `λ` on the weights and `λ₀` on the intercept.
#[derive(Clone, Copy)]
pub(crate) struct L2Penalties {
    pub weights: f64,
    pub intercept: f64,
}

/// The factored matrix `M` of centered columns.
pub(crate) struct CenteredFactor {
    means: Vec<f64>,
    factor: Factor,
    /// `S`: the sum of the Hessian weights.
    sum: f64,
}

/// The Cholesky factor `L` in double or single precision.
enum Factor {
    Double(Cholesky),
    Single { n: usize, entries: Vec<f32> },
}

impl Factor {
    fn solve_matrix(&self, b: &Matrix) -> Matrix {
        match self {
            Factor::Double(factor) => factor.solve_matrix(b),
            Factor::Single { n, entries } => {
                let width = b.ncols();
                let mut x: Vec<f32> = b.iter().map(|v| *v as f32).collect();
                let l = ArrayView2::from_shape((*n, *n), entries).expect("a square matrix");
                solve_lower(l, &mut x, width);
                solve_lower_transposed(l, &mut x, width);
                Matrix::from_shape_fn(b.dim(), |(i, j)| f64::from(x[i * width + j]))
            }
        }
    }
}

impl Preconditioner {
    /// The best preconditioner that the shape of the data allows, for `m` Hessian weights per row; `row_weights` are the
    /// weights of the rows at any point.
    pub fn update(
        mut last: Preconditioner,
        design: &DesignMatrix<'_>,
        hessian_weights: &[f64],
        row_weights: impl Fn(usize) -> f64 + Sync,
        penalties: L2Penalties,
        options: PreconditionerOptions,
    ) -> Preconditioner {
        let m = hessian_weights.len() / design.n_rows().max(1);
        let width = design.width();
        if options.independent
            && !design.is_sparse()
            && width > MAX_DENSE_HESSIAN_COLUMNS
            && let Some(explicit) = Preconditioner::explicit(
                &mut last,
                design,
                hessian_weights,
                (m, penalties),
                options,
            )
        {
            return explicit;
        }
        let exact = options.independent && Preconditioner::has_cheap_hessian(design);
        if !exact && (design.is_sparse() || width > MAX_COVARIANCE_COLUMNS) {
            return Preconditioner::diagonal(design, hessian_weights, m, penalties);
        }
        let mut sums = vec![0.0; m];
        for row in hessian_weights.chunks_exact(m) {
            sums.iter_mut().zip(row).for_each(|(sum, d)| *sum += d);
        }
        if exact {
            return Preconditioner::exact(design, hessian_weights, &sums, penalties);
        }
        let (means, covariance) = match last {
            Preconditioner::Shared { means, covariance, .. } => (means, covariance),
            _ => design.centered_gram(row_weights),
        };
        let smallest = 1e-12 * sums.iter().fold(0.0, |a: f64, b| a.max(*b)).max(1e-300);
        sums.iter_mut().for_each(|sum| *sum = sum.max(smallest));
        let mean = sums.iter().sum::<f64>() / m as f64;
        let factor = CenteredFactor::of(means.clone(), &(&covariance * mean), mean, penalties);
        Preconditioner::Shared { means, covariance, factor, sums }
    }

    /// The Hessian of every subproblem, computed anew.
    fn exact(
        design: &DesignMatrix<'_>,
        hessian_weights: &[f64],
        sums: &[f64],
        penalties: L2Penalties,
    ) -> Preconditioner {
        let (m, width) = (sums.len(), design.width());
        let each = (0..m).map(|k| {
            let own = || hessian_weights.iter().skip(k).step_by(m).copied();
            let (means, scatter) = match sums[k] > 0.0 {
                true if design.is_sparse() => {
                    let active = (0..).zip(own()).filter(|(_, d)| *d != 0.0);
                    design.centered_sparse_gram(&active.collect::<Vec<_>>())
                }
                true => design.centered_gram(|i| hessian_weights[i * m + k]),
                false => (vec![0.0; width], Matrix::zeros([width; 2])),
            };
            CenteredFactor::of(means, &scatter, sums[k], penalties)
        });
        Preconditioner::Exact(each.collect())
    }

    /// The Hessian of dense rows, or its inverse through the active rows, whichever is smaller; `None` where both are too
    /// large or cost more than they save.
    fn explicit(
        last: &mut Preconditioner,
        design: &DesignMatrix<'_>,
        hessian_weights: &[f64],
        (m, penalties): (usize, L2Penalties),
        PreconditionerOptions { products_spent, max_entries, .. }: PreconditionerOptions,
    ) -> Option<Preconditioner> {
        let width = design.width();
        let by_columns = TrackedHessian::n_entries(m, width);
        let by_rows = Woodbury::n_entries(hessian_weights, m);
        // An update of the last one costs less than starting anew.
        let fewer_rows = match last {
            Preconditioner::Woodbury(_) => by_rows < 2 * by_columns,
            Preconditioner::TrackedHessian(_) => 2 * by_rows < by_columns,
            _ => by_rows < by_columns,
        };
        let columns_fit = by_columns <= max_entries && width <= MAX_TRACKED_HESSIAN_COLUMNS;
        let rows_fit = by_rows <= max_entries && penalties.weights > 0.0;
        let budget = match products_spent > 0 {
            true => MIN_HESSIAN_BUDGET.max(3 * products_spent),
            false => FIRST_HESSIAN_BUDGET,
        } as f64;
        if rows_fit && (fewer_rows || !columns_fit) {
            let is_update = matches!(last, Preconditioner::Woodbury(_));
            if !is_update && Woodbury::initial_cost(hessian_weights, m) > budget {
                return None;
            }
            let last = match std::mem::replace(last, Preconditioner::None) {
                Preconditioner::Woodbury(last) => Some(last),
                _ => None,
            };
            let updated = Woodbury::update(last, design, hessian_weights, m, penalties.weights);
            return Some(Preconditioner::Woodbury(updated));
        }
        let is_update = matches!(last, Preconditioner::TrackedHessian(_));
        let cost = || TrackedHessian::initial_cost(hessian_weights, m, width);
        if !columns_fit || (!is_update && cost() > budget) {
            return None;
        }
        let last = match std::mem::replace(last, Preconditioner::None) {
            Preconditioner::TrackedHessian(last) => Some(last),
            _ => None,
        };
        let updated = TrackedHessian::update(last, design, hessian_weights, m, penalties);
        Some(Preconditioner::TrackedHessian(updated))
    }

    /// The Hessian of a single subproblem on sparse rows, from its active rows, where it is cheap.
    pub fn of_active_rows(
        design: &DesignMatrix<'_>,
        active: &[(u32, f64)],
        penalties: L2Penalties,
    ) -> Option<Preconditioner> {
        if !Preconditioner::has_cheap_hessian(design) || active.is_empty() {
            return None;
        }
        let (means, scatter) = design.centered_sparse_gram(active);
        let sum = active.iter().map(|(_, d)| d).sum();
        let factor = CenteredFactor::of(means, &scatter, sum, penalties);
        Some(Preconditioner::Exact(vec![factor]))
    }

    /// Whether the Hessian can be computed anew at every iteration.
    fn has_cheap_hessian(design: &DesignMatrix<'_>) -> bool {
        match design.is_sparse() {
            true => {
                design.width() <= MAX_SPARSE_HESSIAN_COLUMNS
                    && design.gram_cost() <= MAX_SPARSE_HESSIAN_COST
            }
            false => design.width() <= MAX_DENSE_HESSIAN_COLUMNS,
        }
    }

    fn diagonal(
        design: &DesignMatrix<'_>,
        hessian_weights: &[f64],
        m: usize,
        penalties: L2Penalties,
    ) -> Preconditioner {
        let mut diagonal = vec![0.0; design.n_weights() * m];
        design.squared_transpose_product(hessian_weights, m, &mut diagonal);
        let (weights, intercepts) = diagonal.split_at_mut(design.width() * m);
        weights.iter_mut().for_each(|h| *h += penalties.weights);
        intercepts.iter_mut().for_each(|h| *h += penalties.intercept);
        let largest = diagonal.iter().fold(0.0, |a: f64, b| a.max(*b)).max(f64::MIN_POSITIVE);
        diagonal.iter_mut().for_each(|h| *h = h.max(1e-12 * largest));
        Preconditioner::Diagonal(diagonal)
    }

    /// `out = P r`; `intercept_penalty` is `λ₀`.
    pub fn solve(
        &self,
        design: &DesignMatrix<'_>,
        r: &[f64],
        m: usize,
        intercept_penalty: f64,
        out: &mut [f64],
    ) {
        match self {
            Preconditioner::None => out.copy_from_slice(r),
            Preconditioner::Diagonal(diagonal) => {
                out.iter_mut().zip(r).zip(diagonal).for_each(|((out, r), h)| *out = r / h);
            }
            Preconditioner::Shared { factor, sums, .. } => {
                let scaled: Vec<(f64, f64)> =
                    sums.iter().map(|sum| (*sum, factor.sum / sum)).collect();
                factor.solve(r, m, 0, &scaled, intercept_penalty, out);
            }
            Preconditioner::Woodbury(woodbury) => {
                woodbury.solve(design, r, m, intercept_penalty, out);
            }
            Preconditioner::Exact(factors)
            | Preconditioner::TrackedHessian(TrackedHessian { factors, .. }) => {
                for (k, factor) in factors.iter().enumerate() {
                    factor.solve_one(r, m, k, intercept_penalty, out);
                }
            }
        }
    }
}

/// Whether the Hessian weights of every row are the same in all subproblems, as they are where all scores are zero: then
/// the subproblems share one Hessian.
fn have_equal_weights(hessian_weights: &[f64], m: usize) -> bool {
    hessian_weights.chunks_exact(m).all(|row| row.iter().all(|d| *d == row[0]))
}

/// The number of different Hessians.
fn n_distinct(hessian_weights: &[f64], m: usize) -> usize {
    if have_equal_weights(hessian_weights, m) { 1 } else { m }
}

/// The cost of multiplying out so many entries per row, in Hessian products.
fn relative_cost(entries: f64, hessian_weights: &[f64]) -> f64 {
    entries / (MATRIX_PRODUCT_SPEEDUP * hessian_weights.len().max(1) as f64)
}

/// The Cholesky factor of the `n × n` matrix that `build` returns for a ridge on its diagonal, with the smallest ridge for
/// which there is one. Only the lower triangle is read.
fn regularized_cholesky(
    n: usize,
    largest: f32,
    mut ridge: f32,
    build: impl Fn(f32) -> Vec<f32>,
) -> Vec<f32> {
    loop {
        let mut entries = build(ridge);
        if !ridge.is_finite() || !largest.is_finite() {
            // Beyond the range of single precision: no preconditioning at all.
            entries.fill(0.0);
            entries.iter_mut().step_by(n + 1).for_each(|v| *v = 1.0);
        }
        if cholesky_in_place(&mut entries, n, |_| true) == CholeskyProgress::Complete {
            return entries;
        }
        ridge = (10.0 * ridge).max(1e-7 * largest).max(f32::MIN_POSITIVE);
    }
}

impl CenteredFactor {
    pub fn of(
        means: Vec<f64>,
        scatter: &Matrix,
        sum: f64,
        penalties: L2Penalties,
    ) -> CenteredFactor {
        let largest = scatter.diag().iter().fold(0.0, |a: f64, b| a.max(*b));
        let mut ridge = penalties.weights.max(1e-12 * largest).max(f64::MIN_POSITIVE);
        let rank_one = intercept_fraction(sum, penalties.intercept) * penalties.intercept;
        let factor = loop {
            let mut matrix = scatter.clone();
            matrix.diag_mut().iter_mut().for_each(|v| *v += ridge);
            if rank_one > 0.0 {
                // Only the lower triangle is read.
                for (i, (mut row, mean)) in matrix.outer_iter_mut().zip(&means).enumerate() {
                    let entries = row.iter_mut().zip(&means).take(i + 1);
                    entries.for_each(|(entry, other)| *entry += rank_one * mean * other);
                }
            }
            if let Some(factor) = Cholesky::of(matrix.view()) {
                break Factor::Double(factor);
            }
            ridge *= 10.0;
        };
        CenteredFactor { means, factor, sum: sum.max(f64::MIN_POSITIVE) }
    }

    /// The same in single precision, for many columns. Only the lower triangle of the scatter matrix is read.
    pub fn single_precision(
        means: Vec<f64>,
        scatter: &[f32],
        sum: f64,
        penalties: L2Penalties,
    ) -> CenteredFactor {
        let n = means.len();
        let rank_one = intercept_fraction(sum, penalties.intercept) * penalties.intercept;
        let largest = (0..n).fold(0.0, |a: f32, i| a.max(scatter[i * (n + 1)]));
        let entries = regularized_cholesky(n, largest, penalties.weights as f32, |ridge| {
            let mut entries = scatter.to_vec();
            for (i, row) in entries.chunks_exact_mut(n.max(1)).enumerate() {
                if rank_one > 0.0 {
                    let updated = row.iter_mut().zip(&means).take(i + 1);
                    updated.for_each(|(v, mean)| *v += (rank_one * means[i] * mean) as f32);
                }
                row[i] += ridge;
            }
            entries
        });
        let factor = Factor::Single { n, entries };
        CenteredFactor { means, factor, sum: sum.max(f64::MIN_POSITIVE) }
    }

    /// Solves for subproblem `k`.
    pub fn solve_one(
        &self,
        r: &[f64],
        m: usize,
        k: usize,
        intercept_penalty: f64,
        out: &mut [f64],
    ) {
        self.solve(r, m, k, &[(self.sum, 1.0)], intercept_penalty, out);
    }

    /// Solves for the subproblems from `first` on; `scaled` holds `S` of each and the factor of its solution.
    fn solve(
        &self,
        r: &[f64],
        m: usize,
        first: usize,
        scaled: &[(f64, f64)],
        intercept_penalty: f64,
        out: &mut [f64],
    ) {
        let width = self.means.len();
        let (weights, intercepts) = r.split_at(width * m);
        let intercepts = intercepts.get(first..).unwrap_or_default();
        let own = weights.chunks_exact(m).flat_map(|row| &row[first..first + scaled.len()]);
        let shape = (width, scaled.len());
        let mut centered =
            Matrix::from_shape_vec(shape, own.copied().collect()).expect("one entry per weight");
        for (row, mean) in centered.outer_iter_mut().zip(&self.means) {
            for ((x, b), (sum, _)) in row.into_iter().zip(intercepts).zip(scaled) {
                *x -= intercept_fraction(*sum, intercept_penalty) * mean * b;
            }
        }
        let solved = self.factor.solve_matrix(&centered);
        let (weights, shifts) = out.split_at_mut(width * m);
        let shifts = shifts.get_mut(first..).unwrap_or_default();
        for ((shift, b), (sum, _)) in shifts.iter_mut().zip(intercepts).zip(scaled) {
            *shift = b / (sum + intercept_penalty);
        }
        for ((row, mean), out) in
            solved.outer_iter().zip(&self.means).zip(weights.chunks_exact_mut(m))
        {
            for (k, ((x, out), (sum, factor))) in
                row.iter().zip(&mut out[first..]).zip(scaled).enumerate()
            {
                *out = x * factor;
                if let Some(shift) = shifts.get_mut(k) {
                    *shift -= intercept_fraction(*sum, intercept_penalty) * mean * *out;
                }
            }
        }
    }
}

/// `a = S / (S + λ₀)`.
fn intercept_fraction(sum: f64, intercept_penalty: f64) -> f64 {
    if intercept_penalty > 0.0 { sum / (sum + intercept_penalty) } else { 1.0 }
}
