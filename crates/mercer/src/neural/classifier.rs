//! A multilayer perceptron for classes: layers of bent sums, and log-odds that are a weighted sum of the last.
//!
//! `log P(c | x) = a_c(x) + constant` over the outputs `a` of the network (`network.rs`); of two classes there
//! is one output, the log-odds of the second. The loss is the mean of `−log P(cᵢ | xᵢ)`.

use super::activation::Activation;
use super::architecture::{Architecture, Sizes, check_layers};
use super::loss::{Aim, MlpSolver, Problem, check_usable};
use super::network::Network;
use crate::data::check_cells;
use crate::prelude::*;
use crate::solver::StoppingRule;
use mercer_num::rows::Missing;
use std::time::Instant;

params! {
    /// A multilayer perceptron for classes: a network of a few layers.
    pub struct MlpClassifier {
        /// How wide the layers between columns and classes are: a number, or a list of them in order. An empty
        /// list leaves logistic regression.
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
pub struct MlpClassifierModel {
    /// The classes.
    pub classes: Classes,
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

impl Fit for MlpClassifier {
    type Model = MlpClassifierModel;

    fn fit(&self, data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<Fitted<Self::Model>> {
        self.learn(None, data, monitor)
    }

    fn fit_from(
        &self,
        start: &MlpClassifierModel,
        data: &Dataset<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Fitted<Self::Model>> {
        self.learn(Some(start), data, monitor)
    }
}

impl MlpClassifier {
    /// Learns, beginning at the weights of another model where there is one of the same shape.
    fn learn(
        &self,
        start: Option<&MlpClassifierModel>,
        data: &Dataset<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Fitted<MlpClassifierModel>> {
        let began = Instant::now();
        self.check()?;
        let (codes, classes) = data.class_target()?;
        if data.n_rows() == 0 {
            return Err(Error::NoRows);
        }
        classes.check_several()?;
        check_usable(data, monitor)?;
        let shown = shown(data, codes, classes)?;
        let m = outputs(classes.len());
        let plan = Architecture::new(
            data,
            &self.hidden_layer_sizes,
            m,
            self.activation,
            self.alpha,
            monitor,
        )?;
        let known = start.filter(|model| model.classes == *classes);
        let known = known.and_then(|model| plan.joined(&model.coefs, &model.intercepts));
        let mut numbers = known.unwrap_or_else(|| plan.drawn(self.random_state as u64));
        let aim = if m == 1 { Aim::Sides(codes) } else { Aim::Classes(codes) };
        let problem = Problem::new(&plan, data, aim);
        let until =
            StoppingRule { tolerance: self.tol, max_iterations: self.max_iter as u64, monitor };
        let ended = problem.minimize(&mut numbers, &until)?;
        if ended.stopped.is_some() && ended.iterations == 0 && start.is_none() {
            return Err(Error::Stopped);
        }
        monitor.report(ended.iterations, Some(ended.iterations));
        let (coefs, mut intercepts) = plan.split(&numbers);
        if let Some(last) = intercepts.last_mut().filter(|last| last.len() > 1) {
            // A class nobody showed is never the likeliest.
            let unseen = last.iter_mut().zip(&shown).filter(|(_, shown)| !**shown);
            unseen.for_each(|(constant, _)| *constant = f64::NEG_INFINITY);
        }
        let certificate = problem
            .certificate("penalized log loss", &ended, self.tol)
            .rows(data.n_rows() as u64)
            .iterations(ended.iterations)
            .since(began);
        let model = MlpClassifierModel {
            classes: classes.clone(),
            activation: self.activation,
            coefs,
            intercepts,
            loss: ended.value,
            n_iter: ended.iterations,
        };
        Ok(Fitted { model, certificate })
    }
}

/// Which classes have rows that count; refuses fewer than two.
fn shown(data: &Dataset<'_>, codes: &[u32], classes: &Classes) -> Result<Vec<bool>> {
    let mut shown = vec![false; classes.len()];
    for (i, code) in codes.iter().enumerate() {
        shown[*code as usize] |= data.weights().get(i).is_none_or(|w| *w > 0.0);
    }
    let mut those = (0..classes.len() as u32).filter(|c| shown[*c as usize]);
    match (those.next(), those.next()) {
        (None, _) => Err(Error::NoRows),
        (Some(only), None) => Err(Error::OneClass { class: classes.label(only).to_string() }),
        _ => Ok(shown),
    }
}

/// Outputs for so many classes.
fn outputs(n_classes: usize) -> usize {
    if n_classes == 2 { 1 } else { n_classes }
}

impl Classifier for MlpClassifierModel {
    fn classes(&self) -> &Classes {
        &self.classes
    }

    fn n_columns(&self) -> usize {
        self.coefs[0].nrows()
    }

    /// Log-probabilities up to a constant; of two classes, half the log-odds for one and against the other.
    fn scores(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.check_columns(x)?;
        check_cells(x, Missing::Refused)?;
        let outputs = Network::new(self.activation, &self.coefs, &self.intercepts).outputs(x);
        if outputs.ncols() > 1 {
            return Ok(outputs);
        }
        let side = [-0.5, 0.5];
        Ok(Matrix::from_shape_fn((x.n_rows(), 2), |(i, c)| side[c] * outputs[[i, 0]]))
    }
}

impl Probabilistic for MlpClassifierModel {}

impl Check for MlpClassifierModel {
    fn check(&self) -> Result<()> {
        let fits = self.classes.len() >= 2 && self.loss.is_finite();
        if !fits {
            return Err(Error::File("layers that no fit could give".into()));
        }
        check_layers(&self.coefs, &self.intercepts, outputs(self.classes.len()))
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

    fn right(model: &MlpClassifierModel, x: &Matrix, codes: &[u32]) -> usize {
        let said = model.predict(&Rows::from(x)).unwrap();
        said.iter().zip(codes).filter(|(a, b)| a == b).count()
    }

    /// Rings around each other.
    fn rings(n: usize, n_classes: usize) -> (Matrix, Vec<u32>) {
        let mut random = Random::new(4);
        let codes: Vec<u32> = (0..n).map(|i| (i % n_classes) as u32).collect();
        let angles: Vec<f64> = (0..n).map(|_| 6.3 * random.uniform()).collect();
        let x = Matrix::from_shape_fn((n, 2), |(i, j)| {
            let side = if j == 0 { angles[i].cos() } else { angles[i].sin() };
            (0.5 + f64::from(codes[i])) * side + 0.05 * random.normal()
        });
        (x, codes)
    }

    #[test]
    fn either_or_is_learned() {
        let x = array![[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]];
        let codes = [0, 0, 1, 1];
        let classes = Classes::from_names(["same", "other"]);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        for activation in [Activation::Relu, Activation::Tanh, Activation::Logistic] {
            let params = MlpClassifier::new().hidden_layer_sizes(8.into()).activation(activation);

            let fitted = params.alpha(1e-6).fit(&data, &Monitor::quiet()).unwrap();

            assert_eq!(right(&fitted, &x, &codes), 4, "{activation:?}");
            assert!(fitted.loss < 0.05, "{activation:?}: {}", fitted.loss);
            let told = fitted.certificate.to_string();
            assert!(told.contains("stationary point") && told.contains("not convex"), "{told}");
        }
    }

    #[test]
    fn rings_around_each_other_are_told_apart() {
        for n_classes in [2, 3] {
            let (x, codes) = rings(300, n_classes);
            let classes = Classes::from_names((0..n_classes).map(|c| c.to_string()));
            let data = Dataset::classes(&x, &codes, &classes).unwrap();

            let fitted = MlpClassifier::new().fit(&data, &Monitor::quiet()).unwrap();

            assert!(right(&fitted, &x, &codes) > 297);
            let violation = fitted.certificate.violation.as_ref().unwrap().value;
            assert!(violation <= 1e-4 || fitted.n_iter == 200, "{violation}");
        }
    }

    #[test]
    fn without_layers_between_it_is_logistic_regression() {
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
        assert!(!fitted.certificate.to_string().contains("not convex"));
    }

    #[test]
    fn a_search_cut_short_hands_back_what_it_has_and_goes_on_from_there() {
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
        // The seed is of no meaning where the start is given.
        let other = params.clone().random_state(9).fit_from(&cut.model, &data, &Monitor::quiet());
        assert_eq!(other.unwrap().model, more.model);
    }

    #[test]
    fn numbers_beyond_all_bounds_are_refused() {
        let x = array![[1e308, 1e308], [-1e308, 1e308]];
        let classes = Classes::from_names(["a", "b"]);
        let data = Dataset::classes(&x, &[0, 1], &classes).unwrap();

        let refused = MlpClassifier::new().fit(&data, &Monitor::quiet()).unwrap_err();

        assert!(matches!(refused, Error::Number { .. }), "{refused}");
    }
}
