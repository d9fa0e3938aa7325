//! Is it a kernel? The Gram matrix of one has no negative eigenvalue (Mercer 1909).

use super::{Function, Kernel, KernelRows, Storage};
use crate::error::{Error, Result};
use mercer_num::linalg::SymmetricEigen;
use mercer_num::{Matrix, Rows};
use ndarray::Array2;
use serde::Serialize;

/// Eigenvalues this far below zero, relative to the largest, are rounding.
const ROUNDING: f64 = 1e-10;

/// What a look at a Gram matrix found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KernelReport {
    /// The kernel that was looked at.
    pub function: Function,
    /// Rows looked at.
    pub n_rows: usize,
    /// Whether no eigenvalue is negative beyond rounding.
    pub positive: bool,
    /// The smallest eigenvalue.
    pub smallest: f64,
    /// The largest eigenvalue.
    pub largest: f64,
    /// The direction `v` with `vᵀKv < 0`, where there is one: a weight a row.
    pub witness: Option<Vec<f64>>,
    /// `(Σλ)² / Σλ²`: about how many directions the rows spread over in the kernel's space.
    pub effective_rank: f64,
    /// Pairs of rows that are the same to the kernel.
    pub duplicates: usize,
    /// The median distance between rows: a width of `1 / (2 · distance²)` is the usual first guess.
    pub median_distance: f64,
    /// The width that guess gives.
    pub median_gamma: f64,
    /// The largest spread of a column over the smallest, beside constant columns: far from one, columns
    /// of small numbers have no say.
    pub scale_ratio: f64,
    /// The smallest and largest value off the diagonal.
    pub range: (f64, f64),
}

/// Looks at the Gram matrix of some rows.
///
/// # Errors
/// If rows are not usable, or a precomputed matrix is not square and symmetric.
pub fn check_kernel(function: Function, rows: &Rows<'_>) -> Result<KernelReport> {
    if rows.n_rows() == 0 {
        return Err(Error::NoRows);
    }
    function.check_rows(rows)?;
    let n = rows.n_rows();
    if function.kernel == Kernel::Precomputed {
        check_square(rows)?;
    }
    let positions: Vec<u32> = (0..n as u32).collect();
    let ready: KernelRows<f64> =
        KernelRows::all(function.clone(), Storage::Dense, rows, &[], &positions);
    let gram = Array2::from_shape_vec((n, n), ready.gram()).expect("a square of the rows");
    let Some(eigen) = SymmetricEigen::of(gram.view()) else {
        return Err(Error::Number {
            what: "an eigenvalue of the Gram matrix".into(),
            value: f64::NAN,
            expected: "a finite number; scale the columns down".into(),
        });
    };
    let (smallest, largest) =
        (eigen.values.first().copied().unwrap_or(0.0), eigen.values.last().copied().unwrap_or(0.0));
    let scale = largest.abs().max(smallest.abs());
    let positive = smallest >= -ROUNDING * scale;
    let (sum, squares) = eigen
        .values
        .iter()
        .fold((0.0, 0.0), |(sum, squares), v| (sum + v.max(0.0), squares + v * v));
    let (mut low, mut high, mut duplicates) = (f64::INFINITY, f64::NEG_INFINITY, 0);
    for i in 0..n {
        for j in 0..i {
            let value = gram[[i, j]];
            (low, high) = (low.min(value), high.max(value));
            let apart = gram[[i, i]] + gram[[j, j]] - 2.0 * value;
            duplicates += usize::from(apart.abs() <= 1e-12 * gram[[i, i]].abs().max(1e-300));
        }
    }
    let given = function.kernel == Kernel::Precomputed;
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
        median_distance,
        median_gamma: if median_distance > 0.0 {
            0.5 / (median_distance * median_distance)
        } else {
            0.0
        },
        scale_ratio: scale_ratio(rows),
        range: if n > 1 { (low, high) } else { (0.0, 0.0) },
    })
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
    fn a_matrix_that_is_not_symmetric_is_refused() {
        let k = array![[1.0, 0.5], [0.4, 1.0]];
        let given = Function { kernel: Kernel::Precomputed, ..Function::linear() };

        let error = check_kernel(given, &Rows::from(&k)).unwrap_err();

        assert!(error.to_string().contains("rows 2 and 1"), "{error}");
    }
}
