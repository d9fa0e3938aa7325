//! The subproblem of one row in the dual of Crammer & Singer (2001): its variables of all classes, the other rows fixed.
//!
//! Minimize `½ A Σₘ αₘ² + Σₘ Bₘ αₘ` with `Σₘ αₘ = 0`, `α_y ≤ C` and `αₘ ≤ 0` for the other
//! classes. The solution is `αₘ = min(Cₘ, (t − Bₘ) / A)`, with `Cₘ` the upper bound of class `m`; sorting finds the `t` for
//! which it sums to zero (Keerthi et al. 2008, algorithm 3.2).

/// The subproblem with its work arrays, which are reused for all rows.
pub(crate) struct CrammerSingerSubproblem {
    /// `Bₘ`: the gradient without the contribution of the row's own variables.
    pub held: Vec<f64>,
    /// The solution.
    pub best: Vec<f64>,
    sorted: Vec<f64>,
}

impl CrammerSingerSubproblem {
    /// A subproblem with one variable per class.
    pub fn new(n_classes: usize) -> CrammerSingerSubproblem {
        let zeros = || vec![0.0; n_classes];
        CrammerSingerSubproblem { held: zeros(), best: zeros(), sorted: zeros() }
    }

    /// Solves the subproblem of a row with class `own`, cost `C` and squared norm `A`, which is positive.
    pub fn solve(&mut self, own: usize, cost: f64, norm: f64) {
        let n = self.held.len();
        self.sorted.copy_from_slice(&self.held);
        self.sorted[own] += norm * cost;
        self.sorted.sort_unstable_by(|a, b| b.total_cmp(a));
        // The classes with nonzero variables are those with the largest `Bₘ`; their mean minus the cost is `t`.
        let (mut sum, mut count) = (self.sorted[0] - norm * cost, 1);
        while count < n && sum < count as f64 * self.sorted[count] {
            sum += self.sorted[count];
            count += 1;
        }
        let t = sum / count as f64;
        for (class, (best, held)) in self.best.iter_mut().zip(&self.held).enumerate() {
            let bound = if class == own { cost } else { 0.0 };
            *best = bound.min((t - held) / norm);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_num::random::Random;

    #[test]
    fn the_solution_sums_to_zero_and_is_a_minimum() {
        let mut random = Random::new(2);
        for _ in 0..200 {
            let n = 2 + random.below(5);
            let own = random.below(n);
            let (cost, norm) = (0.1 + random.uniform(), 0.1 + random.uniform());
            let mut row = CrammerSingerSubproblem::new(n);
            row.held.iter_mut().for_each(|b| *b = random.normal());

            row.solve(own, cost, norm);

            let value = |alpha: &[f64]| -> f64 {
                alpha.iter().zip(&row.held).map(|(a, b)| 0.5 * norm * a * a + b * a).sum()
            };
            assert!(row.best.iter().sum::<f64>().abs() < 1e-12);
            for from in 0..n {
                for to in 0..n {
                    // A small feasible step from one class to another.
                    let mut other = row.best.clone();
                    other[from] -= 1e-4;
                    other[to] += 1e-4;
                    if other[to] <= if to == own { cost } else { 0.0 } {
                        assert!(value(&other) >= value(&row.best) - 1e-12);
                    }
                }
            }
        }
    }
}
