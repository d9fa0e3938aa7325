//! The tube of support vector regression: points `(x, y)` of a function of one variable.
//!
//! Errors up to `epsilon` cost nothing. The answer has the function on the columns of the grid, and for every point its
//! value, its coefficient `β = α⁺ − α⁻` and whether it lies outside of the tube.

use super::certificate::certificate;
use super::plane::{Grid, drawn, parameters, read, rows, time_limit};
use crate::error::ApiResult;
use mercer::model::{Fit, Monitor};
use mercer::prelude::{Dataset, Matrix, Regressor, Rows};
use mercer::svm::Svr;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The largest KKT violation of a picture, below what can be seen.
const TOLERANCE: f64 = 1e-6;
/// The parameters of `svr` that the picture shows.
const PARAMETERS: &[&str] =
    &["C", "epsilon", "kernel", "gamma", "degree", "coef0", "tol", "shrinking"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TubeMessage {
    points: Vec<[f64; 2]>,
    #[serde(default)]
    parameters: Map<String, Value>,
    grid: Grid,
    /// The time limit of the fit.
    seconds: Option<f64>,
}

/// Fits support vector regression to points in the plane.
///
/// # Errors
/// If the message is not understood, or the library refuses the points or the parameters.
pub(crate) fn fit_tube(message: Value) -> ApiResult<Value> {
    let message: TubeMessage = read(message)?;
    let points = rows(&message.points)?;
    let x = Matrix::from_shape_fn((points.nrows(), 1), |(i, _)| points[[i, 0]]);
    let y: Vec<f64> = points.column(1).to_vec();
    let svr = parameters(Svr::new().tol(TOLERANCE), PARAMETERS, message.parameters)?;
    message.grid.check(1)?;
    let limit = time_limit(message.seconds)?;
    let data = Dataset::regression(&x, &y)?;

    let fitted = svr.fit(&data, &Monitor::quiet().time_limit(limit))?;

    let values = fitted.predict(&Rows::from(&x))?;
    let residuals: Vec<f64> = y.iter().zip(&values).map(|(y, f)| y - f).collect();
    // On the edge of the tube a residual is epsilon up to the tolerance.
    let is_outside = |r: &f64| r.abs() > svr.epsilon + 10.0 * svr.tol;
    let outside: Vec<bool> = residuals.iter().map(is_outside).collect();
    let mut beta = vec![0.0; y.len()];
    for (k, i) in fitted.expansion.support.iter().enumerate() {
        beta[*i as usize] = fitted.expansion.coefficients[[0, k]];
    }
    let abscissae = message.grid.abscissae();
    let curve = fitted.predict(&Rows::from(&abscissae))?;
    let n = y.len() as f64;
    Ok(json!({
        "fitted": true,
        "curve": drawn(curve.into_iter()),
        "values": values,
        "beta": beta,
        "bound": svr.C,
        "epsilon": svr.epsilon,
        "outside": outside,
        "n_outside": outside.iter().filter(|o| **o).count(),
        "n_support": fitted.expansion.n_vectors(),
        "mean_absolute_error": residuals.iter().map(|r| r.abs()).sum::<f64>() / n,
        "kernel": fitted.expansion.function.formula(),
        "gamma": fitted.expansion.function.gamma,
        "certificate": certificate(&fitted.certificate),
    }))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn message(points: &[[f64; 2]], parameters: Value) -> Value {
        json!({
            "points": points,
            "parameters": parameters,
            "grid": {"x": [0.0, 4.0], "y": [0.0, 4.0], "columns": 5, "rows": 2},
        })
    }

    #[test]
    fn a_line_within_the_tube_by_hand() {
        // y = x at 0 and 4 with epsilon 1: the flattest line within the tube rises from 1 to 3.
        let line = message(&[[0.0, 0.0], [4.0, 4.0]], json!({"kernel": "linear", "epsilon": 1}));

        let answer = fit_tube(line).unwrap();

        let curve: Vec<f64> =
            answer["curve"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
        let expected = [1.0, 1.5, 2.0, 2.5, 3.0];
        assert!(curve.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-5), "{curve:?}");
        assert_eq!((&answer["n_outside"], &answer["n_support"]), (&json!(0), &json!(2)));
        assert!((answer["mean_absolute_error"].as_f64().unwrap() - 1.0).abs() < 1e-5);
        assert_eq!(answer["certificate"]["status"], "converged");
    }

    #[test]
    fn points_outside_of_the_tube_are_marked() {
        let points = [[0.0, 0.0], [1.0, 0.0], [2.0, 3.0], [3.0, 0.0], [4.0, 0.0]];
        let flat = json!({"kernel": "linear", "epsilon": 0.5, "C": 0.1});

        let answer = fit_tube(message(&points, flat)).unwrap();

        assert_eq!(answer["outside"], json!([false, false, true, false, false]));
        // The dual variable of a point outside is at its bound.
        assert!((answer["beta"][2].as_f64().unwrap() - 0.1).abs() < 1e-9);
    }

    #[test]
    fn bad_messages_are_refused() {
        let refused = |message: Value| fit_tube(message).unwrap_err().message;

        assert!(refused(message(&[], json!({}))).contains("no rows"));
        assert!(refused(json!([])).contains("the message"));
        assert!(!refused(message(&[[0.0, 1.0]], json!({"epsilon": -1}))).is_empty());
        assert!(!refused(message(&[[0.0, 1.0]], json!({"margin": "hard"}))).is_empty());
        assert!(refused(message(&vec![[0.0, 1.0]; 10_000], json!({}))).contains("10000 points"));
        // One point, and points that coincide, are fitted.
        assert!(fit_tube(message(&[[0.0, 1.0]], json!({}))).is_ok());
        assert!(fit_tube(message(&[[0.0, 1.0], [0.0, 2.0]], json!({}))).is_ok());
    }
}
