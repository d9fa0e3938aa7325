//! Multilayer perceptron classifier: a feedforward network with a softmax output.
//!
//! `log P(c | x) = a_c(x) − log Σₖ exp aₖ(x)` for the outputs `a` of the network (`network.rs`); two classes have one
//! output, the log-odds of the second. The loss is the mean cross-entropy `−log P(cᵢ | xᵢ)`.

use super::activation::Activation;
use super::architecture::{Architecture, Sizes, check_layers};
use super::integrated_gradients::integrated_gradients;
use super::loss::{MlpSolver, NetworkTargets, check_data};
use super::network::Network;
use super::params::{StochasticOptions, StochasticParams};
use super::stochastic::{MlpLearningRate, StochasticState, fits_layers};
use super::training::{Training, check_incremental, minimize};
use crate::data::check_cells;
use crate::model::check_predictions;
use crate::prelude::*;
use mercer_num::rows::Missing;
use std::time::Instant;

params! {
    /// Multilayer perceptron classifier: a neural network with hidden layers, trained by L-BFGS,
    /// Adam or stochastic gradient descent.
    pub struct MlpClassifier {
        /// Sizes of the hidden layers: one number, or a list in order from input to output. An empty list gives
        /// logistic regression.
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
    formula = "min −(1/n) Σᵢ log P(yᵢ | xᵢ) + (α/2n) Σₗ ‖Wₗ‖²,  P = softmax of the network output";
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
        of_field(
            "n_outputs_",
            "intercepts",
            "output_count",
            "int",
            "Number of units of the output layer: 1 for two classes.",
        ),
        of_field(
            "out_activation_",
            "intercepts",
            "classifier_activation",
            "str",
            "Activation function of the output layer: `logistic` or `softmax`.",
        ),
    ];
    sklearn {
        positional: &["hidden_layer_sizes", "activation"],
        extra: MLP,
        restated: MLP_RESTATED,
        spellings: MLP_SPELLINGS,
        translations: &[Translation::MaxFunLimitsIterations, Translation::InfiniteNoChange],
    }
}

/// A fitted multilayer perceptron classifier.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MlpClassifierModel {
    /// The classes.
    pub classes: Classes,
    /// The activation function of the hidden layers.
    pub activation: Activation,
    /// The weights of each layer, one row per input and one column per output.
    pub coefs: Vec<Matrix>,
    /// The intercepts of each layer.
    pub intercepts: Vec<Vec<f64>>,
    /// The mean of each column over the training rows, the baseline of explanations.
    pub means: Vec<f64>,
    /// The penalized mean loss.
    pub loss: f64,
    /// Iterations of the solver, or epochs.
    pub n_iter: u64,
    /// The state of a stochastic solver; `None` for L-BFGS.
    #[serde(default)]
    pub training: Option<StochasticState>,
}

impl Fit for MlpClassifier {
    type Model = MlpClassifierModel;

    fn fit(&self, data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<Fitted<Self::Model>> {
        self.train(None, data, false, monitor)
    }

    fn fit_from(
        &self,
        start: &MlpClassifierModel,
        data: &Dataset<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Fitted<Self::Model>> {
        self.train(Some(start), data, false, monitor)
    }

    /// One epoch of `adam` or `sgd`.
    fn partial_fit(
        &self,
        before: Option<&MlpClassifierModel>,
        data: &Dataset<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Fitted<Self::Model>> {
        check_incremental("mlp", self.solver, self.early_stopping)?;
        self.train(before, data, true, monitor)
    }
}

impl MlpClassifier {
    /// Fits from random initial weights, or from those of a model of the same architecture: `fit` with a warm start, or
    /// one epoch of `partial_fit`.
    fn train(
        &self,
        start: Option<&MlpClassifierModel>,
        data: &Dataset<'_>,
        one_epoch: bool,
        monitor: &Monitor<'_>,
    ) -> Result<Fitted<MlpClassifierModel>> {
        let began = Instant::now();
        self.check()?;
        let (codes, classes) = data.class_target()?;
        if data.n_rows() == 0 {
            return Err(Error::NoRows);
        }
        classes.check_several()?;
        check_data(data, monitor)?;
        let observed = observed(data, codes, classes, one_epoch)?;
        let m = n_outputs(classes.len());
        let sizes = &self.hidden_layer_sizes;
        let architecture = Architecture::new(data, sizes, m, self.activation, self.alpha, monitor)?;
        let start = start.filter(|model| model.classes == *classes);
        let initial = start.and_then(|model| architecture.flatten(&model.coefs, &model.intercepts));
        let start = start.filter(|_| initial.is_some());
        let mut parameters =
            initial.unwrap_or_else(|| architecture.initial_weights(self.random_state as u64));
        let targets =
            if m == 1 { NetworkTargets::Binary(codes) } else { NetworkTargets::Classes(codes) };
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
                loss: "penalized log loss",
                before: start.map(|model| model.training.as_ref()),
                one_epoch,
            },
            &mut parameters,
            monitor,
        )?;
        let (coefs, mut intercepts) = architecture.split(&parameters);
        if let Some(last) = intercepts.last_mut().filter(|last| last.len() > 1 && !one_epoch) {
            // A class without training rows has probability zero.
            let unobserved = last.iter_mut().zip(&observed).filter(|(_, observed)| !**observed);
            unobserved.for_each(|(intercept, _)| *intercept = f64::NEG_INFINITY);
        }
        let certificate = end.certificate.rows(data.n_rows() as u64).since(began);
        let model = MlpClassifierModel {
            classes: classes.clone(),
            activation: self.activation,
            coefs,
            intercepts,
            means: column_means(data),
            loss: end.loss,
            n_iter: end.n_iter,
            training: end.training,
        };
        Ok(Fitted { model, certificate })
    }
}

/// The weighted mean of each column.
fn column_means(data: &Dataset<'_>) -> Vec<f64> {
    let weight = |i: usize| data.weights().get(i).copied().unwrap_or(1.0);
    let total: f64 = (0..data.n_rows()).map(weight).sum();
    let mut means = vec![0.0; data.n_columns()];
    for i in 0..data.n_rows() {
        // Divided first, so that large values do not overflow.
        let fraction = weight(i) / total;
        match data.rows() {
            Rows::Sparse(x) => {
                let (columns, values) = x.row(i);
                columns.iter().zip(values).for_each(|(j, x)| means[*j as usize] += fraction * x);
            }
            rows => means.iter_mut().zip(rows.row(i)).for_each(|(mean, x)| *mean += fraction * x),
        }
    }
    means
}

/// Which classes have rows of positive weight; refuses fewer than two, unless more rows may follow.
fn observed(
    data: &Dataset<'_>,
    codes: &[u32],
    classes: &Classes,
    partial: bool,
) -> Result<Vec<bool>> {
    let mut observed = vec![false; classes.len()];
    for (i, code) in codes.iter().enumerate() {
        observed[*code as usize] |= data.weights().get(i).is_none_or(|w| *w > 0.0);
    }
    let mut present = (0..classes.len() as u32).filter(|c| observed[*c as usize]);
    match (present.next(), present.next()) {
        (None, _) => Err(Error::NoRows),
        (Some(only), None) if !partial => {
            Err(Error::OneClass { class: classes.label(only).to_string() })
        }
        _ => Ok(observed),
    }
}

/// The number of outputs: one for two classes.
fn n_outputs(n_classes: usize) -> usize {
    if n_classes == 2 { 1 } else { n_classes }
}

impl Classifier for MlpClassifierModel {
    fn classes(&self) -> &Classes {
        &self.classes
    }

    fn n_columns(&self) -> usize {
        self.coefs[0].nrows()
    }

    /// The logits; for two classes, minus and plus half the log-odds.
    fn scores(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.check_columns(x)?;
        check_cells(x, Missing::Refused)?;
        let outputs = Network::new(self.activation, &self.coefs, &self.intercepts).predict(x);
        let intercepts = self.intercepts.last().map_or(&[][..], Vec::as_slice);
        check_predictions(outputs.as_slice().unwrap_or_default(), intercepts)?;
        if outputs.ncols() > 1 {
            return Ok(outputs);
        }
        let signs = [-0.5, 0.5];
        Ok(Matrix::from_shape_fn((x.n_rows(), 2), |(i, c)| signs[c] * outputs[[i, 0]]))
    }
}

impl Probabilistic for MlpClassifierModel {}

impl AdditiveScores for MlpClassifierModel {
    /// Integrated gradients from the mean row, whose scores are the intercepts.
    fn terms(&self, row: &[f64]) -> Result<(Vec<f64>, Matrix)> {
        self.scores(&Rows::from(ndarray::ArrayView1::from(row)))?;
        let network = Network::new(self.activation, &self.coefs, &self.intercepts);
        let (start, terms) = integrated_gradients(&network, &self.means, row);
        if start.len() > 1 {
            return Ok((start, terms));
        }
        let signs = [-0.5, 0.5];
        let terms = Matrix::from_shape_fn((row.len(), 2), |(j, c)| signs[c] * terms[[j, 0]]);
        Ok((signs.map(|sign| sign * start[0]).to_vec(), terms))
    }

    fn baseline(&self) -> Option<&[f64]> {
        Some(&self.means)
    }
}

impl Check for MlpClassifierModel {
    fn check(&self) -> Result<()> {
        let fits = self.classes.len() >= 2
            && self.loss.is_finite()
            && self.coefs.first().is_some_and(|first| first.nrows() == self.means.len())
            && self.means.iter().all(|mean| mean.is_finite())
            && fits_layers(self.training.as_ref(), &self.coefs);
        if !fits {
            return Err(Error::File(
                "network layers with inconsistent shapes or non-finite weights".into(),
            ));
        }
        check_layers(&self.coefs, &self.intercepts, n_outputs(self.classes.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::LogisticRegression;
    use crate::model::Stop;
    use mercer_num::random::Random;
    use ndarray::array;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    fn n_correct(model: &MlpClassifierModel, x: &Matrix, codes: &[u32]) -> usize {
        let predicted = model.predict(&Rows::from(x)).unwrap();
        predicted.iter().zip(codes).filter(|(a, b)| a == b).count()
    }

    /// Concentric rings.
    fn rings(n: usize, n_classes: usize) -> (Matrix, Vec<u32>) {
        let mut random = Random::new(4);
        let codes: Vec<u32> = (0..n).map(|i| (i % n_classes) as u32).collect();
        let angles: Vec<f64> = (0..n).map(|_| 6.3 * random.uniform()).collect();
        let x = Matrix::from_shape_fn((n, 2), |(i, j)| {
            let direction = if j == 0 { angles[i].cos() } else { angles[i].sin() };
            (0.5 + f64::from(codes[i])) * direction + 0.05 * random.normal()
        });
        (x, codes)
    }

    #[test]
    fn xor_is_learned() {
        let x = array![[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]];
        let codes = [0, 0, 1, 1];
        let classes = Classes::from_names(["same", "other"]);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        for activation in [Activation::Relu, Activation::Tanh, Activation::Logistic] {
            let params = MlpClassifier::new().hidden_layer_sizes(8.into()).activation(activation);

            let fitted = params.alpha(1e-6).fit(&data, &Monitor::quiet()).unwrap();

            assert_eq!(n_correct(&fitted, &x, &codes), 4, "{activation:?}");
            assert!(fitted.loss < 0.05, "{activation:?}: {}", fitted.loss);
            let text = fitted.certificate.to_string();
            assert!(text.contains("stationary point") && text.contains("nonconvex"), "{text}");
        }
    }

    #[test]
    fn concentric_rings_are_separated() {
        for n_classes in [2, 3] {
            let (x, codes) = rings(300, n_classes);
            let classes = Classes::from_names((0..n_classes).map(|c| c.to_string()));
            let data = Dataset::classes(&x, &codes, &classes).unwrap();

            let fitted = MlpClassifier::new().fit(&data, &Monitor::quiet()).unwrap();

            assert!(n_correct(&fitted, &x, &codes) > 297);
            let violation = fitted.certificate.violation.as_ref().unwrap().value;
            assert!(violation <= 1e-4 || fitted.n_iter == 200, "{violation}");
        }
    }

    #[test]
    fn without_hidden_layers_it_is_logistic_regression() {
        let (x, codes) = rings(120, 2);
        let classes = Classes::from_names(["a", "b"]);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        // ½ alpha/n ‖w‖² beside the mean loss is ½‖w‖² beside C times their sum, where C = 1/alpha.
        let params = MlpClassifier::new().hidden_layer_sizes([].into()).alpha(0.5).tol(1e-9);

        let fitted = params.fit(&data, &Monitor::quiet()).unwrap();

        let other = LogisticRegression::new().C(2.0).tol(1e-10);
        let other = other.fit(&data, &Monitor::quiet()).unwrap();
        for j in 0..2 {
            let off = fitted.coefs[0][[j, 0]] - other.coefficients[[0, j]];
            assert!(off.abs() < 1e-6, "{off}");
        }
        assert!(!fitted.certificate.to_string().contains("nonconvex"));
    }

    #[test]
    fn an_interrupted_fit_returns_its_weights_and_can_be_resumed() {
        let (x, codes) = rings(300, 3);
        let classes = Classes::from_names(["a", "b", "c"]);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        let flag = Arc::new(AtomicBool::new(false));
        let raise = |at: crate::model::Progress| flag.store(at.done == 4, Ordering::Relaxed);
        let monitor = Monitor::quiet().on_progress(raise).cancelled_by(Arc::clone(&flag));
        let params = MlpClassifier::new().tol(1e-6);

        let cut = params.fit(&data, &monitor).unwrap();

        assert_eq!((cut.certificate.stopped(), cut.n_iter), (Some(Stop::Cancelled), 4));
        cut.model.check().unwrap();
        let more = params.fit_from(&cut.model, &data, &Monitor::quiet()).unwrap();
        assert!(more.loss < 0.5 * cut.loss, "{} and {}", more.loss, cut.loss);
        // A warm start does not depend on the seed.
        let other = params.clone().random_state(9).fit_from(&cut.model, &data, &Monitor::quiet());
        assert_eq!(other.unwrap().model, more.model);
    }

    #[test]
    fn an_infinite_initial_loss_is_an_error() {
        let x = array![[1e308, 1e308], [-1e308, 1e308]];
        let classes = Classes::from_names(["a", "b"]);
        let data = Dataset::classes(&x, &[0, 1], &classes).unwrap();

        let refused = MlpClassifier::new().fit(&data, &Monitor::quiet()).unwrap_err();

        assert!(matches!(refused, Error::Number { .. }), "{refused}");
    }
}
