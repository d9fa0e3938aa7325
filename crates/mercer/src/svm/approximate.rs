//! A kernel machine of a few rows that stand for all, and the way from it to the exact one.
//!
//! The kernel is replaced by the one that some of the rows make (Williams & Seeger 2001), chosen so that the
//! others tell little that they do not (Chen, Epperly, Tropp & Webber 2025). Its space has as many columns as
//! there are such rows, and there the machine is linear: planes of every class against the rest, with squared
//! distances behind the margin, in time that grows with the rows and not with their square. A plane is a sum
//! over the chosen rows, so what comes out is a machine like any other. Its decisions tell which rows will
//! matter to the exact machine, which may begin there.

use super::multiclass::{Multiclass, Task, pairs};
use super::svc::Svc;
use super::svc_model::SvcModel;
use crate::kernel::{KernelProblem, PivotedCholesky, Precision, randomly_pivoted_cholesky};
use crate::linear::{InterceptPenalty, LinearSvc};
use crate::model::{Plan, Stop};
use crate::prelude::*;
use mercer_num::Float;
use mercer_num::linalg::solve_lower_transposed;
use ndarray::Array2;
use std::time::Instant;

/// The share of the time for choosing rows; planes through them take the rest.
const MAPPING: f64 = 0.5;
/// What to do where memory is short.
const INSTEAD: &str = "raise the memory budget, or lower `approx`";

impl Svc {
    /// Learns from `approx` rows that stand for all.
    pub(super) fn approximate(
        &self,
        data: &Dataset<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Fitted<SvcModel>> {
        let start = Instant::now();
        let (codes, classes) = data.class_target()?;
        let Svc { kernel, gamma, coef0, degree, .. } = self;
        let ground = KernelProblem::new(data, kernel, Some(*gamma), *coef0, *degree, monitor)?;
        let (picks, weights) = (&ground.indices, &ground.weights);
        let m = self.approx.min(picks.len());
        let plan = self.plan_approximate(picks.len(), m, data.n_columns(), monitor)?;
        let Map { rows: mapped, lower, places, left, stopped } =
            Map::of(&ground, m, &monitor.first_part(MAPPING))?;
        let own: Vec<u32> = picks.iter().map(|i| codes[*i as usize]).collect();
        let linear = LinearSvc::new()
            .C(self.C)
            .tol(self.tol)
            .gap(self.gap)
            .class_weight(self.class_weight.clone())
            .intercept(InterceptPenalty::Unpenalized)
            .probability(self.probability)
            .calibration(self.calibration);
        let inner =
            Dataset::classes(Rows::Single(mapped.view()), &own, classes)?.weighted(weights)?;
        // What the mapped rows take is no longer there for planes.
        let mut rest = monitor.planned();
        if let Some(budget) = monitor.memory() {
            rest = rest.memory_limit(budget.saturating_sub(4 * mapped.len() as u64));
        }
        let Fitted { model: planes, certificate } = linear.fit(&inner, &rest)?;
        let lengths = planes.coefficients.outer_iter().map(|w| w.dot(&w).sqrt());
        let margins = lengths.map(|w| 1.0 / w.max(f64::MIN_POSITIVE)).collect();
        // The factor F = K(rows, centers) L⁻ᵀ, with L its rows of the centers: F w = K(rows, centers) L⁻ᵀ w.
        let mut turned = planes.coefficients.t().as_standard_layout().into_owned();
        let width = turned.ncols();
        solve_lower_transposed(lower.view(), turned.as_slice_mut().unwrap_or_default(), width);
        // Rows of one class stand together, and every class that was shown has one of its own.
        let mut centers: Vec<(u32, Option<usize>)> =
            places.iter().enumerate().map(|(at, k)| (*k as u32, Some(at))).collect();
        for c in 0..classes.len() as u32 {
            let is_own = |k: usize| own[k] == c;
            if !places.iter().any(|k| is_own(*k)) {
                centers.extend((0..own.len()).find(|k| is_own(*k)).map(|k| (k as u32, None)));
            }
        }
        centers.sort_by_key(|(k, _)| (own[*k as usize], *k));
        let count = |c: u32| centers.iter().filter(|(k, _)| own[*k as usize] == c).count() as u32;
        let n_support: Vec<u32> = (0..classes.len() as u32).map(count).collect();
        let coefficients = Matrix::from_shape_fn((width, centers.len()), |(row, at)| {
            centers[at].1.map_or(0.0, |at| turned[[at, row]])
        });
        // A class nobody showed is never the highest.
        let intercepts = planes.intercepts.iter().map(|b| b.max(-1e300)).collect();
        let support: Vec<u32> = centers.iter().map(|(k, _)| picks[*k as usize]).collect();
        let expansion = ground.expansion(Precision::Double, support, coefficients, intercepts);
        let n = classes.len();
        let mut by_class = vec![0.0; n];
        own.iter().zip(weights).for_each(|(c, w)| by_class[*c as usize] += w);
        let class_weights =
            crate::data::ClassWeight::factors(self.class_weight.as_ref(), classes, &by_class)?;
        let model = SvcModel {
            classes: classes.clone(),
            expansion,
            n_support,
            n_iter: vec![planes.n_iter],
            converged: planes.converged && stopped.is_none(),
            class_weights,
            multiclass: if n == 2 { Multiclass::OneVsOne } else { Multiclass::OneVsRest },
            shape: self.decision_function_shape,
            break_ties: self.break_ties,
            calibration: planes.calibration,
            margins,
            slacks: Matrix::zeros((0, 0)),
            approximate: true,
        };
        let short = if stopped.is_some() { ", cut short by the time limit" } else { "" };
        let note = format!(
            "Nystrom approximation: {} of {} rows are landmarks and leave {:.1e} of the trace{short}; squared \
             hinge loss, one-vs-rest",
            places.len(),
            picks.len(),
            left,
        );
        let stopped = certificate.stopped().or(stopped);
        let certificate = certificate.note_first(note).plan(plan).stopped_by(stopped).since(start);
        Ok(Fitted { model, certificate })
    }

    /// What `m` rows that stand for `n` take, asked for and told.
    fn plan_approximate(
        &self,
        n: usize,
        m: usize,
        n_columns: usize,
        monitor: &Monitor<'_>,
    ) -> Result<Option<Plan>> {
        let bytes = Map::bytes(n, m, n_columns, size_of::<f32>());
        let (n, m) = (n as u64, m as u64);
        let what = format!("a factor of the kernel of {n} rows and {m} that stand for them");
        monitor.reserve_or(&what, bytes, u64::MAX, INSTEAD)?;
        let way = format!("{m} rows stand for all, planes in a space of {m} columns");
        Ok(monitor.plan(Plan { strategy: way, bytes, kernel_matrix_bytes: 8 * n * n }))
    }
}

/// The rows in the space of a few of them.
struct Map {
    /// In single precision: planes of them are as good, and measured in double.
    rows: Array2<f32>,
    /// Those of the few, with nothing above the diagonal.
    lower: Matrix,
    /// Which the few are.
    places: Vec<usize>,
    /// The share of the trace that they leave.
    left: f64,
    /// Why there are no more of them.
    stopped: Option<Stop>,
}

impl Map {
    /// Worked out in single precision, and again in double where the kernel has so little beside the few that single
    /// cannot tell.
    fn of(ground: &KernelProblem<'_>, m: usize, monitor: &Monitor<'_>) -> Result<Map> {
        let found = randomly_pivoted_cholesky(
            &ground.kernel_rows_in::<f32>(),
            &ground.weights,
            m,
            0,
            monitor,
        )?;
        if found.pivots.len() == m || found.stopped.is_some() {
            return Ok(Map::from(found));
        }
        let bytes = Map::bytes(ground.indices.len(), m, ground.rows.n_columns(), size_of::<f64>());
        monitor.reserve_or("the same in double precision", bytes, u64::MAX, INSTEAD)?;
        randomly_pivoted_cholesky(&ground.uncentered_kernel_rows(), &ground.weights, m, 0, monitor)
            .map(Map::from)
    }

    /// What it takes to find `m` rows that stand for `n`, in numbers of so many bytes: the rows made ready, the factor
    /// as it is found, and as it is learned from.
    fn bytes(n: usize, m: usize, n_columns: usize, number: usize) -> u64 {
        (n * (number * (n_columns + m) + size_of::<f32>() * m)) as u64
    }
}

impl<T: Float> From<PivotedCholesky<T>> for Map {
    fn from(pivots: PivotedCholesky<T>) -> Map {
        let rows = pivots.factor(&pivots.all());
        let (lower, stopped) = (pivots.factor(&pivots.pivots), pivots.stopped);
        let (places, left) = pivots.finish();
        Map { rows, lower, places, left, stopped }
    }
}

impl SvcModel {
    /// Begins problems with the rows that an approximate machine finds behind the margin: `classes` are those
    /// that each tells apart, the second for one against the rest where there is none.
    pub(super) fn begin_at(
        &self,
        x: &Rows<'_>,
        picks: &[u32],
        classes: &[(usize, Option<usize>)],
        tasks: &mut [Task],
    ) -> Result<()> {
        let decisions = self.raw_decisions(x)?;
        for (task, (a, b)) in tasks.iter_mut().zip(classes) {
            let decision = |i: usize| match b {
                _ if self.classes.len() == 2 => -decisions[[i, 0]],
                Some(b) => 0.5 * (decisions[[i, *a]] - decisions[[i, *b]]),
                None => decisions[[i, *a]],
            };
            let places = task.places.iter().zip(&task.linear);
            let mut start: Vec<f64> = places
                .zip(task.low.iter().zip(&task.high))
                .map(|((k, y), (low, high))| {
                    let behind = (1.0 - y * decision(picks[*k as usize] as usize)).clamp(0.0, 1.0);
                    let bound = if *y > 0.0 { *high } else { *low };
                    // Squared distances pull by twice the distance.
                    (2.0 * behind).min(1.0) * if bound.is_finite() { bound } else { 0.0 }
                })
                .collect();
            // Both sides pull with the same force.
            let up: f64 = start.iter().filter(|b| **b > 0.0).sum();
            let down: f64 = -start.iter().filter(|b| **b < 0.0).sum::<f64>();
            let least = up.min(down);
            for b in &mut start {
                *b *= if *b > 0.0 { least / up } else { least / down.max(f64::MIN_POSITIVE) };
            }
            task.start = start;
        }
        Ok(())
    }
}

/// The classes that the problems of pairs tell apart.
pub(super) fn of_pairs(n: usize, shown: impl Fn(usize) -> bool) -> Vec<(usize, Option<usize>)> {
    pairs(n).filter(|(a, b)| shown(*a) && shown(*b)).map(|(a, b)| (a, Some(b))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::blobs;
    use super::*;
    use crate::calibrate::Calibration;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    #[test]
    fn few_rows_come_near_and_lead_to_the_exact_machine() {
        for n_classes in [2, 4] {
            let (x, codes, classes) = blobs(600, n_classes, 5);
            let data = Dataset::classes(&x, &codes, &classes).unwrap();
            let exact = Svc::new().gamma(0.03.into());
            let fit = |svc: &Svc| svc.fit(&data, &Monitor::quiet()).unwrap();
            let (rows, full) = (Rows::from(&x), fit(&exact));

            let few = fit(&exact.clone().approx(60));
            let polished = fit(&exact.clone().approx(60).polish(true));
            let later = exact.fit_from(&few, &data, &Monitor::quiet()).unwrap();

            few.model.check().unwrap();
            assert!(few.expansion.n_vectors() <= 60 + n_classes);
            assert!(few.certificate.to_string().contains("rows stand for all"));
            let right = |model: &SvcModel| {
                let said = model.predict(&rows).unwrap();
                said.iter().zip(&codes).filter(|(a, b)| a == b).count() as f64 / 600.0
            };
            assert!(right(&few) > right(&full) - 0.03, "{} {}", right(&few), right(&full));
            for ended in [&polished, &later] {
                let primal = |certificate: &Certificate| certificate.primal().unwrap();
                let (a, b) = (primal(&ended.certificate), primal(&full.certificate));
                assert!((a - b).abs() < 2e-3 * b && ended.converged, "{a} {b}");
            }
        }
    }

    #[test]
    fn a_deadline_amid_the_choice_of_rows_leaves_time_for_planes() {
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
        assert!(fitted.certificate.to_string().contains("no time for more"));
        let said = fitted.predict(&Rows::from(&x)).unwrap();
        assert!(said.iter().zip(&codes).filter(|(a, b)| a == b).count() > 600);
    }

    #[test]
    fn a_budget_that_holds_the_map_in_single_precision_will_do() {
        let (x, codes, classes) = blobs(600, 2, 5);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        let svc = Svc::new().gamma(0.5.into()).approx(200);
        let fit = |bytes: u64| svc.fit(&data, &Monitor::quiet().memory_limit(bytes));
        let enough = Map::bytes(600, 200, x.ncols(), size_of::<f32>());

        assert!(fit(enough + enough / 2).is_ok());
        assert!(matches!(fit(enough - 1), Err(Error::Memory { .. })));
    }

    #[test]
    fn approximate_machines_have_probabilities() {
        let (x, codes, classes) = blobs(300, 3, 6);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        let svc = Svc::new().approx(40).probability(true).calibration(Calibration::Isotonic);

        let fitted = svc.fit(&data, &Monitor::quiet()).unwrap();

        let rows = Rows::from(&x);
        let chances = fitted.log_proba(&rows).unwrap().mapv(f64::exp);
        assert!(chances.outer_iter().all(|row| (row.sum() - 1.0).abs() < 1e-9));
        let said = fitted.predict(&rows).unwrap();
        assert!(said.iter().zip(&codes).filter(|(a, b)| a == b).count() > 230);
    }
}
