//! Integrated gradients: the output of a network as a sum with one term per column (Sundararajan, Taly & Yan, 2017).
//!
//! `aⱼ = (xⱼ − x′ⱼ) ∫₀¹ ∂f/∂xⱼ(x′ + t (x − x′)) dt` with a baseline `x′`; complete: `Σⱼ aⱼ = f(x) − f(x′)`.
//!
//! Every interval of the path is integrated by Gauss's rule with three points and bisected until its terms add up to the
//! difference of the outputs at its ends, which also resolves the kinks of rectified linear units. The first layer is
//! linear, so the integral is computed for its outputs and multiplied by its weights once.

use super::network::{Layer, Network};
use mercer_num::Matrix;
use ndarray::ArrayView1;

/// Gauss's nodes and weights for the interval from zero to one.
const NODES: [f64; 3] = [0.112_701_665_379_258_3, 0.5, 0.887_298_334_620_741_7];
const WEIGHTS: [f64; 3] = [5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0];
/// The error of an interval, relative to the outputs.
const TOLERANCE: f64 = 1e-12;
/// The shortest interval.
const MIN_LENGTH: f64 = 1e-12;

/// The outputs at the baseline, and the term of each column (row) in each output (column).
pub(super) fn integrated_gradients(
    network: &Network<'_>,
    baseline: &[f64],
    row: &[f64],
) -> (Vec<f64>, Matrix) {
    let direction: Vec<f64> = row.iter().zip(baseline).map(|(x, b)| x - b).collect();
    let first = network.layers[0];
    let path = Path {
        network,
        start: product(baseline, first, first.intercepts),
        direction: product(&direction, first, &vec![0.0; first.n_out()]),
    };
    let (start, integral) = path.integral();
    let weights = ArrayView1::from(first.weights);
    let weights = weights.to_shape((row.len(), first.n_out())).expect("one row per input");
    let mut terms = weights.dot(&integral);
    for (mut term, d) in terms.outer_iter_mut().zip(&direction) {
        term *= *d;
    }
    (start, terms)
}

/// `intercepts + x W`.
fn product(x: &[f64], layer: Layer<'_>, intercepts: &[f64]) -> Vec<f64> {
    let mut out = intercepts.to_vec();
    for (x, weights) in x.iter().zip(layer.weights.chunks_exact(layer.n_out())) {
        out.iter_mut().zip(weights).for_each(|(out, w)| *out += x * w);
    }
    out
}

/// The outputs of the first layer along the path, before the activation function: `start + t direction`.
struct Path<'n> {
    network: &'n Network<'n>,
    start: Vec<f64>,
    direction: Vec<f64>,
}

impl Path<'_> {
    /// The outputs of the network at the start, and `∫₀¹ ∂f/∂z dt`, one row per output `z` of the first layer and one
    /// column per output of the network.
    fn integral(&self) -> (Vec<f64>, Matrix) {
        let (start, end) = (self.outputs(0.0), self.outputs(1.0));
        let finite = start.iter().chain(&end).filter(|f| f.is_finite());
        let scale = finite.fold(1.0, |largest: f64, f| largest.max(f.abs()));
        let mut total = Matrix::zeros((self.start.len(), start.len()));
        let mut intervals: Vec<(f64, f64, Vec<f64>, Vec<f64>)> =
            vec![(0.0, 1.0, start.clone(), end)];
        while let Some((from, to, first, last)) = intervals.pop() {
            let length = to - from;
            let mut part = Matrix::zeros(total.dim());
            for (node, weight) in NODES.iter().zip(WEIGHTS) {
                part.scaled_add(weight * length, &self.gradients(from + node * length));
            }
            // An output of minus infinity, of a class without rows, has no error.
            let sums = ArrayView1::from(&self.direction).dot(&part);
            let incomplete = (sums.iter().zip(first.iter().zip(&last)))
                .any(|(sum, (first, last))| (sum - (last - first)).abs() > TOLERANCE * scale);
            if !incomplete || length < MIN_LENGTH {
                total += &part;
                continue;
            }
            let middle = from + 0.5 * length;
            let outputs = self.outputs(middle);
            intervals.push((from, middle, first, outputs.clone()));
            intervals.push((middle, to, outputs, last));
        }
        (start, total)
    }

    /// The activations of every layer; the last are the outputs of the network.
    fn activations(&self, t: f64) -> Vec<Vec<f64>> {
        let layers = &self.network.layers;
        let z = self.start.iter().zip(&self.direction).map(|(z, d)| z + t * d);
        let mut activations: Vec<Vec<f64>> = vec![z.collect()];
        for layer in &layers[1..] {
            if let Some(last) = activations.last_mut() {
                self.network.activation.apply(last);
            }
            let next = product(&activations[activations.len() - 1], *layer, layer.intercepts);
            activations.push(next);
        }
        activations
    }

    fn outputs(&self, t: f64) -> Vec<f64> {
        self.activations(t).pop().unwrap_or_default()
    }

    /// `∂f/∂z` by backpropagation.
    fn gradients(&self, t: f64) -> Matrix {
        let (layers, activations) = (&self.network.layers, self.activations(t));
        let n_outputs = layers[layers.len() - 1].n_out();
        let mut gradients = Matrix::zeros((self.start.len(), n_outputs));
        for k in 0..n_outputs {
            let mut delta = vec![0.0; n_outputs];
            delta[k] = 1.0;
            for l in (1..layers.len()).rev() {
                let rows = layers[l].weights.chunks_exact(layers[l].n_out());
                delta = rows.map(|w| w.iter().zip(&delta).map(|(w, d)| w * d).sum()).collect();
                self.network.activation.multiply_by_derivative(&activations[l - 1], &mut delta);
            }
            gradients.column_mut(k).assign(&ArrayView1::from(&delta));
        }
        gradients
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neural::Activation;
    use mercer_num::Rows;
    use mercer_num::random::Random;

    #[test]
    fn terms_sum_to_the_difference_of_the_outputs() {
        let mut random = Random::new(3);
        let mut matrix = |r, c| Matrix::from_shape_fn((r, c), |_| random.normal());
        let coefs = [matrix(4, 9), matrix(9, 6), matrix(6, 3)];
        let intercepts = [vec![0.3; 9], vec![-0.2; 6], vec![0.1; 3]];
        let (baseline, row) = ([0.5, -1.0, 0.0, 2.0], [3.0, 1.0, -2.0, 0.5]);
        for activation in
            [Activation::Identity, Activation::Tanh, Activation::Logistic, Activation::Relu]
        {
            let network = Network::new(activation, &coefs, &intercepts);

            let (start, terms) = integrated_gradients(&network, &baseline, &row);

            let end = network.predict(&Rows::from(ArrayView1::from(&row))).row(0).to_vec();
            for k in 0..3 {
                let sum = start[k] + terms.column(k).sum();
                assert!((sum - end[k]).abs() < 1e-9, "{activation:?}: {sum} and {}", end[k]);
            }
        }
    }

    #[test]
    fn a_linear_network_has_the_terms_of_its_weights() {
        let coefs = [ndarray::array![[2.0], [-3.0]]];
        let intercepts = [vec![1.0]];
        let network = Network::new(Activation::Identity, &coefs, &intercepts);

        let (start, terms) = integrated_gradients(&network, &[1.0, 0.0], &[2.0, 5.0]);

        assert_eq!((start, terms), (vec![3.0], ndarray::array![[2.0], [-15.0]]));
    }
}
