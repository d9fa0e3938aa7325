//! The plan of a fit: which kernel matrices are computed whole, which columns are cached, and in how much memory.
//!
//! The plan describes the choice that [`solve`](crate::solver::solve) makes for every subproblem. It must not depend on
//! the number of threads: the kernel cache, which concurrent subproblems share, counts as a whole, and of the small
//! matrices, of which every thread has one at a time, one counts.

use super::dual_problem::DualProblem;
use super::subproblem::Subproblem;
use crate::model::{Monitor, Plan};
use crate::solver::{MAX_DENSE_KERNEL_ROWS, MIN_CACHED_COLUMNS};
use mercer_num::memory::Bytes;

/// The plan if all columns fit in the cache.
const ALL_COLUMNS_FIT: &str = "kernel columns cached on request";

/// How a problem is reduced to quadratic programs.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reduction {
    /// One quadratic program over all rows.
    None,
    /// One per pair of classes.
    OneVsOne,
    /// One per class.
    OneVsRest,
}

impl Reduction {
    fn describe(self, n: usize) -> String {
        match (self, n) {
            (Reduction::None, _) => "one quadratic program".into(),
            (_, 1) => "one binary SVM".into(),
            (Reduction::OneVsOne, n) => format!("{n} one-vs-one SVMs"),
            (Reduction::OneVsRest, n) => format!("{n} one-vs-rest SVMs"),
        }
    }
}

/// Reports the plan of the given subproblems.
pub(super) fn plan(
    problem: &DualProblem<'_>,
    reduction: Reduction,
    subproblems: &[Subproblem],
    monitor: &Monitor<'_>,
) -> Option<Plan> {
    let size = problem.value_bytes();
    let square = |n: usize| size * (n * n) as u64;
    let sizes = || subproblems.iter().map(|sub| sub.rows.len());
    let dense = sizes().filter(|n| *n <= MAX_DENSE_KERNEL_ROWS).max().map_or(0, square);
    let large: Vec<usize> = sizes().filter(|n| *n > MAX_DENSE_KERNEL_ROWS).collect();
    let largest = large.iter().copied().max().unwrap_or(0);
    let cache = problem.cache_bytes();
    // Whether the columns fit must not depend on how many subproblems are solved at the same time.
    let all_fit = square(largest) <= cache / subproblems.len().max(1) as u64;
    let (how, cached) = if large.is_empty() {
        ("dense kernel matrices".to_owned(), 0)
    } else if all_fit {
        (ALL_COLUMNS_FIT.to_owned(), large.iter().copied().map(square).sum())
    } else {
        let smallest = size * (MIN_CACHED_COLUMNS.min(largest) * largest) as u64;
        let how = format!("kernel cache of {}, working sets when it is full", Bytes(cache));
        (how, cache.max(smallest))
    };
    let way = format!("{}, {how}", reduction.describe(subproblems.len()));
    let bytes = problem.row_bytes() + dense + cached;
    monitor.plan(Plan { strategy: way, bytes, kernel_matrix_bytes: square(problem.indices.len()) })
}

/// Reports the plan of the multiclass problem of Crammer & Singer.
pub(super) fn plan_crammer_singer(
    problem: &DualProblem<'_>,
    n_classes: usize,
    monitor: &Monitor<'_>,
) -> Option<Plan> {
    let n = problem.indices.len() as u64;
    let (whole, cache) = (8 * n * n, problem.cache_bytes());
    let how = match whole <= cache {
        true => ALL_COLUMNS_FIT.to_owned(),
        false => format!("kernel cache of {}, least recently used columns evicted", Bytes(cache)),
    };
    let way = format!("Crammer-Singer SVM of {n_classes} classes, {how}");
    let tables = 16 * n * n_classes as u64;
    let bytes = problem.row_bytes() + tables + whole.min(cache.max(16 * n));
    monitor.plan(Plan { strategy: way, bytes, kernel_matrix_bytes: whole })
}

#[cfg(test)]
mod tests {
    use super::super::*;
    use crate::model::Plan;
    use crate::prelude::*;
    use crate::svm::test_data::blobs;
    use mercer_num::parallel::with_threads;
    use std::sync::Mutex;

    /// The reported plans, the one in the certificate, and the number of kernel values computed.
    fn plans(
        svc: &Svc,
        n: usize,
        n_classes: usize,
        monitor: Monitor<'_>,
    ) -> (Vec<Plan>, Plan, u64) {
        let (x, codes, classes) = blobs(n, n_classes, 5);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        let reported = Mutex::new(Vec::new());
        let monitor = monitor.on_plan(|plan| reported.lock().unwrap().push(plan.clone()));

        let fitted = svc.fit(&data, &monitor).unwrap();

        drop(monitor);
        let how = fitted.certificate.to_string();
        let values = how.split(" kernel values").next().unwrap().rsplit(' ').next().unwrap();
        let (reported, values) = (reported.into_inner().unwrap(), values.parse().unwrap());
        let certified = fitted.certificate.plan.unwrap();
        assert_eq!(reported.last(), Some(&certified));
        (reported, certified, values)
    }

    #[test]
    fn the_plan_describes_the_fit() {
        let svc = Svc::new().gamma(0.03.into());
        let quiet = Monitor::quiet;
        // Three subproblems of 200 rows: a small one computes whole kernel matrices, at least one.
        let (small, plan, values) = plans(&svc, 300, 3, quiet());
        assert_eq!(small.len(), 1);
        assert_eq!(values % (200 * 201 / 2), 0);
        assert_eq!(plan.strategy, "3 one-vs-one SVMs, dense kernel matrices");
        assert_eq!(plan.kernel_matrix_bytes, 4 * 300 * 300);

        let (large, plan, _) = plans(&svc, 900, 2, quiet());
        assert_eq!(large.len(), 1);
        assert_eq!(plan.strategy, "one binary SVM, kernel columns cached on request");
        // The rows in single and in double precision, and all columns.
        assert_eq!(plan.bytes, 900 * 4 * 12 + 4 * 900 * 900);

        // A cache for 100 columns of 900 rows.
        let (tight, plan, _) = plans(&svc.clone().cache_size(0.36), 900, 2, quiet());
        assert_eq!(tight.len(), 1);
        let way = "one binary SVM, kernel cache of 360 KB, working sets when it is full";
        assert_eq!(plan.strategy, way);
        assert!(plan.to_string().ends_with("about 403 KB (full kernel matrix: 3.2 MB)"), "{plan}");

        let rest = svc.clone().multiclass(Multiclass::OneVsRest);
        let (_, plan, _) = plans(&rest, 900, 3, quiet());
        assert!(plan.strategy.starts_with("3 one-vs-rest SVMs, kernel columns cached"), "{plan}");

        let crammer_singer = svc.clone().multiclass(Multiclass::CrammerSinger);
        let (_, plan, _) = plans(&crammer_singer, 300, 3, quiet());
        assert!(
            plan.strategy.starts_with("Crammer-Singer SVM of 3 classes, kernel columns"),
            "{plan}"
        );
        assert_eq!(plan.kernel_matrix_bytes, 8 * 300 * 300);

        let (both, plan, _) = plans(&svc.approx(50).polish(true), 900, 2, quiet());
        assert_eq!(both.len(), 2);
        assert!(both[0].strategy.starts_with("50 landmark rows"), "{}", both[0]);
        assert!(plan.strategy.starts_with("one binary SVM"), "{plan}");
    }

    #[test]
    fn a_memory_budget_shrinks_the_cache_and_then_is_an_error_with_a_remedy() {
        let svc = Svc::new().gamma(0.03.into());
        // Rows of 43 KB and 64 columns of 230 KB leave 26 KB.
        let (_, plan, _) = plans(&svc, 900, 2, Monitor::quiet().memory_limit(300_000));
        assert!(plan.strategy.contains("working sets"), "{plan}");
        assert!(plan.bytes <= 300_000, "{plan}");

        let (x, codes, classes) = blobs(900, 2, 5);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        let tight = Monitor::quiet().memory_limit(200_000);
        let message = svc.fit(&data, &tight).unwrap_err().to_string();
        for part in
            ["needs about 274 KB", "budget of 200 KB", "raise the memory budget", "`approx`"]
        {
            assert!(message.contains(part), "{message}");
        }
        let message = svc.approx(100).fit(&data, &tight).unwrap_err().to_string();
        assert!(message.contains("lower `approx`"), "{message}");
    }

    #[test]
    fn the_plan_does_not_depend_on_the_number_of_threads() {
        let certified = [1, 3].map(|n| {
            let tight = Svc::new().gamma(0.03.into()).cache_size(0.5);
            with_threads(n, || plans(&tight, 1200, 3, Monitor::quiet()).1)
        });

        assert_eq!(certified[0], certified[1]);
        assert!(certified[0].strategy.contains("3 one-vs-one SVMs, kernel cache of 500 KB"));
    }
}
