//! Learning by rounds, on an estimator small enough to follow: k-means on a line (Lloyd, 1957).

use mercer::model::{Certificate, Progress, Step, Stop};
use mercer::params;
use mercer::prelude::*;
use mercer_num::parallel::with_threads;
use mercer_num::random::Random;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

params! {
    /// LandmarkSelection on a line, each the mean of the numbers nearest to it.
    pub struct LineMeans {
        /// How many centers.
        n_centers: usize = 3, AtLeast(1.0);
    }
}

/// The numbers nearest to each center.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Nearest {
    counts: Vec<f64>,
    sums: Vec<f64>,
}

impl Statistics for Nearest {
    fn merge(&mut self, other: &Self) -> Result<()> {
        if self.counts.is_empty() {
            *self = other.clone();
            return Ok(());
        }
        self.counts.iter_mut().zip(&other.counts).for_each(|(a, b)| *a += b);
        self.sums.iter_mut().zip(&other.sums).for_each(|(a, b)| *a += b);
        Ok(())
    }

    fn forget(&mut self, _: &Self) -> Result<()> {
        Err(Error::Forget { why: "a round cannot be taken back".into() })
    }

    fn check(&self) -> Result<()> {
        Ok(())
    }
}

impl Rounds for LineMeans {
    type State = Vec<f64>;
    type Stats = Nearest;
    type Model = Vec<f64>;

    /// The first rows, wherever they lie.
    fn begin(&self, data: &Dataset<'_>) -> Result<Vec<f64>> {
        Ok((0..self.n_centers).map(|i| data.rows().get(i, 0) + i as f64).collect())
    }

    fn observe_at(&self, at: &Vec<f64>, stats: &mut Nearest, batch: &Dataset<'_>) -> Result<()> {
        let mut part = Nearest { counts: vec![0.0; at.len()], sums: vec![0.0; at.len()] };
        for i in 0..batch.n_rows() {
            let x = batch.rows().get(i, 0);
            let nearest = (0..at.len())
                .min_by(|a, b| (at[*a] - x).abs().total_cmp(&(at[*b] - x).abs()))
                .expect("there is at least one center");
            part.counts[nearest] += 1.0;
            part.sums[nearest] += x;
        }
        stats.merge(&part)
    }

    fn step(
        &self,
        at: Vec<f64>,
        stats: &Nearest,
        _: &Monitor<'_>,
    ) -> Result<Step<Vec<f64>, Vec<f64>>> {
        let next = moved(&at, stats);
        Ok(if next == at { Step::Done(at, certificate(0.0)) } else { Step::Again(next) })
    }

    fn interrupt(
        &self,
        at: Vec<f64>,
        partial: &Nearest,
        _: &Monitor<'_>,
    ) -> Result<(Vec<f64>, Certificate)> {
        let next = moved(&at, partial);
        let shift = at.iter().zip(&next).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        Ok((at, certificate(shift)))
    }
}

fn moved(at: &[f64], stats: &Nearest) -> Vec<f64> {
    let mean = |k: usize| match stats.counts.get(k) {
        Some(n) if *n > 0.0 => stats.sums[k] / n,
        _ => at[k],
    };
    (0..at.len()).map(mean).collect()
}

fn certificate(shift: f64) -> Certificate {
    Certificate::iterative(shift == 0.0, None).violation("shift of a mean", shift)
}

/// Numbers around 0, 10 and 20, over many chunks.
fn numbers(n: usize) -> Matrix {
    let mut random = Random::new(2);
    Matrix::from_shape_fn((n, 1), |(i, _)| 10.0 * (i % 3) as f64 + random.normal())
}

#[test]
fn rounds_go_on_until_the_estimator_is_done() {
    let x = numbers(3000);

    let fitted = LineMeans::new().fit(&Dataset::unlabeled(&x), &Monitor::quiet()).unwrap();

    assert!(fitted.certificate.iterations > 1);
    assert_eq!(fitted.certificate.stopped(), None);
    assert_eq!(fitted.certificate.rows, 3000);
    assert_eq!(fitted.certificate.violation.as_ref().unwrap().value, 0.0);
    for (center, place) in fitted.model.iter().zip([0.0, 10.0, 20.0]) {
        assert!((center - place).abs() < 0.2, "{:?}", fitted.model);
    }
}

#[test]
fn rounds_give_the_same_bits_on_any_number_of_threads() {
    let x = numbers(100_000);
    let run = || LineMeans::new().fit(&Dataset::unlabeled(&x), &Monitor::quiet()).unwrap();
    let alone = with_threads(1, run);

    for threads in [2, 3, 8] {
        assert_eq!(with_threads(threads, run), alone);
    }
}

/// Cancels when the rounds' progress is told for the `n`-th time.
fn cancelled_at(n: usize, x: &Matrix) -> Result<Fitted<Vec<f64>>> {
    let (told, flag) = (AtomicUsize::new(0), Arc::new(AtomicBool::new(false)));
    let count = |_: Progress| {
        let so_far = told.fetch_add(1, Ordering::Relaxed) + 1;
        flag.store(so_far >= n, Ordering::Relaxed);
    };
    let monitor = Monitor::quiet().on_progress(count).cancelled_by(Arc::clone(&flag));
    LineMeans::new().fit(&Dataset::unlabeled(x), &monitor)
}

#[test]
fn rounds_cancelled_at_any_moment_keep_what_they_have() {
    // Two waves of chunks a round, so that some stops fall inside one.
    let x = numbers(40 * 8192);
    let done = LineMeans::new().fit(&Dataset::unlabeled(&x), &Monitor::quiet()).unwrap();
    assert!(done.certificate.iterations > 2);

    assert_eq!(cancelled_at(1, &x), Err(Error::Stopped));
    for n in 2..8 {
        let fitted = cancelled_at(n, &x).unwrap_or_else(|e| panic!("told {n} times: {e}"));

        assert_eq!(fitted.certificate.stopped(), Some(Stop::Cancelled), "told {n} times");
        assert_eq!(fitted.model.len(), 3);
        assert!(fitted.model.iter().all(|center| center.is_finite()));
    }
}

#[test]
fn a_deadline_between_two_rounds_gives_the_rounds_before_it() {
    let x = numbers(3000);
    let limit = Duration::from_millis(500);
    let end = Instant::now() + limit;
    let begun = AtomicUsize::new(0);
    // The second round begins after the deadline.
    let wait = |at: Progress| {
        if at.done == 0 && begun.fetch_add(1, Ordering::Relaxed) == 1 {
            std::thread::sleep(end.saturating_duration_since(Instant::now()));
        }
    };
    let monitor = Monitor::quiet().time_limit(limit).on_progress(wait);

    let fitted = LineMeans::new().fit(&Dataset::unlabeled(&x), &monitor).unwrap();

    assert_eq!(fitted.certificate.stopped(), Some(Stop::Deadline));
    assert!(fitted.certificate.to_string().contains("CUT SHORT by the time limit"));
}

#[test]
fn bad_parameters_and_no_rows_end_rounds_before_they_begin() {
    let x = numbers(10);
    let none = Matrix::zeros((0, 1));

    let bad = LineMeans::new().n_centers(0).fit(&Dataset::unlabeled(&x), &Monitor::quiet());
    let empty = LineMeans::new().fit(&Dataset::unlabeled(&none), &Monitor::quiet());

    assert!(matches!(bad, Err(Error::Parameter { name, .. }) if name == "n_centers"));
    assert_eq!(empty, Err(Error::NoRows));
}
