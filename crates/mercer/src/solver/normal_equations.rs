//! Minimize `‖y − X b‖² + α ‖b‖²` over `b`, given the cross-products of columns and targets. One factor
//! serves all targets.
//!
//! The normal equations `(XᵀX + αI) b = Xᵀy`, on columns scaled to about unit length. Where the
//! measured condition number is small they are factored in doubles and refined with residuals in
//! twice a double's precision; otherwise they are factored in that precision, largest pivot first,
//! which also finds the rank. Of many solutions it takes the shortest.

use crate::error::{Error, Result};
use crate::stats::CrossProducts;
use mercer_num::Matrix;
use mercer_num::double_double::DoubleDouble;
use mercer_num::linalg::{
    Cholesky, DoubleDoubleCholesky, DoubleDoubleMatrix, Qr, multiply, solve_lower, solve_upper,
    solve_upper_transposed,
};
use serde::{Deserialize, Serialize};

/// Factors in doubles are trusted up to this condition number of the scaled cross-products.
const DOUBLE_CONDITION: f64 = 1e6;
/// With as few columns, the wider factor costs nothing worth saving.
const FEW_COLUMNS: usize = 64;
/// A column within this many roundings of the others, or of standing still, adds nothing.
const ROUNDINGS: f64 = 64.0;

/// What carried the digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// Doubles: sixteen digits.
    Double,
    /// Pairs of doubles: thirty-two digits.
    DoubleDouble,
}

/// The weights of the columns in one target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetFit {
    /// The weight of each column.
    pub coefficients: Vec<f64>,
    /// The constant term; zero where there is none.
    pub intercept: f64,
    /// `Σ w (y − mean)²`, or around zero without a constant term.
    pub total_squares: f64,
    /// `Σ w (y − ŷ)²`.
    pub residual_squares: f64,
}

impl TargetFit {
    pub(crate) fn squared_length(&self) -> f64 {
        self.coefficients.iter().map(|b| b * b).sum()
    }

    /// Whether rows could have led to it.
    pub(crate) fn is_sound(&self, n_columns: usize) -> bool {
        let squares = [self.total_squares, self.residual_squares];
        self.coefficients.len() == n_columns
            && self.coefficients.iter().all(|b| b.is_finite())
            && self.intercept.is_finite()
            && squares.iter().all(|v| v.is_finite() && *v >= 0.0)
    }
}

/// The solution and what is known about it.
#[derive(Clone, Debug)]
pub(crate) struct Solution {
    /// One a target.
    pub lines: Vec<TargetFit>,
    /// `F` with `(XᵀX + αI)⁻¹ = FᵀF`, or its pseudo-inverse where the rank falls short.
    pub whitener: Matrix,
    /// `mᵀ (XᵀX + αI)⁻¹ m` at the means `m`.
    pub mean_squares: f64,
    /// `log det (XᵀX + αI)`.
    pub log_determinant: f64,
    pub rank: usize,
    /// An upper bound on the condition number of the scaled columns that were kept.
    pub condition: f64,
    pub precision: Precision,
}

/// Solves the normal equations of centered sums, or of sums around zero.
pub(crate) fn solve(sums: &CrossProducts, centered: bool, alpha: f64) -> Result<Solution> {
    let system = System::new(sums, centered, alpha)?;
    if let Some(solution) = system.in_doubles() {
        return Ok(solution);
    }
    let tolerance = if sums.wide {
        (ROUNDINGS * f64::EPSILON).powi(2)
    } else {
        ROUNDINGS * f64::EPSILON * system.kept.len() as f64
    };
    let tolerances: Vec<f64> =
        system.kept.iter().map(|j| tolerance * system.cancelled(*j)).collect();
    let factor = DoubleDoubleCholesky::of(&system.matrix, &tolerances);
    Ok(if factor.rank() == system.kept.len() {
        system.in_twice_doubles(&factor)
    } else {
        system.shortest(&factor)
    })
}

/// The scaled equations of the columns that move.
struct System<'a> {
    sums: &'a CrossProducts,
    centered: bool,
    alpha: f64,
    kept: Vec<usize>,
    /// Powers of two, so that scaling rounds nothing.
    scales: Vec<f64>,
    matrix: DoubleDoubleMatrix,
    /// One a target.
    rights: Vec<Vec<DoubleDouble>>,
    means: Vec<DoubleDouble>,
}

impl<'a> System<'a> {
    fn new(sums: &'a CrossProducts, centered: bool, alpha: f64) -> Result<System<'a>> {
        let d = sums.means.len();
        let square = |j: usize| sums.products.high[[j, j]];
        let smallest = |j: usize| (ROUNDINGS * f64::EPSILON).powi(2) * sums.raw_squares[j];
        let kept: Vec<usize> =
            (0..d).filter(|j| alpha > 0.0 || square(*j) > smallest(*j)).collect();
        let scale =
            |j: &usize| 2f64.powi((-0.5 * (square(*j).max(0.0) + alpha).log2()).round() as i32);
        let scales: Vec<f64> = kept.iter().map(scale).collect();
        if let Some(at) = scales.iter().position(|s| !s.is_finite()) {
            return Err(Error::TooLarge { column: kept[at] });
        }
        let scaled = |x: DoubleDouble, s: f64| DoubleDouble { high: x.high * s, low: x.low * s };
        let mut matrix = DoubleDoubleMatrix::zeros(kept.len());
        for (i, p) in kept.iter().enumerate() {
            for (j, q) in kept[..=i].iter().enumerate() {
                let mut cell = sums.products.at(*p, *q);
                if i == j {
                    cell = cell + DoubleDouble::from(alpha);
                }
                matrix.set(i, j, scaled(cell, scales[i] * scales[j]));
            }
        }
        let at = |x: &dyn Fn(usize) -> DoubleDouble| -> Vec<DoubleDouble> {
            kept.iter().zip(&scales).map(|(j, s)| scaled(x(*j), *s)).collect()
        };
        let n_targets = sums.target_means.len();
        let rights = (0..n_targets).map(|k| at(&|j| sums.products.at(d + k, j))).collect();
        let means =
            if centered { at(&|j| sums.means[j]) } else { vec![DoubleDouble::ZERO; kept.len()] };
        Ok(System { sums, centered, alpha, kept, scales, matrix, rights, means })
    }

    /// How much larger a column is than what centering left of it: what rounding is relative to.
    fn cancelled(&self, j: usize) -> f64 {
        let left = self.sums.products.high[[j, j]] + self.alpha;
        ((self.sums.raw_squares[j] + self.alpha) / left).max(1.0)
    }

    /// By a factor in doubles; `None` where it would lose too many digits.
    fn in_doubles(&self) -> Option<Solution> {
        let k = self.kept.len();
        if self.sums.wide && k <= FEW_COLUMNS {
            return None;
        }
        let factor = Cholesky::of(self.matrix.high.view())?;
        let mut inverse = Matrix::eye(k);
        solve_lower(factor.lower().view(), inverse.as_slice_mut()?, k);
        let condition = self.condition(&inverse);
        if condition * condition > DOUBLE_CONDITION {
            return None;
        }
        let solved = |right: &Vec<DoubleDouble>| {
            let mut x = vec![DoubleDouble::ZERO; k];
            // Each round adds ten digits or more: the condition number is at most 1e6.
            for _ in 0..3 {
                let fitted = self.matrix.times(&x);
                let rest: Vec<f64> =
                    right.iter().zip(fitted).map(|(r, f)| (*r - f).value()).collect();
                let step = factor.solve(&rest);
                x.iter_mut().zip(step).for_each(|(x, s)| *x = *x + DoubleDouble::from(s));
            }
            x
        };
        let x: Vec<Vec<DoubleDouble>> = self.rights.iter().map(solved).collect();
        let means: Vec<f64> = self.means.iter().map(|m| m.value()).collect();
        let mut at_means = means;
        solve_lower(factor.lower().view(), &mut at_means, 1);
        let mut whitener = Matrix::zeros((k, self.sums.means.len()));
        for (j, place) in self.kept.iter().enumerate() {
            for i in j..k {
                whitener[[i, *place]] = inverse[[i, j]] * self.scales[j];
            }
        }
        let mean_squares = at_means.iter().map(|v| v * v).sum();
        let log_determinant = factor.log_determinant() - self.log_scales();
        let precision = if self.sums.wide { Precision::DoubleDouble } else { Precision::Double };
        Some(self.solution(&x, whitener, mean_squares, log_determinant, condition, precision))
    }

    fn in_twice_doubles(&self, factor: &DoubleDoubleCholesky) -> Solution {
        let k = self.kept.len();
        let order = factor.order();
        let turned =
            |v: &[DoubleDouble]| -> Vec<DoubleDouble> { order.iter().map(|p| v[*p]).collect() };
        let solved = |right: &Vec<DoubleDouble>| {
            let solved = factor.backward(&factor.forward(&turned(right)));
            let mut x = vec![DoubleDouble::ZERO; k];
            order.iter().zip(solved).for_each(|(p, v)| x[*p] = v);
            x
        };
        let x: Vec<Vec<DoubleDouble>> = self.rights.iter().map(solved).collect();
        let at_means = factor.forward(&turned(&self.means));
        let mean_squares = at_means.iter().map(|v| v.value() * v.value()).sum();
        let inverse = factor.inverse_lower();
        let condition = self.condition(&inverse);
        let mut whitener = Matrix::zeros((k, self.sums.means.len()));
        for (j, p) in order.iter().enumerate() {
            for i in j..k {
                whitener[[i, self.kept[*p]]] = inverse[[i, j]] * self.scales[*p];
            }
        }
        let log_determinant = factor.log_determinant() - self.log_scales();
        self.solution(
            &x,
            whitener,
            mean_squares,
            log_determinant,
            condition,
            Precision::DoubleDouble,
        )
    }

    /// Of all `b` with the least residual, the one of least length: with `XᵀX = MᵀM` and
    /// `Mᵀ = QU`, it is `Q U⁻ᵀ g` for the `g` that solves the columns of full rank.
    fn shortest(&self, factor: &DoubleDoubleCholesky) -> Solution {
        let (k, r) = (self.kept.len(), factor.rank());
        let order = factor.order();
        let mut m_transposed = factor.lower();
        for (i, p) in order.iter().enumerate() {
            // Unscaled: the length that is made short is the one users see.
            m_transposed.row_mut(i).mapv_inplace(|v| v / self.scales[*p]);
        }
        let qr = Qr::of(m_transposed.view());
        let q = qr.q();
        let mut unit = Matrix::eye(r);
        solve_upper(qr.r().view(), unit.as_slice_mut().unwrap_or_default(), r);
        let short = multiply(unit.view(), q.t());
        let mut whitener = Matrix::zeros((r, self.sums.means.len()));
        for (i, p) in order.iter().enumerate() {
            whitener.column_mut(self.kept[*p]).assign(&short.column(i));
        }
        let solved = |right: &Vec<DoubleDouble>| {
            let turned: Vec<DoubleDouble> = order.iter().map(|p| right[*p]).collect();
            let mut z: Vec<f64> = factor.forward(&turned).iter().map(|v| v.value()).collect();
            solve_upper_transposed(qr.r().view(), &mut z, 1);
            let mut x = vec![DoubleDouble::ZERO; k];
            for (i, p) in order.iter().enumerate() {
                let b: f64 = q.row(i).iter().zip(&z).map(|(q, z)| q * z).sum();
                x[*p] = DoubleDouble::from(b / self.scales[*p]);
            }
            x
        };
        let x: Vec<Vec<DoubleDouble>> = self.rights.iter().map(solved).collect();
        let mean_squares = whitener
            .outer_iter()
            .map(|row| {
                let dot: f64 = if self.centered {
                    row.iter().zip(&self.sums.means).map(|(f, m)| f * m.value()).sum()
                } else {
                    0.0
                };
                dot * dot
            })
            .sum();
        let condition = self.condition(&factor.inverse_lower());
        let mut solution = self.solution(
            &x,
            whitener,
            mean_squares,
            factor.log_determinant() - self.log_scales(),
            condition,
            Precision::DoubleDouble,
        );
        solution.rank = r;
        solution
    }

    /// `√(‖C‖ ‖C⁻¹‖)` in Frobenius norms, from the inverse of a factor of `C`.
    fn condition(&self, inverse_lower: &Matrix) -> f64 {
        let k = self.kept.len();
        let mut squares = 0.0;
        for i in 0..k {
            for j in 0..=i {
                let v = self.matrix.high[[i, j]];
                squares += if i == j { v * v } else { 2.0 * v * v };
            }
        }
        let inverse = multiply(inverse_lower.t(), inverse_lower.view());
        let inverse = inverse.iter().map(|v| v * v).sum::<f64>();
        (squares.sqrt() * inverse.sqrt()).sqrt().max(1.0)
    }

    fn log_scales(&self) -> f64 {
        2.0 * self.scales.iter().map(|s| s.ln()).sum::<f64>()
    }

    fn solution(
        &self,
        x: &[Vec<DoubleDouble>],
        whitener: Matrix,
        mean_squares: f64,
        log_determinant: f64,
        condition: f64,
        precision: Precision,
    ) -> Solution {
        let lines = x.iter().enumerate().map(|(k, x)| self.line(k, x)).collect();
        Solution {
            lines,
            whitener,
            mean_squares,
            log_determinant,
            rank: self.kept.len(),
            condition,
            precision,
        }
    }

    /// The line of a target from its scaled solution.
    fn line(&self, target: usize, x: &[DoubleDouble]) -> TargetFit {
        let d = self.sums.means.len();
        let mut coefficients = vec![0.0; d];
        let mut explained = DoubleDouble::ZERO;
        let mut at_means = DoubleDouble::ZERO;
        for (i, place) in self.kept.iter().enumerate() {
            coefficients[*place] = x[i].value() * self.scales[i];
            explained = explained + self.rights[target][i] * x[i];
            at_means = at_means + self.means[i] * x[i];
        }
        let squared_length = coefficients.iter().map(|b| b * b).sum::<f64>();
        let total = self.sums.products.at(d + target, d + target);
        let rest = total - explained;
        let middle = self.sums.target_means[target];
        TargetFit {
            intercept: if self.centered { (middle - at_means).value() } else { 0.0 },
            total_squares: total.value().max(0.0),
            residual_squares: (rest.value() - self.alpha * squared_length).max(0.0),
            coefficients,
        }
    }
}

/// The largest correlation of a column with the residual, which is zero at the solution:
/// `|Xᵀ(y − Xb) − αb|ⱼ / (‖xⱼ‖ ‖y‖)`.
fn gradient(sums: &CrossProducts, target: usize, coefficients: &[f64], alpha: f64) -> f64 {
    let d = coefficients.len();
    let y = d + target;
    let total = sums.products.at(y, y).value().max(0.0).sqrt();
    let mut largest: f64 = 0.0;
    for j in 0..d {
        let mut rest = sums.products.at(y, j) - DoubleDouble::product(alpha, coefficients[j]);
        for (k, b) in coefficients.iter().enumerate() {
            rest = rest - sums.products.at(j, k) * DoubleDouble::from(*b);
        }
        let size = (sums.products.at(j, j).value() + alpha).max(0.0).sqrt() * total;
        if size > 0.0 {
            largest = largest.max(rest.value().abs() / size);
        }
    }
    largest
}

/// The same over all targets: the first one's coefficients, and those of the others.
pub(crate) fn largest_gradient(
    sums: &CrossProducts,
    first: &[f64],
    others: &[TargetFit],
    alpha: f64,
) -> f64 {
    let all = std::iter::once(first).chain(others.iter().map(|line| line.coefficients.as_slice()));
    all.enumerate().map(|(k, b)| gradient(sums, k, b, alpha)).fold(0.0, f64::max)
}

/// How the equations were solved, for the certificate.
pub(crate) fn how(precision: Precision, condition: f64, rank: usize, n_columns: usize) -> String {
    let digits = match precision {
        Precision::Double => "cross-products in doubles",
        Precision::DoubleDouble => "cross-products in twice a double's precision",
    };
    let rank = match n_columns - rank {
        0 => String::new(),
        _ => format!(", rank {rank} of {n_columns}"),
    };
    format!("{digits}, condition number {condition:.1e}{rank}")
}
