//! Points, grids and limits that the pictures share.

use crate::error::{ApiError, ApiResult};
use mercer::model::{Params, set};
use mercer::prelude::{Classes, Matrix};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The points of a picture: an exact fit of more would not follow the mouse.
pub const MAX_POINTS: usize = 2000;
/// The classes of a picture.
pub const MAX_CLASSES: usize = 8;
/// The values of all functions on the grid.
const MAX_GRID_VALUES: usize = 1 << 18;
/// Coordinates beyond this overflow in powers and exponentials.
const MAX_COORDINATE: f64 = 1e6;
/// The seconds that a fit may take, at most and by default.
const MAX_SECONDS: f64 = 10.0;
const SECONDS: f64 = 2.0;

/// Reads a message; the error names the field.
pub fn read<T: DeserializeOwned>(message: Value) -> ApiResult<T> {
    serde_json::from_value(message).map_err(|why| ApiError::bad(format!("the message: {why}")))
}

/// The seconds that a fit may take.
pub fn time_limit(seconds: Option<f64>) -> ApiResult<std::time::Duration> {
    let seconds = seconds.unwrap_or(SECONDS);
    if !(0.0..=MAX_SECONDS).contains(&seconds) {
        return Err(ApiError::bad(format!(
            "seconds: found {seconds}, expected a number from 0 to {MAX_SECONDS}"
        )));
    }
    Ok(std::time::Duration::from_secs_f64(seconds))
}

/// The parameters of an estimator, by name; those that a picture shows only.
pub fn parameters<P: Params>(
    initial: P,
    shown: &[&str],
    values: Map<String, Value>,
) -> ApiResult<P> {
    let mut params = initial;
    for (name, value) in values {
        if !shown.contains(&name.as_str()) {
            return Err(ApiError::bad(format!(
                "parameters: found `{name}`, expected some of {}",
                shown.join(", ")
            )));
        }
        if name == "kernel" && value == "precomputed" {
            return Err(ApiError::bad(
                "parameters: a precomputed kernel has no value between the points; choose another kernel",
            ));
        }
        params = set(&params, &name, value)?;
    }
    Ok(params)
}

/// The points as the rows of a matrix.
pub fn rows(points: &[[f64; 2]]) -> ApiResult<Matrix> {
    check_size(points.len())?;
    for (i, point) in points.iter().enumerate() {
        if let Some(value) = point.iter().find(|v| !v.is_finite() || v.abs() > MAX_COORDINATE) {
            return Err(ApiError::bad(format!(
                "point {}: found the coordinate {value}, expected a number between -{MAX_COORDINATE} and \
                 {MAX_COORDINATE}",
                i + 1
            )));
        }
    }
    Ok(Matrix::from_shape_fn((points.len(), 2), |(i, j)| points[i][j]))
}

/// Refuses more points than a picture has.
fn check_size(n_points: usize) -> ApiResult<()> {
    if n_points > MAX_POINTS {
        return Err(ApiError::bad(format!(
            "found {n_points} points, expected at most {MAX_POINTS}; train larger tables on the screen Train"
        )));
    }
    Ok(())
}

/// The observed classes of the points.
pub struct PointClasses {
    /// The class numbers of the message that occur, ascending.
    pub numbers: Vec<u32>,
    /// The position of each point's class in `numbers`.
    pub codes: Vec<u32>,
    /// The classes by name.
    pub classes: Classes,
}

impl PointClasses {
    /// Checks the class of every point.
    pub fn new(given: &[u32], n_points: usize) -> ApiResult<PointClasses> {
        if given.len() != n_points {
            return Err(ApiError::bad(format!(
                "classes: found {} of them for {n_points} points, expected one per point",
                given.len()
            )));
        }
        if let Some(class) = given.iter().find(|c| **c as usize >= MAX_CLASSES) {
            return Err(ApiError::bad(format!(
                "classes: found {class}, expected an integer from 0 to {}",
                MAX_CLASSES - 1
            )));
        }
        let mut numbers = given.to_vec();
        numbers.sort_unstable();
        numbers.dedup();
        let code = |class: &u32| numbers.partition_point(|number| number < class) as u32;
        let codes = given.iter().map(code).collect();
        let classes = Classes::from_names(numbers.iter().map(|number| class_name(*number)));
        Ok(PointClasses { numbers, codes, classes })
    }
}

/// The name of a class in messages and in copied commands: A, B, C, ...
pub fn class_name(number: u32) -> String {
    char::from(b'A' + number.min(25) as u8).to_string()
}

/// The corners and the resolution of a picture.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// The smallest and the largest first coordinate.
    pub x: [f64; 2],
    /// The smallest and the largest second coordinate.
    pub y: [f64; 2],
    /// The number of values along the first coordinate.
    pub columns: usize,
    /// The number of values along the second coordinate.
    pub rows: usize,
}

impl Grid {
    /// Refuses grids without an area, and those with too many values of so many functions.
    pub fn check(&self, n_functions: usize) -> ApiResult<()> {
        for (name, [low, high]) in [("x", self.x), ("y", self.y)] {
            if !(low < high && low.abs() <= MAX_COORDINATE && high.abs() <= MAX_COORDINATE) {
                return Err(ApiError::bad(format!(
                    "grid: found {name} from {low} to {high}, expected a finite range, the smaller end first"
                )));
            }
        }
        let sides = [self.columns, self.rows];
        if sides.iter().any(|n| !(2..=4096).contains(n)) {
            return Err(ApiError::bad(format!(
                "grid: found {} columns and {} rows, expected 2 to 4096 of each",
                self.columns, self.rows
            )));
        }
        let values = self.columns * self.rows * n_functions.max(1);
        if values > MAX_GRID_VALUES {
            return Err(ApiError::bad(format!(
                "grid: {} columns and {} rows of {n_functions} functions are {values} values, expected at most \
                 {MAX_GRID_VALUES}",
                self.columns, self.rows
            )));
        }
        Ok(())
    }

    /// The points of the grid, row by row from the smallest second coordinate on.
    pub fn points(&self) -> Matrix {
        let at = |[low, high]: [f64; 2], k: usize, n: usize| {
            low + (high - low) * k as f64 / (n - 1) as f64
        };
        Matrix::from_shape_fn((self.columns * self.rows, 2), |(i, j)| match j {
            0 => at(self.x, i % self.columns, self.columns),
            _ => at(self.y, i / self.columns, self.rows),
        })
    }

    /// The first coordinates of the columns, one row each.
    pub fn abscissae(&self) -> Matrix {
        let Grid { x: [low, high], columns: n, .. } = self;
        Matrix::from_shape_fn((*n, 1), |(i, _)| low + (high - low) * i as f64 / (n - 1) as f64)
    }
}

/// Values for a drawing: rounded to five digits of the largest of them, or of one if that is smaller. Contours at zero
/// and one stay where they are, and messages are a third as long.
pub fn drawn(values: impl Iterator<Item = f64> + Clone) -> Vec<f64> {
    let largest = values.clone().map(f64::abs).fold(0.0, f64::max).min(1.0);
    if largest <= 0.0 {
        return values.collect();
    }
    let scale = 10f64.powi(5 - largest.log10().floor().max(-200.0) as i32);
    values.map(|v| if v.abs() < 1e9 { (v * scale).round() / scale } else { v }).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_starts_at_the_lower_left_corner() {
        let grid = Grid { x: [0.0, 2.0], y: [-1.0, 1.0], columns: 3, rows: 2 };

        grid.check(1).unwrap();

        let points = grid.points();
        assert_eq!(points.row(0).to_vec(), [0.0, -1.0]);
        assert_eq!(points.row(2).to_vec(), [2.0, -1.0]);
        assert_eq!(points.row(3).to_vec(), [0.0, 1.0]);
        assert_eq!(grid.abscissae().column(0).to_vec(), [0.0, 1.0, 2.0]);
    }

    #[test]
    fn grids_without_an_area_or_with_too_many_values_are_refused() {
        let grid = Grid { x: [0.0, 1.0], y: [0.0, 1.0], columns: 512, rows: 512 };

        assert!(grid.check(1).is_ok());
        assert!(grid.check(2).unwrap_err().message.contains("at most 262144"));
        for (x, columns) in
            [([1.0, 1.0], 10), ([f64::NAN, 1.0], 10), ([0.0, 1e300], 10), ([0.0, 1.0], 1)]
        {
            assert!(Grid { x, columns, ..grid.clone() }.check(1).is_err(), "{x:?} {columns}");
        }
    }

    #[test]
    fn drawn_values_keep_five_digits() {
        assert_eq!(drawn([1.0, 0.123_456_789, -3.000_000_4].into_iter()), [1.0, 0.12346, -3.0]);
        assert_eq!(drawn([1.234_567_8e-7, 0.0].into_iter()), [1.234_57e-7, 0.0]);
        assert_eq!(drawn([0.0, 0.0].into_iter()), [0.0, 0.0]);
    }

    #[test]
    fn only_observed_classes_count() {
        let found = PointClasses::new(&[3, 0, 3], 3).unwrap();

        assert_eq!((found.numbers, found.codes), (vec![0, 3], vec![1, 0, 1]));
        assert!(PointClasses::new(&[0], 2).is_err());
        assert!(PointClasses::new(&[8], 1).is_err());
    }
}
