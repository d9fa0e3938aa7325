//! Approximate support vector classification with a Nyström approximation of the kernel.
//!
//! The kernel is replaced by its Nyström approximation with `approx` landmark rows (Williams & Seeger 2001), selected by
//! randomly pivoted Cholesky decomposition (Chen, Epperly, Tropp & Webber 2025). In the feature space of the
//! approximation, a linear SVM with the squared hinge loss is fitted one-vs-rest, in time linear in the number of rows. A
//! hyperplane in this space is a kernel expansion over the landmarks, so the model has the same form as the exact one. Its
//! decision values can be the warm start of the exact solver.

use super::multiclass::{Multiclass, UNOBSERVED_INTERCEPT};
use super::svc::Svc;
use super::svc_model::SvcModel;
use crate::data::ClassWeight;
use crate::kernel::{KernelProblem, PivotedCholesky, Precision, randomly_pivoted_cholesky};
use crate::linear::{InterceptPenalty, LinearSvc, LinearSvcModel};
use crate::model::{Plan, Stop};
use crate::prelude::*;
use mercer_num::Float;
use mercer_num::linalg::solve_lower_transposed;
use ndarray::Array2;
use std::time::Instant;

/// The fraction of the time limit for the selection of landmarks; the linear SVM has the rest.
const SELECTION_TIME: f64 = 0.5;
/// The remedy if the memory budget is too small.
const MEMORY_REMEDY: &str = "raise the memory budget, or lower `approx`";

impl Svc {
    /// Fits a linear SVM on the Nyström features of `approx` landmark rows.
    pub(super) fn fit_approximate(
        &self,
        data: &Dataset<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Fitted<SvcModel>> {
        let start = Instant::now();
        let (codes, classes) = data.class_target()?;
        let Svc { kernel, gamma, coef0, degree, .. } = self;
        let problem = KernelProblem::new(data, kernel, Some(*gamma), *coef0, *degree, monitor)?;
        let n_rows = problem.indices.len();
        let m = self.approx.min(n_rows);
        let plan = self.plan_approximate(n_rows, m, data.n_columns(), monitor)?;
        let features = NystroemFeatures::new(&problem, m, &monitor.first_part(SELECTION_TIME))?;
        let codes: Vec<u32> = problem.indices.iter().map(|i| codes[*i as usize]).collect();
        let Fitted { model: linear, certificate } =
            self.fit_linear(&features, &codes, classes, &problem.weights, monitor)?;

        let n = classes.len();
        let norms = linear.coefficients.outer_iter().map(|w| w.dot(&w).sqrt());
        let margins = norms.map(|w| 1.0 / w).collect();
        let landmarks = Landmarks::new(&features.landmarks, &codes, n);
        let coefficients = landmarks.coefficients(&features, &linear);
        let intercepts = linear.intercepts.iter().map(|b| b.max(UNOBSERVED_INTERCEPT)).collect();
        let support = landmarks.rows.iter().map(|(k, _)| problem.indices[*k as usize]).collect();
        let expansion = problem.expansion(Precision::Double, support, coefficients, intercepts);
        let mut by_class = vec![0.0; n];
        codes.iter().zip(&problem.weights).for_each(|(c, w)| by_class[*c as usize] += w);
        let model = SvcModel {
            classes: classes.clone(),
            expansion,
            n_support: landmarks.n_support,
            n_iter: vec![linear.n_iter],
            converged: linear.converged && features.stopped.is_none(),
            class_weights: ClassWeight::factors(self.class_weight.as_ref(), classes, &by_class)?,
            multiclass: if n == 2 { Multiclass::OneVsOne } else { Multiclass::OneVsRest },
            shape: self.decision_function_shape,
            break_ties: self.break_ties,
            calibration: linear.calibration,
            margins,
            slacks: Matrix::zeros((0, 0)),
            approximate: true,
        };
        let note = features.describe(n_rows);
        let stopped = certificate.stopped().or(features.stopped);
        let certificate = certificate.note_first(note).plan(plan).stopped_by(stopped).since(start);
        Ok(Fitted { model, certificate })
    }

    /// Fits the linear SVM in the feature space.
    fn fit_linear(
        &self,
        features: &NystroemFeatures,
        codes: &[u32],
        classes: &Classes,
        weights: &[f64],
        monitor: &Monitor<'_>,
    ) -> Result<Fitted<LinearSvcModel>> {
        let linear = LinearSvc::new()
            .C(self.C)
            .tol(self.tol)
            .gap(self.gap)
            .class_weight(self.class_weight.clone())
            .intercept(InterceptPenalty::Unpenalized)
            .probability(self.probability)
            .calibration(self.calibration);
        let rows = Rows::Single(features.rows.view());
        let data = Dataset::classes(rows, codes, classes)?.weighted(weights)?;
        // The features take up a part of the memory budget.
        let mut monitor_of_linear = monitor.planned();
        if let Some(budget) = monitor.memory() {
            let remaining = budget.saturating_sub(4 * features.rows.len() as u64);
            monitor_of_linear = monitor_of_linear.memory_limit(remaining);
        }
        linear.fit(&data, &monitor_of_linear)
    }

    /// Reserves the memory of `m` landmarks among `n` rows and reports the plan.
    fn plan_approximate(
        &self,
        n: usize,
        m: usize,
        n_columns: usize,
        monitor: &Monitor<'_>,
    ) -> Result<Option<Plan>> {
        let bytes = NystroemFeatures::bytes(n, m, n_columns, size_of::<f32>());
        let (n, m) = (n as u64, m as u64);
        let what = format!("a Nystrom approximation of {n} rows with {m} landmarks");
        monitor.reserve_or(&what, bytes, u64::MAX, MEMORY_REMEDY)?;
        let way = format!("{m} landmark rows, linear SVM in {m} features");
        Ok(monitor.plan(Plan { strategy: way, bytes, kernel_matrix_bytes: 8 * n * n }))
    }
}

/// The rows in the feature space of the Nyström approximation: `F` with `F Fᵀ` close to the kernel matrix.
struct NystroemFeatures {
    /// `F`, in single precision; the linear SVM is measured in double.
    rows: Array2<f32>,
    /// The rows of the landmarks in `F`, a lower triangular matrix `L`.
    lower: Matrix,
    /// The landmark rows.
    landmarks: Vec<usize>,
    /// The fraction of the trace of the kernel matrix that the approximation leaves.
    trace_error: f64,
    /// Why the selection of landmarks ended early, if it did.
    stopped: Option<Stop>,
}

impl NystroemFeatures {
    /// Decomposes in single precision, and again in double if single precision finds fewer than `m` landmarks.
    fn new(problem: &KernelProblem<'_>, m: usize, monitor: &Monitor<'_>) -> Result<Self> {
        let weights = &problem.weights;
        let single = problem.kernel_rows_in::<f32>();
        let found = randomly_pivoted_cholesky(&single, weights, m, 0, monitor)?;
        if found.pivots.len() == m || found.stopped.is_some() {
            return Ok(NystroemFeatures::from(found));
        }
        let n = problem.indices.len();
        let bytes = NystroemFeatures::bytes(n, m, problem.rows.n_columns(), size_of::<f64>());
        let what = "the same approximation in double precision";
        monitor.reserve_or(what, bytes, u64::MAX, MEMORY_REMEDY)?;
        let double = problem.kernel_rows();
        randomly_pivoted_cholesky(&double, weights, m, 0, monitor).map(NystroemFeatures::from)
    }

    /// Memory of `m` landmarks among `n` rows with values of the given size: the rows, the factor of the decomposition,
    /// and the features.
    fn bytes(n: usize, m: usize, n_columns: usize, value_size: usize) -> u64 {
        (n * (value_size * (n_columns + m) + size_of::<f32>() * m)) as u64
    }

    fn describe(&self, n_rows: usize) -> String {
        let short = if self.stopped.is_some() { ", cut short by the time limit" } else { "" };
        format!(
            "Nystrom approximation: {} of {n_rows} rows are landmarks and leave {:.1e} of the \
             trace{short}; squared hinge loss, one-vs-rest",
            self.landmarks.len(),
            self.trace_error,
        )
    }
}

impl<T: Float> From<PivotedCholesky<T>> for NystroemFeatures {
    fn from(cholesky: PivotedCholesky<T>) -> NystroemFeatures {
        let rows = cholesky.factor(&cholesky.all());
        let (lower, stopped) = (cholesky.factor(&cholesky.pivots), cholesky.stopped);
        let (landmarks, trace_error) = cholesky.finish();
        NystroemFeatures { rows, lower, landmarks, trace_error, stopped }
    }
}

/// The landmarks sorted by class, with at least one row of every observed class.
struct Landmarks {
    /// A row and its landmark; `None` for a row added to represent its class, which has no coefficient.
    rows: Vec<(u32, Option<usize>)>,
    n_support: Vec<u32>,
}

impl Landmarks {
    fn new(landmarks: &[usize], codes: &[u32], n_classes: usize) -> Landmarks {
        let mut rows: Vec<(u32, Option<usize>)> =
            landmarks.iter().enumerate().map(|(at, k)| (*k as u32, Some(at))).collect();
        for c in 0..n_classes as u32 {
            if !landmarks.iter().any(|k| codes[*k] == c) {
                rows.extend(codes.iter().position(|code| *code == c).map(|k| (k as u32, None)));
            }
        }
        rows.sort_by_key(|(k, _)| (codes[*k as usize], *k));
        let count = |c: u32| rows.iter().filter(|(k, _)| codes[*k as usize] == c).count() as u32;
        let n_support = (0..n_classes as u32).map(count).collect();
        Landmarks { rows, n_support }
    }

    /// The coefficients of the kernel expansion. With `F = K(rows, landmarks) L⁻ᵀ`, the decision values `F w` are
    /// `K(rows, landmarks) L⁻ᵀw`.
    fn coefficients(&self, features: &NystroemFeatures, linear: &LinearSvcModel) -> Matrix {
        let mut solved = linear.coefficients.t().as_standard_layout().into_owned();
        let width = solved.ncols();
        let values = solved.as_slice_mut().unwrap_or_default();
        solve_lower_transposed(features.lower.view(), values, width);
        Matrix::from_shape_fn((width, self.rows.len()), |(row, k)| {
            self.rows[k].1.map_or(0.0, |at| solved[[at, row]])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibrate::Calibration;
    use crate::svm::test_data::blobs;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    fn n_correct(model: &SvcModel, x: &Matrix, codes: &[u32]) -> usize {
        let predicted = model.predict(&Rows::from(x)).unwrap();
        predicted.iter().zip(codes).filter(|(a, b)| a == b).count()
    }

    #[test]
    fn the_approximation_is_accurate_and_a_warm_start_of_the_exact_model() {
        for n_classes in [2, 4] {
            let (x, codes, classes) = blobs(600, n_classes, 5);
            let data = Dataset::classes(&x, &codes, &classes).unwrap();
            let exact = Svc::new().gamma(0.03.into());
            let fit = |svc: &Svc| svc.fit(&data, &Monitor::quiet()).unwrap();
            let full = fit(&exact);

            let approximate = fit(&exact.clone().approx(60));
            let polished = fit(&exact.clone().approx(60).polish(true));
            let resumed = exact.fit_from(&approximate, &data, &Monitor::quiet()).unwrap();

            approximate.model.check().unwrap();
            assert!(approximate.expansion.n_vectors() <= 60 + n_classes);
            assert!(approximate.certificate.to_string().contains("rows are landmarks"));
            let accuracy = |model: &SvcModel| n_correct(model, &x, &codes) as f64 / 600.0;
            let (a, b) = (accuracy(&approximate), accuracy(&full));
            assert!(a > b - 0.03, "{a} {b}");
            for exact in [&polished, &resumed] {
                let primal = |certificate: &Certificate| certificate.primal().unwrap();
                let (a, b) = (primal(&exact.certificate), primal(&full.certificate));
                assert!((a - b).abs() < 2e-3 * b && exact.converged, "{a} {b}");
            }
        }
    }

    #[test]
    fn a_time_limit_during_the_selection_leaves_time_for_the_linear_svm() {
        let (x, codes, classes) = blobs(900, 3, 5);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        let first = AtomicBool::new(true);
        let wait = |_| {
            if first.swap(false, Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(5_500));
            }
        };
        let monitor = Monitor::quiet().time_limit(Duration::from_secs(10)).on_progress(wait);

        let fitted = Svc::new().gamma(0.5.into()).approx(800).fit(&data, &monitor).unwrap();

        assert_eq!(fitted.certificate.stopped(), Some(Stop::Deadline));
        assert!(!fitted.converged && fitted.expansion.n_vectors() < 800);
        assert!(fitted.certificate.to_string().contains("time limit"));
        assert!(n_correct(&fitted, &x, &codes) > 600);
    }

    #[test]
    fn a_memory_budget_for_single_precision_suffices() {
        let (x, codes, classes) = blobs(600, 2, 5);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        let svc = Svc::new().gamma(0.5.into()).approx(200);
        let fit = |bytes: u64| svc.fit(&data, &Monitor::quiet().memory_limit(bytes));
        let required = NystroemFeatures::bytes(600, 200, x.ncols(), size_of::<f32>());

        assert!(fit(required + required / 2).is_ok());
        assert!(matches!(fit(required - 1), Err(Error::Memory { .. })));
    }

    #[test]
    fn approximate_models_have_calibrated_probabilities() {
        let (x, codes, classes) = blobs(300, 3, 6);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        let svc = Svc::new().approx(40).probability(true).calibration(Calibration::Isotonic);

        let fitted = svc.fit(&data, &Monitor::quiet()).unwrap();

        let proba = fitted.log_proba(&Rows::from(&x)).unwrap().mapv(f64::exp);
        assert!(proba.outer_iter().all(|row| (row.sum() - 1.0).abs() < 1e-9));
        assert!(n_correct(&fitted, &x, &codes) > 230);
    }
}
