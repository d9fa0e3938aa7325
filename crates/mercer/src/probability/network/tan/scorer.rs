//! The joint log-likelihood of a row, with missing values marginalized by message passing on the tree.

use super::TanNbModel;
use mercer_num::special::log_sum_exp;

/// A model with the offsets of its tables and a topological order of its columns.
pub(super) struct Scorer<'a> {
    model: &'a TanNbModel,
    starts: Vec<usize>,
    /// Every column after its parent.
    pub order: Vec<usize>,
}

impl<'a> Scorer<'a> {
    pub fn new(model: &'a TanNbModel) -> Scorer<'a> {
        Scorer { model, starts: model.starts(), order: model.order() }
    }

    /// `log p(b | a, c)` for every class.
    pub fn log_probabilities(&self, j: usize, a: usize, b: usize) -> &[f64] {
        let n_classes = self.model.classes.len();
        let start = self.starts[j] + (a * self.model.levels[j] + b) * n_classes;
        &self.model.log_probabilities[start..start + n_classes]
    }

    /// `log p(c, x)` of the observed codes.
    pub fn score(&self, codes: &[Option<usize>], scores: &mut [f64]) {
        scores.copy_from_slice(&self.model.log_priors);
        if codes.iter().all(Option::is_some) {
            for (j, b) in codes.iter().enumerate() {
                let a = self.model.parents[j].and_then(|p| codes[p]).unwrap_or(0);
                add(scores, self.log_probabilities(j, a, b.unwrap_or(0)));
            }
            return;
        }
        self.score_with_missing(codes, scores);
    }

    /// Sum-product messages from the leaves: a missing column sends its parent the sum over its codes. A missing column
    /// without observed descendants sends a message of one, which is omitted.
    fn score_with_missing(&self, codes: &[Option<usize>], scores: &mut [f64]) {
        let model = self.model;
        let n_classes = scores.len();
        let mut messages: Vec<Option<Vec<f64>>> = vec![None; codes.len()];
        let mut message = vec![0.0; n_classes];
        let mut terms = Vec::new();
        for j in self.order.iter().rev().copied() {
            let below = messages[j].take();
            if codes[j].is_none() && below.is_none() {
                continue;
            }
            let mut send = |a: usize, message: &mut Vec<f64>| match (codes[j], &below) {
                (Some(b), _) => message.copy_from_slice(self.log_probabilities(j, a, b)),
                (None, Some(below)) => {
                    for (c, m) in message.iter_mut().enumerate() {
                        terms.clear();
                        terms.extend((0..model.levels[j]).map(|b| {
                            self.log_probabilities(j, a, b)[c] + below[b * n_classes + c]
                        }));
                        *m = log_sum_exp(&terms);
                    }
                }
                (None, None) => message.fill(0.0),
            };
            match model.parents[j].map(|p| (p, codes[p])) {
                Some((p, None)) => {
                    let size = model.levels[p] * n_classes;
                    let incoming = messages[p].get_or_insert_with(|| vec![0.0; size]);
                    for (a, incoming) in incoming.chunks_exact_mut(n_classes).enumerate() {
                        send(a, &mut message);
                        add(incoming, &message);
                    }
                }
                at => {
                    send(at.and_then(|(_, a)| a).unwrap_or(0), &mut message);
                    add(scores, &message);
                }
            }
        }
    }
}

fn add(sums: &mut [f64], terms: &[f64]) {
    sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
}
