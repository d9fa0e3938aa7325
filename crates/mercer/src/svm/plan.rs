//! What machines are about to do: which matrices are made whole, which columns are kept, and in how much memory.
//!
//! The words follow the choice that [`solve`](crate::solver::solve) makes for every problem, which may not depend
//! on the number of threads here: a cache that is shared counts as a whole, and of the small matrices that
//! every thread has one at a time of, one.

use super::dual_problem::DualProblem;
use super::multiclass::Task;
use crate::model::{Monitor, Plan};
use crate::solver::{FEWEST_COLUMNS, WHOLE};
use mercer_num::memory::Bytes;

/// How columns are kept that all fit.
const KEPT: &str = "columns kept as they are asked for";

/// What the problems of a machine are about.
#[derive(Clone, Copy, Debug)]
pub(super) enum Problems {
    /// One over all rows.
    One,
    /// Every pair of classes.
    Pairs,
    /// Every class against the rest.
    Rest,
}

impl Problems {
    fn words(self, n: usize) -> String {
        match (self, n) {
            (Problems::One, _) => "one problem".into(),
            (_, 1) => "one machine of two classes".into(),
            (Problems::Pairs, n) => format!("{n} machines of two classes"),
            (Problems::Rest, n) => format!("{n} machines of a class and the rest"),
        }
    }
}

/// The plan of some problems, told.
pub(super) fn plan(
    ground: &DualProblem<'_>,
    problems: Problems,
    tasks: &[Task],
    monitor: &Monitor<'_>,
) -> Option<Plan> {
    let size = ground.value_bytes();
    let square = |n: usize| size * (n * n) as u64;
    let sizes = || tasks.iter().map(|task| task.places.len());
    let small = sizes().filter(|n| *n <= WHOLE).max().map_or(0, square);
    let large: Vec<usize> = sizes().filter(|n| *n > WHOLE).collect();
    let widest = large.iter().copied().max().unwrap_or(0);
    let cache = ground.cache_bytes();
    // However few of the others are solved at the same time.
    let all_fit = square(widest) <= cache / tasks.len().max(1) as u64;
    let (how, kept) = if large.is_empty() {
        ("the whole matrix of each".to_owned(), 0)
    } else if all_fit {
        (KEPT.to_owned(), large.iter().copied().map(square).sum())
    } else {
        let few = size * (FEWEST_COLUMNS.min(widest) * widest) as u64;
        let how = format!("columns in a cache of {}, working sets when it is full", Bytes(cache));
        (how, cache.max(few))
    };
    let way = format!("{}, {how}", problems.words(tasks.len()));
    let bytes = ground.row_bytes() + small + kept;
    monitor.plan(Plan { strategy: way, bytes, kernel_matrix_bytes: square(ground.indices.len()) })
}

/// The plan of functions learned together, told.
pub(super) fn plan_together(
    ground: &DualProblem<'_>,
    n_classes: usize,
    monitor: &Monitor<'_>,
) -> Option<Plan> {
    let n = ground.indices.len() as u64;
    let (whole, cache) = (8 * n * n, ground.cache_bytes());
    let how = match whole <= cache {
        true => KEPT.to_owned(),
        false => format!("columns in a cache of {}, the oldest giving way", Bytes(cache)),
    };
    let way = format!("functions of {n_classes} classes together, {how}");
    let tables = 16 * n * n_classes as u64;
    let bytes = ground.row_bytes() + tables + whole.min(cache.max(16 * n));
    monitor.plan(Plan { strategy: way, bytes, kernel_matrix_bytes: whole })
}

#[cfg(test)]
mod tests {
    use super::super::tests::blobs;
    use super::super::*;
    use crate::model::Plan;
    use crate::prelude::*;
    use mercer_num::parallel::with_threads;
    use std::sync::Mutex;

    /// The plans that were told, the one that was kept, and the kernel values that were computed.
    fn told(svc: &Svc, n: usize, n_classes: usize, monitor: Monitor<'_>) -> (Vec<Plan>, Plan, u64) {
        let (x, codes, classes) = blobs(n, n_classes, 5);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        let plans = Mutex::new(Vec::new());
        let monitor = monitor.on_plan(|plan| plans.lock().unwrap().push(plan.clone()));

        let fitted = svc.fit(&data, &monitor).unwrap();

        drop(monitor);
        let how = fitted.certificate.to_string();
        let values = how.split(" kernel values").next().unwrap().rsplit(' ').next().unwrap();
        let (plans, values) = (plans.into_inner().unwrap(), values.parse().unwrap());
        let kept = fitted.certificate.plan.unwrap();
        assert_eq!(plans.last(), Some(&kept));
        (plans, kept, values)
    }

    #[test]
    fn the_plan_is_the_way_that_is_taken() {
        let plain = Svc::new().gamma(0.03.into());
        let quiet = Monitor::quiet;
        // Three problems of 200 rows each: a small one computes a value for every pair, a time or more.
        let (small, kept, values) = told(&plain, 300, 3, quiet());
        assert_eq!(small.len(), 1);
        assert_eq!(values % (200 * 201 / 2), 0);
        assert_eq!(kept.strategy, "3 machines of two classes, the whole matrix of each");
        assert_eq!(kept.kernel_matrix_bytes, 4 * 300 * 300);

        let (large, kept, _) = told(&plain, 900, 2, quiet());
        assert_eq!(large.len(), 1);
        assert_eq!(kept.strategy, "one machine of two classes, columns kept as they are asked for");
        // The rows in single precision and in double, and every column there is.
        assert_eq!(kept.bytes, 900 * 4 * 12 + 4 * 900 * 900);

        // Room for 100 columns of 900 rows.
        let (narrow, kept, _) = told(&plain.clone().cache_size(0.36), 900, 2, quiet());
        assert_eq!(narrow.len(), 1);
        let way = "one machine of two classes, columns in a cache of 360 KB, working sets when it is full";
        assert_eq!(kept.strategy, way);
        assert!(kept.to_string().ends_with("about 403 KB (full kernel matrix: 3.2 MB)"), "{kept}");

        let rest = plain.clone().multiclass(Multiclass::OneVsRest);
        let (_, kept, _) = told(&rest, 900, 3, quiet());
        assert!(
            kept.strategy.starts_with("3 machines of a class and the rest, columns kept"),
            "{kept}"
        );

        let together = plain.clone().multiclass(Multiclass::CrammerSinger);
        let (_, kept, _) = told(&together, 300, 3, quiet());
        assert!(
            kept.strategy.starts_with("functions of 3 classes together, columns kept"),
            "{kept}"
        );
        assert_eq!(kept.kernel_matrix_bytes, 8 * 300 * 300);

        let (both, kept, _) = told(&plain.approx(50).polish(true), 900, 2, quiet());
        assert_eq!(both.len(), 2);
        assert!(both[0].strategy.starts_with("50 rows stand for all"), "{}", both[0]);
        assert!(kept.strategy.starts_with("one machine of two classes"), "{kept}");
    }

    #[test]
    fn a_budget_makes_the_cache_smaller_and_then_refuses_with_advice() {
        let plain = Svc::new().gamma(0.03.into());
        // Rows of 43 KB and 64 columns of 230 KB leave 26 KB.
        let (_, kept, _) = told(&plain, 900, 2, Monitor::quiet().memory_limit(300_000));
        assert!(kept.strategy.contains("working sets"), "{kept}");
        assert!(kept.bytes <= 300_000, "{kept}");

        let (x, codes, classes) = blobs(900, 2, 5);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        let tight = Monitor::quiet().memory_limit(200_000);
        let refused = plain.fit(&data, &tight).unwrap_err().to_string();
        for said in
            ["needs about 274 KB", "budget of 200 KB", "raise the memory budget", "`approx`"]
        {
            assert!(refused.contains(said), "{refused}");
        }
        let refused = plain.approx(100).fit(&data, &tight).unwrap_err().to_string();
        assert!(refused.contains("lower `approx`"), "{refused}");
    }

    #[test]
    fn any_number_of_threads_has_the_same_plan() {
        let plans = [1, 3].map(|n| {
            let narrow = Svc::new().gamma(0.03.into()).cache_size(0.5);
            with_threads(n, || told(&narrow, 1200, 3, Monitor::quiet()).1)
        });

        assert_eq!(plans[0], plans[1]);
        assert!(
            plans[0].strategy.contains("3 machines of two classes, columns in a cache of 500 KB")
        );
    }
}
