//! A multilayer perceptron for numbers: layers of bent sums, and a weighted sum of the last.
//!
//! The loss is half the mean square of what the outputs of the network (`network.rs`) are off, over rows and,
//! where several numbers are learned at once, over those.

use super::activation::Activation;
use super::architecture::{Architecture, Sizes, check_layers};
use super::loss::{Aim, MlpSolver, Problem, check_usable};
use super::network::Network;
use crate::data::{check_cells, check_storage};
use crate::prelude::*;
use crate::solver::StoppingRule;
use mercer_num::rows::Missing;
use std::time::Instant;

params! {
    /// A multilayer perceptron for numbers: a network of a few layers.
    pub struct MlpRegressor {
        /// How wide the layers between columns and numbers are: a number, or a list of them in order. An empty
        /// list leaves ridge regression.
        hidden_layer_sizes: Sizes = Sizes::Each(vec![100]), AtLeast(1.0);
        /// How the sums of a layer are bent: zero below zero (`relu`), `tanh`, `logistic`, or not at all
        /// (`identity`).
        activation: Activation = Activation::Relu, OneOf(Activation::WORDS);
        /// How the loss is made small: by all rows at once, and what the last steps say about curvature
        /// (`lbfgs`).
        solver: MlpSolver = MlpSolver::Lbfgs, OneOf(MlpSolver::WORDS);
        /// The price on half the squared weights, over the weight of all rows. Larger values keep them smaller.
        alpha: f64 = 1e-4, AtLeast(0.0);
        /// Steps after which to stop in any case; the certificate then says so.
        max_iter: usize = 200, AtLeast(1.0);
        /// The fit is done when no entry of the gradient of loss and price is larger.
        tol: f64 = 1e-4, Above(0.0);
        /// The seed of the weights at the start.
        random_state: usize = 0, Any;
    }
}

/// The weights of the layers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MlpRegressorModel {
    /// How sums are bent, but for the last.
    pub activation: Activation,
    /// The weights of every layer: a row for each number that comes in, a column for each that goes out.
    pub coefs: Vec<Matrix>,
    /// The constant terms of every layer.
    pub intercepts: Vec<Vec<f64>>,
    /// The mean loss of the rows and the price of the weights.
    pub loss: f64,
    /// Steps the solver took.
    pub n_iter: u64,
}

impl Fit for MlpRegressor {
    type Model = MlpRegressorModel;

    fn fit(&self, data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<Fitted<Self::Model>> {
        self.learn(None, data, monitor)
    }

    fn fit_from(
        &self,
        start: &MlpRegressorModel,
        data: &Dataset<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Fitted<Self::Model>> {
        self.learn(Some(start), data, monitor)
    }
}

impl MlpRegressor {
    /// Learns, beginning at the weights of another model where there is one of the same shape.
    fn learn(
        &self,
        start: Option<&MlpRegressorModel>,
        data: &Dataset<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Fitted<MlpRegressorModel>> {
        let began = Instant::now();
        self.check()?;
        let (numbers, m) = data.regression_targets()?;
        check_usable(data, monitor)?;
        let plan = Architecture::new(
            data,
            &self.hidden_layer_sizes,
            m,
            self.activation,
            self.alpha,
            monitor,
        )?;
        let problem = Problem::new(&plan, data, Aim::Numbers(numbers));
        let known = start.and_then(|model| plan.joined(&model.coefs, &model.intercepts));
        let mut weights = known.unwrap_or_else(|| plan.drawn(self.random_state as u64));
        let until =
            StoppingRule { tolerance: self.tol, max_iterations: self.max_iter as u64, monitor };
        let ended = problem.minimize(&mut weights, &until)?;
        if ended.stopped.is_some() && ended.iterations == 0 && start.is_none() {
            return Err(Error::Stopped);
        }
        monitor.report(ended.iterations, Some(ended.iterations));
        let (coefs, intercepts) = plan.split(&weights);
        let certificate = problem
            .certificate("penalized squared loss", &ended, self.tol)
            .rows(data.n_rows() as u64)
            .iterations(ended.iterations)
            .since(began);
        let model = MlpRegressorModel {
            activation: self.activation,
            coefs,
            intercepts,
            loss: ended.value,
            n_iter: ended.iterations,
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
        Ok(Network::new(self.activation, &self.coefs, &self.intercepts).outputs(x))
    }
}

impl Check for MlpRegressorModel {
    fn check(&self) -> Result<()> {
        let m = self.coefs.last().map_or(0, Matrix::ncols);
        if m == 0 || !self.loss.is_finite() {
            return Err(Error::File("layers that no fit could give".into()));
        }
        check_layers(&self.coefs, &self.intercepts, m)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::Ridge;

    fn wave(n: usize) -> (Matrix, Vec<f64>) {
        let x = Matrix::from_shape_fn((n, 1), |(i, _)| 6.0 * i as f64 / n as f64 - 3.0);
        let y = x.iter().map(|x| (2.0 * x).sin()).collect();
        (x, y)
    }

    #[test]
    fn a_wave_is_followed() {
        let (x, y) = wave(150);
        let data = Dataset::regression(&x, &y).unwrap();
        let params = MlpRegressor::new().hidden_layer_sizes([20, 20].into());
        let params = params.activation(Activation::Tanh).max_iter(1000);

        let fitted = params.fit(&data, &Monitor::quiet()).unwrap();

        let said = fitted.predict(&Rows::from(&x)).unwrap();
        let off = said.iter().zip(&y).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 0.1, "{off}");
        // Beside the price, the loss is half the mean square.
        let square = said.iter().zip(&y).map(|(a, b)| (a - b).powi(2)).sum::<f64>() / 150.0;
        let weights: f64 = fitted.coefs.iter().flatten().map(|w| w * w).sum();
        let loss = 0.5 * square + 0.5 * 1e-4 / 150.0 * weights;
        assert!((fitted.loss - loss).abs() < 1e-12);
    }

    #[test]
    fn without_layers_between_it_is_ridge_regression() {
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
    fn several_numbers_are_learned_at_once() {
        let (x, y) = wave(60);
        let both = Matrix::from_shape_fn((60, 2), |(i, k)| if k == 0 { y[i] } else { -x[[i, 0]] });
        let data = Dataset::multi_output(&x, both.view()).unwrap();

        let fitted = MlpRegressor::new().max_iter(2000).fit(&data, &Monitor::quiet()).unwrap();

        let said = fitted.predict_many(&Rows::from(&x)).unwrap();
        assert_eq!((said.dim(), fitted.n_targets()), ((60, 2), 2));
        assert!((&said - &both).iter().all(|off| off.abs() < 0.3));
    }
}
