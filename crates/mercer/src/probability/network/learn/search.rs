//! Structure search by hill climbing: starting without edges, the best addition, removal or reversal of one edge is
//! applied until none increases the score.
//!
//! Terms of the score are cached, so a step costs only the families it changes. With a tabu list the search continues
//! through structures of lower score without undoing recent steps, and returns the best structure (Heckerman et al.,
//! 1995; Glover, 1989). Only complete rows are used, because terms over different rows are not comparable.

use super::score::Cache;
use super::{Observations, Score};
use crate::error::{Error, Result};
use crate::model::{Certificate, Fitted, Monitor, Stop};
use mercer_num::parallel::prelude::*;
use std::collections::VecDeque;
use std::time::Instant;

/// The relative gain below which an improvement is rounding error.
const ROUNDING: f64 = 1e-10;

/// Hill climbing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HillClimb {
    /// The score that is maximized.
    pub score: Score,
    /// The maximum number of parents.
    pub max_parents: usize,
    /// The length of the tabu list; zero stops at the first local optimum.
    pub tabu: usize,
    /// With a tabu list: the number of steps without improvement before the search stops.
    pub patience: usize,
    /// A class that is a parent of all others; these edges are fixed.
    pub class: Option<usize>,
}

impl Default for HillClimb {
    fn default() -> Self {
        HillClimb { score: Score::Bic, max_parents: 4, tabu: 0, patience: 15, class: None }
    }
}

/// A change of one edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Add(usize, usize),
    Remove(usize, usize),
    Turn(usize, usize),
}

impl Step {
    /// The inverse step.
    fn undone(self) -> Step {
        match self {
            Step::Add(a, b) => Step::Remove(a, b),
            Step::Remove(a, b) => Step::Add(a, b),
            Step::Turn(a, b) => Step::Turn(b, a),
        }
    }
}

impl HillClimb {
    /// The parents of every variable, with the score in the certificate. If stopped, the best structure so far.
    ///
    /// # Errors
    /// If there are no complete rows, a parameter is invalid, or it was stopped before the first step.
    pub fn run(
        &self,
        data: &Observations,
        monitor: &Monitor<'_>,
    ) -> Result<Fitted<Vec<Vec<usize>>>> {
        self.check(data)?;
        if monitor.stop().is_some() {
            return Err(Error::Stopped);
        }
        self.climb(data, monitor)
    }

    /// The same with checked parameters; if stopped before the first step, the initial structure.
    pub(crate) fn climb(
        &self,
        data: &Observations,
        monitor: &Monitor<'_>,
    ) -> Result<Fitted<Vec<Vec<usize>>>> {
        let start = Instant::now();
        let complete = data.complete();
        let mut climb = Climb::new(self, &complete)?;
        let mut best = (climb.total(), climb.parents.clone());
        let (mut steps, mut since) = (0u64, 0);
        let mut tabu: VecDeque<Step> = VecDeque::new();
        let (mut stopped, mut left) = (None, 0.0);
        loop {
            let found = match climb.best_step(&tabu, monitor) {
                Ok(found) => found,
                Err(stop) => {
                    stopped = Some(stop);
                    break;
                }
            };
            let Some((gain, step)) = found else { break };
            let rounding = ROUNDING * best.0.abs().max(1.0);
            if self.tabu == 0 && gain <= rounding {
                left = gain.max(0.0);
                break;
            }
            climb.take(step);
            tabu.push_back(step.undone());
            if tabu.len() > self.tabu {
                tabu.pop_front();
            }
            steps += 1;
            monitor.report(steps, Some(self.expected_steps(climb.parents.len()).max(steps + 1)));
            let now = climb.total();
            if now > best.0 + rounding {
                (best, since) = ((now, climb.parents.clone()), 0);
            } else {
                since += 1;
                if since >= self.patience.max(1) {
                    break;
                }
            }
        }
        if stopped.is_none() {
            monitor.report(steps, Some(steps));
        }
        let mut certificate = Certificate::iterative(true, stopped)
            .objective(self.score.name(), best.0)
            .rows(complete.n_rows() as u64)
            .iterations(steps)
            .since(start);
        if stopped.is_none() {
            certificate = certificate.violation("score gain of the best remaining step", left);
        }
        Ok(Fitted { model: best.1, certificate })
    }

    /// The expected number of steps: two edges per variable, and with a tabu list the steps without improvement.
    fn expected_steps(&self, n_variables: usize) -> u64 {
        let after = if self.tabu == 0 { 0 } else { self.patience };
        (n_variables * self.max_parents.min(2) + after) as u64
    }

    fn check(&self, data: &Observations) -> Result<()> {
        let refuse = |name: &str, found: String, expected: &str| {
            Err(Error::Parameter { name: name.into(), found, expected: expected.into() })
        };
        if let Score::Bdeu { sample_size } = self.score
            && !(sample_size.is_finite() && sample_size > 0.0)
        {
            return refuse("sample_size", sample_size.to_string(), "a number above 0");
        }
        match self.class {
            Some(c) if c >= data.variables().len() => {
                refuse("class", c.to_string(), "the index of a variable")
            }
            Some(_) if self.max_parents == 0 => {
                refuse("max_parents", "0".into(), "at least 1 if the class is a parent of all")
            }
            _ => Ok(()),
        }
    }
}

struct Climb<'a> {
    how: &'a HillClimb,
    data: &'a Observations,
    total: f64,
    /// Ascending.
    parents: Vec<Vec<usize>>,
    terms: Vec<f64>,
    cache: Cache,
}

impl<'a> Climb<'a> {
    fn new(how: &'a HillClimb, data: &'a Observations) -> Result<Climb<'a>> {
        let total = data.total()?;
        let n = data.variables().len();
        let first = |v: usize| how.class.filter(|c| *c != v).into_iter().collect();
        let parents: Vec<Vec<usize>> = (0..n).map(first).collect();
        let mut climb =
            Climb { how, data, total, parents, terms: vec![0.0; n], cache: Cache::new() };
        let first = (0..n).map(|v| (v, climb.parents[v].clone())).collect();
        // One pass over all variables, even if the time limit is zero.
        climb.fill(first, &Monitor::quiet()).ok();
        for v in 0..n {
            climb.terms[v] = climb.term(v, &climb.parents[v]);
        }
        Ok(climb)
    }

    fn total(&self) -> f64 {
        self.terms.iter().sum()
    }

    /// Computes missing terms on all threads; fewer if the monitor stops.
    fn fill(
        &mut self,
        mut families: Vec<(usize, Vec<usize>)>,
        monitor: &Monitor<'_>,
    ) -> std::result::Result<(), Stop> {
        families.retain(|(v, parents)| self.cache.get(*v, parents).is_none());
        families.sort();
        families.dedup();
        let (how, data, total) = (self.how, self.data, self.total);
        let terms: std::result::Result<Vec<f64>, Stop> = families
            .par_iter()
            .map(|(v, parents)| match monitor.stop() {
                None => Ok(how.score.family(data, total, *v, parents)),
                Some(stop) => Err(stop),
            })
            .collect();
        for ((v, parents), term) in families.into_iter().zip(terms?) {
            self.cache.put(v, parents, term);
        }
        Ok(())
    }

    fn term(&self, v: usize, parents: &[usize]) -> f64 {
        self.cache.get(v, parents).unwrap_or(f64::NEG_INFINITY)
    }

    /// The families that a step changes, after the step.
    fn changed(&self, step: Step) -> Vec<(usize, Vec<usize>)> {
        let with = |p: usize, v: usize| {
            let mut parents = self.parents[v].clone();
            parents.push(p);
            parents.sort_unstable();
            (v, parents)
        };
        let without =
            |p: usize, v: usize| (v, self.parents[v].iter().copied().filter(|u| *u != p).collect());
        match step {
            Step::Add(a, b) => vec![with(a, b)],
            Step::Remove(a, b) => vec![without(a, b)],
            Step::Turn(a, b) => vec![without(a, b), with(b, a)],
        }
    }

    /// All valid steps, in a fixed order.
    fn steps(&self) -> Vec<Step> {
        let n = self.parents.len();
        let above = self.ancestors();
        let fixed = |a: usize, b: usize| self.how.class == Some(a) || self.how.class == Some(b);
        let scratch = |v: usize| self.parents[v].len() < self.how.max_parents;
        let mut steps = Vec::new();
        for (a, above_a) in above.iter().enumerate() {
            for b in (0..n).filter(|b| *b != a && !fixed(a, *b)) {
                if !self.parents[b].contains(&a) {
                    // An edge to an ancestor would close a cycle.
                    if scratch(b) && !above_a[b] {
                        steps.push(Step::Add(a, b));
                    }
                    continue;
                }
                steps.push(Step::Remove(a, b));
                // The reversed edge closes a cycle if there is another path from a to b.
                let another = self.parents[b].iter().any(|p| *p != a && above[*p][a]);
                if scratch(a) && !another {
                    steps.push(Step::Turn(a, b));
                }
            }
        }
        steps
    }

    /// `above[v][u]`: whether `u` is an ancestor of `v`.
    fn ancestors(&self) -> Vec<Vec<bool>> {
        let n = self.parents.len();
        let order = crate::probability::network::topological_order(&self.parents)
            .expect("no step closes a cycle");
        let mut above = vec![vec![false; n]; n];
        for v in order {
            let mut mine = vec![false; n];
            for p in &self.parents[v] {
                mine[*p] = true;
                mine.iter_mut().zip(&above[*p]).for_each(|(m, t)| *m |= *t);
            }
            above[v] = mine;
        }
        above
    }

    /// The step of largest gain; ties go to the first.
    fn best_step(
        &mut self,
        tabu: &VecDeque<Step>,
        monitor: &Monitor<'_>,
    ) -> std::result::Result<Option<(f64, Step)>, Stop> {
        if let Some(stop) = monitor.stop() {
            return Err(stop);
        }
        let mut steps = self.steps();
        steps.retain(|step| !tabu.contains(step));
        self.fill(steps.iter().flat_map(|step| self.changed(*step)).collect(), monitor)?;
        let rounding = ROUNDING * self.total().abs().max(1.0);
        let mut best: Option<(f64, Step)> = None;
        for step in steps {
            let gain: f64 = self
                .changed(step)
                .iter()
                .map(|(v, parents)| self.term(*v, parents) - self.terms[*v])
                .sum();
            if gain > f64::NEG_INFINITY && best.is_none_or(|(most, _)| gain > most + rounding) {
                best = Some((gain, step));
            }
        }
        Ok(best)
    }

    fn take(&mut self, step: Step) {
        for (v, parents) in self.changed(step) {
            self.terms[v] = self.term(v, &parents);
            self.parents[v] = parents;
        }
    }
}
