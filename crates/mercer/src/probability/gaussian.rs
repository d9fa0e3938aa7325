//! The multivariate normal distribution.
//!
//! `log p(x) = −½ [k log 2π + log det Σ + (x − μ)ᵀ Σ⁻¹ (x − μ)]`
//!
//! The conditional distribution given some coordinates is normal, with the mean `μ_a + Σ_ab Σ_bb⁻¹ (x_b − μ_b)` and the
//! covariance `Σ_aa − Σ_ab Σ_bb⁻¹ Σ_ba`. All solves use the Cholesky factor `Σ = L Lᵀ`; no matrix is inverted.

use super::check_names;
use crate::data::check_cells;
use crate::error::{Error, Result};
use mercer_num::linalg::{Cholesky, multiply, solve_lower};
use mercer_num::random::Random;
use mercer_num::rows::Missing;
use mercer_num::special::chi_squared_sf;
use mercer_num::{Matrix, Rows};
use ndarray::Axis;
use serde::Serialize;
use std::f64::consts::TAU;

/// The tolerance for the asymmetry of a covariance matrix, relative to its diagonal.
const ASYMMETRY: f64 = 1e-9;

/// A multivariate normal distribution with named coordinates.
///
/// ```
/// use mercer::probability::MultivariateNormal;
///
/// let heights = MultivariateNormal::new(
///     vec!["father".into(), "son".into()],
///     vec![175.0, 178.0],
///     ndarray::array![[49.0, 24.5], [24.5, 49.0]],
/// )?;
/// // A father two standard deviations above the mean has a son one above it, on average.
/// let son = heights.given(&[("father", 189.0)])?;
/// assert_eq!((son.mean()[0], son.covariance()[[0, 0]]), (185.0, 36.75));
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MultivariateNormal {
    names: Vec<String>,
    mean: Vec<f64>,
    covariance: Matrix,
    #[serde(skip)]
    factor: Cholesky,
}

impl MultivariateNormal {
    /// A distribution with a mean and a covariance.
    ///
    /// # Errors
    /// If sizes differ, a value is not finite, or the covariance is not symmetric and positive definite.
    pub fn new(
        names: Vec<String>,
        mean: Vec<f64>,
        covariance: Matrix,
    ) -> Result<MultivariateNormal> {
        check_names("coordinates", &names)?;
        let k = names.len();
        let sizes = [
            ("the mean", mean.len()),
            ("the covariance", covariance.nrows()),
            ("a row of the covariance", covariance.ncols()),
        ];
        for (what, found) in sizes {
            if found != k {
                return Err(Error::Length { what: what.into(), found, expected: k });
            }
        }
        for (name, value) in names.iter().zip(&mean) {
            finite(|| format!("the mean of `{name}`"), *value)?;
        }
        for ((i, j), value) in covariance.indexed_iter() {
            let what = || format!("the covariance of `{}` and `{}`", names[i], names[j]);
            finite(what, *value)?;
            let scale = (covariance[[i, i]] * covariance[[j, j]]).abs().sqrt();
            if (value - covariance[[j, i]]).abs() > ASYMMETRY * scale {
                let expected = format!("{}, because the matrix is symmetric", covariance[[j, i]]);
                return Err(Error::Number { what: what(), value: *value, expected });
            }
        }
        let factor = Cholesky::of(covariance.view()).ok_or_else(|| Error::Parameter {
            name: "covariance".into(),
            found: "not positive definite".into(),
            expected: format!(
                "positive definite: none of {} may be constant or a linear combination of others",
                names.join(", ")
            ),
        })?;
        Ok(MultivariateNormal { names, mean, covariance, factor })
    }

    /// The maximum likelihood estimate: sums of squares are divided by the number of rows.
    ///
    /// # Errors
    /// If there are no rows, a cell is not finite, or the covariance is singular.
    pub fn fit(names: Vec<String>, x: &Rows<'_>) -> Result<MultivariateNormal> {
        MultivariateNormal::fit_less(names, x, 0.0)
    }

    /// The unbiased estimate: sums of squares are divided by the number of rows minus one.
    ///
    /// # Errors
    /// As [`MultivariateNormal::fit`].
    pub fn fit_unbiased(names: Vec<String>, x: &Rows<'_>) -> Result<MultivariateNormal> {
        MultivariateNormal::fit_less(names, x, 1.0)
    }

    fn fit_less(names: Vec<String>, x: &Rows<'_>, less: f64) -> Result<MultivariateNormal> {
        let (n, k) = (x.n_rows(), x.n_columns());
        if k != names.len() {
            return Err(Error::Columns { found: k, expected: names.len() });
        }
        check_cells(x, Missing::Refused)?;
        if n as f64 <= less {
            return Err(Error::NoRows);
        }
        let cells: Vec<f64> = (0..n).flat_map(|i| x.row(i)).collect();
        let mut rows = Matrix::from_shape_vec((n, k), cells)
            .map_err(|_| Error::Columns { found: k, expected: names.len() })?;
        // Shifted by the first row, which avoids cancellation for columns far from zero.
        let first = rows.row(0).to_owned();
        rows -= &first;
        let shift = rows.mean_axis(Axis(0)).unwrap_or_else(|| first.clone());
        rows -= &shift;
        let mean = (&first + &shift).to_vec();
        let covariance = mercer_num::linalg::gram(rows.view()) / (n as f64 - less);
        MultivariateNormal::new(names, mean, covariance)
    }

    /// The names of the coordinates.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// `μ`.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// `Σ`.
    pub fn covariance(&self) -> &Matrix {
        &self.covariance
    }

    /// The Mahalanobis distance `√((x − μ)ᵀ Σ⁻¹ (x − μ))`.
    ///
    /// # Errors
    /// If `x` has another number of coordinates or one is not finite.
    pub fn mahalanobis(&self, x: &[f64]) -> Result<f64> {
        Ok(self.square(x)?.sqrt())
    }

    /// The probability that a sample is at least as far from the mean as `x`.
    ///
    /// # Errors
    /// As [`MultivariateNormal::mahalanobis`].
    pub fn tail(&self, x: &[f64]) -> Result<f64> {
        Ok(chi_squared_sf(self.square(x)?, self.mean.len() as f64))
    }

    /// `log p(x)`.
    ///
    /// # Errors
    /// As [`MultivariateNormal::mahalanobis`].
    pub fn ln_density(&self, x: &[f64]) -> Result<f64> {
        let constant = self.mean.len() as f64 * TAU.ln() + self.factor.log_determinant();
        Ok(-0.5 * (constant + self.square(x)?))
    }

    /// The marginal distribution of some coordinates, in the given order.
    ///
    /// # Errors
    /// If a coordinate is out of range or repeated.
    pub fn marginal(&self, names: &[&str]) -> Result<MultivariateNormal> {
        let owned: Vec<String> = names.iter().map(|n| (*n).to_owned()).collect();
        check_names("coordinates", &owned)?;
        let indices = names.iter().map(|n| self.index(n)).collect::<Result<Vec<_>>>()?;
        let mean = indices.iter().map(|p| self.mean[*p]).collect();
        MultivariateNormal::new(owned, mean, block(&self.covariance, &indices, &indices))
    }

    /// The conditional distribution of the other coordinates given some.
    ///
    /// # Errors
    /// If a coordinate is out of range, repeated or not finite, or all are given.
    pub fn given(&self, known: &[(&str, f64)]) -> Result<MultivariateNormal> {
        let mut fixed = Vec::with_capacity(known.len());
        for (name, value) in known {
            let index = self.index(name)?;
            finite(|| format!("the value of `{name}`"), *value)?;
            if fixed.contains(&index) {
                return Err(Error::Parameter {
                    name: "given".into(),
                    found: format!("`{name}` twice"),
                    expected: "each coordinate at most once".into(),
                });
            }
            fixed.push(index);
        }
        let free: Vec<usize> = (0..self.mean.len()).filter(|p| !fixed.contains(p)).collect();
        if free.is_empty() {
            return Err(Error::Parameter {
                name: "given".into(),
                found: "every coordinate".into(),
                expected: "at least one coordinate that is not given".into(),
            });
        }
        if fixed.is_empty() {
            return Ok(self.clone());
        }
        let of_fixed = block(&self.covariance, &fixed, &fixed);
        let factor = Cholesky::of(of_fixed.view()).ok_or_else(|| Error::Parameter {
            name: "given".into(),
            found: "linearly dependent coordinates".into(),
            expected: "coordinates with a positive definite covariance".into(),
        })?;
        // With W = L⁻¹ Σ_ba and z = L⁻¹ (x_b − μ_b), the mean is shifted by Wᵀz and the covariance reduced by WᵀW,
        // which is exactly symmetric.
        let mut w = block(&self.covariance, &fixed, &free);
        let mut z: Vec<f64> =
            fixed.iter().zip(known).map(|(p, (_, value))| value - self.mean[*p]).collect();
        if let Some(cells) = w.as_slice_mut() {
            solve_lower(factor.lower().view(), cells, free.len());
        }
        solve_lower(factor.lower().view(), &mut z, 1);
        let moved = w.t().dot(&ndarray::ArrayView1::from(&z));
        let mean = free.iter().zip(moved).map(|(p, shift)| self.mean[*p] + shift).collect();
        let covariance = block(&self.covariance, &free, &free) - multiply(w.t(), w.view());
        let names = free.iter().map(|p| self.names[*p].clone()).collect();
        MultivariateNormal::new(names, mean, covariance)
    }

    /// Samples `μ + L z` with standard normal `z`.
    pub fn sample(&self, n: usize, random: &mut Random) -> Matrix {
        let k = self.mean.len();
        let z = Matrix::from_shape_fn((n, k), |_| random.normal());
        let mut rows = multiply(z.view(), self.factor.lower().t());
        rows += &ndarray::ArrayView1::from(&self.mean);
        rows
    }

    fn square(&self, x: &[f64]) -> Result<f64> {
        if x.len() != self.mean.len() {
            return Err(Error::Columns { found: x.len(), expected: self.mean.len() });
        }
        if let Some((column, value)) = x.iter().enumerate().find(|(_, v)| !v.is_finite()) {
            return Err(Error::NotFinite { row: 0, column, value: *value });
        }
        let mut z: Vec<f64> = x.iter().zip(&self.mean).map(|(x, m)| x - m).collect();
        solve_lower(self.factor.lower().view(), &mut z, 1);
        Ok(z.iter().map(|v| v * v).sum())
    }

    fn index(&self, name: &str) -> Result<usize> {
        self.names.iter().position(|n| n == name).ok_or_else(|| Error::UnknownVariable {
            name: name.to_owned(),
            known: self.names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", "),
        })
    }
}

fn block(a: &Matrix, rows: &[usize], columns: &[usize]) -> Matrix {
    Matrix::from_shape_fn((rows.len(), columns.len()), |(i, j)| a[[rows[i], columns[j]]])
}

fn finite(what: impl Fn() -> String, value: f64) -> Result<()> {
    if value.is_finite() {
        return Ok(());
    }
    Err(Error::Number { what: what(), value, expected: "a finite number".into() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    fn names(k: usize) -> Vec<String> {
        (0..k).map(|i| format!("x{i}")).collect()
    }

    fn three() -> MultivariateNormal {
        let covariance = array![[4.0, 1.0, 0.5], [1.0, 3.0, -0.7], [0.5, -0.7, 2.0]];
        MultivariateNormal::new(names(3), vec![1.0, -2.0, 0.5], covariance).unwrap()
    }

    #[test]
    fn a_joint_density_is_a_marginal_times_a_conditional() {
        let x = [2.0, -1.0, 1.5];

        let joint = three().ln_density(&x).unwrap();
        let marginal = three().marginal(&["x1"]).unwrap().ln_density(&[x[1]]).unwrap();
        let rest = three().given(&[("x1", x[1])]).unwrap();

        assert_eq!(rest.names(), ["x0", "x2"]);
        let conditional = rest.ln_density(&[x[0], x[2]]).unwrap();
        assert!((joint - marginal - conditional).abs() < 1e-13);
    }

    #[test]
    fn two_coordinates_have_the_closed_form() {
        let pair = three().marginal(&["x0", "x1"]).unwrap();

        let known = pair.given(&[("x1", 1.0)]).unwrap();

        // 1 + 1/3 · (1 + 2) and 4 − 1/3.
        assert!((known.mean()[0] - 2.0).abs() < 1e-14);
        assert!((known.covariance()[[0, 0]] - 11.0 / 3.0).abs() < 1e-14);
        let line = pair.marginal(&["x0"]).unwrap();
        assert!((line.mahalanobis(&[5.0]).unwrap() - 2.0).abs() < 1e-15);
        assert!((line.tail(&[5.0]).unwrap() - 0.045_500_263_896_358_4).abs() < 1e-14);
    }

    #[test]
    fn what_was_drawn_is_found_again() {
        let rows = three().sample(20_000, &mut Random::new(5));

        let fitted = MultivariateNormal::fit_unbiased(names(3), &Rows::from(&rows)).unwrap();

        for (a, b) in fitted.mean().iter().zip(three().mean()) {
            assert!((a - b).abs() < 0.05);
        }
        for (a, b) in fitted.covariance().iter().zip(three().covariance()) {
            assert!((a - b).abs() < 0.1);
        }
    }

    #[test]
    fn a_small_fit_by_hand() {
        let x = array![[1e9 + 1.0, 2.0], [1e9 + 3.0, 2.0], [1e9 + 5.0, 8.0]];

        let fitted = MultivariateNormal::fit(names(2), &Rows::from(&x)).unwrap();

        assert_eq!(fitted.mean(), [1e9 + 3.0, 4.0]);
        // Squares 8, 12 and 24 over three rows.
        assert_eq!(fitted.covariance(), array![[8.0 / 3.0, 4.0], [4.0, 8.0]]);
    }

    #[test]
    fn bad_shapes_and_matrices_are_named() {
        let new = |covariance| MultivariateNormal::new(names(2), vec![0.0; 2], covariance);
        let lopsided = new(array![[1.0, 0.5], [0.4, 1.0]]).unwrap_err().to_string();
        let flat = new(array![[1.0, 1.0], [1.0, 1.0]]).unwrap_err().to_string();

        assert!(lopsided.contains("`x0` and `x1`") && lopsided.contains("0.4"), "{lopsided}");
        assert!(flat.contains("positive definite"), "{flat}");
        assert!(new(array![[1.0]]).is_err());
        assert!(three().given(&[("x0", 1.0), ("x0", 2.0)]).is_err());
        assert!(three().given(&[("y", 1.0)]).unwrap_err().to_string().contains("`x2`"));
        assert!(three().given(&[("x0", 1.0), ("x1", 2.0), ("x2", 0.0)]).is_err());
        assert!(three().ln_density(&[1.0]).is_err());
        assert!(three().ln_density(&[1.0, f64::NAN, 0.0]).is_err());
        let missing = array![[1.0, f64::NAN]];
        assert!(MultivariateNormal::fit(names(2), &Rows::from(&missing)).is_err());
    }
}
