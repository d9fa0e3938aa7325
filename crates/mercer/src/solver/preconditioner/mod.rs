//! Guesses at second derivatives `XᵀDX + λI` that are cheap to solve with.
//!
//! Weights and constant terms are separated by taking the columns around their means: with `S = Σᵢ dᵢ`,
//! `a = S / (S + λ₀)` and `λ₀` the price on the constant term, `(XᵀDX + λI)⁻¹` is
//! `w = M⁻¹(r − aμr₀)`, `b = r₀ / (S + λ₀) − aμ·w` where `M` is the scatter around `μ`, plus `λI`, plus
//! `aλ₀ μμᵀ`.

mod hessian;
mod woodbury;

use super::preconditioner::hessian::TrackedHessian;
use super::preconditioner::woodbury::Woodbury;
use crate::data::design_matrix::DesignMatrix;
use mercer_num::Matrix;
use mercer_num::linalg::{
    Cholesky, CholeskyProgress, cholesky_in_place, solve_lower, solve_lower_transposed,
};
use ndarray::ArrayView2;

/// Up to this many columns, dense ones have their covariance as a guess at the second derivatives.
const WIDE: usize = 1024;
/// Up to this many, the second derivatives themselves are written out where few rows curve.
pub(crate) const TRACKED: usize = 8192;
/// Numbers that they may have together, and their factors again.
pub(crate) const MOST_CELLS: usize = 1 << 29;
/// Up to this many, it is taken anew at every step where that makes it exact.
pub(crate) const NARROW: usize = 128;
/// Up to this many for sparse columns, where it costs no more than so many products.
const NARROW_SPARSE: usize = 512;
const PRODUCTS: f64 = 16.0;
/// Second derivatives are written out and kept where that costs no more than so many products with few
/// vectors: what another guess would soon need, or has needed at the last step. At a first step all rows curve,
/// mostly alike.
const WORTH: u64 = 45;
const FIRST: u64 = 60;

/// A guess at the second derivatives of `m` numbers a feature.
pub(crate) enum Preconditioner {
    None,
    /// Their diagonal.
    Diagonal(Vec<f64>),
    /// One covariance of the columns for all, times what the rows of each weigh.
    Shared {
        means: Vec<f64>,
        covariance: Matrix,
        solved: Centered,
        /// `Σᵢ dᵢ` of each.
        sums: Vec<f64>,
    },
    /// The second derivatives themselves, for each.
    Exact(Vec<Centered>),
    /// The same, kept from step to step.
    TrackedHessian(TrackedHessian),
    /// The same by the side of the rows, where fewer of them curve than there are columns.
    Woodbury(Woodbury),
}

/// What is asked of a guess.
#[derive(Clone, Copy)]
pub(crate) struct Asked {
    /// Whether the second derivatives themselves may be written out: where the functions do not know of each other.
    pub exact: bool,
    /// Products that the last guess has left to do.
    pub spent: u64,
    /// Numbers that may be written out, and their factors again.
    pub room: usize,
}

/// Scatter around means, ready to solve with.
pub(crate) struct Centered {
    means: Vec<f64>,
    factor: Factor,
    sum: f64,
}

/// `L` with `L Lᵀ` the scatter, in one precision or the other.
enum Factor {
    Double(Cholesky),
    Single { n: usize, cells: Vec<f32> },
}

impl Factor {
    fn solve_matrix(&self, b: &Matrix) -> Matrix {
        match self {
            Factor::Double(factor) => factor.solve_matrix(b),
            Factor::Single { n, cells } => {
                let width = b.ncols();
                let mut x: Vec<f32> = b.iter().map(|v| *v as f32).collect();
                let l = ArrayView2::from_shape((*n, *n), cells).expect("a square of the columns");
                solve_lower(l, &mut x, width);
                solve_lower_transposed(l, &mut x, width);
                Matrix::from_shape_fn(b.dim(), |(i, j)| f64::from(x[i * width + j]))
            }
        }
    }
}

/// What half the squares of weights and of constant terms cost.
#[derive(Clone, Copy)]
pub(crate) struct PenaltyWeights {
    pub weights: f64,
    pub constants: f64,
}

impl Preconditioner {
    /// The best that the columns allow, for the curvatures `d`, `m` of them a row; `shares` are what
    /// rows weigh whatever the point.
    pub fn at(
        mut last: Preconditioner,
        design: &DesignMatrix<'_>,
        curvatures: &[f64],
        shares: impl Fn(usize) -> f64 + Sync,
        prices: PenaltyWeights,
        asked: Asked,
    ) -> Preconditioner {
        let m = curvatures.len() / design.n_rows().max(1);
        let width = design.width();
        if asked.exact
            && !design.is_sparse()
            && width > NARROW
            && let Some(guess) =
                Preconditioner::written(&mut last, design, curvatures, (m, prices), asked)
        {
            return guess;
        }
        let exact = asked.exact && Preconditioner::is_narrow(design);
        if !exact && (design.is_sparse() || width > WIDE) {
            return Preconditioner::diagonal(design, curvatures, m, prices);
        }
        let mut sums = vec![0.0; m];
        for row in curvatures.chunks_exact(m) {
            sums.iter_mut().zip(row).for_each(|(sum, d)| *sum += d);
        }
        if exact {
            let each = (0..m).map(|k| {
                let own = || curvatures.iter().skip(k).step_by(m).copied();
                let (means, scatter) = match sums[k] > 0.0 {
                    true if design.is_sparse() => {
                        let curved = (0..).zip(own()).filter(|(_, d)| *d != 0.0);
                        design.centered_sparse_gram(&curved.collect::<Vec<_>>())
                    }
                    true => design.centered_gram(|i| curvatures[i * m + k]),
                    false => (vec![0.0; width], Matrix::zeros([width; 2])),
                };
                Centered::of(means, &scatter, sums[k], prices)
            });
            return Preconditioner::Exact(each.collect());
        }
        let (means, covariance) = match last {
            Preconditioner::Shared { means, covariance, .. } => (means, covariance),
            _ => design.centered_gram(shares),
        };
        let floor = 1e-12 * sums.iter().fold(0.0, |a: f64, b| a.max(*b)).max(1e-300);
        sums.iter_mut().for_each(|sum| *sum = sum.max(floor));
        let typical = sums.iter().sum::<f64>() / m as f64;
        let solved = Centered::of(means.clone(), &(&covariance * typical), typical, prices);
        Preconditioner::Shared { means, covariance, solved, sums }
    }

    /// The second derivatives themselves of dense rows, by the side that has fewer of them, columns or rows that
    /// curve; `None` where that is too much or not worth it.
    fn written(
        last: &mut Preconditioner,
        design: &DesignMatrix<'_>,
        curvatures: &[f64],
        (m, prices): (usize, PenaltyWeights),
        Asked { spent, room, .. }: Asked,
    ) -> Option<Preconditioner> {
        let width = design.width();
        let (columns, rows) = (TrackedHessian::cells(m, width), Woodbury::cells(curvatures, m));
        // What is known has not to be begun anew.
        let fewer_rows = match last {
            Preconditioner::Woodbury(_) => rows < 2 * columns,
            Preconditioner::TrackedHessian(_) => 2 * rows < columns,
            _ => rows < columns,
        };
        let by_columns = columns <= room && width <= TRACKED;
        let by_rows = rows <= room && prices.weights > 0.0 && (fewer_rows || !by_columns);
        let soon = (if spent > 0 { WORTH.max(3 * spent) } else { FIRST }) as f64;
        if by_rows {
            if !matches!(last, Preconditioner::Woodbury(_)) && Woodbury::cost(curvatures, m) > soon
            {
                return None;
            }
            let known = match std::mem::replace(last, Preconditioner::None) {
                Preconditioner::Woodbury(known) => Some(known),
                _ => None,
            };
            return Some(Preconditioner::Woodbury(Woodbury::at(
                known,
                design,
                curvatures,
                m,
                prices.weights,
            )));
        }
        let known = matches!(last, Preconditioner::TrackedHessian(_));
        if !by_columns || (!known && TrackedHessian::cost(curvatures, m, width) > soon) {
            return None;
        }
        let known = match std::mem::replace(last, Preconditioner::None) {
            Preconditioner::TrackedHessian(known) => Some(known),
            _ => None,
        };
        Some(Preconditioner::TrackedHessian(TrackedHessian::at(
            known, design, curvatures, m, prices,
        )))
    }

    /// The second derivatives themselves of one function of sparse rows, from those that curve, where they are soon
    /// written out.
    pub fn of_curved(
        design: &DesignMatrix<'_>,
        curved: &[(u32, f64)],
        prices: PenaltyWeights,
    ) -> Option<Preconditioner> {
        if !Preconditioner::is_narrow(design) || curved.is_empty() {
            return None;
        }
        let (means, scatter) = design.centered_sparse_gram(curved);
        let sum = curved.iter().map(|(_, d)| d).sum();
        Some(Preconditioner::Exact(vec![Centered::of(means, &scatter, sum, prices)]))
    }

    /// Whether second derivatives are soon written out at every step.
    fn is_narrow(design: &DesignMatrix<'_>) -> bool {
        match design.is_sparse() {
            true => design.width() <= NARROW_SPARSE && design.gram_cost() <= PRODUCTS,
            false => design.width() <= NARROW,
        }
    }

    fn diagonal(
        design: &DesignMatrix<'_>,
        curvatures: &[f64],
        m: usize,
        prices: PenaltyWeights,
    ) -> Preconditioner {
        let mut diagonal = vec![0.0; design.n_weights() * m];
        design.squared_transpose_product(curvatures, m, &mut diagonal);
        let (weights, constants) = diagonal.split_at_mut(design.width() * m);
        weights.iter_mut().for_each(|h| *h += prices.weights);
        constants.iter_mut().for_each(|h| *h += prices.constants);
        let largest = diagonal.iter().fold(0.0, |a: f64, b| a.max(*b)).max(f64::MIN_POSITIVE);
        diagonal.iter_mut().for_each(|h| *h = h.max(1e-12 * largest));
        Preconditioner::Diagonal(diagonal)
    }

    /// Solves with the guess; `constant_price` is that on the constant terms.
    pub fn solve(
        &self,
        design: &DesignMatrix<'_>,
        r: &[f64],
        m: usize,
        constant_price: f64,
        out: &mut [f64],
    ) {
        match self {
            Preconditioner::None => out.copy_from_slice(r),
            Preconditioner::Diagonal(diagonal) => {
                out.iter_mut().zip(r).zip(diagonal).for_each(|((out, r), h)| *out = r / h);
            }
            Preconditioner::Shared { solved, sums, .. } => {
                let typical = solved.sum;
                let each: Vec<(f64, f64)> = sums.iter().map(|sum| (*sum, typical / sum)).collect();
                solved.solve(r, m, 0, &each, constant_price, out);
            }
            Preconditioner::Woodbury(among) => among.solve(design, r, m, constant_price, out),
            Preconditioner::Exact(each)
            | Preconditioner::TrackedHessian(TrackedHessian { solved: each, .. }) => {
                for (k, solved) in each.iter().enumerate() {
                    solved.solve_one(r, m, k, constant_price, out);
                }
            }
        }
    }
}

impl Centered {
    pub fn of(means: Vec<f64>, scatter: &Matrix, sum: f64, prices: PenaltyWeights) -> Centered {
        let largest = scatter.diag().iter().fold(0.0, |a: f64, b| a.max(*b));
        let mut ridge = prices.weights.max(1e-12 * largest).max(f64::MIN_POSITIVE);
        let lift = pull(sum, prices.constants) * prices.constants;
        let factor = loop {
            let mut guess = scatter.clone();
            guess.diag_mut().iter_mut().for_each(|g| *g += ridge);
            if lift > 0.0 {
                // Only the lower triangle is read.
                for (i, (mut row, mean)) in guess.outer_iter_mut().zip(&means).enumerate() {
                    let cells = row.iter_mut().zip(&means).take(i + 1);
                    cells.for_each(|(cell, other)| *cell += lift * mean * other);
                }
            }
            if let Some(factor) = Cholesky::of(guess.view()) {
                break Factor::Double(factor);
            }
            ridge *= 10.0;
        };
        Centered { means, factor, sum: sum.max(f64::MIN_POSITIVE) }
    }

    /// The same from and by single precision, with a ridge as small as has a factor. Only the lower triangle of
    /// the scatter is read.
    pub fn of_many(
        means: Vec<f64>,
        scatter: Vec<f32>,
        sum: f64,
        prices: PenaltyWeights,
    ) -> Centered {
        let n = means.len();
        let lift = pull(sum, prices.constants) * prices.constants;
        let largest = (0..n).fold(0.0, |a: f32, i| a.max(scatter[i * (n + 1)]));
        let mut ridge = prices.weights as f32;
        loop {
            let mut cells = scatter.clone();
            for (i, row) in cells.chunks_exact_mut(n.max(1)).enumerate() {
                if lift > 0.0 {
                    let lifted = row.iter_mut().zip(&means).take(i + 1);
                    lifted.for_each(|(v, mean)| *v += (lift * means[i] * mean) as f32);
                }
                row[i] += ridge;
            }
            if !ridge.is_finite() || !largest.is_finite() {
                // Beyond the range of these numbers: no guess at all.
                cells.fill(0.0);
                cells.iter_mut().step_by(n + 1).for_each(|v| *v = 1.0);
            }
            if cholesky_in_place(&mut cells, n, |_| true) == CholeskyProgress::Complete {
                let factor = Factor::Single { n, cells };
                return Centered { means, factor, sum: sum.max(f64::MIN_POSITIVE) };
            }
            ridge = (10.0 * ridge).max(1e-7 * largest).max(f32::MIN_POSITIVE);
        }
    }

    /// Solves for the numbers of one function.
    pub fn solve_one(&self, r: &[f64], m: usize, k: usize, constant_price: f64, out: &mut [f64]) {
        self.solve(r, m, k, &[(self.sum, 1.0)], constant_price, out);
    }

    /// Solves for the numbers from `first` on, one for each of `each`: the sum of its curvatures, and
    /// what its solution is to be multiplied with.
    fn solve(
        &self,
        r: &[f64],
        m: usize,
        first: usize,
        each: &[(f64, f64)],
        constant_price: f64,
        out: &mut [f64],
    ) {
        let width = self.means.len();
        let (weights, constants) = r.split_at(width * m);
        let constants = constants.get(first..).unwrap_or_default();
        let own = weights.chunks_exact(m).flat_map(|row| &row[first..first + each.len()]);
        let shape = (width, each.len());
        let mut centered =
            Matrix::from_shape_vec(shape, own.copied().collect()).expect("as many a column");
        for (row, mean) in centered.outer_iter_mut().zip(&self.means) {
            for ((x, b), (sum, _)) in row.into_iter().zip(constants).zip(each) {
                *x -= pull(*sum, constant_price) * mean * b;
            }
        }
        let solved = self.factor.solve_matrix(&centered);
        let (weights, shifts) = out.split_at_mut(width * m);
        let shifts = shifts.get_mut(first..).unwrap_or_default();
        for ((shift, b), (sum, _)) in shifts.iter_mut().zip(constants).zip(each) {
            *shift = b / (sum + constant_price);
        }
        for ((row, mean), out) in
            solved.outer_iter().zip(&self.means).zip(weights.chunks_exact_mut(m))
        {
            for (k, ((x, out), (sum, times))) in
                row.iter().zip(&mut out[first..]).zip(each).enumerate()
            {
                *out = x * times;
                if let Some(shift) = shifts.get_mut(k) {
                    *shift -= pull(*sum, constant_price) * mean * *out;
                }
            }
        }
    }
}

/// How much of a constant term the means of the columns take with them.
fn pull(sum: f64, constant_price: f64) -> f64 {
    if constant_price > 0.0 { sum / (sum + constant_price) } else { 1.0 }
}
