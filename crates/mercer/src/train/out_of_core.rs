//! Learners by rows, from a stream whose rows do not fit in memory.
//!
//! Every pass reads the stream again and hands it to the learners a part at a time: the one of all rows, and
//! for every fold one that is not shown its rows. Parts end at fixed rows, so that any number of threads
//! learns the same.
//!
//! Rows are shuffled within a part at most. Where they come sorted by class, a part is of one class, and the last
//! ones drown the others: the certificate says so.

use super::Task;
use super::stream::{AssignedRows, Labels, Outcome, Training};
use crate::catalog::AnyModel;
use crate::data::{Dataset, Stream};
use crate::error::{Error, Result};
use crate::model::{BoxedParts, Fitted, Monitor, Shape, Stop};
use crate::preprocess::Encoded;
use rayon::prelude::*;
use std::time::Instant;

/// Rows that are learned together, and bytes that end a part before it has as many.
const PART_ROWS: usize = 16_384;
const PART_BYTES: u64 = 24 << 20;
/// Numbers that a learner keeps beside each of its weights.
const BESIDE: u64 = 3;
/// Rows in a row of one class are this many times as many as in a drawn order where they are called sorted.
const SORTED: f64 = 20.0;
/// What is said of them.
const IN_ORDER_OF_CLASS: &str = "ROWS CAME SORTED BY CLASS, and a part at a time forgets the classes before it: put \
     the rows in another order (`shuf`), or give enough memory to hold them together";

/// A learner, as long as it can learn.
struct Learner {
    parts: Result<BoxedParts<AnyModel>>,
    goes_on: bool,
}

impl Learner {
    fn take(&mut self, data: &Dataset<'_>, rows: &[usize], monitor: &Monitor<'_>) {
        if let Ok(parts) = &mut self.parts
            && self.goes_on
            && let Err(error) = parts.take(data, rows, monitor)
        {
            self.parts = Err(error);
        }
    }

    fn end_pass(&mut self) {
        if let Ok(parts) = &mut self.parts
            && self.goes_on
        {
            match parts.end_pass() {
                Ok(goes_on) => self.goes_on = goes_on,
                Err(error) => self.parts = Err(error),
            }
        }
        self.goes_on &= self.parts.is_ok();
    }

    fn finish(self, stopped: Option<Stop>) -> Result<Fitted<AnyModel>> {
        // One that had come to its end was not cut short.
        self.parts?.finish(stopped.filter(|_| self.goes_on))
    }
}

impl Training<'_> {
    /// Learns from parts of the stream, pass after pass.
    pub(crate) fn train_in_parts<S: Stream>(
        self,
        stream: &S,
        start: Instant,
        monitor: &Monitor<'_>,
    ) -> std::result::Result<Outcome, S::Error> {
        let shape = Shape {
            classes: match self.task {
                Task::Classification(classes) => Some(classes),
                Task::Regression | Task::Unsupervised => None,
            },
            n_columns: self.features.n_features(),
            layout: self.features.layout(),
        };
        let n_learners = if self.n_folds > 1 { self.n_folds + 1 } else { 1 };
        let n_planes =
            shape.classes.map_or(1, |classes| if classes.len() == 2 { 1 } else { classes.len() });
        let weights = 8 * BESIDE * (shape.n_columns * n_planes * n_learners) as u64;
        monitor.reserve("keeping weights", weights)?;
        let mut learners = Vec::with_capacity(n_learners);
        for _ in 0..n_learners {
            learners.push(Learner { parts: Ok(self.estimator.in_parts(&shape)?), goes_on: true });
        }
        let (mut stopped, mut order) = (None, Order::default());
        while stopped.is_none() && learners[0].goes_on {
            self.each_part(
                stream,
                (Labels::All, PART_ROWS),
                monitor,
                &mut stopped,
                |part, first| {
                    order.look(&part.rows.codes);
                    let data = self.dataset(&part.rows)?;
                    learners.par_iter_mut().enumerate().for_each(|(k, learner)| {
                        learner.take(&data, &part.labeled(k.checked_sub(1)), monitor);
                    });
                    match &learners[0].parts {
                        Err(error) => Err(error.clone().after_rows(first as usize)),
                        Ok(_) => Ok(()),
                    }
                },
            )?;
            if stopped.is_none() {
                learners.iter_mut().for_each(Learner::end_pass);
            }
        }
        let mut learners = learners.into_iter();
        let Some(all) = learners.next() else { return Err(Error::NoRows.into()) };
        let mut fitted = all.finish(stopped)?;
        fitted.certificate.seconds = start.elapsed().as_secs_f64();
        if order.is_by_class() {
            fitted.certificate = fitted.certificate.note(IN_ORDER_OF_CLASS);
        }
        let judged = if stopped.is_none() && self.n_folds > 1 {
            // Too few rows to leave any out: that fold cannot be judged.
            let models: Vec<_> = learners.map(|learner| learner.finish(None).ok()).collect();
            self.judge(&models, stream, Labels::All, monitor, fitted.certificate.rows)?
        } else {
            None
        };
        Ok(self.outcome(fitted, None, judged))
    }

    /// Runs over the stream once, in parts of `most` rows or fewer where they are long.
    pub(crate) fn each_part<S: Stream>(
        &self,
        stream: &S,
        (labels, most): (Labels, usize),
        monitor: &Monitor<'_>,
        stopped: &mut Option<Stop>,
        mut take: impl FnMut(AssignedRows, u64) -> Result<()>,
    ) -> std::result::Result<(), S::Error> {
        let (mut pending, mut n_rows, mut n_bytes, mut first) = (Vec::new(), 0, 0, 0);
        self.each_wave(stream, (labels, 0), monitor, stopped, |wave, _| {
            for dealt in wave {
                n_rows += dealt.rows.rows().n_rows();
                n_bytes += dealt.rows.n_bytes();
                pending.push(dealt);
                if n_rows >= most || n_bytes >= PART_BYTES {
                    take(joined(std::mem::take(&mut pending))?, first)?;
                    first += n_rows as u64;
                    (n_rows, n_bytes) = (0, 0);
                }
            }
            Ok(())
        })?;
        if stopped.is_none() && !pending.is_empty() {
            take(joined(pending)?, first)?;
        }
        Ok(())
    }
}

/// How classes follow each other.
#[derive(Default)]
struct Order {
    rows_of: Vec<u64>,
    last: Option<u32>,
    /// How often a row is of another class than the one before it.
    changes: u64,
}

impl Order {
    fn look(&mut self, codes: &[u32]) {
        for code in codes {
            let class = *code as usize;
            self.rows_of.resize(self.rows_of.len().max(class + 1), 0);
            self.rows_of[class] += 1;
            self.changes += u64::from(self.last.replace(*code).is_some_and(|last| last != *code));
        }
    }

    /// Whether classes change far less often than in rows whose order is drawn.
    fn is_by_class(&self) -> bool {
        let n = self.rows_of.iter().sum::<u64>() as f64;
        let same: f64 = self.rows_of.iter().map(|rows| (*rows as f64 / n).powi(2)).sum();
        SORTED * (self.changes as f64) < n * (1.0 - same)
    }
}

/// Pieces one after the other.
fn joined(pieces: Vec<AssignedRows>) -> Result<AssignedRows> {
    let (mut rows, mut places, mut open) = (Vec::new(), Vec::new(), Vec::new());
    let mut before = 0;
    for piece in pieces {
        places.resize(piece.places.len().max(places.len()), Vec::new());
        for (all, some) in places.iter_mut().zip(&piece.places) {
            all.extend(some.iter().map(|i| before + i));
        }
        open.extend(piece.open.iter().map(|i| before + i));
        before += piece.rows.rows().n_rows();
        rows.push(piece.rows);
    }
    Ok(AssignedRows { rows: Encoded::join(rows).ok_or(Error::NoRows)?, places, open })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_by_class(codes: &[u32]) -> bool {
        let mut order = Order::default();
        codes.chunks(7).for_each(|part| order.look(part));
        order.is_by_class()
    }

    #[test]
    fn rows_by_class_are_told_from_rows_in_any_order() {
        let sorted: Vec<u32> = (0..600).map(|i| i / 200).collect();
        let mixed: Vec<u32> = (0..600).map(|i| (i * i + i / 7) % 3).collect();
        // One class in a hundred: most rows follow one of their own class, in any order.
        let rare: Vec<u32> = (0..600).map(|i| u32::from(i % 100 == 50)).collect();

        assert!(is_by_class(&sorted));
        assert!(!is_by_class(&mixed) && !is_by_class(&rare));
        assert!(!is_by_class(&[0, 1]) && !is_by_class(&[]));
    }
}
