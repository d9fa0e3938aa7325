//! The kernel perceptron.
//!
//! `f(x) = Σᵢ αᵢ yᵢ K(xᵢ, x) + b`. Rows are visited one after the other; a row with `y f(x) ≤ 0` is added to the expansion with
//! its sign (Rosenblatt 1958; Aizerman, Braverman & Rozonoer 1964). For separable classes, the number of such mistakes is
//! bounded by the squared ratio of radius and margin (Novikoff 1962). The average of all functions on the way makes fewer
//! mistakes on new rows (Freund & Schapire 1999). More than two classes are fitted one-vs-rest.
//!
//! With a `budget`, a support vector that exceeds it displaces the one with the smallest norm `‖α‖ √K(xᵢ, xᵢ)`, the oldest
//! of equal ones.

use super::{DEFAULT_MEMORY_BYTES, KernelProblem};
use crate::explain::{SupportExplanation, first_two};
use crate::kernel::KernelParams;
use crate::kernel::{Kernel, KernelExpansion, KernelRows, Precision, Segment};
use crate::model::Stop;
use crate::prelude::*;
use mercer_num::random::Random;
use std::time::Instant;

/// Memory for cached columns of the kernel matrix, in bytes.
const MAX_CACHE_BYTES: u64 = 256 << 20;
/// Rows between two checks for a stop.
const ROWS_PER_STOP_CHECK: usize = 256;

params! {
    /// Kernel perceptron: a kernel expansion over the rows that were misclassified during training.
    pub struct KernelPerceptron {
        ..KernelParams(kernel = Kernel::Rbf);
        ..FitIntercept;
        /// Maximum number of epochs. Training stops after an epoch without a mistake.
        max_iter: usize = 100, Between(1.0, 1e9);
        /// Return the average of the functions after every row (averaged perceptron) instead of the last one.
        average: bool = false, Any;
        /// Maximum number of support vectors. If it is exceeded, the support vector with the smallest norm is removed.
        /// `None` keeps all of them.
        budget: Option<usize> = None, AtLeast(1.0);
        /// Shuffle the rows before every epoch.
        shuffle: bool = true, Any;
        ..RandomState;
    }
    formula = "if yᵢ f(xᵢ) ≤ 0:  f ← f + yᵢ K(xᵢ, ·),  b ← b + yᵢ";
    lecture = 14;
    attributes = [
        SUPPORT,
        SUPPORT_VECTORS,
        SUPPORT_COUNT,
        field(
            "dual_coef_",
            "coefficients",
            "ndarray of shape (n_decisions, n_support)",
            "Coefficients of the support vectors in each decision function.",
        ),
        EXPANSION_INTERCEPTS,
        LINEAR_KERNEL_WEIGHTS,
        own("mistakes_", "ndarray of shape (n_iter_,)", "Number of mistakes of all decision functions in each epoch."),
        EPOCHS,
        own("dropped_", "int", "Number of support vectors removed because of the budget."),
    ];
    sklearn {
        spellings: &[POLYNOMIAL],
    }
}

/// One kernel expansion per class; a single one for two classes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelPerceptronModel {
    /// The classes.
    pub classes: Classes,
    /// The misclassified rows and their coefficients; for two classes a single function, positive for the second.
    pub expansion: KernelExpansion,
    /// Mistakes of all functions in each epoch.
    pub mistakes: Vec<u64>,
    /// Number of epochs.
    pub n_iter: u64,
    /// Support vectors removed because of the budget.
    pub dropped: u64,
}

impl Fit for KernelPerceptron {
    type Model = KernelPerceptronModel;

    fn fit(
        &self,
        data: &Dataset<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Fitted<KernelPerceptronModel>> {
        let start = Instant::now();
        self.check()?;
        let (codes, classes) = data.class_target()?;
        if data.n_rows() > 0 && data.n_columns() > 0 {
            classes.check_several()?;
        }
        let KernelPerceptron { ref kernel, gamma, degree, coef0, .. } = *self;
        let problem = KernelProblem::new(data, kernel, gamma, coef0, degree, monitor)?;
        let codes: Vec<u32> = problem.indices.iter().map(|i| codes[*i as usize]).collect();
        let first = codes.first().copied().unwrap_or(0);
        if codes.iter().all(|c| *c == first) {
            return Err(Error::OneClass { class: classes.label(first).to_string() });
        }
        let n = codes.len();
        let n_functions = if classes.len() == 2 { 1 } else { classes.len() };
        let fixed = 8 * n as u64 * (problem.rows.n_columns() + 4 * n_functions) as u64;
        monitor.reserve_within("kernel rows and scores", fixed, DEFAULT_MEMORY_BYTES)?;
        let cache_bytes = monitor
            .memory()
            .map_or(MAX_CACHE_BYTES, |m| m.saturating_sub(fixed))
            .min(MAX_CACHE_BYTES);
        let mut run = Run::new(problem.kernel_rows(), n_functions, cache_bytes);
        let observed: Vec<bool> =
            (0..n_functions).map(|k| n_functions == 1 || codes.contains(&(k as u32))).collect();
        let (mistakes, stopped) = self.run_epochs(&mut run, &problem, &codes, &observed, monitor);
        let n_iter = mistakes.len() as u64;
        let certificate = self
            .certificate(&mistakes, (n * n_functions) as f64, run.dropped, stopped)
            .rows(data.n_rows() as u64)
            .iterations(n_iter)
            .since(start);
        let dropped = run.dropped;
        let mut expansion = run.expansion(&problem, self.average);
        for (b, _) in expansion.intercepts.iter_mut().zip(&observed).filter(|(_, seen)| !**seen) {
            // An unobserved class never has the highest score.
            *b = -1e300;
        }
        let model = KernelPerceptronModel {
            classes: classes.clone(),
            expansion,
            n_iter,
            mistakes,
            dropped,
        };
        Ok(Fitted { model, certificate })
    }
}

impl KernelPerceptron {
    /// Runs epochs until one has no mistake, `max_iter` is reached or the fit is stopped. Returns the mistakes of each
    /// epoch.
    fn run_epochs(
        &self,
        run: &mut Run,
        problem: &KernelProblem<'_>,
        codes: &[u32],
        observed: &[bool],
        monitor: &Monitor<'_>,
    ) -> (Vec<u64>, Option<Stop>) {
        let n = codes.len();
        let total = (self.max_iter * n) as u64;
        let mut random = Random::new(self.random_state as u64);
        let mut order: Vec<usize> = (0..n).collect();
        let (mut mistakes, mut stopped) = (Vec::new(), None);
        'epochs: for epoch in 0..self.max_iter {
            if self.shuffle {
                random.shuffle(&mut order);
            }
            mistakes.push(0);
            for (visited, i) in order.iter().enumerate() {
                if visited % ROWS_PER_STOP_CHECK == 0 {
                    monitor.report((epoch * n + visited) as u64, Some(total));
                    stopped = monitor.stop();
                    if stopped.is_some() {
                        break 'epochs;
                    }
                }
                // For two classes the function is positive for the second. An unobserved class has none.
                mistakes[epoch] += run.visit(*i, problem.weights[*i], self, |k| match codes[*i] {
                    _ if !observed[k] => None,
                    code if observed.len() == 1 => Some(if code == 1 { 1.0 } else { -1.0 }),
                    code => Some(if code == k as u32 { 1.0 } else { -1.0 }),
                });
            }
            if mistakes[epoch] == 0 {
                break;
            }
        }
        monitor.report(total, Some(total));
        (mistakes, stopped)
    }

    fn certificate(
        &self,
        mistakes: &[u64],
        predictions_per_epoch: f64,
        dropped: u64,
        stopped: Option<Stop>,
    ) -> Certificate {
        let separates = mistakes.last() == Some(&0) && stopped.is_none();
        let mistake_rate = mistakes.last().map_or(0.0, |m| *m as f64 / predictions_per_epoch);
        let mut note =
            if separates { "an epoch without a mistake" } else { "no epoch without a mistake" }
                .to_owned();
        if dropped > 0 {
            note += &format!(", {dropped} support vectors removed because of the budget");
        }
        Certificate::iterative(separates, stopped)
            .objective("total mistakes", mistakes.iter().sum::<u64>() as f64)
            .violation("fraction of mistakes in the last epoch", mistake_rate)
            .note(note)
    }
}

/// The state of the algorithm.
struct Run {
    rows: KernelRows<f64>,
    /// `K(xᵢ, xᵢ)`.
    diagonal: Vec<f64>,
    /// The current value of every function at every row, without the intercept.
    scores: Vec<Vec<f64>>,
    /// The coefficient of every row in every function.
    alpha: Vec<Vec<f64>>,
    /// The same, each update times the number of rows visited before it: the average is derived from these.
    time_weighted: Vec<Vec<f64>>,
    intercepts: Vec<f64>,
    time_weighted_intercepts: Vec<f64>,
    /// Support vectors, the oldest first.
    support: Vec<usize>,
    dropped: u64,
    /// Rows visited so far.
    n_visits: f64,
    /// Cached columns of the kernel matrix.
    columns: Vec<Option<Vec<f64>>>,
    cache_bytes: u64,
}

impl Run {
    fn new(rows: KernelRows<f64>, n_functions: usize, cache_bytes: u64) -> Run {
        let n = rows.n_rows();
        let table = || vec![vec![0.0; n]; n_functions];
        Run {
            diagonal: rows.diagonal(),
            rows,
            scores: table(),
            alpha: table(),
            time_weighted: table(),
            intercepts: vec![0.0; n_functions],
            time_weighted_intercepts: vec![0.0; n_functions],
            support: Vec::new(),
            dropped: 0,
            n_visits: 0.0,
            columns: vec![None; n],
            cache_bytes,
        }
    }

    /// Visits a row; returns the number of functions that misclassified it.
    fn visit(
        &mut self,
        i: usize,
        weight: f64,
        params: &KernelPerceptron,
        sign: impl Fn(usize) -> Option<f64>,
    ) -> u64 {
        let steps: Vec<(usize, f64)> = (0..self.scores.len())
            .filter_map(|k| Some((k, sign(k)?)))
            .filter(|(k, y)| y * (self.scores[*k][i] + self.intercepts[*k]) <= 0.0)
            .map(|(k, y)| (k, y * weight))
            .collect();
        if !steps.is_empty() {
            for (k, step) in &steps {
                self.alpha[*k][i] += step;
                self.time_weighted[*k][i] += self.n_visits * step;
                if params.fit_intercept {
                    self.intercepts[*k] += step;
                    self.time_weighted_intercepts[*k] += self.n_visits * step;
                }
            }
            self.add(i, &steps);
            if !self.support.contains(&i) {
                self.support.push(i);
            }
            if params.budget.is_some_and(|budget| self.support.len() > budget) {
                self.drop_one();
            }
        }
        self.n_visits += 1.0;
        steps.len() as u64
    }

    /// Removes the support vector with the smallest norm.
    fn drop_one(&mut self) {
        let squared_norm = |i: usize| {
            let square: f64 = self.alpha.iter().map(|alpha| alpha[i] * alpha[i]).sum();
            square * self.diagonal[i].abs()
        };
        let mut smallest = 0;
        for at in 1..self.support.len() {
            if squared_norm(self.support[at]) < squared_norm(self.support[smallest]) {
                smallest = at;
            }
        }
        let i = self.support.remove(smallest);
        let steps: Vec<(usize, f64)> =
            (0..self.alpha.len()).map(|k| (k, -self.alpha[k][i])).collect();
        self.add(i, &steps);
        for k in 0..self.alpha.len() {
            (self.alpha[k][i], self.time_weighted[k][i]) = (0.0, 0.0);
        }
        self.dropped += 1;
    }

    /// Adds multiples of a row's kernel values to scores.
    fn add(&mut self, i: usize, steps: &[(usize, f64)]) {
        let n = self.diagonal.len();
        let column = match self.columns[i].take() {
            Some(column) => column,
            None => {
                let mut column = vec![0.0; n];
                self.rows.columns(&[i as u32], &self.rows, &mut [&mut column]);
                column
            }
        };
        for (k, step) in steps.iter().filter(|(_, step)| *step != 0.0) {
            self.scores[*k].iter_mut().zip(&column).for_each(|(score, v)| *score += step * v);
        }
        let n_cached = self.columns.iter().flatten().count() as u64;
        if (n_cached + 1) * 8 * n as u64 <= self.cache_bytes {
            self.columns[i] = Some(column);
        }
    }

    /// The fitted functions over the rows with a nonzero coefficient.
    fn expansion(mut self, problem: &KernelProblem<'_>, average: bool) -> KernelExpansion {
        let n = self.diagonal.len();
        if average && self.n_visits > 0.0 {
            for (alpha, time_weighted) in self.alpha.iter_mut().zip(&self.time_weighted) {
                alpha.iter_mut().zip(time_weighted).for_each(|(a, l)| *a -= l / self.n_visits);
            }
            for (b, time_weighted) in self.intercepts.iter_mut().zip(&self.time_weighted_intercepts)
            {
                *b -= time_weighted / self.n_visits;
            }
        }
        let positions: Vec<usize> =
            (0..n).filter(|i| self.alpha.iter().any(|alpha| alpha[*i] != 0.0)).collect();
        let coefficients = Matrix::from_shape_fn((self.alpha.len(), positions.len()), |(k, p)| {
            self.alpha[k][positions[p]]
        });
        let support = positions.iter().map(|i| problem.indices[*i]).collect();
        problem.expansion(Precision::Double, support, coefficients, self.intercepts)
    }
}

impl Classifier for KernelPerceptronModel {
    fn classes(&self) -> &Classes {
        &self.classes
    }

    fn n_columns(&self) -> usize {
        self.expansion.n_columns
    }

    fn scores(&self, x: &Rows<'_>) -> Result<Matrix> {
        let found = self.decisions(x)?;
        if self.classes.len() > 2 {
            return Ok(found);
        }
        Ok(Matrix::from_shape_fn((found.nrows(), 2), |(i, c)| {
            if c == 0 { -found[[i, 0]] } else { found[[i, 0]] }
        }))
    }
}

impl DecisionFunction for KernelPerceptronModel {
    fn decisions(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.expansion.decisions(x, &[Segment::all(&self.expansion)])
    }
}

impl SupportVectors for KernelPerceptronModel {
    fn support_terms(&self, row: &[f64]) -> Result<SupportExplanation> {
        let (first, second) = first_two(self, &Rows::from(ndarray::ArrayView1::from(row)))?;
        let sum = match self.classes.len() {
            2 => vec![(0, if first == 1 { 1.0 } else { -1.0 })],
            _ => vec![(first, 1.0), (second, -1.0)],
        };
        let explanation = self.expansion.explain(row, &[Segment::all(&self.expansion)], &sum)?;
        Ok(explanation.between(self, (first, second)))
    }
}

impl Check for KernelPerceptronModel {
    fn check(&self) -> Result<()> {
        self.expansion.check()?;
        let n = self.classes.len();
        let functions = if n == 2 { 1 } else { n };
        let fits = n >= 2
            && self.expansion.coefficients.nrows() == functions
            && self.expansion.intercepts.len() == functions
            && !self.mistakes.is_empty();
        if fits {
            Ok(())
        } else {
            Err(Error::File("the kernel perceptron's numbers of classes, coefficients and intercepts do not agree".into()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(n: usize, seed: u64) -> (Matrix, Vec<u32>) {
        let mut random = Random::new(seed);
        let x = Matrix::from_shape_simple_fn((n, 3), || random.normal());
        let codes = x.outer_iter().map(|r| u32::from(r[0] + 0.5 * r[1] > 0.2 * r[2])).collect();
        (x, codes)
    }

    /// The linear perceptron: weights, intercept, and their averages.
    fn linear_perceptron(x: &Matrix, codes: &[u32], passes: usize) -> [(Vec<f64>, f64); 2] {
        let (mut w, mut b) = (vec![0.0; x.ncols()], 0.0);
        let (mut sum, mut sum_b, mut n_visits) = (vec![0.0; x.ncols()], 0.0, 0.0);
        for _ in 0..passes {
            for (row, code) in x.outer_iter().zip(codes) {
                let y = if *code == 1 { 1.0 } else { -1.0 };
                let f: f64 = row.iter().zip(&w).map(|(x, w)| x * w).sum::<f64>() + b;
                if y * f <= 0.0 {
                    w.iter_mut().zip(row).for_each(|(w, x)| *w += y * x);
                    b += y;
                }
                sum.iter_mut().zip(&w).for_each(|(s, w)| *s += w);
                sum_b += b;
                n_visits += 1.0;
            }
        }
        sum.iter_mut().for_each(|s| *s /= n_visits);
        [(w, b), (sum, sum_b / n_visits)]
    }

    fn fit(params: &KernelPerceptron, x: &Matrix, codes: &[u32]) -> Fitted<KernelPerceptronModel> {
        let classes = Classes::from_names(["no", "yes"]);
        params.fit(&Dataset::classes(x, codes, &classes).unwrap(), &Monitor::quiet()).unwrap()
    }

    #[test]
    fn a_linear_kernel_is_the_linear_perceptron() {
        let (x, codes) = rows(60, 3);
        let params = KernelPerceptron::new().kernel(Kernel::Linear).shuffle(false).max_iter(4);
        let expected = linear_perceptron(&x, &codes, 4);
        for (average, (w, b)) in [false, true].into_iter().zip(expected) {
            let fitted = fit(&params.clone().average(average), &x, &codes);

            let found = fitted.expansion.weights().unwrap();
            for (a, b) in found.row(0).iter().zip(&w) {
                assert!((a - b).abs() < 1e-12, "{found} {w:?}");
            }
            assert!((fitted.expansion.intercepts[0] - b).abs() < 1e-12);
        }
    }

    #[test]
    fn separable_classes_are_separated() {
        let (x, codes) = rows(80, 4);

        let fitted = fit(&KernelPerceptron::new().max_iter(1000), &x, &codes);

        assert_eq!(fitted.predict(&Rows::from(&x)).unwrap(), codes);
        assert_eq!(fitted.mistakes.last(), Some(&0));
        assert!(fitted.certificate.to_string().contains("an epoch without a mistake"));
    }

    #[test]
    fn the_number_of_support_vectors_stays_within_the_budget() {
        let (x, mut codes) = rows(100, 5);
        codes.iter_mut().step_by(7).for_each(|c| *c = 1 - *c);
        for average in [false, true] {
            let params = KernelPerceptron::new().budget(Some(12)).max_iter(5).average(average);

            let fitted = fit(&params, &x, &codes);

            assert!(fitted.expansion.n_vectors() <= 12);
            assert!(fitted.dropped > 0);
        }
    }
}
