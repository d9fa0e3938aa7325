//! The margin playground: support vector classification of points in the plane.
//!
//! A message has points, their classes, parameters of `svc` and a grid; the answer has the decision functions on the
//! grid, the dual variable, slack and prediction of every point, the certificate, and the exact leave-one-out error as
//! far as its time limit allows. Classes that a hard margin cannot separate are an answer too: the witness.

use super::certificate::certificate;
use super::leave_one_out::{LeaveOneOut, Part, leave_one_out};
use super::plane::{Grid, PointClasses, drawn, parameters, read, rows, time_limit};
use crate::error::{ApiError, ApiResult};
use mercer::kernel::{Gamma, Kernel};
use mercer::model::{Fit, Monitor};
use mercer::prelude::{Classifier, Dataset, Error, Fitted, Matrix, Rows};
use mercer::svm::{Margin, Multiclass, Svc, SvcModel};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// The largest KKT violation of a picture, below what can be seen.
const TOLERANCE: f64 = 1e-6;
/// The parameters of `svc` that the picture shows.
const PARAMETERS: &[&str] = &[
    "C",
    "margin",
    "slack_power",
    "kernel",
    "gamma",
    "degree",
    "coef0",
    "multiclass",
    "tol",
    "shrinking",
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MarginMessage {
    points: Vec<[f64; 2]>,
    classes: Vec<u32>,
    #[serde(default)]
    parameters: Map<String, Value>,
    grid: Grid,
    /// The time limit of the fit.
    seconds: Option<f64>,
    /// The part of the leave-one-out error to compute.
    leave_one_out: Option<Part>,
}

/// Points, their classes and the estimator.
struct Problem {
    x: Matrix,
    classes: PointClasses,
    svc: Svc,
}

/// Fits a support vector classifier to points in the plane.
///
/// # Errors
/// If the message is not understood, or the library refuses the points or the parameters.
pub(crate) fn fit_margin(message: Value) -> ApiResult<Value> {
    let message: MarginMessage = read(message)?;
    let x = rows(&message.points)?;
    let classes = PointClasses::new(&message.classes, message.points.len())?;
    let svc = parameters(Svc::new().tol(TOLERANCE), PARAMETERS, message.parameters)?;
    message.grid.check(n_functions(&svc, classes.numbers.len()))?;
    let limit = time_limit(message.seconds)?;
    let mut problem = Problem { x, classes, svc };
    let fitted = {
        let codes = &problem.classes.codes;
        let data = Dataset::classes(&problem.x, codes, &problem.classes.classes)?;
        problem.svc.fit(&data, &Monitor::quiet().time_limit(limit))
    };
    let fitted = match fitted {
        Ok(fitted) => fitted,
        Err(error) => return problem.without_model(error),
    };
    let mut answer = problem.picture(&fitted, &message.grid)?;
    // Left-out rows do not change the kernel.
    problem.svc = problem.svc.gamma(Gamma::Number(fitted.expansion.function.gamma));
    if let Some(part) = message.leave_one_out {
        answer["leave_one_out"] = problem.leave_one_out(&fitted, part, limit)?;
    }
    Ok(answer)
}

/// The number of decision functions of so many classes.
fn n_functions(svc: &Svc, n_classes: usize) -> usize {
    match svc.multiclass {
        _ if n_classes <= 2 => 1,
        Multiclass::OneVsOne => n_classes * (n_classes - 1) / 2,
        Multiclass::OneVsRest | Multiclass::CrammerSinger => n_classes,
    }
}

/// A decision function on the grid.
#[derive(Serialize)]
struct GridFunction {
    /// The class of its positive values.
    positive: u32,
    /// The class of its negative values; `None` for all other classes.
    negative: Option<u32>,
    /// `1 / ‖w‖` in the feature space; `None` if `w` is zero.
    margin: Option<f64>,
    values: Vec<f64>,
}

impl Problem {
    /// The answer for a fitted model.
    fn picture(&self, fitted: &Fitted<SvcModel>, grid: &Grid) -> ApiResult<Value> {
        let points = Rows::from(&self.x);
        let predicted = fitted.predict(&points)?;
        let wrong = predicted.iter().zip(&self.classes.codes).filter(|(p, c)| p != c).count();
        let number = |code: &u32| self.classes.numbers[*code as usize];
        let expansion = &fitted.expansion;
        let is_binary = self.classes.numbers.len() == 2;
        let values =
            if is_binary { Some(fitted.raw_decisions(&points)?.column(0).to_vec()) } else { None };
        let grid_points = grid.points();
        let cells = Rows::from(&grid_points);
        let regions: Option<Vec<u32>> = if is_binary {
            None
        } else {
            Some(fitted.predict(&cells)?.iter().map(number).collect())
        };
        Ok(json!({
            "fitted": true,
            "classes": self.classes.numbers,
            "functions": self.functions(fitted, &fitted.raw_decisions(&cells)?),
            "regions": regions,
            "alpha": self.per_point(fitted, &expansion.coefficients),
            "slack": self.per_point(fitted, &fitted.slacks),
            "bound": self.bound(),
            "values": values,
            "predicted": predicted.iter().map(number).collect::<Vec<u32>>(),
            "training_errors": wrong,
            "n_support": expansion.n_vectors(),
            "kernel": expansion.function.formula(),
            "gamma": expansion.function.gamma,
            "weights": self.weights(fitted),
            "intercepts": expansion.intercepts,
            "certificate": certificate(&fitted.certificate),
        }))
    }

    /// The decision functions with their values on the grid.
    fn functions(&self, fitted: &SvcModel, decisions: &Matrix) -> Vec<GridFunction> {
        let numbers = &self.classes.numbers;
        let between: Vec<(u32, Option<u32>)> = match (numbers.len(), fitted.multiclass) {
            (2, _) => vec![(numbers[1], Some(numbers[0]))],
            (_, Multiclass::OneVsOne) => (0..numbers.len())
                .flat_map(|a| (a + 1..numbers.len()).map(move |b| (a, b)))
                .map(|(a, b)| (numbers[a], Some(numbers[b])))
                .collect(),
            _ => numbers.iter().map(|number| (*number, None)).collect(),
        };
        let function = |(k, (positive, negative)): (usize, (u32, Option<u32>))| GridFunction {
            positive,
            negative,
            margin: fitted.margins.get(k).copied().filter(|margin| margin.is_finite()),
            values: drawn(decisions.column(k).iter().copied()),
        };
        between.into_iter().enumerate().take(decisions.ncols()).map(function).collect()
    }

    /// The largest absolute value of each support vector over all decision functions; zero for other points, and for
    /// slacks of Crammer-Singer, which have another definition and are not part of the model.
    fn per_point(&self, fitted: &SvcModel, of_vectors: &Matrix) -> Vec<f64> {
        let mut out = vec![0.0; self.x.nrows()];
        for (k, i) in fitted.expansion.support.iter().enumerate().take(of_vectors.ncols()) {
            let largest = of_vectors.column(k).iter().map(|v| v.abs()).fold(0.0, f64::max);
            out[*i as usize] = largest;
        }
        out
    }

    /// The upper bound of the dual variables, if there is one.
    fn bound(&self) -> Option<f64> {
        (self.svc.margin == Margin::Soft && self.svc.slack_power <= 1.0).then_some(self.svc.C)
    }

    /// `w` of a linear kernel and two classes.
    fn weights(&self, fitted: &SvcModel) -> Option<Vec<f64>> {
        let is_binary = self.classes.numbers.len() == 2;
        let weights = fitted.expansion.weights().filter(|_| is_binary)?;
        Some(weights.row(0).to_vec())
    }

    fn leave_one_out(
        &self,
        fitted: &Fitted<SvcModel>,
        part: Part,
        limit: Duration,
    ) -> ApiResult<Value> {
        time_limit(Some(part.seconds))?;
        let PointClasses { codes, classes, .. } = &self.classes;
        // Where a single fit takes longer than the part may, many would hold up the picture.
        let found = if fitted.certificate.seconds > part.seconds {
            LeaveOneOut::none(part.first.min(codes.len()))
        } else {
            leave_one_out(&self.svc, (&self.x, codes, classes), fitted, part, limit)?
        };
        serde_json::to_value(found).map_err(|_| ApiError::internal())
    }

    /// The answer if a hard margin does not exist, or was not found.
    fn without_model(&self, error: Error) -> ApiResult<Value> {
        let (reason, witness) = match &error {
            Error::NotSeparable { witness, distance, spread, .. } => {
                ("not_separable", Some(self.witness(witness, *distance, *spread)))
            }
            Error::Undecided { .. } => ("undecided", None),
            Error::Stopped => ("stopped", None),
            _ => return Err(error.into()),
        };
        Ok(json!({
            "fitted": false,
            "reason": reason,
            "message": error.to_string(),
            "classes": self.classes.numbers,
            "witness": witness,
        }))
    }

    /// The convex combinations of both classes that coincide. With a linear kernel they are points of the plane.
    fn witness(&self, witness: &[Vec<(usize, f64)>; 2], distance: f64, spread: f64) -> Value {
        let combination = |rows: &Vec<(usize, f64)>| {
            let class =
                rows.first().map(|(i, _)| self.classes.numbers[self.classes.codes[*i] as usize]);
            let mean = |j: usize| rows.iter().map(|(i, c)| c * self.x[[*i, j]]).sum::<f64>();
            json!({
                "class": class,
                "points": rows.iter().map(|(i, _)| *i).collect::<Vec<_>>(),
                "coefficients": rows.iter().map(|(_, c)| *c).collect::<Vec<_>>(),
                "position": [mean(0), mean(1)],
            })
        };
        json!({
            "combinations": [combination(&witness[0]), combination(&witness[1])],
            "distance": distance,
            "spread": spread,
            "in_plane": self.svc.kernel == Kernel::Linear,
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use mercer::prelude::Classes;

    const GRID: [f64; 2] = [-4.0, 4.0];

    fn message(points: &[[f64; 2]], classes: &[u32], parameters: Value) -> Value {
        json!({
            "points": points,
            "classes": classes,
            "parameters": parameters,
            "grid": {"x": GRID, "y": GRID, "columns": 9, "rows": 9},
        })
    }

    fn numbers(answer: &Value) -> Vec<f64> {
        answer.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
    }

    #[test]
    fn two_points_have_the_margin_by_hand() {
        // x = -1 and x = 1: w = (1, 0), b = 0, alpha = 1/2, margin 1.
        let two = message(&[[-1.0, 0.0], [1.0, 0.0]], &[0, 1], json!({"kernel": "linear"}));

        let answer = fit_margin(two).unwrap();

        assert_eq!(answer["fitted"], true);
        let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
        assert!(close(&numbers(&answer["weights"]), &[1.0, 0.0]));
        assert!(close(&numbers(&answer["alpha"]), &[0.5, 0.5]));
        assert!(close(&numbers(&answer["values"]), &[-1.0, 1.0]));
        let function = &answer["functions"][0];
        assert!((function["margin"].as_f64().unwrap() - 1.0).abs() < 1e-6);
        assert_eq!((&function["positive"], &function["negative"]), (&json!(1), &json!(0)));
        // The grid has steps of one, so its columns are the decision values.
        let values = numbers(&function["values"]);
        assert_eq!(values.len(), 81);
        assert!(close(&values[..9], &[-4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0]));
        let certificate = &answer["certificate"];
        assert_eq!(certificate["status"], "converged");
        assert!(certificate["duality_gap"].as_f64().unwrap() < 1e-6);
        assert_eq!(answer["leave_one_out"], Value::Null);
    }

    #[test]
    fn the_answer_is_what_the_library_says() {
        let points: Vec<[f64; 2]> = (0..40)
            .map(|i| {
                let t = f64::from(i) * 0.7;
                [t.sin() * (1.0 + 0.1 * t), t.cos() * 2.0]
            })
            .collect();
        let codes: Vec<u32> = points.iter().map(|p| u32::from(p[0] + 0.4 * p[1] > 0.2)).collect();
        let parameters = json!({"gamma": 0.7, "C": 5.0, "slack_power": 2.0});
        let mut message = message(&points, &codes, parameters);
        message["leave_one_out"] = json!({"first": 0, "seconds": 10.0});

        let answer = fit_margin(message.clone()).unwrap();

        let x = rows(&points).unwrap();
        let classes = Classes::from_names(["A", "B"]);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        let svc = Svc::new().gamma(0.7.into()).C(5.0).slack_power(2.0).tol(TOLERANCE);
        let fitted = svc.fit(&data, &Monitor::quiet()).unwrap();
        assert_eq!(answer["n_support"], fitted.expansion.n_vectors());
        let decisions = fitted.raw_decisions(&Rows::from(&x)).unwrap();
        assert_eq!(numbers(&answer["values"]), decisions.column(0).to_vec());
        assert_eq!(answer["certificate"]["text"], fitted.certificate.to_string());
        assert_eq!(answer["leave_one_out"]["next"], 40);
        // Without time for a single fit, no row is checked.
        message["leave_one_out"] = json!({"first": 5, "seconds": 0.0});
        assert_eq!(fit_margin(message).unwrap()["leave_one_out"]["next"], 5);
        assert_eq!(answer["bound"], Value::Null);
        assert_eq!(answer["gamma"], 0.7);
    }

    #[test]
    fn classes_that_no_line_separates_have_a_witness() {
        // XOR: the diagonals meet at the origin.
        let points = [[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]];
        let hard = json!({"kernel": "linear", "margin": "hard"});

        let answer = fit_margin(message(&points, &[0, 0, 1, 1], hard)).unwrap();

        assert_eq!(
            (&answer["fitted"], &answer["reason"]),
            (&json!(false), &json!("not_separable"))
        );
        let witness = &answer["witness"];
        assert_eq!(witness["in_plane"], true);
        for combination in witness["combinations"].as_array().unwrap() {
            let coefficients = numbers(&combination["coefficients"]);
            assert!((coefficients.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert!(numbers(&combination["position"]).iter().all(|v| v.abs() < 1e-6));
            assert_eq!(numbers(&combination["points"]).len(), 2);
        }
    }

    #[test]
    fn a_hard_margin_of_separable_points_has_no_slack() {
        let points = [[-2.0, 0.0], [-1.0, 1.0], [1.0, 0.0], [3.0, 1.0]];
        let hard = json!({"kernel": "linear", "margin": "hard"});

        let answer = fit_margin(message(&points, &[0, 0, 1, 1], hard)).unwrap();

        assert_eq!((&answer["fitted"], &answer["training_errors"]), (&json!(true), &json!(0)));
        assert!(numbers(&answer["slack"]).iter().all(|slack| *slack < 1e-6));
        assert_eq!(answer["bound"], Value::Null);
    }

    #[test]
    fn three_classes_have_pairs_and_regions() {
        let points = [[-2.0, 0.0], [-2.0, 1.0], [2.0, 0.0], [2.0, 1.0], [0.0, 3.0], [0.5, 3.0]];
        // Class 1 does not occur.
        let codes = [0, 0, 2, 2, 3, 3];
        for (multiclass, n_functions) in [("ovo", 3), ("ovr", 3), ("crammer_singer", 3)] {
            let parameters = json!({"kernel": "linear", "multiclass": multiclass});

            let answer = fit_margin(message(&points, &codes, parameters)).unwrap();

            assert_eq!(answer["functions"].as_array().unwrap().len(), n_functions);
            assert_eq!(answer["predicted"], json!(codes));
            let regions = numbers(&answer["regions"]);
            assert_eq!(regions.len(), 81);
            assert!([0.0, 2.0, 3.0].iter().all(|class| regions.contains(class)));
            assert!(!regions.contains(&1.0));
        }
    }

    #[test]
    fn the_duality_gap_of_an_indefinite_kernel_is_withdrawn() {
        let points: Vec<[f64; 2]> =
            (0..12).map(|i| [f64::from(i % 4) - 1.5, f64::from(i / 4) - 1.0]).collect();
        let codes: Vec<u32> = (0..12).map(|i| u32::from(i % 3 == 0)).collect();
        let sigmoid = json!({"kernel": "sigmoid", "gamma": 1.0, "coef0": -1.0, "C": 100.0});

        let answer = fit_margin(message(&points, &codes, sigmoid)).unwrap();

        let certificate = &answer["certificate"];
        assert_eq!(certificate["status"], "stationary");
        assert_eq!(certificate["duality_gap"], Value::Null);
        let sentence = certificate["sentences"][0].as_str().unwrap();
        assert!(sentence.contains("withdrawn") && sentence.contains("not positive semi-definite"));
    }

    #[test]
    fn bad_messages_are_refused() {
        let two = || message(&[[-1.0, 0.0], [1.0, 0.0]], &[0, 1], json!({}));
        let with = |field: &str, value: Value| {
            let mut message = two();
            message[field] = value;
            message
        };
        let refused = |message: Value| fit_margin(message).unwrap_err().message;

        assert!(refused(json!(null)).contains("the message"));
        assert!(refused(json!({})).contains("missing field"));
        assert!(refused(message(&[], &[], json!({}))).contains("no rows"));
        assert!(refused(message(&[[0.0, 0.0]], &[0], json!({}))).contains("only one class"));
        let one_class = message(&[[0.0, 0.0], [1.0, 0.0]], &[1, 1], json!({}));
        assert!(refused(one_class).contains("only one class (`B`)"));
        assert!(refused(with("points", json!([[null, 0.0], [1.0, 0.0]]))).contains("null"));
        assert!(refused(with("points", json!([[1e300, 0.0], [1.0, 0.0]]))).contains("point 1"));
        assert!(refused(with("points", json!([[1.0], [1.0, 0.0]]))).contains("the message"));
        assert!(refused(with("classes", json!([0]))).contains("one per point"));
        assert!(refused(with("classes", json!([0, 99]))).contains("from 0 to 7"));
        assert!(refused(with("unknown", json!(1))).contains("unknown field"));
        assert!(refused(with("seconds", json!(1e9))).contains("seconds"));
        assert!(
            refused(with("leave_one_out", json!({"first": 0, "seconds": -1}))).contains("seconds")
        );
        for (name, value) in [
            ("C", json!(0)),
            ("C", json!("much")),
            ("kernel", json!("precomputed")),
            ("kernel", json!("nonsense")),
            ("degree", json!(1e9)),
            ("gamma", json!(-1)),
            ("approx", json!(10)),
            ("cache_size", json!(1e12)),
        ] {
            assert!(!refused(with("parameters", json!({name: value}))).is_empty());
        }
        let chi2 = refused(with("parameters", json!({"kernel": "chi2"})));
        assert!(!chi2.is_empty());
        let many = vec![[0.5, 0.5]; 10_000];
        let many = message(&many, &vec![0; 10_000], json!({}));
        assert!(refused(many).contains("found 10000 points"));
    }

    #[test]
    fn coincident_points_of_two_classes_have_a_model_without_a_margin() {
        let points = [[1.0, 1.0], [1.0, 1.0]];

        let soft = fit_margin(message(&points, &[0, 1], json!({"kernel": "linear"}))).unwrap();
        let hard = fit_margin(message(&points, &[0, 1], json!({"margin": "hard"}))).unwrap();

        assert_eq!(soft["functions"][0]["margin"], Value::Null);
        assert_eq!(hard["reason"], "not_separable");
    }
}
