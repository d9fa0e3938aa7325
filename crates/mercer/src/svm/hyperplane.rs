//! A given hyperplane `w·x + b = 0`: distances, margin, canonical form, and the comparison of two.
//!
//! The signed distance of a point is `(w·x + b) / ‖w‖`. The hyperplane is in canonical form with respect to some rows if
//! `min |w·xᵢ + b| = 1`; the nearest row then has the distance `1/‖w‖`, and a separating hyperplane has a margin of
//! width `2/‖w‖` (Vapnik 1995). Of two hyperplanes that separate the classes the one with the larger margin is preferred.

use crate::error::{Error, Result};
use mercer_num::Rows;
use mercer_num::rows::Missing;
use serde::Serialize;

/// A hyperplane `w·x + b = 0`.
///
/// ```
/// use mercer::svm::Hyperplane;
/// use mercer_num::Rows;
///
/// let line = Hyperplane::new(vec![3.0, 4.0], -5.0)?;
/// assert_eq!(line.signed_distance(&[3.0, 4.0])?, 4.0);
///
/// let points = ndarray::array![[3.0, 4.0], [0.0, 0.0]];
/// let canonical = line.canonical(&Rows::from(&points))?;
/// assert_eq!((canonical.weights, canonical.intercept), (vec![0.6, 0.8], -1.0));
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hyperplane {
    /// `w`, not zero.
    pub weights: Vec<f64>,
    /// `b`.
    pub intercept: f64,
}

/// How a hyperplane separates the rows of two classes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Separation {
    /// `‖w‖`.
    pub norm: f64,
    /// The smallest signed distance of a row, positive on the side of its class: the geometric margin, negative if a row
    /// is misclassified.
    pub margin: f64,
    /// The rows at that distance, counted from zero: the support vectors of a separating hyperplane.
    pub nearest: Vec<usize>,
    /// The rows that are on the hyperplane or on the wrong side of it, counted from zero.
    pub misclassified: Vec<usize>,
    /// Whether the positive class is on the side where `w·x + b` is negative.
    pub reversed: bool,
    /// The hyperplane in canonical form, positive for the positive class; `None` if a row is on it.
    pub canonical: Option<Hyperplane>,
    /// The width `2/‖w‖` of the margin in canonical form, if the hyperplane separates the classes.
    pub width: Option<f64>,
}

impl Separation {
    /// Whether every row is on the side of its class.
    pub fn separates(&self) -> bool {
        self.misclassified.is_empty()
    }

    /// Whether this hyperplane is to be preferred to another one: it misclassifies fewer rows or, if both misclassify as
    /// many, it has the larger margin. `None` if both are equal to rounding.
    pub fn is_better_than(&self, other: &Separation) -> Option<bool> {
        match self.misclassified.len().cmp(&other.misclassified.len()) {
            std::cmp::Ordering::Less => Some(true),
            std::cmp::Ordering::Greater => Some(false),
            std::cmp::Ordering::Equal => {
                let size = self.margin.abs().max(other.margin.abs());
                let equal = (self.margin - other.margin).abs() <= NEAREST * size;
                (!equal).then_some(self.margin > other.margin)
            }
        }
    }
}

/// Rows whose distance exceeds the smallest one by less than this fraction are nearest as well.
const NEAREST: f64 = 1e-9;

impl Hyperplane {
    /// The hyperplane `w·x + b = 0`.
    ///
    /// # Errors
    /// If a number is not finite, or `w` is zero.
    pub fn new(weights: Vec<f64>, intercept: f64) -> Result<Hyperplane> {
        let number = |what: String, value: f64, expected: &str| {
            Err(Error::Number { what, value, expected: expected.into() })
        };
        if let Some(j) = weights.iter().position(|w| !w.is_finite()) {
            return number(format!("weight {}", j + 1), weights[j], "a finite number");
        }
        if !intercept.is_finite() {
            return number("the intercept".into(), intercept, "a finite number");
        }
        if weights.iter().all(|w| *w == 0.0) {
            return number("the norm of w".into(), 0.0, "above 0: w = 0 is no hyperplane");
        }
        Ok(Hyperplane { weights, intercept })
    }

    /// `‖w‖`, scaled so that no square overflows.
    pub fn norm(&self) -> f64 {
        let largest = self.weights.iter().fold(0.0f64, |most, w| most.max(w.abs()));
        largest * self.weights.iter().map(|w| (w / largest).powi(2)).sum::<f64>().sqrt()
    }

    /// `w·x + b`.
    ///
    /// # Errors
    /// [`Error::Columns`].
    pub fn value(&self, x: &[f64]) -> Result<f64> {
        if x.len() != self.weights.len() {
            return Err(Error::Columns { found: x.len(), expected: self.weights.len() });
        }
        Ok(self.weights.iter().zip(x).map(|(w, x)| w * x).sum::<f64>() + self.intercept)
    }

    /// `(w·x + b) / ‖w‖`: the distance of a point, positive on the side to which `w` points.
    ///
    /// # Errors
    /// [`Error::Columns`].
    pub fn signed_distance(&self, x: &[f64]) -> Result<f64> {
        Ok(self.value(x)? / self.norm())
    }

    /// The signed distance of every row.
    ///
    /// # Errors
    /// If there are no rows, their width differs, or a cell is not finite.
    pub fn signed_distances(&self, rows: &Rows<'_>) -> Result<Vec<f64>> {
        let norm = self.norm();
        Ok(self.values(rows)?.into_iter().map(|value| value / norm).collect())
    }

    fn values(&self, rows: &Rows<'_>) -> Result<Vec<f64>> {
        if rows.n_rows() == 0 {
            return Err(Error::NoRows);
        }
        if rows.n_columns() != self.weights.len() {
            let (found, expected) = (rows.n_columns(), self.weights.len());
            return Err(Error::Columns { found, expected });
        }
        crate::data::check_cells(rows, Missing::Refused)?;
        (0..rows.n_rows()).map(|i| self.value(&rows.row(i))).collect()
    }

    /// The smallest distance of a row from the hyperplane, on either side.
    ///
    /// # Errors
    /// As [`Hyperplane::signed_distances`].
    pub fn margin(&self, rows: &Rows<'_>) -> Result<f64> {
        let distances = self.signed_distances(rows)?;
        Ok(distances.iter().fold(f64::INFINITY, |least, d| least.min(d.abs())))
    }

    /// The same hyperplane with `min |w·xᵢ + b| = 1` over the rows.
    ///
    /// # Errors
    /// As [`Hyperplane::signed_distances`], and if a row is on the hyperplane.
    pub fn canonical(&self, rows: &Rows<'_>) -> Result<Hyperplane> {
        let values = self.values(rows)?;
        let nearest = (0..values.len()).fold(0, |a, i| match values[i].abs() < values[a].abs() {
            true => i,
            false => a,
        });
        let least = values[nearest].abs();
        if least == 0.0 {
            return Err(Error::Number {
                what: format!("the distance of row {} from the hyperplane", nearest + 1),
                value: 0.0,
                expected: "above 0 for the canonical form; drop the row or move the hyperplane"
                    .into(),
            });
        }
        Ok(self.divided_by(least))
    }

    fn divided_by(&self, divisor: f64) -> Hyperplane {
        Hyperplane {
            weights: self.weights.iter().map(|w| w / divisor).collect(),
            intercept: self.intercept / divisor,
        }
    }

    /// How the hyperplane separates two classes. Its orientation is free: the side with more rows of the positive class
    /// than the other is taken as theirs.
    ///
    /// # Errors
    /// As [`Hyperplane::signed_distances`], and if there is not one class per row.
    pub fn separation(&self, rows: &Rows<'_>, is_positive: &[bool]) -> Result<Separation> {
        let values = self.values(rows)?;
        if is_positive.len() != values.len() {
            let (found, expected) = (is_positive.len(), values.len());
            return Err(Error::Length { what: "the list of classes".into(), found, expected });
        }
        let wrong_at = |sign: f64| -> Vec<usize> {
            let side = |i: usize| if is_positive[i] { sign } else { -sign };
            (0..values.len()).filter(|i| side(*i) * values[*i] <= 0.0).collect()
        };
        let (forward, backward) = (wrong_at(1.0), wrong_at(-1.0));
        let reversed = backward.len() < forward.len();
        let (sign, misclassified) = if reversed { (-1.0, backward) } else { (1.0, forward) };
        let norm = self.norm();
        let distances: Vec<f64> = values
            .iter()
            .zip(is_positive)
            .map(|(value, positive)| if *positive { sign } else { -sign } * value / norm)
            .collect();
        let margin = distances.iter().copied().fold(f64::INFINITY, f64::min);
        let near = |d: &f64| *d - margin <= NEAREST * margin.abs();
        let nearest = (0..distances.len()).filter(|i| near(&distances[*i])).collect();
        let least = values.iter().fold(f64::INFINITY, |least, v| least.min(v.abs()));
        let canonical = (least > 0.0).then(|| self.divided_by(sign * least));
        let width = canonical.as_ref().map(|canonical| 2.0 / canonical.norm());
        let width = width.filter(|_| misclassified.is_empty());
        Ok(Separation { norm, margin, nearest, misclassified, reversed, canonical, width })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn distance_and_canonical_margin_by_hand() {
        // x + y = 3 between (1, 1), below it, and (3, 1), (1, 3), above it: distances 1/√2.
        let x = array![[0.0, 0.0], [1.0, 1.0], [3.0, 1.0], [1.0, 3.0]];
        let rows = Rows::from(&x);
        let plane = Hyperplane::new(vec![2.0, 2.0], -6.0).unwrap();

        let separation = plane.separation(&rows, &[false, false, true, true]).unwrap();

        let margin = 0.5f64.sqrt();
        assert!((separation.margin - margin).abs() < 1e-15);
        assert_eq!(separation.nearest, [1, 2, 3]);
        assert!(separation.separates() && !separation.reversed);
        let canonical = separation.canonical.unwrap();
        assert_eq!((canonical.weights.as_slice(), canonical.intercept), (&[1.0, 1.0][..], -3.0));
        assert!((separation.width.unwrap() - 2.0 / 2f64.sqrt()).abs() < 1e-15);
        assert!((separation.width.unwrap() - 2.0 * separation.margin).abs() < 1e-15);
        assert!((plane.signed_distance(&[0.0, 0.0]).unwrap() + 3.0 * margin).abs() < 1e-15);
    }

    #[test]
    fn the_hyperplane_with_the_larger_margin_is_preferred() {
        // B1: x = 2, in the middle between x = 1 and x = 3. B2: x = 1.5. B3: x = 0.5, on the wrong side of a row.
        let x = array![[0.0], [1.0], [3.0], [4.0]];
        let separation = |at: f64| {
            let plane = Hyperplane::new(vec![-1.0], at).unwrap();
            plane.separation(&Rows::from(&x), &[false, false, true, true]).unwrap()
        };

        let [b1, b2, b3] = [2.0, 1.5, 0.5].map(separation);

        assert!(b1.reversed && b1.separates());
        assert_eq!((b1.margin, b2.margin, b3.margin), (1.0, 0.5, -0.5));
        assert_eq!(b1.is_better_than(&b2), Some(true));
        assert_eq!(b3.is_better_than(&b2), Some(false));
        assert_eq!(b1.is_better_than(&b1), None);
        assert_eq!((b3.misclassified, b3.width), (vec![1], None));
    }

    #[test]
    fn hyperplanes_that_are_none_are_refused() {
        assert!(Hyperplane::new(vec![0.0, 0.0], 1.0).is_err());
        assert!(Hyperplane::new(vec![1.0, f64::NAN], 1.0).is_err());
        let plane = Hyperplane::new(vec![1.0, 1.0], -1.0).unwrap();
        assert_eq!(plane.value(&[1.0]), Err(Error::Columns { found: 1, expected: 2 }));
        let on_it = array![[1.0, 0.0]];
        assert!(plane.canonical(&Rows::from(&on_it)).unwrap_err().to_string().contains("row 1"));
        // Squares of 1e200 overflow, the norm does not.
        assert!(
            (Hyperplane::new(vec![3e200, 4e200], 0.0).unwrap().norm() / 5e200 - 1.0).abs() < 1e-15
        );
    }
}
