//! What a network is to make small: its loss over rows, the gradient, and how the search for the least ends.
//!
//! `1/W Σᵢ wᵢ loss(yᵢ, a(xᵢ)) + ½ alpha/W Σₗ ‖Wₗ‖²`,   `W = Σᵢ wᵢ`,
//!
//! scikit-learn's objective. The gradient goes back through the layers (Rumelhart, Hinton & Williams 1986):
//! `∂/∂Wₗ = aₗ₋₁ᵀδₗ`, `δₗ₋₁ = δₗWₗᵀ ⊙ s'`. Rows go through by panels, sums over panels by a tree that their number
//! fixes; sparse rows are never written out.

use super::activation::sigmoid;
use super::architecture::Architecture;
use super::network::{Network, PANEL};
use crate::choice;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::model::{Certificate, Monitor};
use crate::solver::StoppingRule;
use crate::solver::lbfgs::{LbfgsResult, lbfgs};
use mercer_num::Rows;
use mercer_num::linalg::{add_transposed_product, dot_products};
use mercer_num::parallel;
use mercer_num::rows::Missing;
use mercer_num::simd::add_table_rows;
use mercer_num::sparse::CsrMatrix;
use rayon::prelude::*;
use std::ops::Range;

/// Parts the rows are dealt into, unless they are too long; each has a gradient of its own.
const PARTS: usize = 32;
/// Rows of a part at most.
const LONGEST: usize = 8192;

choice! {
    /// How the loss is made small.
    pub enum MlpSolver {
        /// By all rows at once, and what the last steps say about curvature.
        Lbfgs = "lbfgs",
    }
}

/// What the outputs are compared with.
pub(super) enum Aim<'a> {
    /// Two classes, of which the only output is the log-odds of the second.
    Sides(&'a [u32]),
    /// A class each, of which the outputs are log-probabilities up to a constant.
    Classes(&'a [u32]),
    /// Numbers, as many a row as there are outputs.
    Numbers(&'a [f64]),
}

impl Aim<'_> {
    /// The losses of some rows, each times its share, added up; outputs become derivatives by them.
    fn compare(&self, rows: Range<usize>, shares: &[f64], m: usize, outputs: &mut [f64]) -> f64 {
        let mut sum = 0.0;
        for (i, z) in rows.zip(outputs.chunks_exact_mut(m)) {
            let share = shares[i];
            sum += share
                * match self {
                    Aim::Sides(codes) => {
                        let (y, size) = (f64::from(codes[i]), z[0].abs());
                        let loss = z[0].max(0.0) - y * z[0] + (-size).exp().ln_1p();
                        z[0] = share * (sigmoid(z[0]) - y);
                        loss
                    }
                    Aim::Classes(codes) => {
                        let own = z[codes[i] as usize];
                        let total = mercer_num::special::log_sum_exp(z);
                        z.iter_mut().for_each(|z| *z = share * (*z - total).exp());
                        z[codes[i] as usize] -= share;
                        total - own
                    }
                    Aim::Numbers(numbers) => {
                        let mut loss = 0.0;
                        for (z, y) in z.iter_mut().zip(&numbers[i * m..]) {
                            let off = *z - y;
                            loss += 0.5 * off * off / m as f64;
                            *z = share * off / m as f64;
                        }
                        loss
                    }
                };
        }
        sum
    }
}

/// A loss over rows.
pub(super) struct Problem<'a> {
    plan: &'a Architecture,
    rows: Rows<'a>,
    /// Sparse cells by columns.
    by_column: Option<CsrMatrix>,
    aim: Aim<'a>,
    /// What part of all weight a row has.
    shares: Vec<f64>,
    /// The price on half the squared weights.
    price: f64,
}

/// What some rows add to value and gradient.
struct Sums {
    value: f64,
    gradient: Vec<f64>,
    /// Of sparse rows, the derivatives by the sums of the first layer, row after row.
    first: Vec<f64>,
}

/// The evaluation was told to stop.
struct Halted;

impl<'a> Problem<'a> {
    pub fn new(plan: &'a Architecture, data: &'a Dataset<'_>, aim: Aim<'a>) -> Problem<'a> {
        let n = data.n_rows();
        let weight = |i: usize| data.weights().get(i).copied().unwrap_or(1.0);
        let total: f64 = (0..n).map(weight).sum();
        let rows = data.rows().view();
        let by_column = match &rows {
            Rows::Sparse(x) => Some(x.transpose()),
            _ => None,
        };
        let shares = (0..n).map(|i| weight(i) / total).collect();
        Problem { plan, rows, by_column, aim, shares, price: plan.alpha / total }
    }

    /// The value at some numbers, and its gradient; `None` where the monitor says to end.
    pub fn value(
        &self,
        numbers: &[f64],
        gradient: &mut [f64],
        monitor: &Monitor<'_>,
    ) -> Option<f64> {
        let network = Network::of_numbers(self.plan, numbers);
        let n = self.rows.n_rows();
        let part = n.div_ceil(PARTS).next_multiple_of(PANEL).min(LONGEST);
        let leaf = |k: usize| self.part(&network, k * part..((k + 1) * part).min(n), monitor);
        let add = |a: &mut Sums, b: &Sums| {
            a.value += b.value;
            a.gradient.iter_mut().zip(&b.gradient).for_each(|(a, b)| *a += b);
            a.first.extend_from_slice(&b.first);
            Ok(())
        };
        let Ok((Some(sums), _)) = parallel::reduce(n.div_ceil(part), leaf, add, |_| true) else {
            return None;
        };
        match &self.by_column {
            None => gradient.copy_from_slice(&sums.gradient),
            Some(columns) => {
                let own = self.plan.sizes[0] * self.plan.sizes[1];
                gradient[own..].copy_from_slice(&sums.gradient);
                self.by_columns(columns, &sums.first, &mut gradient[..own]);
            }
        }
        let mut value = sums.value;
        let mut at = 0;
        for pair in self.plan.sizes.windows(2) {
            let weights = at..at + pair[0] * pair[1];
            let (some, slopes) = (&numbers[weights.clone()], &mut gradient[weights.clone()]);
            value += 0.5 * self.price * some.iter().map(|w| w * w).sum::<f64>();
            slopes.iter_mut().zip(some).for_each(|(g, w)| *g += self.price * w);
            at = weights.end + pair[1];
        }
        Some(value)
    }

    /// What some rows add, panel after panel.
    fn part(
        &self,
        network: &Network<'_>,
        rows: Range<usize>,
        monitor: &Monitor<'_>,
    ) -> std::result::Result<Sums, Halted> {
        let sparse = self.by_column.is_some();
        // The weights of the first layer come last where rows are sparse: column after column.
        let skipped = if sparse { self.plan.sizes[0] * self.plan.sizes[1] } else { 0 };
        let mut sums = Sums {
            value: 0.0,
            gradient: vec![0.0; self.plan.n_numbers() - skipped],
            first: Vec::new(),
        };
        let mut bent = vec![Vec::new(); network.layers.len()];
        for start in rows.clone().step_by(PANEL) {
            if monitor.stop().is_some() {
                return Err(Halted);
            }
            let panel = start..(start + PANEL).min(rows.end);
            network.forward(&self.rows, panel.clone(), &mut bent);
            let mut delta = bent.pop().expect("a network has a layer");
            let m = self.plan.n_outputs();
            sums.value += self.aim.compare(panel.clone(), &self.shares, m, &mut delta);
            let mut end = sums.gradient.len();
            for (l, layer) in network.layers.iter().enumerate().rev() {
                let (n_in, n_out) = (layer.n_in(), layer.n_out());
                let constants = &mut sums.gradient[end - n_out..end];
                for delta in delta.chunks_exact(n_out) {
                    constants.iter_mut().zip(delta).for_each(|(g, d)| *g += d);
                }
                end -= n_out;
                if l == 0 && sparse {
                    sums.first.extend_from_slice(&delta);
                    break;
                }
                let weights = &mut sums.gradient[end - n_in * n_out..end];
                end -= n_in * n_out;
                if l == 0 {
                    let block = self.rows.block(panel.clone()).unwrap_or_default();
                    add_transposed_product(&block, n_in, &delta, n_out, weights);
                    break;
                }
                add_transposed_product(&bent[l - 1], n_in, &delta, n_out, weights);
                let mut below = vec![0.0; panel.len() * n_in];
                dot_products(&delta, layer.weights, n_out, &mut below, 1.0);
                network.activation.unbend(&bent[l - 1], &mut below);
                delta = below;
            }
            bent.push(Vec::new());
        }
        Ok(sums)
    }

    /// The gradient by the weights of the first layer, of sparse rows.
    fn by_columns(&self, columns: &CsrMatrix, first: &[f64], gradient: &mut [f64]) {
        let (view, m) = (columns.view(), self.plan.sizes[1]);
        // Columns that one thread takes at a time.
        let some = (view.n_rows() / 64).clamp(1, 1024);
        gradient.par_chunks_mut(some * m).enumerate().for_each(|(k, gradient)| {
            for (j, gradient) in (k * some..).zip(gradient.chunks_exact_mut(m)) {
                let (rows, cells) = view.row(j);
                gradient.fill(0.0);
                add_table_rows(rows, cells, first, gradient);
            }
        });
    }

    /// Makes the loss small, from some numbers on.
    ///
    /// # Errors
    /// If it was stopped before anything was known, or the loss has no value at the start.
    pub fn minimize(&self, numbers: &mut [f64], until: &StoppingRule<'_>) -> Result<LbfgsResult> {
        let mut value = |at: &[f64], g: &mut [f64]| self.value(at, g, until.monitor);
        let ended = lbfgs(numbers, &mut value, until).ok_or(Error::Stopped)?;
        // A gradient whose length has no number leads nowhere.
        if !(ended.value.is_finite() && ended.first_norm.is_finite()) {
            return Err(Error::Number {
                what: "the loss at the start, or its gradient,".into(),
                value: if ended.value.is_finite() { ended.first_norm } else { ended.value },
                expected: "a finite number; scale the columns down".into(),
            });
        }
        Ok(ended)
    }

    /// What is true of the end.
    pub fn certificate(&self, loss: &str, ended: &LbfgsResult, tolerance: f64) -> Certificate {
        let share = ended.norm / ended.first_norm.max(f64::MIN_POSITIVE);
        let certificate = Certificate::iterative(ended.violation <= tolerance, ended.stopped)
            .objective(loss, ended.value)
            .violation("largest entry of the gradient", ended.violation)
            .note(format!("{} function evaluations", ended.evaluations))
            .note(format!("gradient norm {share:.1e} of that at the initial point"));
        match self.plan.n_layers() > 1 {
            true => certificate
                .note("nonconvex: a stationary point, not necessarily the global minimum"),
            false => certificate,
        }
    }
}

/// Refuses what nothing can be learned from.
pub(super) fn check_usable(data: &Dataset<'_>, monitor: &Monitor<'_>) -> Result<()> {
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

    fn plan(sizes: &[usize], activation: Activation) -> Architecture {
        Architecture { sizes: sizes.to_vec(), activation, alpha: 0.7 }
    }

    /// Values and gradients of every loss and activation, at drawn weights.
    fn each(
        data: &Dataset<'_>,
        codes: &[u32],
        numbers: &[f64],
        try_it: impl Fn(&Architecture, Problem<'_>),
    ) {
        for activation in
            [Activation::Identity, Activation::Logistic, Activation::Tanh, Activation::Relu]
        {
            let sides: Vec<u32> = codes.iter().map(|c| c % 2).collect();
            for (aim, m) in
                [(Aim::Sides(&sides), 1), (Aim::Classes(codes), 3), (Aim::Numbers(numbers), 1)]
            {
                let plan = plan(&[data.n_columns(), 5, 4, m], activation);
                try_it(&plan, Problem::new(&plan, data, aim));
            }
        }
    }

    #[test]
    fn the_gradient_is_that_of_finite_differences() {
        let x = rows(300, 3, 1);
        let codes: Vec<u32> = (0..300).map(|i| (i * 7 % 3) as u32).collect();
        let numbers: Vec<f64> = (0..300).map(|i| (i as f64 * 0.1).sin()).collect();
        let weights: Vec<f64> = (0..300).map(|i| 0.5 + (i % 4) as f64).collect();
        let data = Dataset::unlabeled(&x).weighted(&weights).unwrap();
        each(&data, &codes, &numbers, |plan, problem| {
            let at = plan.drawn(3);
            let mut gradient = vec![0.0; at.len()];
            let monitor = Monitor::quiet();
            problem.value(&at, &mut gradient, &monitor).unwrap();

            let mut scratch = vec![0.0; at.len()];
            for j in 0..at.len() {
                let mut value = |step: f64| {
                    let mut there = at.clone();
                    there[j] += step;
                    problem.value(&there, &mut scratch, &monitor).unwrap()
                };
                let slope = (value(1e-6) - value(-1e-6)) / 2e-6;

                let off = (slope - gradient[j]).abs();
                assert!(off < 1e-7 * slope.abs().max(1.0), "{:?} {j}: {slope}", plan.activation);
            }
        });
    }

    #[test]
    fn sparse_rows_have_the_value_and_gradient_of_dense_ones() {
        let mut x = rows(300, 6, 2);
        x.mapv_inplace(|v| if v.abs() < 0.8 { 0.0 } else { v });
        let thin = Sparse::csr_from_dense(x.view(), 0.0);
        let codes: Vec<u32> = (0..300).map(|i| (i % 3) as u32).collect();
        let numbers: Vec<f64> = x.outer_iter().map(|row| row.sum()).collect();
        let evaluated = |data: &Dataset<'_>| {
            let all = std::cell::RefCell::new(Vec::new());
            each(data, &codes, &numbers, |plan, problem| {
                let at = plan.drawn(1);
                let mut gradient = vec![0.0; at.len()];
                let value = problem.value(&at, &mut gradient, &Monitor::quiet()).unwrap();
                all.borrow_mut().push(value);
                all.borrow_mut().extend(gradient);
            });
            all.into_inner()
        };

        let (dense, sparse) =
            (evaluated(&Dataset::unlabeled(&x)), evaluated(&Dataset::unlabeled(&thin)));

        assert!(dense.iter().zip(&sparse).all(|(a, b)| (a - b).abs() < 1e-12));
    }

    #[test]
    fn layers_that_do_not_fit_are_refused() {
        let plan = plan(&[3, 4, 2], Activation::Relu);
        let (coefs, intercepts) = plan.split(&plan.drawn(0));
        assert!(check_layers(&coefs, &intercepts, 2).is_ok());
        assert_eq!(plan.joined(&coefs, &intercepts), Some(plan.drawn(0)));

        assert!(check_layers(&coefs, &intercepts, 3).is_err());
        assert!(check_layers(&coefs[..1], &intercepts, 2).is_err());
        assert!(check_layers(&[], &[], 2).is_err());
        let mut bad = coefs.clone();
        bad[0][[0, 0]] = f64::NAN;
        assert!(check_layers(&bad, &intercepts, 2).is_err());
    }

    #[test]
    fn weights_beyond_any_memory_are_refused() {
        let x = rows(4, 3, 1);
        let data = Dataset::unlabeled(&x);
        let wide = Sizes::Each(vec![1 << 40, 1 << 40]);

        let refused = Architecture::new(&data, &wide, 1, Activation::Relu, 0.0, &Monitor::quiet());

        assert!(matches!(refused, Err(Error::Memory { .. })));
    }
}
