//! The fits of a search, with what they share: kernel matrices and initial points.
//!
//! Settings that differ in `C` only are a chain: kernel support vector machines are fitted in ascending order of `C`, each
//! from the dual variables of the one before. All chains with the same kernel function look kernel values up in one
//! matrix of all rows, whatever the fold. Every chain of every fold is one task, and its result does not depend on the
//! thread that computes it.

use super::fold_sets::FoldSet;
use crate::catalog::{AnyModel, Estimator};
use crate::data::{GramMatrix, SharedGram};
use crate::error::{Error, Result};
use crate::evaluate::{Predictions, Split};
use crate::kernel::{Function, Precision, gram_matrix};
use crate::model::Monitor;
use crate::preprocess::{Encoded, Features, Recipe};
use crate::train::Task;
use crate::train::select::out_of_fold::{FoldPredictions, FoldRows};
use crate::train::target_scale::SharedFit;
use mercer_num::{Matrix, Rows, parallel};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Kernel matrices that are in memory at the same time.
const MAX_MATRICES: usize = 2;
/// The size of a kernel matrix up to which fits share it, if the user sets no memory limit.
const MAX_MATRIX_BYTES: u64 = 4 << 30;
/// Fits without a kernel matrix are computed at the same time up to so many rows; above, each uses all threads.
const MAX_PARALLEL_ROWS: usize = 8000;

/// The predictions of every setting on every fold; `None` where they were not requested.
pub(super) type FoldResults = Vec<Vec<Option<Result<FoldPredictions>>>>;

/// What is the same for all fits of a search.
#[derive(Clone, Copy)]
pub(super) struct Fits<'a> {
    pub recipe: &'a Recipe,
    pub task: Task<'a>,
    /// Whether the values of decision functions are requested.
    pub with_decisions: bool,
}

/// A chain of settings on one split.
struct Job<'a> {
    fold: usize,
    rows: &'a FoldRows,
    split: &'a Split,
    /// The settings in ascending order of `C`.
    chain: Vec<usize>,
    kernel: Option<(Function, Precision)>,
}

impl Fits<'_> {
    /// Fits the settings to the folds for which `is_wanted(setting, fold)`, and stores the results.
    pub fn run(
        &self,
        sets: &[FoldSet],
        estimators: &[Estimator],
        is_wanted: impl Fn(usize, usize) -> bool,
        results: &mut FoldResults,
        monitor: &Monitor<'_>,
    ) {
        let folds = sets.iter().flat_map(|set| set.splits.iter().map(|(fold, _)| *fold));
        let wanted = |fold: usize| (0..estimators.len()).filter(|k| is_wanted(*k, fold)).count();
        let total: usize = folds.map(wanted).sum();
        let progress = Progress { done: AtomicU64::new(0), total: total as u64, monitor };
        for set in sets {
            let of_split = |(_, split): &(usize, Split)| {
                FoldRows::of_split(&set.rows, split, &set.features, self.recipe)
            };
            let rows: Vec<FoldRows> = set.splits.iter().map(of_split).collect();
            let mut jobs = Vec::new();
            for ((fold, split), rows) in set.splits.iter().zip(&rows) {
                let wanted: Vec<usize> =
                    (0..estimators.len()).filter(|k| is_wanted(*k, *fold)).collect();
                for chain in chains(estimators, &wanted) {
                    let kernel = shared_kernel(estimators, &chain, rows);
                    jobs.push(Job { fold: *fold, rows, split, chain, kernel });
                }
            }
            self.run_jobs(set, jobs, estimators, &progress, results);
        }
    }

    /// Runs the jobs of a set: those without a kernel matrix, then the others, a few matrices at a time.
    fn run_jobs(
        &self,
        set: &FoldSet,
        jobs: Vec<Job<'_>>,
        estimators: &[Estimator],
        progress: &Progress<'_>,
        results: &mut FoldResults,
    ) {
        let n = set.rows.rows().n_rows();
        let (with_kernel, plain): (Vec<Job<'_>>, Vec<Job<'_>>) =
            jobs.into_iter().partition(|job| job.kernel.is_some());
        let run = |job: &Job<'_>, matrix: Option<&Arc<GramMatrix>>| {
            self.run_chain(job, matrix, estimators, progress)
        };
        let plain: Vec<_> = match n <= MAX_PARALLEL_ROWS {
            true => map(plain.len(), |k| run(&plain[k], None)),
            false => plain.iter().map(|job| run(job, None)).collect(),
        };
        store(plain.into_iter().flatten(), results);
        for group in windows(with_kernel, n, progress.monitor) {
            let kernels = group.iter().map(|(kernel, _)| kernel);
            let matrices: Vec<Option<Arc<GramMatrix>>> = kernels
                .map(|(function, precision)| {
                    let is_affordable = matrix_bytes(n, *precision) <= max_bytes(progress.monitor);
                    let wanted = is_affordable && progress.monitor.stop().is_none();
                    let matrix =
                        wanted.then(|| gram_matrix(function, &set.rows.rows(), *precision));
                    matrix.flatten().map(Arc::new)
                })
                .collect();
            let jobs: Vec<(&Job<'_>, Option<&Arc<GramMatrix>>)> = group
                .iter()
                .zip(&matrices)
                .flat_map(|((_, jobs), matrix)| jobs.iter().map(move |job| (job, matrix.as_ref())))
                .collect();
            let done = map(jobs.len(), |k| run(jobs[k].0, jobs[k].1));
            store(done.into_iter().flatten(), results);
        }
    }

    /// Fits the settings of a chain one after the other.
    fn run_chain(
        &self,
        job: &Job<'_>,
        matrix: Option<&Arc<GramMatrix>>,
        estimators: &[Estimator],
        progress: &Progress<'_>,
    ) -> Vec<(usize, usize, Result<FoldPredictions>)> {
        let indices = |rows: &[usize]| rows.iter().map(|i| *i as u32).collect();
        let gram = matrix.map(|matrix| SharedGram {
            matrix: Arc::clone(matrix),
            train: indices(&job.split.train),
            test: indices(&job.split.test),
        });
        let mut previous: Option<AnyModel> = None;
        let mut fit = |k: &usize| {
            if progress.monitor.stop().is_some() {
                return (*k, job.fold, Err(Error::Stopped));
            }
            let start = previous.as_ref().filter(|_| job.kernel.is_some());
            let shared = SharedFit { gram: gram.as_ref(), start };
            let fitted = job.rows.predict_shared(
                &estimators[*k],
                self.task,
                shared,
                self.with_decisions,
                progress.monitor,
            );
            progress.add_one();
            let result = fitted.map(|(predictions, model)| {
                previous = Some(model);
                predictions
            });
            (*k, job.fold, result)
        };
        job.chain.iter().map(&mut fit).collect()
    }
}

/// Counts the fits that are done.
struct Progress<'a> {
    done: AtomicU64,
    total: u64,
    monitor: &'a Monitor<'a>,
}

impl Progress<'_> {
    fn add_one(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        self.monitor.report(done, Some(self.total));
    }
}

fn map<R: Send>(n: usize, f: impl Fn(usize) -> R + Sync + Send) -> Vec<R> {
    let never_fails = |k| Ok::<R, std::convert::Infallible>(f(k));
    match parallel::map(n, never_fails) {
        Ok(results) => results,
        Err(never) => match never {},
    }
}

fn store(
    done: impl Iterator<Item = (usize, usize, Result<FoldPredictions>)>,
    results: &mut FoldResults,
) {
    done.for_each(|(k, fold, result)| results[k][fold] = Some(result));
}

/// The settings that differ in `C` only, in ascending order; every other setting is a chain of its own.
fn chains(estimators: &[Estimator], wanted: &[usize]) -> Vec<Vec<usize>> {
    let mut chains: Vec<(Option<Estimator>, Vec<usize>)> = Vec::new();
    for k in wanted {
        let estimator = &estimators[*k];
        let key = match estimator {
            Estimator::Svc(_) | Estimator::Svr(_) => estimator.set("C", Value::from(1.0)).ok(),
            _ => None,
        };
        match chains.iter_mut().find(|(known, _)| key.is_some() && *known == key) {
            Some((_, chain)) => chain.push(*k),
            None => chains.push((key, vec![*k])),
        }
    }
    let sorted = |mut chain: Vec<usize>| {
        chain.sort_by(|a, b| cost(&estimators[*a]).total_cmp(&cost(&estimators[*b])));
        chain
    };
    chains.into_iter().map(|(_, chain)| sorted(chain)).collect()
}

fn cost(estimator: &Estimator) -> f64 {
    match estimator {
        Estimator::Svc(svc) => svc.C,
        Estimator::Svr(svr) => svr.C,
        _ => 0.0,
    }
}

/// The kernel function of a chain on some rows, in the precision that its largest `C` needs.
fn shared_kernel(
    estimators: &[Estimator],
    chain: &[usize],
    rows: &FoldRows,
) -> Option<(Function, Precision)> {
    let data = rows.train().unlabeled().ok()?;
    match &estimators[*chain.last()?] {
        Estimator::Svc(svc) => svc.shared_kernel(&data),
        Estimator::Svr(svr) => Some(svr.shared_kernel(&data)),
        _ => None,
    }
}

fn matrix_bytes(n: usize, precision: Precision) -> u64 {
    let value = if precision == Precision::Single { 4 } else { 8 };
    value * (n as u64).pow(2)
}

/// The size of one of the kernel matrices that are in memory at the same time.
fn max_bytes(monitor: &Monitor<'_>) -> u64 {
    monitor.memory().map_or(MAX_MATRIX_BYTES, |bytes| bytes / (2 * MAX_MATRICES as u64))
}

type JobsOfKernel<'a> = ((Function, Precision), Vec<Job<'a>>);

/// The jobs by kernel function, in groups whose matrices are in memory at the same time.
fn windows<'a>(jobs: Vec<Job<'a>>, n: usize, monitor: &Monitor<'_>) -> Vec<Vec<JobsOfKernel<'a>>> {
    let mut by_kernel: Vec<JobsOfKernel<'a>> = Vec::new();
    for job in jobs {
        let Some(kernel) = job.kernel.clone() else { continue };
        match by_kernel.iter_mut().find(|(known, _)| *known == kernel) {
            Some((_, jobs)) => jobs.push(job),
            None => by_kernel.push((kernel, vec![job])),
        }
    }
    let mut windows: Vec<Vec<JobsOfKernel<'a>>> = Vec::new();
    let fits_twice = matrix_bytes(n, Precision::Double) <= max_bytes(monitor);
    let n_at_once = if fits_twice { MAX_MATRICES } else { 1 };
    for jobs in by_kernel {
        match windows.last_mut().filter(|window| window.len() < n_at_once) {
            Some(window) => window.push(jobs),
            None => windows.push(vec![jobs]),
        }
    }
    windows
}

/// The predictions of one setting on the test rows of one split.
pub struct SettingScores {
    /// The predictions.
    pub predictions: Predictions,
    /// The values of the decision function, if there is one.
    pub decisions: Option<Matrix>,
    /// Whether the fit converged.
    pub converged: bool,
    /// The seconds of the fit.
    pub fit_seconds: f64,
    /// The seconds of the prediction.
    pub predict_seconds: f64,
}

/// The predictions of several settings of an estimator on the test rows of given splits: for every estimator, for every
/// split, with the values of decision functions if they are requested. Fits share kernel matrices and initial points as in
/// [`tune`](super::tune); rows are not preprocessed.
///
/// # Errors
/// If the target does not fit the rows. The error of a fit is in its place.
pub fn evaluate_settings(
    estimators: &[Estimator],
    rows: &Rows<'_>,
    target: (&[u32], &[f64]),
    task: Task<'_>,
    splits: &[Split],
    with_decisions: bool,
    monitor: &Monitor<'_>,
) -> Result<Vec<Vec<Result<SettingScores>>>> {
    let rows = Encoded::of_matrix(rows, target.0.to_vec(), target.1.to_vec());
    let recipe = Recipe::default();
    let splits = splits.iter().cloned().enumerate().collect();
    let sets = [FoldSet { rows, features: Features::none(), splits }];
    let n_folds = sets[0].splits.len();
    let mut results: FoldResults =
        estimators.iter().map(|_| (0..n_folds).map(|_| None).collect()).collect();
    let fits = Fits { recipe: &recipe, task, with_decisions };
    fits.run(&sets, estimators, |_, _| true, &mut results, monitor);
    let scores = |result: Option<Result<FoldPredictions>>| {
        let fold = result.unwrap_or(Err(Error::Stopped))?;
        Ok(SettingScores {
            predictions: fold.predictions,
            decisions: fold.decisions,
            converged: fold.converged,
            fit_seconds: fold.fit_seconds,
            predict_seconds: fold.predict_seconds,
        })
    };
    Ok(results.into_iter().map(|folds| folds.into_iter().map(scores).collect()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Classes, Dataset};
    use crate::evaluate::Splitting;
    use mercer_num::parallel::with_threads;
    use mercer_num::random::Random;

    /// Overlapping classes in four columns.
    fn blobs(n: usize, n_classes: u32) -> (Matrix, Vec<u32>, Vec<f64>) {
        let mut random = Random::new(5);
        let codes: Vec<u32> = (0..n as u32).map(|i| i % n_classes).collect();
        let x = Matrix::from_shape_fn((n, 4), |(i, j)| {
            1.2 * f64::from(codes[i]) * (1.0 + j as f64 * 0.3) + 1.5 * random.normal()
        });
        let y =
            x.outer_iter().map(|row| row[0].sin() + 0.3 * row[1] + 0.1 * random.normal()).collect();
        (x, codes, y)
    }

    fn grid(id: &str, cs: &[f64], gammas: &[&str]) -> Vec<Estimator> {
        let base = Estimator::from_id(id).unwrap().set_from_str("tol", "1e-6").unwrap();
        let mut all = Vec::new();
        for c in cs {
            for gamma in gammas {
                let setting = base.set("C", Value::from(*c)).unwrap();
                all.push(setting.set_from_str("gamma", gamma).unwrap());
            }
        }
        all
    }

    fn run(
        estimators: &[Estimator],
        (x, codes, targets): (&Matrix, &[u32], &[f64]),
        task: Task<'_>,
        splits: &[Split],
    ) -> Vec<Vec<Predictions>> {
        let target = (codes, targets);
        let rows = Rows::from(x);
        evaluate_settings(estimators, &rows, target, task, splits, false, &Monitor::quiet())
            .unwrap()
            .into_iter()
            .map(|folds| folds.into_iter().map(|fold| fold.unwrap().predictions).collect())
            .collect()
    }

    #[test]
    fn shared_kernel_values_and_starts_give_the_predictions_of_separate_fits() {
        let mut n_compared = 0;
        for n_classes in [2, 3] {
            let (x, codes, _) = blobs(150, n_classes);
            let classes = Classes::from_names((0..n_classes).map(|c| format!("class {c}")));
            let splits = Splitting::folds(3, 1).splits(&codes, None, None).unwrap();
            let estimators = grid("svc", &[100.0, 0.1, 1.0], &["0.01", "0.3", "scale"]);

            let found =
                run(&estimators, (&x, &codes, &[]), Task::Classification(&classes), &splits);

            for (estimator, folds) in estimators.iter().zip(&found) {
                for (split, fold) in splits.iter().zip(folds) {
                    let train = x.select(ndarray::Axis(0), &split.train);
                    let labels: Vec<u32> = split.train.iter().map(|i| codes[*i]).collect();
                    let data = Dataset::classes(&train, &labels, &classes).unwrap();
                    let model = estimator.fit(&data, &Monitor::quiet()).unwrap();
                    let test = x.select(ndarray::Axis(0), &split.test);
                    let expected =
                        model.as_model().classifier().unwrap().predict(&Rows::from(&test)).unwrap();
                    let Predictions::Classes { predicted, .. } = fold else { unreachable!() };
                    assert_eq!(*predicted, expected, "{:?}", estimator.params());
                    n_compared += 1;
                }
            }
        }
        assert_eq!(n_compared, 2 * 9 * 3);
    }

    #[test]
    fn regression_with_shared_kernel_values_predicts_as_separate_fits() {
        let (x, _, y) = blobs(120, 2);
        let splits = Splitting::folds(3, 1).splits(&[0; 120], None, None).unwrap();
        let estimators = grid("svr", &[0.1, 10.0, 1.0], &["0.05", "0.5"]);

        let found = run(&estimators, (&x, &[], &y), Task::Regression, &splits);

        for (estimator, folds) in estimators.iter().zip(&found) {
            for (split, fold) in splits.iter().zip(folds) {
                let train = x.select(ndarray::Axis(0), &split.train);
                let targets: Vec<f64> = split.train.iter().map(|i| y[*i]).collect();
                let data = Dataset::regression(&train, &targets).unwrap();
                let model = estimator.fit(&data, &Monitor::quiet()).unwrap();
                let test = x.select(ndarray::Axis(0), &split.test);
                let expected =
                    model.as_model().regressor().unwrap().predict(&Rows::from(&test)).unwrap();
                let Predictions::Regression { predicted, .. } = fold else { unreachable!() };
                for (found, expected) in predicted.iter().zip(&expected) {
                    assert!((found - expected).abs() < 1e-3, "{found} {expected}");
                }
            }
        }
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bits() {
        let (x, codes, y) = blobs(90, 3);
        let classes = Classes::from_names(["a", "b", "c"]);
        let splits = Splitting::folds(3, 1).splits(&codes, None, None).unwrap();
        let svc = grid("svc", &[0.1, 1.0, 10.0], &["0.05", "0.5"]);
        let svr = grid("svr", &[0.1, 1.0], &["0.05", "0.5"]);

        let both = |n: usize| {
            with_threads(n, || {
                let classification =
                    run(&svc, (&x, &codes, &[]), Task::Classification(&classes), &splits);
                (classification, run(&svr, (&x, &[], &y), Task::Regression, &splits))
            })
        };

        assert!(both(1) == both(4));
    }

    #[test]
    fn settings_that_differ_in_c_only_are_a_chain_in_ascending_order() {
        let estimators = grid("svc", &[10.0, 0.1, 1.0], &["0.1", "0.5"]);

        assert_eq!(chains(&estimators, &[0, 1, 2, 3, 4, 5]), [[2, 4, 0], [3, 5, 1]]);
        assert_eq!(chains(&estimators, &[0, 3]), [vec![0], vec![3]]);
    }

    #[test]
    fn a_cancelled_search_has_errors_in_place_of_predictions() {
        let (x, codes, _) = blobs(60, 2);
        let classes = Classes::from_names(["a", "b"]);
        let splits = Splitting::folds(2, 1).splits(&codes, None, None).unwrap();
        let estimators = grid("svc", &[1.0], &["0.1"]);
        let cancelled = Monitor::quiet().time_limit(std::time::Duration::ZERO);
        let task = Task::Classification(&classes);

        let (rows, target) = (Rows::from(&x), (codes.as_slice(), &[][..]));
        let found = evaluate_settings(&estimators, &rows, target, task, &splits, true, &cancelled);

        let stopped = |fold: &Result<SettingScores>| matches!(fold, Err(Error::Stopped));
        assert!(found.unwrap()[0].iter().all(stopped));
    }
}
