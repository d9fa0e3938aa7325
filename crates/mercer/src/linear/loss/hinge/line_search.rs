//! Exact line search of all subproblems at once: the derivatives that [`crate::solver::line_search`] needs.

use super::{MarginLoss, ROWS_PER_BLOCK, sum_blocks};
use crate::solver::coordinate_descent::{ElasticNetPenalty, PenalizedLoss};
use crate::solver::line_search::{LineSearchAccuracy, exact_line_search};
use crate::solver::objective::{SubproblemState, unit_steps};
use mercer_num::parallel::prelude::*;

impl MarginLoss<'_> {
    /// The step sizes that minimize every subproblem along the direction.
    pub(super) fn minimizing_steps(&mut self, states: &[SubproblemState]) -> Vec<f64> {
        self.update_direction_scores();
        let slopes: Vec<f64> = states.iter().map(|state| state.slope).collect();
        let steps = unit_steps(states);
        exact_line_search(&slopes, steps, LineSearchAccuracy::FINE, |steps| {
            self.slopes_along(steps)
        })
    }

    /// The first and second derivative of every subproblem along the direction.
    fn slopes_along(&self, steps: &[f64]) -> Vec<(f64, f64)> {
        let (m, max_theta) = (self.n_outputs, self.max_theta());
        let blocks = self.scores.par_chunks(ROWS_PER_BLOCK * m);
        let blocks = blocks.zip(self.direction_scores.par_chunks(ROWS_PER_BLOCK * m));
        let blocks = blocks.enumerate().map(|(block, (scores, changes))| {
            let mut sums = vec![0.0; 2 * m];
            let rows = scores.chunks_exact(m).zip(changes.chunks_exact(m));
            for (i, (scores, changes)) in (block * ROWS_PER_BLOCK..).zip(rows) {
                for (k, (z, d)) in scores.iter().zip(changes).enumerate() {
                    let theta = self.loss(i, k, z + steps[k] * d).1;
                    if theta == 0.0 {
                        continue;
                    }
                    let cost = self.cost(i, k);
                    sums[k] -= cost * theta * d;
                    if theta.abs() < max_theta {
                        sums[m + k] += cost * self.rho[k] * d * d;
                    }
                }
            }
            sums
        });
        let sums = sum_blocks(blocks.collect(), 2 * m);
        let mut slopes: Vec<(f64, f64)> = (0..m).map(|k| (sums[k], sums[m + k])).collect();
        let rows = self.direction.chunks_exact(m).zip(self.weights.chunks_exact(m)).enumerate();
        for (j, (direction, weights)) in rows {
            let ElasticNetPenalty { l2, .. } = self.penalty(j);
            for (k, (d, w)) in direction.iter().zip(weights).enumerate() {
                slopes[k].0 += l2 * d * (w + steps[k] * d);
                slopes[k].1 += l2 * d * d;
            }
        }
        slopes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::design_matrix::DesignMatrix;
    use crate::linear::loss::hinge::{LossPower, Penalties, Targets};
    use crate::solver::SmoothObjective;
    use mercer_num::random::Random;
    use mercer_num::{Matrix, Rows};

    #[test]
    fn values_on_both_sides_of_the_minimizing_step_are_larger() {
        let mut random = Random::new(4);
        let x = Matrix::from_shape_simple_fn((300, 4), || random.normal());
        let class_indices =
            (0..300).map(|i| u32::from(x[[i, 0]] + 0.5 * random.normal() > 0.0)).collect();
        let targets = Targets::Classes { class_indices, class_weights: vec![1.0; 2] };
        let penalties = Penalties {
            weights: ElasticNetPenalty { l2: 1.0, l1: 0.0 },
            intercept: ElasticNetPenalty::default(),
        };
        for power in [LossPower::Linear, LossPower::Squared] {
            let design = DesignMatrix::by_rows(&Rows::from(&x), true);
            let costs = vec![1.0; 300];
            let mut f = MarginLoss::new(design, 1, targets.clone(), costs, power, penalties);
            let mut gradient = vec![0.0; 5];
            f.values_and_gradient(&mut gradient);
            let direction: Vec<f64> = gradient.iter().map(|g| -0.1 * g).collect();
            f.design.scores(&direction, 1, &mut f.direction_scores);
            f.direction = direction;
            let slope = -0.1 * gradient.iter().map(|g| g * g).sum::<f64>();
            let state = SubproblemState { slope, ..SubproblemState::default() };

            let step = f.initial_steps(&[state])[0];

            let value = f.values_along(&[step])[0];
            assert!(step > 0.0 && step != 1.0);
            for factor in [0.8, 1.2] {
                assert!(f.values_along(&[factor * step])[0] > value, "{power:?} {factor}");
            }
        }
    }
}
