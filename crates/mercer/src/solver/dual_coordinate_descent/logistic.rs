//! Goes near to the least log-loss of two classes by the pulls of the rows, one row at a time.
//!
//! In the dual problem every row has a pull `βᵢ` and the weights are `w = Σᵢ βᵢ xᵢ`. At the optimum
//! `βᵢ = cᵢ (yᵢ − P(zᵢ))`: a row pulls by as much as its class is not yet believed. With the other pulls held, a row's
//! score is `z = r + ‖x‖² β`, and its best one the root of `z − r − ‖x‖² c (y − P(z))`, which rises everywhere, so that
//! Newton's method between two ends finds it. (Yu, Huang & Lin 2011 seek the pull itself, which has a logarithm at each
//! of its bounds.)
//!
//! The constant term has a price here, as the weight of one more column as long as the rows are, around where it
//! begins. What comes out is a place to begin at: of wide rows a pass leaves a third of what the one before it left.

use crate::data::design_matrix::Lines;
use crate::linear::loss::softmax::SoftmaxLoss;
use crate::model::Monitor;
use crate::solver::StoppingRule;
use crate::solver::augmented_lagrangian::WIDE;
use mercer_num::memory::prefetch;
use mercer_num::random::Random;
use mercer_num::simd::exp::exp_double;
use rayon::prelude::*;

/// Visits between two looks at the clock.
const VISITS: usize = 1024;
/// Passes at most, and what the second and those behind it may leave of what the last one left: others are faster then.
const PASSES: u64 = 20;
const SLOW: f64 = 0.7;
/// Squared lengths of rows that are left to Newton's method, which scales: sums of larger ones may have no end.
const LONG: f64 = 1e12;

/// Passes over the rows until no entry of the gradient should be above the tolerance, where the columns are many and
/// sparse; says how many there were.
pub(crate) fn approach(problem: &mut SoftmaxLoss<'_>, rule: &StoppingRule<'_>) -> u64 {
    let squared = problem.price > 0.0 && problem.absolute_price == 0.0;
    let wide = problem.design.is_sparse() && problem.design.width() > WIDE;
    if problem.m > 1 || !squared || !wide {
        return 0;
    }
    let mut odds = Odds::new(problem);
    if odds.rows.iter().any(|row| !(row.most * row.norm).is_finite() || row.norm > LONG) {
        return 0;
    }
    let (mut passes, mut last) = (0, None);
    while passes < PASSES.min(rule.max_iterations) {
        let Some(moved) = odds.pass(rule.monitor) else { break };
        passes += 1;
        let rate = last.map_or(1.0, |last| moved / last);
        last = Some(moved);
        // A gradient is what rows have still to move, times their cells.
        let left = problem.price * moved * rate * odds.length;
        if left <= rule.tolerance || (passes > 1 && rate > SLOW) {
            break;
        }
    }
    let weights = odds.weights;
    problem.start_at(&weights[..problem.design.n_weights()]);
    passes
}

/// The pulls of all rows, to be made better pass by pass.
struct Odds<'a> {
    lines: Lines<'a>,
    rows: Vec<Row>,
    /// The rows that count, in the order of their visits.
    order: Vec<u32>,
    /// The constant term last, which is zero where there is none.
    weights: Vec<f64>,
    /// How much the constant term moves with a pull.
    lift: f64,
    /// How long rows are.
    length: f64,
    random: Random,
}

/// What is known of a row.
#[derive(Clone, Copy)]
struct Row {
    /// The largest pull: up for the second class, down for the first.
    most: f64,
    /// How much its score moves with its pull.
    norm: f64,
    beta: f64,
}

impl<'a> Odds<'a> {
    /// No pulls, at the weights where the problem is.
    fn new(problem: &SoftmaxLoss<'a>) -> Odds<'a> {
        let lines = problem.design.lines();
        let n = problem.design.n_rows();
        let squares: Vec<f64> =
            (0..n).into_par_iter().with_min_len(VISITS).map(|i| lines.square(i)).collect();
        let square = squares.iter().sum::<f64>() / n as f64;
        let lift = if problem.design.intercept { square } else { 0.0 };
        let row = |(i, square): (usize, &f64)| {
            let most = problem.shares[i] / problem.price;
            let up = problem.places[i] == 1;
            Row { most: if up { most } else { -most }, norm: square + lift, beta: 0.0 }
        };
        let rows: Vec<Row> = squares.iter().enumerate().map(row).collect();
        let counts = |i: &u32| rows[*i as usize].most * rows[*i as usize].norm != 0.0;
        let order = (0..n as u32).filter(counts).collect();
        let mut weights = vec![0.0; problem.design.width() + 1];
        weights[..problem.design.n_weights()].copy_from_slice(problem.weights());
        let (length, random) = (square.sqrt(), Random::new(0));
        Odds { lines, rows, order, weights, lift, length, random }
    }

    /// Visits every row; gives how much their pulls moved, or nothing if it was told to stop.
    fn pass(&mut self, monitor: &Monitor<'_>) -> Option<f64> {
        self.random.shuffle(&mut self.order);
        let mut moved = 0.0;
        for visit in 0..self.order.len() {
            if visit.is_multiple_of(VISITS) && monitor.stop().is_some() {
                return None;
            }
            // The order is known, to us.
            if let Some(later) = self.order.get(visit + 2) {
                prefetch(&self.rows[*later as usize..=*later as usize]);
            }
            if let Some(later) = self.order.get(visit + 1) {
                self.lines.fetch(*later as usize);
            }
            moved += self.visit(self.order[visit] as usize);
        }
        Some(moved)
    }

    /// Sets the pull of a row to about its best; gives how much it moved.
    #[inline]
    fn visit(&mut self, i: usize) -> f64 {
        let Row { most, norm, beta } = self.rows[i];
        let constant = self.weights.len() - 1;
        let z = self.lines.dot(i, &self.weights) + self.weights[constant];
        let rest = z - norm * beta;
        let best = (root(rest, norm * most, z) - rest) / norm;
        let step = best - beta;
        self.rows[i].beta = best;
        self.lines.add_to(i, step, &mut self.weights);
        self.weights[constant] += step * self.lift;
        step.abs()
    }
}

/// About the root of `z − rest − reach · P`, sought from `z` on, with `P` what is missing of the probability of the
/// class that pulls: `1 / (1 + eᶻ)` for the second, which pulls up, `1 / (1 + e⁻ᶻ)` for the first.
#[inline]
fn root(rest: f64, reach: f64, mut z: f64) -> f64 {
    /// A step after which it is near enough, for what comes next is about a tenth of its square; looks at most.
    const NEAR: f64 = 0.1;
    const LOOKS: usize = 20;
    let ends = (rest.min(rest + reach), rest.max(rest + reach));
    // Where it was looked, below and above the root.
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    for _ in 0..LOOKS {
        let missing = 1.0 / (1.0 + exp_double(z.copysign(z * reach)));
        let off = z - rest - reach * missing;
        *(if off > 0.0 { &mut high } else { &mut low }) = z;
        let rise = 1.0 + reach.abs() * missing * (1.0 - missing);
        let next = (z - off / rise).max(ends.0).min(ends.1);
        if (next - z).abs() <= NEAR {
            return next;
        }
        z = match next > low && next < high {
            true => next,
            false => 0.5 * (low.max(ends.0) + high.min(ends.1)),
        };
    }
    z
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::LogisticRegression;
    use crate::prelude::*;
    use mercer_num::SparseView;

    #[test]
    fn the_root_is_found_however_far_a_row_reaches() {
        for reach in [0.01, 0.5, 4.0, 1e3, 1e6] {
            for rest in [-20.0, -1.0, 0.0, 0.3, 15.0] {
                for sign in [1.0, -1.0] {
                    let (reach, mut z) = (sign * reach, rest);

                    for _ in 0..10 {
                        z = root(rest, reach, z);
                    }

                    let found = rest + reach / (1.0 + (sign * z).exp());
                    let rise = 1.0 + reach.abs() / 4.0;
                    assert!((z - found).abs() <= 1e-9 * rise, "{rest} {reach}: {z}, {found}");
                }
            }
        }
    }

    #[test]
    fn passes_end_where_newtons_method_ends() {
        /// Rows of a few cells in more columns than Newton's method has to itself; one in four is of the second class.
        fn fit(n_columns: usize, tol: f64) -> Fitted<crate::linear::LogisticRegressionModel> {
            let mut random = Random::new(5);
            let (mut offsets, mut columns, mut values) = (vec![0], vec![], vec![]);
            let codes: Vec<u32> = (0..400).map(|i| u32::from(i % 4 == 0)).collect();
            for code in &codes {
                let common = (random.uniform() * 20.0) as i32 + 10 * *code as i32;
                let rare = 100 + (random.uniform() * 900.0) as i32;
                columns.extend([common, rare]);
                values.extend([1.0, random.uniform()]);
                offsets.push(columns.len());
            }
            let x = SparseView::try_new(n_columns, &offsets, &columns, &values).unwrap();
            let classes = Classes::from_names(["no", "yes"]);
            let data = Dataset::classes(Rows::Sparse(x), &codes, &classes).unwrap();
            LogisticRegression { tol, ..LogisticRegression::new() }
                .fit(&data, &Monitor::quiet())
                .unwrap()
        }

        let [by_pulls, by_steps] = [WIDE + 1, WIDE].map(|width| fit(width, 1e-9));
        let loose = fit(WIDE + 1, 1e-3);

        let weights = |fitted: &Fitted<crate::linear::LogisticRegressionModel>| {
            let model = &fitted.model;
            model
                .coefficients
                .iter()
                .take(WIDE)
                .chain(&model.intercepts)
                .copied()
                .collect::<Vec<_>>()
        };
        for (a, b) in weights(&by_pulls).iter().zip(weights(&by_steps)) {
            assert!((a - b).abs() <= 1e-6, "{a} {b}");
        }
        for (a, b) in weights(&loose).iter().zip(weights(&by_steps)) {
            assert!((a - b).abs() <= 0.3, "{a} {b}");
        }
        let how = |fitted: &Fitted<_>| fitted.certificate.to_string();
        assert!(how(&loose).ends_with("epochs of dual coordinate descent, 0 Hessian products"));
        assert!(!how(&by_steps).contains("dual coordinate descent"));
        let violation = loose.certificate.violation.map(|violation| violation.value);
        assert!(violation.is_some_and(|violation| violation <= 1e-3));
    }
}
