//! Predictions are numbers: a sum that overflows is an error that names the row, not a silent NaN or infinity.

use crate::error::{Error, Result};

/// Refuses values that are NaN or infinite: predictions of rows, row-major, one column per intercept. The score of a
/// class without rows, whose intercept is `−∞`, is `−∞` for any row.
pub(crate) fn check_predictions(cells: &[f64], intercepts: &[f64]) -> Result<()> {
    if cells.iter().fold(true, |finite, v| finite & v.is_finite()) {
        return Ok(());
    }
    for (row, cells) in cells.chunks_exact(intercepts.len().max(1)).enumerate() {
        for (value, intercept) in cells.iter().zip(intercepts) {
            let excluded = *intercept == f64::NEG_INFINITY && *value == f64::NEG_INFINITY;
            if !value.is_finite() && !excluded {
                return Err(Error::Overflow { row, value: *value });
            }
        }
    }
    Ok(())
}

/// Refuses values that are NaN, row-major with `width` columns; logarithms of probabilities may be `−∞`.
pub(crate) fn check_not_nan(cells: &[f64], width: usize) -> Result<()> {
    match cells.iter().position(|v| v.is_nan()) {
        Some(cell) => Err(Error::Overflow { row: cell / width.max(1), value: f64::NAN }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overflow_names_its_row_and_excluded_classes_stay() {
        let excluded = [0.0, f64::NEG_INFINITY];

        assert!(check_predictions(&[1.0, f64::NEG_INFINITY], &excluded).is_ok());
        let overflow = check_predictions(&[1.0, 2.0, f64::NEG_INFINITY, 0.0], &[0.0, 0.0]);
        assert_eq!(overflow, Err(Error::Overflow { row: 1, value: f64::NEG_INFINITY }));
        assert!(check_predictions(&[0.0, f64::INFINITY], &excluded).is_err());
        assert!(check_not_nan(&[0.0, f64::NEG_INFINITY], 2).is_ok());
        assert!(matches!(
            check_not_nan(&[0.0, 0.0, f64::NAN], 2),
            Err(Error::Overflow { row: 1, .. })
        ));
    }
}
