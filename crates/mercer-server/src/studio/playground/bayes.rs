//! The Bayes playground: Gaussian classes in the plane.
//!
//! Gaussian naive Bayes, linear, quadratic and regularized discriminant analysis model `p(x | c)` as a Gaussian and
//! predict by Bayes' theorem, `P(c | x) ∝ P(c) p(x | c)`. The answer has the Gaussians, the posterior on the grid, and
//! for two classes the posterior along Fisher's direction beside that of logistic regression: with one covariance for
//! all classes the posterior is a logistic sigmoid of `w·x + b`, so that both are a generative-discriminative pair.

use super::certificate::certificate;
use super::plane::{Grid, PointClasses, drawn, parameters, read, rows};
use crate::error::{ApiError, ApiResult};
use mercer::bayes::{GaussianNb, GaussianNbModel};
use mercer::discriminant::{
    LinearDiscriminantAnalysis, LinearDiscriminantAnalysisModel, QuadraticDiscriminantAnalysis,
    QuadraticDiscriminantAnalysisModel, RegularizedDiscriminantAnalysis,
    RegularizedDiscriminantAnalysisModel,
};
use mercer::linear::LogisticRegression;
use mercer::model::{Fit, Monitor, Params};
use mercer::prelude::{Classifier, Dataset, Matrix, Probabilistic, Rows};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The points of an ellipse.
const ELLIPSE_POINTS: usize = 64;
/// The points of a curve along a direction.
const CURVE_POINTS: usize = 161;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BayesMessage {
    points: Vec<[f64; 2]>,
    classes: Vec<u32>,
    /// The estimator by its name in the catalog.
    model: String,
    #[serde(default)]
    parameters: Map<String, Value>,
    /// The weights of the prior probabilities, one per observed class; those of the points by default.
    priors: Option<Vec<f64>>,
    grid: Grid,
}

/// Points and their classes.
struct Problem<'a> {
    x: &'a Matrix,
    classes: &'a PointClasses,
    priors: Option<Vec<f64>>,
    grid: &'a Grid,
}

/// Fits Gaussian classes to points in the plane.
///
/// # Errors
/// If the message is not understood, or the library refuses the points or the parameters.
pub(crate) fn fit_bayes(message: Value) -> ApiResult<Value> {
    let BayesMessage { points, classes, model, parameters: values, priors, grid } = read(message)?;
    let x = rows(&points)?;
    let classes = PointClasses::new(&classes, points.len())?;
    grid.check(classes.numbers.len())?;
    let priors = priors.map(|weights| normalized(&weights, classes.numbers.len())).transpose()?;
    let problem = Problem { x: &x, classes: &classes, priors, grid: &grid };
    match model.as_str() {
        "gaussian-nb" => {
            let shown = &["var_smoothing", "variance"];
            problem.answer(parameters(GaussianNb::new(), shown, values)?)
        }
        "lda" => {
            let shown = &["shrinkage", "variance"];
            problem.answer(parameters(LinearDiscriminantAnalysis::new(), shown, values)?)
        }
        "qda" => {
            let shown = &["shrinkage", "reg_param", "variance"];
            problem.answer(parameters(QuadraticDiscriminantAnalysis::new(), shown, values)?)
        }
        "rda" => {
            let shown = &["strategy", "reg_param", "alpha", "gamma", "variance"];
            problem.answer(parameters(RegularizedDiscriminantAnalysis::new(), shown, values)?)
        }
        other => Err(ApiError::bad(format!(
            "model: found `{}`, expected gaussian-nb, lda, qda or rda",
            other.escape_debug()
        ))),
    }
}

/// Weights divided by their sum.
fn normalized(weights: &[f64], n_classes: usize) -> ApiResult<Vec<f64>> {
    let sum: f64 = weights.iter().sum();
    let valid = weights.iter().all(|w| w.is_finite() && *w >= 0.0) && sum > 0.0 && sum.is_finite();
    if weights.len() != n_classes || !valid {
        return Err(ApiError::bad(format!(
            "priors: found {weights:?}, expected {n_classes} weights of at least 0, one per class, not all zero"
        )));
    }
    Ok(weights.iter().map(|w| w / sum).collect())
}

/// A model with one Gaussian per class.
trait GaussianClasses: Classifier + Probabilistic {
    fn log_priors(&self) -> &[f64];
    fn means(&self) -> &Matrix;
    /// The covariance of a class.
    fn covariance(&self, class: usize) -> [[f64; 2]; 2];
    /// The shrinkage that was found, if one was looked for.
    fn shrinkage(&self) -> Option<f64> {
        None
    }
}

impl GaussianClasses for GaussianNbModel {
    fn log_priors(&self) -> &[f64] {
        &self.log_priors
    }

    fn means(&self) -> &Matrix {
        &self.means
    }

    fn covariance(&self, class: usize) -> [[f64; 2]; 2] {
        let v = &self.variances;
        [[v[[class, 0]], 0.0], [0.0, v[[class, 1]]]]
    }
}

impl GaussianClasses for LinearDiscriminantAnalysisModel {
    fn log_priors(&self) -> &[f64] {
        &self.log_priors
    }

    fn means(&self) -> &Matrix {
        &self.means
    }

    fn covariance(&self, _class: usize) -> [[f64; 2]; 2] {
        let s = &self.covariance;
        [[s[[0, 0]], s[[0, 1]]], [s[[1, 0]], s[[1, 1]]]]
    }
}

/// The models whose parts are [`mercer::discriminant::ClassGaussians`].
macro_rules! class_gaussians {
    ($Model:ty, $shrinkage:expr) => {
        impl GaussianClasses for $Model {
            fn log_priors(&self) -> &[f64] {
                &self.gaussians.log_priors
            }

            fn means(&self) -> &Matrix {
                &self.gaussians.means
            }

            fn covariance(&self, class: usize) -> [[f64; 2]; 2] {
                let s = &self.gaussians.covariances;
                [[s[[class, 0, 0]], s[[class, 0, 1]]], [s[[class, 1, 0]], s[[class, 1, 1]]]]
            }

            fn shrinkage(&self) -> Option<f64> {
                let shrinkage: fn(&$Model) -> Option<f64> = $shrinkage;
                shrinkage(self)
            }
        }
    };
}

class_gaussians!(QuadraticDiscriminantAnalysisModel, |_| None);
class_gaussians!(RegularizedDiscriminantAnalysisModel, |model| model.shrinkage);

impl Problem<'_> {
    fn answer<P>(&self, params: P) -> ApiResult<Value>
    where
        P: Fit + Params,
        P::Model: GaussianClasses,
    {
        let params = self.with_priors(params)?;
        let data = Dataset::classes(self.x, &self.classes.codes, &self.classes.classes)?;
        let fitted = params.fit(&data, &Monitor::quiet())?;
        let model = &fitted.model;
        let number = |code: &u32| self.classes.numbers[*code as usize];
        let predicted = model.predict(&Rows::from(self.x))?;
        let wrong = predicted.iter().zip(&self.classes.codes).filter(|(p, c)| p != c).count();
        let grid_points = self.grid.points();
        let cells = Rows::from(&grid_points);
        let posterior = model.log_proba(&cells)?.mapv(f64::exp);
        let regions: Vec<u32> = model.predict(&cells)?.iter().map(number).collect();
        let sigmoid =
            if self.classes.numbers.len() == 2 { Some(self.sigmoid(model, &data)?) } else { None };
        Ok(json!({
            "fitted": true,
            "classes": self.classes.numbers,
            "priors": model.log_priors().iter().map(|p| p.exp()).collect::<Vec<_>>(),
            "gaussians": self.gaussians(model),
            "posterior": posterior.columns().into_iter()
                .map(|column| drawn(column.iter().copied()))
                .collect::<Vec<_>>(),
            "regions": regions,
            "predicted": predicted.iter().map(number).collect::<Vec<u32>>(),
            "training_errors": wrong,
            "shrinkage": model.shrinkage(),
            "sigmoid": sigmoid,
            "certificate": certificate(&fitted.certificate),
        }))
    }

    /// The parameters with the priors of the message.
    fn with_priors<P: Params>(&self, params: P) -> ApiResult<P> {
        match &self.priors {
            Some(priors) => Ok(mercer::model::set(&params, "priors", json!(priors))?),
            None => Ok(params),
        }
    }

    /// Mean, covariance and the ellipse at Mahalanobis distance one of every class.
    fn gaussians(&self, model: &impl GaussianClasses) -> Vec<Value> {
        let of_class = |(c, number): (usize, &u32)| {
            let (mean, covariance) = (model.means().row(c), model.covariance(c));
            json!({
                "class": number,
                "mean": [mean[0], mean[1]],
                "covariance": covariance,
                "ellipse": ellipse([mean[0], mean[1]], covariance),
            })
        };
        self.classes.numbers.iter().enumerate().map(of_class).collect()
    }

    /// The posterior of the second class along Fisher's direction, of the model, of linear discriminant analysis and of
    /// logistic regression.
    fn sigmoid(&self, model: &impl GaussianClasses, data: &Dataset<'_>) -> ApiResult<Value> {
        let lda = self.with_priors(LinearDiscriminantAnalysis::new())?;
        let lda = lda.fit(data, &Monitor::quiet())?;
        let logistic = LogisticRegression::new().C(1e4).tol(1e-8);
        let logistic = logistic.fit(data, &Monitor::quiet())?;
        let coefficients = lda.coefficients();
        let w = [0, 1].map(|j| coefficients[[1, j]] - coefficients[[0, j]]);
        let norm = w[0].hypot(w[1]);
        if !(norm > 0.0 && norm.is_finite()) {
            return Ok(Value::Null);
        }
        let direction = w.map(|v| v / norm);
        let origin = [0, 1].map(|j| (lda.means[[0, j]] + lda.means[[1, j]]) / 2.0);
        let along =
            |i: usize| -> f64 { (0..2).map(|j| (self.x[[i, j]] - origin[j]) * direction[j]).sum() };
        let projections: Vec<f64> = (0..self.x.nrows()).map(along).collect();
        let reach = projections.iter().fold(0.0f64, |reach, t| reach.max(t.abs())) * 1.1 + 1e-9;
        let t = |k: usize| reach * (2.0 * k as f64 / (CURVE_POINTS - 1) as f64 - 1.0);
        let line =
            Matrix::from_shape_fn((CURVE_POINTS, 2), |(k, j)| origin[j] + t(k) * direction[j]);
        let curve = |model: &dyn Fn(&Rows<'_>) -> mercer::Result<Matrix>| -> ApiResult<Vec<f64>> {
            let log_proba = model(&Rows::from(&line))?;
            Ok(drawn(log_proba.column(1).iter().map(|p| p.exp())))
        };
        Ok(json!({
            "direction": direction,
            "origin": origin,
            "reach": reach,
            "projections": projections,
            "model": curve(&|rows| model.log_proba(rows))?,
            "lda": curve(&|rows| lda.log_proba(rows))?,
            "logistic": curve(&|rows| logistic.log_proba(rows))?,
            "lda_weights": w,
            "logistic_weights": logistic.coefficients.row(0).to_vec(),
            "logistic_certificate": logistic.certificate.to_string(),
        }))
    }
}

/// The points at Mahalanobis distance one from the mean: `μ + L (cos t, sin t)` with `Σ = L Lᵀ`.
fn ellipse(mean: [f64; 2], [[a, b], [_, d]]: [[f64; 2]; 2]) -> Vec<[f64; 2]> {
    let l11 = a.max(0.0).sqrt();
    let l21 = if l11 > 0.0 { b / l11 } else { 0.0 };
    let l22 = (d - l21 * l21).max(0.0).sqrt();
    let point = |k: usize| {
        let (sin, cos) = (std::f64::consts::TAU * k as f64 / ELLIPSE_POINTS as f64).sin_cos();
        [mean[0] + l11 * cos, mean[1] + l21 * cos + l22 * sin]
    };
    (0..=ELLIPSE_POINTS).map(point).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const POINTS: [[f64; 2]; 8] = [
        [-2.0, 0.0],
        [0.0, 0.0],
        [-1.0, 1.0],
        [-1.0, -1.0],
        [0.5, 0.2],
        [2.5, 0.3],
        [1.5, 1.5],
        [1.4, -0.8],
    ];
    const CODES: [u32; 8] = [0, 0, 0, 0, 2, 2, 2, 2];

    fn message(model: &str, parameters: Value) -> Value {
        json!({
            "points": POINTS,
            "classes": CODES,
            "model": model,
            "parameters": parameters,
            "grid": {"x": [-4.0, 4.0], "y": [-3.0, 3.0], "columns": 9, "rows": 7},
        })
    }

    #[test]
    fn mean_and_variance_by_hand() {
        let answer = fit_bayes(message("gaussian-nb", json!({}))).unwrap();

        // Class 0: mean (-1, 0), variances (2/4, 2/4).
        let first = &answer["gaussians"][0];
        assert_eq!(first["mean"], json!([-1.0, 0.0]));
        assert!((first["covariance"][0][0].as_f64().unwrap() - 0.5).abs() < 1e-6);
        assert_eq!(first["covariance"][0][1], 0.0);
        let start = first["ellipse"][0][0].as_f64().unwrap();
        assert!((start - (-1.0 + 0.5f64.sqrt())).abs() < 1e-6);
        assert_eq!(answer["classes"], json!([0, 2]));
        assert_eq!(answer["priors"], json!([0.5, 0.5]));
        assert_eq!(answer["certificate"]["status"], "closed-form");
    }

    #[test]
    fn the_posterior_of_every_model_is_that_of_the_library() {
        for model in ["gaussian-nb", "lda", "qda", "rda"] {
            let answer = fit_bayes(message(model, json!({}))).unwrap();

            let posterior = answer["posterior"].as_array().unwrap();
            assert_eq!(posterior.len(), 2);
            for k in 0..63 {
                let sum: f64 = posterior.iter().map(|p| p[k].as_f64().unwrap()).sum();
                assert!((sum - 1.0).abs() < 1e-4, "{model}");
                let second = posterior[1][k].as_f64().unwrap() > 0.5;
                assert_eq!(answer["regions"][k], if second { 2 } else { 0 }, "{model}");
            }
        }
        let x = rows(&POINTS).unwrap();
        let found = PointClasses::new(&CODES, 8).unwrap();
        let data = Dataset::classes(&x, &found.codes, &found.classes).unwrap();
        let qda = QuadraticDiscriminantAnalysis::new().fit(&data, &Monitor::quiet()).unwrap();
        let answer = fit_bayes(message("qda", json!({}))).unwrap();
        let at = ndarray::array![[0.0, 0.0]];
        let expected = qda.log_proba(&Rows::from(&at)).unwrap()[[0, 1]].exp();
        // The middle of the grid is the origin.
        assert!((answer["posterior"][1][31].as_f64().unwrap() - expected).abs() < 1e-5);
    }

    #[test]
    fn the_posterior_of_lda_is_a_logistic_sigmoid() {
        let answer = fit_bayes(message("lda", json!({}))).unwrap();

        let sigmoid = &answer["sigmoid"];
        assert_eq!(sigmoid["model"], sigmoid["lda"]);
        // log odds along the direction are linear: ‖w‖ t + c, and c = 0 halfway between the means with equal priors.
        let (reach, norm) = (sigmoid["reach"].as_f64().unwrap(), {
            let w = sigmoid["lda_weights"].as_array().unwrap();
            w[0].as_f64().unwrap().hypot(w[1].as_f64().unwrap())
        });
        for k in 0..CURVE_POINTS {
            let t = reach * (2.0 * k as f64 / (CURVE_POINTS - 1) as f64 - 1.0);
            let expected = 1.0 / (1.0 + (-norm * t).exp());
            assert!((sigmoid["lda"][k].as_f64().unwrap() - expected).abs() < 1e-5, "{k}");
        }
    }

    #[test]
    fn priors_move_the_posterior() {
        let mut with_priors = message("lda", json!({}));
        with_priors["priors"] = json!([3.0, 1.0]);

        let answer = fit_bayes(with_priors.clone()).unwrap();

        let priors = answer["priors"].as_array().unwrap();
        assert!((priors[0].as_f64().unwrap() - 0.75).abs() < 1e-12);
        let equal = fit_bayes(message("lda", json!({}))).unwrap();
        let at = |answer: &Value| answer["posterior"][1][31].as_f64().unwrap();
        assert!(at(&answer) < at(&equal));
        for bad in [json!([1.0]), json!([0.0, 0.0]), json!([-1.0, 2.0]), json!([1e308, 1e308])] {
            with_priors["priors"] = bad;
            assert!(fit_bayes(with_priors.clone()).unwrap_err().message.contains("priors"));
        }
    }

    #[test]
    fn full_shrinkage_to_the_diagonal_is_naive_bayes() {
        let rda = message("rda", json!({"strategy": "diagonal", "reg_param": 1.0}));

        let rda = fit_bayes(rda).unwrap();
        let naive = fit_bayes(message("gaussian-nb", json!({}))).unwrap();

        let at = |answer: &Value, k: usize| answer["posterior"][1][k].as_f64().unwrap();
        assert!((0..63).all(|k| (at(&rda, k) - at(&naive, k)).abs() < 2e-5));
    }

    #[test]
    fn bad_messages_are_refused() {
        let refused = |message: Value| fit_bayes(message).unwrap_err().message;
        let with = |field: &str, value: Value| {
            let mut message = message("qda", json!({}));
            message[field] = value;
            message
        };

        assert!(refused(message("svc", json!({}))).contains("expected gaussian-nb"));
        assert!(refused(message("lda", json!({"reg_param": 1}))).contains("reg_param"));
        assert!(refused(json!({})).contains("missing field"));
        assert!(refused(with("classes", json!(vec![0; 8]))).contains("only one class"));
        let mut empty = with("points", json!([]));
        empty["classes"] = json!([]);
        assert!(!refused(empty).is_empty());
        // A class of one point has no covariance.
        assert!(refused(with("classes", json!([0, 0, 0, 0, 0, 0, 0, 1]))).contains("singular"));
        let coincident = vec![[1.0, 1.0]; 8];
        assert!(!refused(with("points", json!(coincident))).is_empty());
    }
}
