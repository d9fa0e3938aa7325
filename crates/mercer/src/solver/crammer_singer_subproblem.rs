//! The dual variables of one row of the Crammer-Singer problem, with all other rows fixed.
//!
//! Minimize `½ A Σₘ αₘ² + Σₘ Bₘ αₘ` subject to `Σₘ αₘ = 0`, `α_y ≤ C` and `αₘ ≤ 0` for the other classes. The solution is
//! `αₘ = min(Cₘ, (t − Bₘ) / A)`, and sorting finds the `t` for which the sum is zero (Crammer & Singer 2001; Keerthi et al.
//! 2008, algorithm 3.2).

/// The subproblem and its solution, with buffers that are reused from row to row.
pub(crate) struct CrammerSingerSubproblem {
    /// `Bₘ`: the gradient of the linear term, that is the scores without the row's own contribution.
    pub b: Vec<f64>,
    /// The solution.
    pub alpha: Vec<f64>,
    sorted: Vec<f64>,
}

impl CrammerSingerSubproblem {
    pub fn new(n_classes: usize) -> CrammerSingerSubproblem {
        let zeros = || vec![0.0; n_classes];
        CrammerSingerSubproblem { b: zeros(), alpha: zeros(), sorted: zeros() }
    }

    /// Solves for a row of class `own` with the bound `C = cost` and the curvature `A = a > 0`.
    pub fn solve(&mut self, own: usize, cost: f64, a: f64) {
        let n = self.b.len();
        self.sorted.copy_from_slice(&self.b);
        self.sorted[own] += a * cost;
        self.sorted.sort_unstable_by(|a, b| b.total_cmp(a));
        // The variables below their bounds belong to the largest Bₘ; `t` is their mean, less the cost.
        let (mut sum, mut count) = (self.sorted[0] - a * cost, 1);
        while count < n && sum < count as f64 * self.sorted[count] {
            sum += self.sorted[count];
            count += 1;
        }
        let t = sum / count as f64;
        for (class, (alpha, b)) in self.alpha.iter_mut().zip(&self.b).enumerate() {
            let bound = if class == own { cost } else { 0.0 };
            *alpha = bound.min((t - b) / a);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_num::random::Random;

    #[test]
    fn the_solution_is_feasible_and_no_exchange_improves_it() {
        let mut random = Random::new(2);
        for _ in 0..200 {
            let n = 2 + random.below(5);
            let own = random.below(n);
            let (cost, a) = (0.1 + random.uniform(), 0.1 + random.uniform());
            let mut row = CrammerSingerSubproblem::new(n);
            row.b.iter_mut().for_each(|b| *b = random.normal());

            row.solve(own, cost, a);

            let value = |alpha: &[f64]| -> f64 {
                alpha.iter().zip(&row.b).map(|(alpha, b)| 0.5 * a * alpha * alpha + b * alpha).sum()
            };
            assert!(row.alpha.iter().sum::<f64>().abs() < 1e-12);
            for from in 0..n {
                for to in 0..n {
                    // A small amount from one class to another, where that is feasible.
                    let mut other = row.alpha.clone();
                    other[from] -= 1e-4;
                    other[to] += 1e-4;
                    if other[to] <= if to == own { cost } else { 0.0 } {
                        assert!(value(&other) >= value(&row.alpha) - 1e-12);
                    }
                }
            }
        }
    }
}
