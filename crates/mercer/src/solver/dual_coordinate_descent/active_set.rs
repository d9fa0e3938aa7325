//! Randomly permuted epochs over the active dual variables, with shrinking (Hsieh et al. 2008, section 3.2).
//!
//! Every epoch visits the active variables in a new random order. A variable that is at a bound and will stay there is
//! removed from the active set; all variables return for the final check. The four dual coordinate descent solvers
//! differ in the update of one variable and in the shrinking rule, and share this loop.

use crate::model::{Monitor, Stop};
use mercer_num::random::Random;

/// Visits between two checks of the time limit.
const VISITS_PER_CHECK: usize = 1024;

/// What the update of a variable decides about its future visits.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Visit {
    Keep,
    Shrink,
}

/// The variables that are visited after the current one, to be prefetched.
pub(crate) struct Upcoming {
    pub next: Option<usize>,
    pub after_next: Option<usize>,
}

/// The active variables of one subproblem.
pub(crate) struct ActiveSet {
    all: Vec<u32>,
    active: Vec<u32>,
    /// Variables of the last epoch that were kept; they lead `active`.
    n_kept: usize,
    random: Random,
    /// Finished epochs.
    pub epochs: u64,
    /// Updates in finished epochs.
    pub visits: u64,
}

impl ActiveSet {
    /// All of `variables` are active. The seed is fixed, so that fits are reproducible.
    pub fn new(variables: Vec<u32>) -> ActiveSet {
        ActiveSet {
            active: variables.clone(),
            all: variables,
            n_kept: 0,
            random: Random::new(0),
            epochs: 0,
            visits: 0,
        }
    }

    /// The variables, active or not.
    pub fn all(&self) -> &[u32] {
        &self.all
    }

    /// Whether no variable is shrunk.
    pub fn is_complete(&self) -> bool {
        self.active.len() == self.all.len()
    }

    /// Visits the active variables in random order. Returns why the epoch was interrupted, if it was.
    #[inline]
    pub fn run_epoch(
        &mut self,
        monitor: &Monitor<'_>,
        mut update: impl FnMut(usize, Upcoming) -> Visit,
    ) -> Option<Stop> {
        self.random.shuffle(&mut self.active);
        self.n_kept = 0;
        for position in 0..self.active.len() {
            if position.is_multiple_of(VISITS_PER_CHECK) {
                let stop = monitor.stop();
                if stop.is_some() {
                    return stop;
                }
            }
            let at = |position: usize| self.active.get(position).map(|i| *i as usize);
            let upcoming = Upcoming { next: at(position + 1), after_next: at(position + 2) };
            let i = self.active[position];
            let visit = update(i as usize, upcoming);
            self.active[self.n_kept] = i;
            self.n_kept += usize::from(visit == Visit::Keep);
        }
        self.epochs += 1;
        self.visits += self.active.len() as u64;
        None
    }

    /// Removes the variables that the last epoch shrank, or returns all to the active set where `reactivate` demands
    /// it or none are left. Returns whether all are active again.
    pub fn shrink(&mut self, reactivate: bool) -> bool {
        let reactivate = reactivate || self.n_kept == 0;
        match reactivate {
            true => self.reactivate(),
            false => self.active.truncate(self.n_kept),
        }
        reactivate
    }

    /// Returns all variables to the active set.
    pub fn reactivate(&mut self) {
        self.active.clone_from(&self.all);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shrunk_variables_are_not_visited_until_they_are_reactivated() {
        let mut set = ActiveSet::new((0..10).collect());
        let pass = |set: &mut ActiveSet| {
            let mut visited = Vec::new();
            let stop = set.run_epoch(&Monitor::quiet(), |i, _| {
                visited.push(i);
                if i % 2 == 0 { Visit::Shrink } else { Visit::Keep }
            });
            assert!(stop.is_none());
            visited.sort_unstable();
            visited
        };

        assert_eq!(pass(&mut set), (0..10).collect::<Vec<_>>());
        assert!(!set.shrink(false) && !set.is_complete());
        assert_eq!(pass(&mut set), [1, 3, 5, 7, 9]);
        assert!(set.shrink(true) && set.is_complete());
        assert_eq!(pass(&mut set).len(), 10);
        assert_eq!((set.epochs, set.visits), (3, 25));
    }
}
