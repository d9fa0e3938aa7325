//! Multilayer perceptron regressor: a feedforward network with a linear output.
//!
//! The loss is half the mean squared error of the outputs of the network (`network.rs`), over rows and targets, or the
//! Poisson deviance with the exponential of the outputs as means.

use super::activation::Activation;
use super::architecture::{Architecture, Sizes, check_layers};
use super::loss::{MlpSolver, NetworkTargets, check_data};
use super::network::Network;
use super::params::{StochasticOptions, StochasticParams};
use super::stochastic::{MlpLearningRate, StochasticState, fits_layers};
use super::training::{Training, check_incremental, minimize};
use crate::choice;
use crate::data::{check_cells, check_storage};
use crate::model::check_predictions;
use crate::prelude::*;
use mercer_num::rows::Missing;
use std::time::Instant;

choice! {
    /// The loss of a regression.
    pub enum MlpRegressionLoss {
        /// Half the squared error.
        SquaredError = "squared_error",
        /// The Poisson deviance, with the exponential as the link.
        Poisson = "poisson",
    }
}

/// The activation function of the output layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutputActivation {
    /// The output itself.
    #[default]
    Identity,
    /// The exponential, for the Poisson loss.
    Exp,
}

params! {
    /// Multilayer perceptron regressor: a neural network with hidden layers, trained by L-BFGS,
    /// Adam or stochastic gradient descent.
    pub struct MlpRegressor {
        /// Loss: `squared_error` (half the squared error), or `poisson` (the deviance of counts, with the exponential of
        /// the network output as the mean).
        loss: MlpRegressionLoss = MlpRegressionLoss::SquaredError, OneOf(MlpRegressionLoss::VALUES);
        /// Sizes of the hidden layers: one number, or a list in order from input to output. An empty list gives
        /// ridge regression.
        hidden_layer_sizes: Sizes = Sizes::Each(vec![100]), AtLeast(1.0);
        /// Activation function of the hidden layers: `relu`, `tanh`, `logistic` (the sigmoid) or `identity`.
        activation: Activation = Activation::Relu, OneOf(Activation::VALUES);
        /// Optimization algorithm: `lbfgs` (limited-memory BFGS on the full training data), or `adam` and `sgd`
        /// (stochastic gradient methods on minibatches).
        solver: MlpSolver = MlpSolver::Lbfgs, OneOf(MlpSolver::VALUES);
        /// L2 regularization strength, divided by the sum of the sample weights. Larger values give smaller weights.
        alpha: f64 = 1e-4, AtLeast(0.0);
        /// Maximum number of iterations of `lbfgs`, or of epochs of `adam` and `sgd`. The certificate reports if the fit
        /// stops here.
        max_iter: usize = 200, AtLeast(1.0);
        /// Stop when the largest component of the gradient of the penalized loss is at most `tol`; `adam` and `sgd` stop
        /// when `n_iter_no_change` epochs improve the loss by less than `tol`.
        tol: f64 = 1e-4, AtLeast(0.0);
        ..RandomState;
        ..StochasticParams;
    }
    formula = "min (1/2n) Σᵢ ‖yᵢ − f(xᵢ)‖² + (α/2n) Σₗ ‖Wₗ‖²,  f the network";
    lecture = 15;
    attributes = [
        LAYER_WEIGHTS,
        LAYER_INTERCEPTS,
        LOSS,
        ITERATIONS,
        LAYERS,
        LOSS_CURVE,
        BEST_LOSS,
        VALIDATION_SCORES,
        BEST_VALIDATION_SCORE,
        ROWS_SEEN,
        of_model("n_outputs_", "target_count", "int", "Number of targets."),
        field(
            "out_activation_",
            "output",
            "str",
            "Activation function of the output layer: `identity`, or `exp` for the Poisson loss.",
        ),
    ];
    sklearn {
        positional: &["loss", "hidden_layer_sizes", "activation"],
        extra: MLP,
        restated: MLP_RESTATED,
        spellings: MLP_SPELLINGS,
        translations: &[Translation::MaxFunLimitsIterations, Translation::InfiniteNoChange],
    }
}

/// A fitted multilayer perceptron regressor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MlpRegressorModel {
    /// The activation function of the hidden layers.
    pub activation: Activation,
    /// The weights of each layer, one row per input and one column per output.
    pub coefs: Vec<Matrix>,
    /// The intercepts of each layer.
    pub intercepts: Vec<Vec<f64>>,
    /// The penalized mean loss.
    pub loss: f64,
    /// Iterations of the solver, or epochs.
    pub n_iter: u64,
    /// The activation function of the output layer.
    #[serde(default)]
    pub output: OutputActivation,
    /// The state of a stochastic solver; `None` for L-BFGS.
    #[serde(default)]
    pub training: Option<StochasticState>,
}

impl Fit for MlpRegressor {
    type Model = MlpRegressorModel;

    fn fit(&self, data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<Fitted<Self::Model>> {
        self.train(None, data, false, monitor)
    }

    fn fit_from(
        &self,
        start: &MlpRegressorModel,
        data: &Dataset<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Fitted<Self::Model>> {
        self.train(Some(start), data, false, monitor)
    }

    /// One epoch of `adam` or `sgd`.
    fn partial_fit(
        &self,
        before: Option<&MlpRegressorModel>,
        data: &Dataset<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Fitted<Self::Model>> {
        check_incremental("mlp-regressor", self.solver, self.early_stopping)?;
        self.train(before, data, true, monitor)
    }
}

impl MlpRegressor {
    /// Fits from random initial weights, or from those of a model of the same architecture: `fit` with a warm start, or
    /// one epoch of `partial_fit`.
    fn train(
        &self,
        start: Option<&MlpRegressorModel>,
        data: &Dataset<'_>,
        one_epoch: bool,
        monitor: &Monitor<'_>,
    ) -> Result<Fitted<MlpRegressorModel>> {
        let began = Instant::now();
        self.check()?;
        let (y, m) = data.regression_targets()?;
        check_data(data, monitor)?;
        let (targets, output, loss) = match self.loss {
            MlpRegressionLoss::SquaredError => (
                NetworkTargets::Regression(y),
                OutputActivation::Identity,
                "penalized squared loss",
            ),
            MlpRegressionLoss::Poisson => {
                if let Some(value) = y.iter().copied().find(|y| *y < 0.0) {
                    return Err(Error::Number {
                        what: "a target of the Poisson loss".into(),
                        value,
                        expected: "at least 0; on the command line, `--prepare target=none` keeps the target as it is"
                            .into(),
                    });
                }
                (NetworkTargets::Poisson(y), OutputActivation::Exp, "penalized Poisson loss")
            }
        };
        let sizes = &self.hidden_layer_sizes;
        let architecture = Architecture::new(data, sizes, m, self.activation, self.alpha, monitor)?;
        let initial = start.and_then(|model| architecture.flatten(&model.coefs, &model.intercepts));
        let start = start.filter(|_| initial.is_some());
        let mut parameters =
            initial.unwrap_or_else(|| architecture.initial_weights(self.random_state as u64));
        let end = minimize(
            Training {
                architecture: &architecture,
                data,
                targets,
                solver: self.solver,
                options: self.into(),
                max_iter: self.max_iter,
                tol: self.tol,
                seed: self.random_state as u64,
                loss,
                before: start.map(|model| model.training.as_ref()),
                one_epoch,
            },
            &mut parameters,
            monitor,
        )?;
        let (coefs, intercepts) = architecture.split(&parameters);
        let certificate = end.certificate.rows(data.n_rows() as u64).since(began);
        let model = MlpRegressorModel {
            activation: self.activation,
            coefs,
            intercepts,
            loss: end.loss,
            n_iter: end.n_iter,
            output,
            training: end.training,
        };
        Ok(Fitted { model, certificate })
    }
}

impl Regressor for MlpRegressorModel {
    fn n_columns(&self) -> usize {
        self.coefs[0].nrows()
    }

    fn predict(&self, x: &Rows<'_>) -> Result<Vec<f64>> {
        Ok(self.predict_many(x)?.column(0).to_vec())
    }

    fn n_targets(&self) -> usize {
        self.coefs[self.coefs.len() - 1].ncols()
    }

    fn predict_many(&self, x: &Rows<'_>) -> Result<Matrix> {
        check_storage(x)?;
        let (found, expected) = (x.n_columns(), self.n_columns());
        if found != expected {
            return Err(Error::Columns { found, expected });
        }
        check_cells(x, Missing::Refused)?;
        let mut outputs = Network::new(self.activation, &self.coefs, &self.intercepts).predict(x);
        if self.output == OutputActivation::Exp {
            outputs.mapv_inplace(f64::exp);
        }
        check_predictions(outputs.as_slice().unwrap_or_default(), &vec![0.0; outputs.ncols()])?;
        Ok(outputs)
    }
}

impl Check for MlpRegressorModel {
    fn check(&self) -> Result<()> {
        let m = self.coefs.last().map_or(0, Matrix::ncols);
        let fits = fits_layers(self.training.as_ref(), &self.coefs);
        if m == 0 || !self.loss.is_finite() || !fits {
            return Err(Error::File(
                "network layers with inconsistent shapes or non-finite weights".into(),
            ));
        }
        check_layers(&self.coefs, &self.intercepts, m)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::Ridge;

    fn sine(n: usize) -> (Matrix, Vec<f64>) {
        let x = Matrix::from_shape_fn((n, 1), |(i, _)| 6.0 * i as f64 / n as f64 - 3.0);
        let y = x.iter().map(|x| (2.0 * x).sin()).collect();
        (x, y)
    }

    #[test]
    fn a_sine_is_approximated() {
        let (x, y) = sine(150);
        let data = Dataset::regression(&x, &y).unwrap();
        let params = MlpRegressor::new().hidden_layer_sizes([20, 20].into());
        let params = params.activation(Activation::Tanh).max_iter(1000);

        let fitted = params.fit(&data, &Monitor::quiet()).unwrap();

        let predicted = fitted.predict(&Rows::from(&x)).unwrap();
        let off = predicted.iter().zip(&y).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 0.1, "{off}");
        // The loss is half the mean squared error plus the penalty.
        let square = predicted.iter().zip(&y).map(|(a, b)| (a - b).powi(2)).sum::<f64>() / 150.0;
        let weights: f64 = fitted.coefs.iter().flatten().map(|w| w * w).sum();
        let loss = 0.5 * square + 0.5 * 1e-4 / 150.0 * weights;
        assert!((fitted.loss - loss).abs() < 1e-12);
    }

    #[test]
    fn without_hidden_layers_it_is_ridge_regression() {
        let x = Matrix::from_shape_fn((40, 3), |(i, j)| ((i * (j + 2)) as f64 * 0.37).sin());
        let y: Vec<f64> = x.outer_iter().map(|r| r[0] - 2.0 * r[1] + 0.5 * r[2] + 3.0).collect();
        let data = Dataset::regression(&x, &y).unwrap();
        let params = MlpRegressor::new().hidden_layer_sizes([].into()).alpha(0.8).tol(1e-10);

        let fitted = params.fit(&data, &Monitor::quiet()).unwrap();

        let other = Ridge::new().alpha(0.8).fit(&data, &Monitor::quiet()).unwrap();
        let (a, b) =
            (fitted.predict(&Rows::from(&x)).unwrap(), other.predict(&Rows::from(&x)).unwrap());
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-7));
    }

    #[test]
    fn several_targets_are_fitted_jointly() {
        let (x, y) = sine(60);
        let both = Matrix::from_shape_fn((60, 2), |(i, k)| if k == 0 { y[i] } else { -x[[i, 0]] });
        let data = Dataset::multi_output(&x, both.view()).unwrap();

        let fitted = MlpRegressor::new().max_iter(2000).fit(&data, &Monitor::quiet()).unwrap();

        let predicted = fitted.predict_many(&Rows::from(&x)).unwrap();
        assert_eq!((predicted.dim(), fitted.n_targets()), ((60, 2), 2));
        assert!((&predicted - &both).iter().all(|off| off.abs() < 0.3));
    }
}
