//! The penalized loss of a network, and its gradient by backpropagation.
//!
//! `1/W Σᵢ wᵢ loss(yᵢ, a(xᵢ)) + ½ alpha/W Σₗ ‖Wₗ‖²`,   `W = Σᵢ wᵢ`,
//!
//! the objective of scikit-learn. Backpropagation (Rumelhart, Hinton & Williams 1986) computes `∂/∂Wₗ = aₗ₋₁ᵀδₗ` with
//! `δₗ₋₁ = δₗWₗᵀ ⊙ s'`. Rows are processed in panels, and the sums over parts follow a tree that depends on the number
//! of rows only. Sparse rows are never converted to dense ones.

use super::activation::sigmoid;
use super::architecture::Architecture;
use super::network::{Network, ROWS_PER_PANEL};
use crate::choice;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::model::{Certificate, Monitor};
use crate::solver::StoppingRule;
use crate::solver::lbfgs::{LbfgsResult, lbfgs};
use mercer_num::Rows;
use mercer_num::linalg::{add_transposed_product, dot_products};
use mercer_num::parallel;
use mercer_num::parallel::prelude::*;
use mercer_num::rows::Missing;
use mercer_num::simd::add_table_rows;
use mercer_num::sparse::CsrMatrix;
use std::ops::Range;

/// The rows are split into at most this many parts, unless they would exceed [`MAX_ROWS_PER_PART`]; each part has its own gradient.
const MAX_PARTS: usize = 32;
/// The largest number of rows of a part.
const MAX_ROWS_PER_PART: usize = 8192;

choice! {
    /// The optimization algorithm.
    pub enum MlpSolver {
        /// Limited-memory BFGS on the full training data.
        Lbfgs = "lbfgs",
        /// Adam on minibatches.
        Adam = "adam",
        /// Stochastic gradient descent on minibatches, with momentum.
        Sgd = "sgd",
    }
}

/// The training targets.
pub(super) enum NetworkTargets<'a> {
    /// Two classes; the single output is the log-odds of the second.
    Binary(&'a [u32]),
    /// Class codes; the outputs are the logits of a softmax.
    Classes(&'a [u32]),
    /// Regression targets, row-major, one per output.
    Regression(&'a [f64]),
    /// Counts or other nonnegative targets, row-major; an output is the logarithm of a mean.
    Poisson(&'a [f64]),
}

impl NetworkTargets<'_> {
    /// The weighted sum of the losses of some rows. Replaces the outputs by the derivatives of that sum.
    fn loss_and_derivatives(
        &self,
        rows: Range<usize>,
        row_weights: &[f64],
        m: usize,
        outputs: &mut [f64],
    ) -> f64 {
        let mut sum = 0.0;
        for (i, z) in rows.zip(outputs.chunks_exact_mut(m)) {
            let row_weight = row_weights[i];
            sum += row_weight
                * match self {
                    NetworkTargets::Binary(codes) => {
                        let (y, size) = (f64::from(codes[i]), z[0].abs());
                        let loss = z[0].max(0.0) - y * z[0] + (-size).exp().ln_1p();
                        z[0] = row_weight * (sigmoid(z[0]) - y);
                        loss
                    }
                    NetworkTargets::Classes(codes) => {
                        let own = z[codes[i] as usize];
                        let total = mercer_num::special::log_sum_exp(z);
                        z.iter_mut().for_each(|z| *z = row_weight * (*z - total).exp());
                        z[codes[i] as usize] -= row_weight;
                        total - own
                    }
                    NetworkTargets::Regression(parameters) => {
                        let mut loss = 0.0;
                        for (z, y) in z.iter_mut().zip(&parameters[i * m..]) {
                            let off = *z - y;
                            loss += 0.5 * off * off / m as f64;
                            *z = row_weight * off / m as f64;
                        }
                        loss
                    }
                    NetworkTargets::Poisson(targets) => {
                        let mut loss = 0.0;
                        for (z, y) in z.iter_mut().zip(&targets[i * m..]) {
                            let mean = z.exp();
                            let entropy = if *y > 0.0 { y * y.ln() } else { 0.0 };
                            loss += (entropy - y * *z - y + mean) / m as f64;
                            *z = row_weight * (mean - y) / m as f64;
                        }
                        loss
                    }
                };
        }
        sum
    }
}

/// The penalized loss of a network on the training data.
pub(super) struct NetworkObjective<'a> {
    architecture: &'a Architecture,
    rows: Rows<'a>,
    /// The transpose of sparse rows.
    sparse_columns: Option<CsrMatrix>,
    targets: NetworkTargets<'a>,
    /// Sample weights, normalized to sum to one.
    row_weights: Vec<f64>,
    /// `alpha / W`, the coefficient of half the squared weights.
    penalty: f64,
}

/// The loss and gradient of some rows.
struct PartSums {
    value: f64,
    gradient: Vec<f64>,
    /// For sparse rows: the deltas of the first layer, row-major.
    first_deltas: Vec<f64>,
}

/// The monitor stopped the evaluation.
struct Interrupted;

impl<'a> NetworkObjective<'a> {
    pub fn new(
        architecture: &'a Architecture,
        data: &'a Dataset<'_>,
        targets: NetworkTargets<'a>,
    ) -> NetworkObjective<'a> {
        NetworkObjective::of_rows(architecture, data.rows().view(), data.weights(), targets)
    }

    /// The objective of some rows, with their sample weights; no weights means one everywhere.
    pub fn of_rows(
        architecture: &'a Architecture,
        rows: Rows<'a>,
        weights: &[f64],
        targets: NetworkTargets<'a>,
    ) -> NetworkObjective<'a> {
        let n = rows.n_rows();
        let weight = |i: usize| weights.get(i).copied().unwrap_or(1.0);
        let total: f64 = (0..n).map(weight).sum();
        let sparse_columns = match &rows {
            Rows::Sparse(x) => Some(x.transpose()),
            _ => None,
        };
        let row_weights = (0..n).map(|i| weight(i) / total).collect();
        NetworkObjective {
            architecture,
            rows,
            sparse_columns,
            targets,
            row_weights,
            penalty: architecture.alpha / total,
        }
    }

    /// The objective, and its gradient; `None` if the monitor stopped the evaluation.
    pub fn value_and_gradient(
        &self,
        parameters: &[f64],
        gradient: &mut [f64],
        monitor: &Monitor<'_>,
    ) -> Option<f64> {
        let network = Network::from_parameters(self.architecture, parameters);
        let n = self.rows.n_rows();
        let part = n.div_ceil(MAX_PARTS).next_multiple_of(ROWS_PER_PANEL).min(MAX_ROWS_PER_PART);
        let leaf = |k: usize| self.part_sums(&network, k * part..((k + 1) * part).min(n), monitor);
        let add = |a: &mut PartSums, b: &PartSums| {
            a.value += b.value;
            a.gradient.iter_mut().zip(&b.gradient).for_each(|(a, b)| *a += b);
            a.first_deltas.extend_from_slice(&b.first_deltas);
            Ok(())
        };
        let Ok((Some(sums), _)) = parallel::reduce(n.div_ceil(part), leaf, add, |_| true) else {
            return None;
        };
        match &self.sparse_columns {
            None => gradient.copy_from_slice(&sums.gradient),
            Some(columns) => {
                let own = self.architecture.sizes[0] * self.architecture.sizes[1];
                gradient[own..].copy_from_slice(&sums.gradient);
                self.add_first_layer_gradient(columns, &sums.first_deltas, &mut gradient[..own]);
            }
        }
        let mut value = sums.value;
        let mut at = 0;
        for pair in self.architecture.sizes.windows(2) {
            let weights = at..at + pair[0] * pair[1];
            let (some, derivatives) =
                (&parameters[weights.clone()], &mut gradient[weights.clone()]);
            value += 0.5 * self.penalty * some.iter().map(|w| w * w).sum::<f64>();
            derivatives.iter_mut().zip(some).for_each(|(g, w)| *g += self.penalty * w);
            at = weights.end + pair[1];
        }
        Some(value)
    }

    /// Forward and backward pass over some rows, panel by panel.
    fn part_sums(
        &self,
        network: &Network<'_>,
        rows: Range<usize>,
        monitor: &Monitor<'_>,
    ) -> std::result::Result<PartSums, Interrupted> {
        let sparse = self.sparse_columns.is_some();
        // For sparse rows the gradient of the first layer is computed by columns at the end.
        let skipped =
            if sparse { self.architecture.sizes[0] * self.architecture.sizes[1] } else { 0 };
        let mut sums = PartSums {
            value: 0.0,
            gradient: vec![0.0; self.architecture.n_parameters() - skipped],
            first_deltas: Vec::new(),
        };
        let mut activations = vec![Vec::new(); network.layers.len()];
        for start in rows.clone().step_by(ROWS_PER_PANEL) {
            if monitor.stop().is_some() {
                return Err(Interrupted);
            }
            let panel = start..(start + ROWS_PER_PANEL).min(rows.end);
            network.forward(&self.rows, panel.clone(), &mut activations);
            let mut delta = activations.pop().expect("a network has a layer");
            let m = self.architecture.n_outputs();
            sums.value +=
                self.targets.loss_and_derivatives(panel.clone(), &self.row_weights, m, &mut delta);
            let mut end = sums.gradient.len();
            for (l, layer) in network.layers.iter().enumerate().rev() {
                let (n_in, n_out) = (layer.n_in(), layer.n_out());
                let intercepts = &mut sums.gradient[end - n_out..end];
                for delta in delta.chunks_exact(n_out) {
                    intercepts.iter_mut().zip(delta).for_each(|(g, d)| *g += d);
                }
                end -= n_out;
                if l == 0 && sparse {
                    sums.first_deltas.extend_from_slice(&delta);
                    break;
                }
                let weights = &mut sums.gradient[end - n_in * n_out..end];
                end -= n_in * n_out;
                if l == 0 {
                    let block = self.rows.block(panel.clone()).unwrap_or_default();
                    add_transposed_product(&block, n_in, &delta, n_out, weights);
                    break;
                }
                add_transposed_product(&activations[l - 1], n_in, &delta, n_out, weights);
                let mut lower_delta = vec![0.0; panel.len() * n_in];
                dot_products(&delta, layer.weights, n_out, &mut lower_delta, 1.0);
                network.activation.multiply_by_derivative(&activations[l - 1], &mut lower_delta);
                delta = lower_delta;
            }
            activations.push(Vec::new());
        }
        Ok(sums)
    }

    /// The gradient of the first layer for sparse rows.
    fn add_first_layer_gradient(
        &self,
        columns: &CsrMatrix,
        first_deltas: &[f64],
        gradient: &mut [f64],
    ) {
        let (view, m) = (columns.view(), self.architecture.sizes[1]);
        // Columns per parallel task.
        let some = (view.n_rows() / 64).clamp(1, 1024);
        gradient.par_chunks_mut(some * m).enumerate().for_each(|(k, gradient)| {
            for (j, gradient) in (k * some..).zip(gradient.chunks_exact_mut(m)) {
                let (rows, cells) = view.row(j);
                gradient.fill(0.0);
                add_table_rows(rows, cells, first_deltas, gradient);
            }
        });
    }

    /// Minimizes the objective by L-BFGS, from an initial point.
    ///
    /// # Errors
    /// If the fit was stopped before the first evaluation, or the loss is not finite at the initial point.
    pub fn minimize(
        &self,
        parameters: &mut [f64],
        stopping: &StoppingRule<'_>,
    ) -> Result<LbfgsResult> {
        let mut value =
            |at: &[f64], g: &mut [f64]| self.value_and_gradient(at, g, stopping.monitor);
        let result = lbfgs(parameters, &mut value, stopping).ok_or(Error::Stopped)?;
        // A gradient of infinite norm gives no descent direction.
        if !(result.value.is_finite() && result.first_norm.is_finite()) {
            return Err(Error::Number {
                what: "the loss at the initial point, or its gradient,".into(),
                value: if result.value.is_finite() { result.first_norm } else { result.value },
                expected: "a finite number; scale the columns down".into(),
            });
        }
        Ok(result)
    }

    /// The certificate of a stationary point.
    pub fn certificate(&self, loss: &str, result: &LbfgsResult, tolerance: f64) -> Certificate {
        let reduction = result.norm / result.first_norm.max(f64::MIN_POSITIVE);
        let certificate = Certificate::iterative(result.violation <= tolerance, result.stopped)
            .objective(loss, result.value)
            .violation("largest component of the gradient", result.violation)
            .note(format!("{} function evaluations", result.evaluations))
            .note(format!("gradient norm {reduction:.1e} of that at the initial point"));
        match self.architecture.n_layers() > 1 {
            true => certificate.note("nonconvex: other stationary points may have a smaller loss"),
            false => certificate,
        }
    }
}

/// Refuses data without rows, columns, weight or finite cells.
pub(super) fn check_data(data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<()> {
    if data.n_rows() == 0 {
        return Err(Error::NoRows);
    }
    if data.n_columns() == 0 {
        return Err(Error::NoFeatures);
    }
    if monitor.stop().is_some() {
        return Err(Error::Stopped);
    }
    data.check_cells(Missing::Refused)?;
    match data.weights() {
        [] => Ok(()),
        weights if weights.iter().any(|w| *w > 0.0) => Ok(()),
        _ => Err(Error::NoRows),
    }
}

#[cfg(test)]
mod tests {
    use super::super::activation::Activation;
    use super::*;
    use crate::neural::architecture::{Sizes, check_layers};
    use mercer_num::random::Random;
    use mercer_num::{Matrix, Sparse};

    fn rows(n: usize, d: usize, seed: u64) -> Matrix {
        let mut random = Random::new(seed);
        Matrix::from_shape_simple_fn((n, d), || random.normal())
    }

    fn architecture(sizes: &[usize], activation: Activation) -> Architecture {
        Architecture { sizes: sizes.to_vec(), activation, alpha: 0.7 }
    }

    /// Checks the objective of every loss and activation function.
    fn each(
        data: &Dataset<'_>,
        codes: &[u32],
        parameters: &[f64],
        check: impl Fn(&Architecture, NetworkObjective<'_>),
    ) {
        for activation in
            [Activation::Identity, Activation::Logistic, Activation::Tanh, Activation::Relu]
        {
            let binary: Vec<u32> = codes.iter().map(|c| c % 2).collect();
            for (targets, m) in [
                (NetworkTargets::Binary(&binary), 1),
                (NetworkTargets::Classes(codes), 3),
                (NetworkTargets::Regression(parameters), 1),
                (NetworkTargets::Poisson(parameters), 1),
            ] {
                let architecture = architecture(&[data.n_columns(), 5, 4, m], activation);
                check(&architecture, NetworkObjective::new(&architecture, data, targets));
            }
        }
    }

    #[test]
    fn backpropagation_matches_finite_differences() {
        let x = rows(300, 3, 1);
        let codes: Vec<u32> = (0..300).map(|i| (i * 7 % 3) as u32).collect();
        let parameters: Vec<f64> = (0..300).map(|i| (i as f64 * 0.1).sin()).collect();
        let weights: Vec<f64> = (0..300).map(|i| 0.5 + (i % 4) as f64).collect();
        let data = Dataset::unlabeled(&x).weighted(&weights).unwrap();
        each(&data, &codes, &parameters, |architecture, problem| {
            let at = architecture.initial_weights(3);
            let mut gradient = vec![0.0; at.len()];
            let monitor = Monitor::quiet();
            problem.value_and_gradient(&at, &mut gradient, &monitor).unwrap();

            let mut scratch = vec![0.0; at.len()];
            for j in 0..at.len() {
                let mut value = |step: f64| {
                    let mut there = at.clone();
                    there[j] += step;
                    problem.value_and_gradient(&there, &mut scratch, &monitor).unwrap()
                };
                let slope = (value(1e-6) - value(-1e-6)) / 2e-6;

                let off = (slope - gradient[j]).abs();
                assert!(
                    off < 1e-7 * slope.abs().max(1.0),
                    "{:?} {j}: {slope}",
                    architecture.activation
                );
            }
        });
    }

    #[test]
    fn sparse_and_dense_rows_have_the_same_loss_and_gradient() {
        let mut x = rows(300, 6, 2);
        x.mapv_inplace(|v| if v.abs() < 0.8 { 0.0 } else { v });
        let csr = Sparse::csr_from_dense(x.view(), 0.0);
        let codes: Vec<u32> = (0..300).map(|i| (i % 3) as u32).collect();
        let parameters: Vec<f64> = x.outer_iter().map(|row| row.sum()).collect();
        let evaluated = |data: &Dataset<'_>| {
            let all = std::cell::RefCell::new(Vec::new());
            each(data, &codes, &parameters, |architecture, problem| {
                let at = architecture.initial_weights(1);
                let mut gradient = vec![0.0; at.len()];
                let value =
                    problem.value_and_gradient(&at, &mut gradient, &Monitor::quiet()).unwrap();
                all.borrow_mut().push(value);
                all.borrow_mut().extend(gradient);
            });
            all.into_inner()
        };

        let (dense, sparse) =
            (evaluated(&Dataset::unlabeled(&x)), evaluated(&Dataset::unlabeled(&csr)));

        assert!(dense.iter().zip(&sparse).all(|(a, b)| (a - b).abs() < 1e-12));
    }

    #[test]
    fn inconsistent_layers_are_refused() {
        let architecture = architecture(&[3, 4, 2], Activation::Relu);
        let (coefs, intercepts) = architecture.split(&architecture.initial_weights(0));
        assert!(check_layers(&coefs, &intercepts, 2).is_ok());
        assert_eq!(
            architecture.flatten(&coefs, &intercepts),
            Some(architecture.initial_weights(0))
        );

        assert!(check_layers(&coefs, &intercepts, 3).is_err());
        assert!(check_layers(&coefs[..1], &intercepts, 2).is_err());
        assert!(check_layers(&[], &[], 2).is_err());
        let mut bad = coefs.clone();
        bad[0][[0, 0]] = f64::NAN;
        assert!(check_layers(&bad, &intercepts, 2).is_err());
    }

    #[test]
    fn weights_beyond_the_memory_limit_are_refused() {
        let x = rows(4, 3, 1);
        let data = Dataset::unlabeled(&x);
        let wide = Sizes::Each(vec![1 << 40, 1 << 40]);

        let refused = Architecture::new(&data, &wide, 1, Activation::Relu, 0.0, &Monitor::quiet());

        assert!(matches!(refused, Err(Error::Memory { .. })));
    }
}
