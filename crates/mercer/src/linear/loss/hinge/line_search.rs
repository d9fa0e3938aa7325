//! How far to go along a direction: to where the function is lowest.
//!
//! A step of Newton's method is right for the rows that curve where it begins. Where many others come or go, one of
//! full length goes too far, to where many more matter, or not far enough, though the function falls: with steps to
//! the bottom fewer rows are ever read, and fewer steps are made (Keerthi & DeCoste 2005). Along a line the function
//! is quadratic in pieces and its slope is straight in them, so Newton's method finds the bottom in a few looks at
//! the scores.

use super::{MarginLoss, ROWS, SubproblemState, add_up, unit_steps};
use crate::solver::coordinate_descent::PenalizedLoss;
use crate::solver::line_search::{LineSearchAccuracy, Safeguard, exact_line_search};
use rayon::prelude::*;

impl MarginLoss<'_> {
    /// Step sizes that minimize every subproblem along the direction.
    pub(crate) fn minimizing_steps(&mut self, states: &[SubproblemState]) -> Vec<f64> {
        const ACCURACY: LineSearchAccuracy = LineSearchAccuracy {
            slope_tolerance: 0.01,
            max_evaluations: 12,
            safeguard: Safeguard::Bracket,
        };
        self.score_direction();
        let slopes: Vec<f64> = states.iter().map(|state| state.slope).collect();
        exact_line_search(&slopes, unit_steps(states), ACCURACY, |steps| self.slopes_along(steps))
    }

    /// First and second derivatives of every function along the direction.
    fn slopes_along(&self, shares: &[f64]) -> Vec<(f64, f64)> {
        let (m, cap) = (self.m, self.cap());
        let parts =
            self.scores.par_chunks(ROWS * m).zip(self.direction_scores.par_chunks(ROWS * m));
        let parts = parts.enumerate().map(|(part, (scores, steps))| {
            let mut sums = vec![0.0; 2 * m];
            let rows = scores.chunks_exact(m).zip(steps.chunks_exact(m));
            for (i, (scores, steps)) in (part * ROWS..).zip(rows) {
                for (k, (z, d)) in scores.iter().zip(steps).enumerate() {
                    let theta = self.loss(i, k, z + shares[k] * d).1;
                    if theta == 0.0 {
                        continue;
                    }
                    let cost = self.cost(i, k);
                    sums[k] -= cost * theta * d;
                    if theta.abs() < cap {
                        sums[m + k] += cost * self.stiffness[k] * d * d;
                    }
                }
            }
            sums
        });
        let sums = add_up(parts.collect(), 2 * m);
        let mut slopes: Vec<(f64, f64)> = (0..m).map(|k| (sums[k], sums[m + k])).collect();
        let steps = self.direction.chunks_exact(m).zip(self.weights.chunks_exact(m)).enumerate();
        for (j, (steps, weights)) in steps {
            let (price, _) = self.price(j);
            for (k, (d, w)) in steps.iter().zip(weights).enumerate() {
                slopes[k].0 += price * d * (w + shares[k] * d);
                slopes[k].1 += price * d * d;
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
    fn the_bottom_is_where_neither_side_is_lower() {
        let mut random = Random::new(4);
        let x = Matrix::from_shape_simple_fn((300, 4), || random.normal());
        let places = (0..300).map(|i| u32::from(x[[i, 0]] + 0.5 * random.normal() > 0.0)).collect();
        let aim = Targets::Classes { places, factors: vec![1.0; 2] };
        let costs = Penalties { weights: (1.0, 0.0), constant: (0.0, 0.0) };
        for power in [LossPower::Plain, LossPower::Squared] {
            let design = DesignMatrix::by_rows(&Rows::from(&x), true);
            let aim = match &aim {
                Targets::Classes { places, factors } => {
                    Targets::Classes { places: places.clone(), factors: factors.clone() }
                }
                Targets::Numbers { .. } => unreachable!("classes were asked for"),
            };
            let mut f = MarginLoss::new(design, 1, aim, vec![1.0; 300], power, costs);
            let mut gradient = vec![0.0; 5];
            f.values_and_gradient(&mut gradient);
            let direction: Vec<f64> = gradient.iter().map(|g| -0.1 * g).collect();
            f.design.scores(&direction, 1, &mut f.direction_scores);
            f.direction = direction;
            let slope = -0.1 * gradient.iter().map(|g| g * g).sum::<f64>();
            let mut lane = SubproblemState::default();
            lane.slope = slope;

            let bottom = f.initial_steps(&[lane])[0];

            let at = f.values_along(&[bottom])[0];
            assert!(bottom > 0.0 && bottom != 1.0);
            for other in [0.8, 1.2] {
                assert!(f.values_along(&[other * bottom])[0] > at, "{power:?} {other}");
            }
        }
    }
}
