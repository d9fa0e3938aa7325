//! The check of Mercer's condition: a kernel matrix has no negative eigenvalue (Mercer 1909).

use super::{Function, Kernel, KernelRows, Storage, UniqueRows};
use crate::error::{Error, Result};
use mercer_num::linalg::SymmetricEigen;
use mercer_num::{Matrix, Rows};
use ndarray::Array2;
use serde::Serialize;
use std::fmt;

/// Eigenvalues this far below zero, relative to the largest, are rounding.
const ROUNDING: f64 = 1e-10;
/// The same during a fit: of kernel values in double precision, and of values that were computed in single precision.
const FIT_ROUNDING: f64 = 1e-8;
const SINGLE_ROUNDING: f64 = 1e-5;
/// Rows whose eigenvalues are computed during a fit.
const MAX_SAMPLE_ROWS: usize = 256;

/// The findings about the kernel matrix of some rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KernelReport {
    /// The kernel with its parameter values.
    pub function: Function,
    /// The number of rows.
    pub n_rows: usize,
    /// Whether no eigenvalue is negative beyond rounding.
    pub positive: bool,
    /// The smallest eigenvalue.
    pub smallest: f64,
    /// The largest eigenvalue.
    pub largest: f64,
    /// An eigenvector `v` with `vᵀKv < 0` if there is one, with one entry per row.
    pub witness: Option<Vec<f64>>,
    /// `(Σλ)² / Σλ²`: about how many dimensions of the feature space the rows span.
    pub effective_rank: f64,
    /// Pairs of equal rows.
    pub duplicates: usize,
    /// Pairs of different rows that the kernel cannot distinguish: `K(x, x) = K(x, z) = K(z, z)` to rounding.
    pub indistinguishable: usize,
    /// The median distance between rows.
    pub median_distance: f64,
    /// The `gamma` of the median heuristic, `1 / (2 · distance²)`.
    pub median_gamma: f64,
    /// The largest standard deviation of a column divided by the smallest, without constant columns.
    pub scale_ratio: f64,
    /// The smallest and largest value off the diagonal.
    pub range: (f64, f64),
}

/// Computes the kernel matrix of some rows and checks it.
///
/// # Errors
/// If rows are not usable, or a precomputed matrix is not square and symmetric.
pub fn check_kernel(function: Function, rows: &Rows<'_>) -> Result<KernelReport> {
    if rows.n_rows() == 0 {
        return Err(Error::NoRows);
    }
    function.check_rows(rows)?;
    let n = rows.n_rows();
    let given = function.kernel == Kernel::Precomputed;
    if given {
        check_square(rows)?;
    }
    let positions: Vec<u32> = (0..n as u32).collect();
    let center = super::center_of(&function, Storage::Dense, rows);
    let ready: KernelRows<f64> =
        KernelRows::all(function.clone(), Storage::Dense, rows, &center, &positions);
    let gram = Array2::from_shape_vec((n, n), ready.gram()).expect("a square of the rows");
    let Some(eigen) = SymmetricEigen::of(gram.view()) else {
        return Err(overflow("an eigenvalue of the Gram matrix", f64::NAN));
    };
    let (smallest, largest) =
        (eigen.values.first().copied().unwrap_or(0.0), eigen.values.last().copied().unwrap_or(0.0));
    let scale = largest.abs().max(smallest.abs());
    let positive = smallest >= -ROUNDING * scale;
    let (sum, squares) = eigen
        .values
        .iter()
        .fold((0.0, 0.0), |(sum, squares), v| (sum + v.max(0.0), squares + v * v));
    let (range, same) = pairs_of(&gram);
    let duplicates = if given { same } else { equal_pairs(rows) };
    let median_distance = if given { 0.0 } else { median(rows) };
    Ok(KernelReport {
        function,
        n_rows: n,
        positive,
        smallest,
        largest,
        witness: (!positive).then(|| eigen.vectors.column(0).to_vec()),
        effective_rank: if squares > 0.0 { sum * sum / squares } else { 0.0 },
        duplicates,
        indistinguishable: same.saturating_sub(duplicates),
        median_distance,
        median_gamma: if median_distance > 0.0 {
            0.5 / (median_distance * median_distance)
        } else {
            0.0
        },
        scale_ratio: scale_ratio(rows),
        range: if n > 1 { range } else { (0.0, 0.0) },
    })
}

/// The smallest and the largest value off the diagonal, and the number of pairs that the kernel cannot distinguish.
fn pairs_of(gram: &Array2<f64>) -> ((f64, f64), usize) {
    let (mut low, mut high, mut same) = (f64::INFINITY, f64::NEG_INFINITY, 0);
    for i in 0..gram.nrows() {
        for j in 0..i {
            let value = gram[[i, j]];
            (low, high) = (low.min(value), high.max(value));
            let own = [gram[[i, i]], gram[[j, j]]];
            let square = own[0] + own[1] - 2.0 * value;
            same += usize::from(square.abs() <= 1e-12 * own[0].abs().max(1e-300));
        }
    }
    ((low, high), same)
}

/// The number of pairs of rows whose cells are all equal.
fn equal_pairs(rows: &Rows<'_>) -> usize {
    let copies = UniqueRows::of(rows, &[], 0).weights;
    copies.iter().map(|n| *n as usize).map(|n| n * n.saturating_sub(1) / 2).sum()
}

/// The error for a kernel value that is not finite.
pub(crate) fn overflow(what: &str, value: f64) -> Error {
    Error::Number {
        what: what.into(),
        value,
        expected: "a finite number; scale the columns down".into(),
    }
}

/// Evidence that a kernel is not positive semi-definite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Indefinite {
    /// A negative eigenvalue of the kernel matrix of some rows.
    Eigenvalue { smallest: f64, n_rows: usize },
    /// A negative `K(x, x) + K(z, z) − 2 K(x, z)`, which would be a squared distance.
    Curvature(f64),
}

impl fmt::Display for Indefinite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Indefinite::Eigenvalue { smallest, n_rows } => {
                write!(f, "smallest eigenvalue {smallest:.3e} on {n_rows} rows")
            }
            Indefinite::Curvature(value) => {
                write!(f, "K(x,x) + K(z,z) - 2 K(x,z) = {value:.3e} for a pair of rows")
            }
        }
    }
}

/// Whether the kernel matrix of at most [`MAX_SAMPLE_ROWS`] of the rows, spread over all, has a negative eigenvalue.
/// Kernels that satisfy Mercer's condition for all rows are not checked.
///
/// # Errors
/// If a kernel value is not finite.
pub(crate) fn indefinite(
    function: &Function,
    rows: &KernelRows<f64>,
) -> Result<Option<Indefinite>> {
    if function.is_mercer() {
        return Ok(None);
    }
    let n = rows.n_rows();
    let stride = n.div_ceil(MAX_SAMPLE_ROWS).max(1);
    let sample: Vec<u32> = (0..n as u32).step_by(stride).collect();
    let n_rows = sample.len();
    let gram = rows.select(&sample).gram();
    if let Some(value) = gram.iter().find(|v| !v.is_finite()) {
        return Err(overflow("a kernel value of two rows", *value));
    }
    let single = gram.iter().all(|v| f64::from(*v as f32) == *v);
    let tolerance = if single { SINGLE_ROUNDING } else { FIT_ROUNDING };
    let gram = Array2::from_shape_vec((n_rows, n_rows), gram).expect("a square of the rows");
    let Some(eigen) = SymmetricEigen::of(gram.view()) else {
        return Err(overflow("an eigenvalue of the Gram matrix", f64::NAN));
    };
    let (smallest, largest) =
        (eigen.values.first().copied().unwrap_or(0.0), eigen.values.last().copied().unwrap_or(0.0));
    let negative = smallest < -tolerance * largest.abs().max(smallest.abs());
    Ok(negative.then_some(Indefinite::Eigenvalue { smallest, n_rows }))
}

/// Refuses a precomputed matrix that is not square and symmetric.
///
/// # Errors
/// [`Error::Columns`], [`Error::Number`].
pub(crate) fn check_square(rows: &Rows<'_>) -> Result<()> {
    let n = rows.n_rows();
    if rows.n_columns() != n {
        return Err(Error::Columns { found: rows.n_columns(), expected: n });
    }
    for i in 0..n {
        let row = rows.row(i);
        for (j, value) in row.iter().enumerate().take(i) {
            let other = rows.get(j, i);
            if (value - other).abs() > 1e-6 * value.abs().max(other.abs()).max(1e-300) {
                return Err(Error::Number {
                    what: format!("the kernel of rows {} and {}", i + 1, j + 1),
                    value: *value,
                    expected: format!("the same both ways, and the other way it is {other}"),
                });
            }
        }
    }
    Ok(())
}

/// The median distance of pairs of rows, of at most a thousand rows spread over all.
fn median(rows: &Rows<'_>) -> f64 {
    let stride = rows.n_rows().div_ceil(1000).max(1);
    let some: Vec<Vec<f64>> = (0..rows.n_rows()).step_by(stride).map(|i| rows.row(i)).collect();
    let mut distances = Vec::new();
    for (i, a) in some.iter().enumerate() {
        for b in &some[..i] {
            let square: f64 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
            distances.push(square.sqrt());
        }
    }
    if distances.is_empty() {
        return 0.0;
    }
    let middle = distances.len() / 2;
    *distances.select_nth_unstable_by(middle, f64::total_cmp).1
}

fn scale_ratio(rows: &Rows<'_>) -> f64 {
    let (n, width) = (rows.n_rows(), rows.n_columns());
    let x = Matrix::from_shape_fn((n, width), |(i, j)| rows.get(i, j));
    let spreads: Vec<f64> =
        x.columns().into_iter().map(|c| c.std(0.0)).filter(|s| *s > 0.0).collect();
    let largest = spreads.iter().copied().fold(0.0, f64::max);
    let smallest = spreads.iter().copied().fold(f64::INFINITY, f64::min);
    if spreads.is_empty() { 1.0 } else { largest / smallest }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn a_kernel_is_positive_and_no_kernel_has_a_witness() {
        let x = array![[0.0, 1.0], [1.0, 0.5], [2.0, -1.0], [2.0, -1.0]];
        let rows = Rows::from(&x);

        let good = check_kernel(Function::rbf(0.5), &rows).unwrap();
        let sigmoid =
            Function { kernel: Kernel::Sigmoid, gamma: 1.0, coef0: -1.0, ..Function::linear() };
        let bad = check_kernel(sigmoid.clone(), &rows).unwrap();

        assert!(good.positive && good.witness.is_none());
        assert_eq!(good.duplicates, 1);
        assert!(!bad.positive);
        let v = bad.witness.unwrap();
        let gram = |i: usize, j: usize| sigmoid.value(&x.row(i).to_vec(), &x.row(j).to_vec());
        let form: f64 = (0..4)
            .flat_map(|i| (0..4).map(move |j| (i, j)))
            .map(|(i, j)| v[i] * v[j] * gram(i, j))
            .sum();
        assert!(form < 0.0);
        assert!((form - bad.smallest).abs() < 1e-12);
    }

    #[test]
    fn a_saturated_sigmoid_makes_no_duplicate_rows() {
        // tanh is 1 to rounding for all pairs of these rows, of which two are equal.
        let x = array![[5.0, 3.0], [6.0, 3.5], [5.5, 2.5], [5.0, 3.0]];
        let sigmoid = Function { kernel: Kernel::Sigmoid, gamma: 1.0, ..Function::linear() };

        let report = check_kernel(sigmoid, &Rows::from(&x)).unwrap();

        assert_eq!((report.duplicates, report.indistinguishable), (1, 5));
    }

    #[test]
    fn a_fit_checks_kernels_that_need_not_be_positive() {
        let x = array![[0.0, 1.0], [1.0, 0.5], [2.0, -1.0]];
        let negated = -x.dot(&x.t());
        let given = Function { kernel: Kernel::Precomputed, ..Function::linear() };
        let rows = |function: &Function, x: &Matrix| -> KernelRows<f64> {
            KernelRows::all(function.clone(), Storage::Dense, &Rows::from(x), &[], &[0, 1, 2])
        };

        let found = indefinite(&given, &rows(&given, &negated)).unwrap();

        assert!(matches!(found, Some(Indefinite::Eigenvalue { n_rows: 3, .. })), "{found:?}");
        assert_eq!(indefinite(&given, &rows(&given, &x.dot(&x.t()))), Ok(None));
        let quadratic = Function::poly(2, 1.0, -1.0);
        assert!(!quadratic.is_mercer());
        assert!(indefinite(&quadratic, &rows(&quadratic, &x)).unwrap().is_some());
        assert!(Function::poly(2, 1.0, 1.0).is_mercer());
    }

    #[test]
    fn a_matrix_that_is_not_symmetric_is_refused() {
        let k = array![[1.0, 0.5], [0.4, 1.0]];
        let given = Function { kernel: Kernel::Precomputed, ..Function::linear() };

        let error = check_kernel(given, &Rows::from(&k)).unwrap_err();

        assert!(error.to_string().contains("rows 2 and 1"), "{error}");
    }
}
