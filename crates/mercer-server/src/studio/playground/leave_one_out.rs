//! The exact leave-one-out error of a support vector classifier.
//!
//! A model is fitted without each row in turn and predicts the row. A row with `α = 0` can be skipped: the remaining
//! dual variables stay feasible and satisfy the KKT conditions without it, so the model is the same. The kernel is held
//! fixed: `gamma` is that of all rows.

use mercer::model::{Fit, Monitor, Status};
use mercer::prelude::{Certificate, Classes, Classifier, Dataset, Error, Fitted, Matrix, Rows};
use mercer::svm::{Svc, SvcModel};
use ndarray::Axis;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// Rows that are checked together; the time limit is looked at in between.
const ROWS_PER_BLOCK: usize = 16;

/// The part of a leave-one-out error that was asked for: where to start, and how long to go on.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// The first row to check.
    pub first: usize,
    /// The seconds after which no further rows are begun.
    pub seconds: f64,
}

/// The leave-one-out predictions of the rows from `first` to before `next`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LeaveOneOut {
    pub first: usize,
    /// The first row that is not checked; the number of rows if all are.
    pub next: usize,
    /// The number of models that were fitted.
    pub refits: usize,
    /// The rows that the models without them misclassify.
    pub misclassified: Vec<usize>,
    /// The rows whose models did not converge within the time limit of a fit.
    pub undecided: Vec<usize>,
}

impl LeaveOneOut {
    /// No rows, from `first` on.
    pub fn none(first: usize) -> LeaveOneOut {
        LeaveOneOut { first, next: first, refits: 0, misclassified: vec![], undecided: vec![] }
    }
}

/// Points and their classes.
pub type Points<'a> = (&'a Matrix, &'a [u32], &'a Classes);

/// Checks rows until the time is over, at least some. `svc` has a number as `gamma`; `limit` is the time of one fit.
pub fn leave_one_out(
    svc: &Svc,
    points: Points<'_>,
    fitted: &Fitted<SvcModel>,
    part: Part,
    limit: Duration,
) -> mercer::Result<LeaveOneOut> {
    let end = Instant::now() + Duration::from_secs_f64(part.seconds);
    let (x, codes, _) = points;
    let n = codes.len();
    let first = part.first.min(n);
    let predicted = fitted.predict(&Rows::from(x))?;
    let mut is_refitted = vec![keeps_no_row(&fitted.certificate); n];
    fitted.expansion.support.iter().for_each(|i| is_refitted[*i as usize] = true);
    let mut found = LeaveOneOut::none(first);
    while found.next < n && (found.next == first || Instant::now() < end) {
        let block = found.next..(found.next + ROWS_PER_BLOCK).min(n);
        let is_right = |i: usize| match is_refitted[i] {
            false => Some(predicted[i] == codes[i]),
            true => refit_without(i, svc, points, limit),
        };
        let checked: Vec<Option<bool>> = block.clone().into_par_iter().map(is_right).collect();
        for (i, is_right) in block.clone().zip(checked) {
            found.refits += usize::from(is_refitted[i]);
            match is_right {
                Some(true) => {}
                Some(false) => found.misclassified.push(i),
                None => found.undecided.push(i),
            }
        }
        found.next = block.end;
    }
    Ok(found)
}

/// Whether every row must be left out in turn: the stationary point of a problem that is not convex depends on the path
/// of the solver, and a fit that was cut short on all rows.
fn keeps_no_row(certificate: &Certificate) -> bool {
    certificate.status != Status::Converged
}

/// Whether the model without a row predicts its class; `None` if it did not converge.
fn refit_without(
    row: usize,
    svc: &Svc,
    (x, codes, classes): Points<'_>,
    limit: Duration,
) -> Option<bool> {
    let others: Vec<usize> = (0..codes.len()).filter(|i| *i != row).collect();
    let rest = x.select(Axis(0), &others);
    let labels: Vec<u32> = others.iter().map(|i| codes[*i]).collect();
    let data = Dataset::classes(&rest, &labels, classes).ok()?;
    match svc.fit(&data, &Monitor::quiet().time_limit(limit)) {
        Ok(fitted) if fitted.certificate.stopped().is_none() => {
            let left_out = x.select(Axis(0), &[row]);
            let predicted = fitted.predict(&Rows::from(&left_out)).ok()?;
            Some(predicted[0] == codes[row])
        }
        // Without its only row a class is never predicted.
        Err(Error::OneClass { .. } | Error::NoRows) => Some(false),
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use mercer::kernel::Kernel;
    use mercer_num::random::Random;

    /// Overlapping Gaussian classes in the plane.
    fn blobs(n: usize, n_classes: u32) -> (Matrix, Vec<u32>, Classes) {
        let mut random = Random::new(5);
        let codes: Vec<u32> = (0..n as u32).map(|i| i % n_classes).collect();
        let x = Matrix::from_shape_fn((n, 2), |(i, j)| {
            f64::from(codes[i]) * if j == 0 { 1.2 } else { -0.7 } + random.normal()
        });
        (x, codes, Classes::from_names((0..n_classes).map(|c| format!("class {c}"))))
    }

    const ALL: Part = Part { first: 0, seconds: 600.0 };
    const LIMIT: Duration = Duration::from_secs(600);

    /// The rows that models without them misclassify, by one fit per row.
    fn by_hand(svc: &Svc, points: Points<'_>) -> Vec<usize> {
        let is_wrong = |i: &usize| refit_without(*i, svc, points, LIMIT) == Some(false);
        (0..points.1.len()).filter(is_wrong).collect()
    }

    #[test]
    fn rows_that_are_no_support_vectors_need_no_refit() {
        for (n_classes, svc) in [
            (2, Svc::new().kernel(Kernel::Linear).C(0.7).tol(1e-8)),
            (2, Svc::new().gamma(2.0.into()).C(3.0).tol(1e-8)),
            (2, Svc::new().gamma(0.5.into()).slack_power(2.0).tol(1e-8)),
            (3, Svc::new().gamma(0.5.into()).tol(1e-8)),
        ] {
            let (x, codes, classes) = blobs(48, n_classes);
            let data = Dataset::classes(&x, &codes, &classes).unwrap();
            let fitted = svc.fit(&data, &Monitor::quiet()).unwrap();
            let points = (&x, codes.as_slice(), &classes);

            let found = leave_one_out(&svc, points, &fitted, ALL, LIMIT).unwrap();

            assert_eq!(found.misclassified, by_hand(&svc, points), "{svc:?}");
            assert!(!found.misclassified.is_empty() && found.undecided.is_empty());
            assert_eq!((found.next, found.refits), (48, fitted.expansion.n_vectors()));
        }
    }

    #[test]
    fn parts_add_up_to_the_whole() {
        let (x, codes, classes) = blobs(40, 2);
        let svc = Svc::new().gamma(0.5.into()).tol(1e-8);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        let fitted = svc.fit(&data, &Monitor::quiet()).unwrap();
        let points = (&x, codes.as_slice(), &classes);
        let part = |part: Part| leave_one_out(&svc, points, &fitted, part, LIMIT).unwrap();

        let (mut misclassified, mut first, mut n_parts) = (vec![], 0, 0);
        while first < 40 {
            let found = part(Part { first, seconds: 0.0 });
            misclassified.extend(found.misclassified);
            (first, n_parts) = (found.next, n_parts + 1);
        }

        assert_eq!(n_parts, 3);
        assert_eq!(misclassified, part(ALL).misclassified);
        assert_eq!(part(Part { first: 99, seconds: 1.0 }).next, 40);
    }

    #[test]
    fn a_class_without_its_only_row_is_never_predicted() {
        let x = ndarray::array![[0.0, 0.0], [1.0, 0.0], [5.0, 5.0]];
        let classes = Classes::from_names(["A", "B"]);
        let (svc, codes) = (Svc::new().kernel(Kernel::Linear), [0, 0, 1]);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        let fitted = svc.fit(&data, &Monitor::quiet()).unwrap();

        let found = leave_one_out(&svc, (&x, &codes, &classes), &fitted, ALL, LIMIT).unwrap();

        assert!(found.misclassified.contains(&2));
    }
}
