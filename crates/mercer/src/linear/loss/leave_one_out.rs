//! What a plane would say of a row had it been left out, from the one fit.
//!
//! At the optimum the gradient is zero; without row `i` it is the row's own pull, and one Newton step gives, with `H`
//! the second derivatives, `κ` the curvature of the row's loss and `q = xᵢᵀH⁻¹xᵢ`,
//!
//! `z⁻ⁱ = zᵢ − βᵢ q / (1 − κ q)`
//!
//! (Rad & Maleki 2020; for squared distances it is exact as long as the same rows pull). Distances that are not squared
//! have a corner: rows at it are held there, which is a `κ` without bound, and others do not curve; then
//! `q / (1 − κ q)` is the squared distance from the span of the rows at the corner (Vapnik & Chapelle 2000). Where
//! absolute weights cost, only the columns with a weight have a say.
//!
//! `H` is as wide as the columns. Where those are many it is turned round: with `G = XH₀⁻¹Xᵀ + κ⁻¹` over the rows that
//! curve and `H₀` the price on weights, `q / (1 − κ q) = 1 / (G⁻¹)ᵢᵢ − κ⁻¹`.

use super::hinge::{LossPower, MarginLoss};
use crate::data::design_matrix::RowEntries;
use crate::kernel::{Function, KernelRows, Storage};
use crate::solver::coordinate_descent::PenalizedLoss;
use mercer_num::linalg::{Cholesky, add_gram, multiply};
use mercer_num::{Matrix, Rows};
use std::collections::HashMap;

/// Columns up to which second derivatives are written down, and rows that curve of which at most so many are
/// asked where columns are more.
const MOST: usize = 1024;
/// Rows looked at together.
const PANEL: usize = 512;
/// How little a row at a corner gives way, of the longest squared row.
const GIVE: f64 = 1e-5;
/// A free constant costs this little, of what a weight would.
const FREE: f64 = 1e-4;
/// What keeps second derivatives from being singular, of the largest.
const LIFT: f64 = 1e-10;

/// A row that pulls.
struct Carrier {
    row: usize,
    beta: f64,
    /// The curvature of its loss.
    kappa: f64,
}

/// What the plane of a function would say of each row without it.
pub(crate) fn leave_one_out(problem: &MarginLoss<'_>, rows: &Rows<'_>, k: usize) -> Vec<f64> {
    let mut scores: Vec<f64> = (0..rows.n_rows()).map(|i| problem.score(i, k)).collect();
    let carriers = carriers(problem, k);
    let curves = carriers.iter().any(|c| c.kappa > 0.0);
    let columns = columns(problem, k, curves);
    let shares = match columns.len() <= MOST {
        true => by_columns(problem, &carriers, &columns),
        false => by_rows(problem, rows, &carriers),
    };
    // No further than rows are known to be said: a step that long is not to be trusted.
    let farthest = scores.iter().fold(1.0f64, |most, z| most.max(z.abs()));
    for (carrier, share) in carriers.iter().zip(shares) {
        let said = scores[carrier.row] - carrier.beta * share.max(0.0);
        scores[carrier.row] = said.clamp(-farthest, farthest);
    }
    scores
}

/// The rows that pull.
fn carriers(problem: &MarginLoss<'_>, k: usize) -> Vec<Carrier> {
    let all = (0..problem.design.n_rows()).filter(|i| problem.force(*i, k) != 0.0);
    let mut carriers: Vec<Carrier> = all
        .map(|row| {
            let kappa = match problem.power {
                LossPower::Squared => 2.0 * problem.cost(row, k),
                LossPower::Plain => f64::from(u8::from(problem.bends(row, k))),
            };
            Carrier { row, beta: problem.force(row, k), kappa }
        })
        .collect();
    if problem.power == LossPower::Plain {
        let lengths = problem.design.squared_norms();
        let longest = carriers.iter().fold(0.0f64, |most, c| most.max(lengths[c.row]));
        let stiff = 1.0 / (GIVE * longest.max(f64::MIN_POSITIVE));
        carriers.iter_mut().for_each(|c| c.kappa *= stiff);
    }
    carriers
}

/// The columns that have a say; the one behind the last is the constant.
fn columns(problem: &MarginLoss<'_>, k: usize, curves: bool) -> Vec<usize> {
    let m = problem.m;
    let weight = |j: usize| problem.weights()[j * m + k].abs();
    let mut columns: Vec<usize> = (0..problem.design.n_weights()).collect();
    if problem.free_constant() && !curves {
        // Nothing but rows that curve holds it.
        columns.truncate(problem.design.width());
    }
    if problem.costs.weights.1 > 0.0 {
        columns.retain(|j| weight(*j) > 0.0);
        columns.sort_by(|a, b| weight(*b).total_cmp(&weight(*a)));
        columns.truncate(MOST);
    }
    columns
}

/// `q / (1 − κ q)` of every carrier by second derivatives.
fn by_columns(problem: &MarginLoss<'_>, carriers: &[Carrier], columns: &[usize]) -> Vec<f64> {
    let n = columns.len();
    if n == 0 {
        return vec![0.0; carriers.len()];
    }
    let mut place = vec![n; problem.design.width() + 1];
    columns.iter().enumerate().for_each(|(c, j)| place[*j] = c);
    let panel = |carriers: &[Carrier]| -> Matrix {
        let mut cells = Matrix::zeros((carriers.len(), n));
        for (carrier, mut cells) in carriers.iter().zip(cells.rows_mut()) {
            match problem.design.row(carrier.row) {
                RowEntries::Dense(row) => {
                    let some = cells.iter_mut().zip(columns).filter(|(_, j)| **j < row.len());
                    some.for_each(|(cell, j)| *cell = row[*j]);
                }
                RowEntries::Sparse(of, values) => {
                    let some = of.iter().zip(values).map(|(j, v)| (place[*j as usize], v));
                    some.filter(|(c, _)| *c < n).for_each(|(c, v)| cells[c] += v);
                }
            }
            if let Some(cell) = cells.get_mut(place[problem.design.width()]) {
                *cell = 1.0;
            }
        }
        cells
    };
    let mut second = Matrix::zeros((n, n));
    for some in carriers.chunks(PANEL) {
        let mut cells = panel(some);
        for (carrier, mut row) in some.iter().zip(cells.rows_mut()) {
            row *= carrier.kappa.sqrt();
        }
        let into = second.as_slice_mut().expect("a fresh matrix is contiguous");
        add_gram(cells.as_slice().unwrap_or_default(), n, into);
    }
    for (c, j) in columns.iter().enumerate() {
        second[[c, c]] += problem.price(*j).0;
    }
    let largest = second.diag().iter().copied().fold(0.0, f64::max);
    second.diag_mut().iter_mut().for_each(|v| *v += LIFT * largest);
    let Some(factor) = Cholesky::of(second.view()) else { return vec![0.0; carriers.len()] };
    let inverse = factor.inverse();
    let mut shares = Vec::with_capacity(carriers.len());
    for some in carriers.chunks(PANEL) {
        let cells = panel(some);
        let solved = multiply(cells.view(), inverse.view());
        for (carrier, (x, solved)) in some.iter().zip(cells.rows().into_iter().zip(solved.rows())) {
            let q = x.dot(&solved);
            shares.push(q / (1.0 - carrier.kappa * q).max(f64::EPSILON));
        }
    }
    shares
}

/// The same by the rows that curve, or some of them that stand for all.
fn by_rows(problem: &MarginLoss<'_>, rows: &Rows<'_>, carriers: &[Carrier]) -> Vec<f64> {
    let function = Function::linear();
    let picks: Vec<u32> = carriers.iter().map(|c| c.row as u32).collect();
    let storage = Storage::of(&function, rows);
    let all: KernelRows<f64> = KernelRows::new(function, storage, rows, &picks, &[], &picks);
    let own = all.diagonal();
    let curving: Vec<u32> =
        (0..carriers.len() as u32).filter(|i| carriers[*i as usize].kappa > 0.0).collect();
    let stride = curving.len().div_ceil(MOST).max(1);
    let held: Vec<u32> = curving.iter().copied().step_by(stride).collect();
    let price = problem.price(problem.design.width()).0;
    let constant = match problem.design.intercept {
        false => 0.0,
        true if price > 0.0 => 1.0 / price,
        // Nothing but rows that curve holds a free constant.
        true if held.is_empty() => 0.0,
        true => own.iter().copied().fold(0.0, f64::max) / FREE,
    };
    let n = held.len();
    if n == 0 {
        return own.iter().map(|own| own + constant).collect();
    }
    // Those at a corner hold it whether they are all or some; others are as stiff as all of them.
    let times = match problem.power {
        LossPower::Squared => curving.len() as f64 / n as f64,
        LossPower::Plain => 1.0,
    };
    let give = |i: u32| 1.0 / (times * carriers[i as usize].kappa);
    let among = all.select(&held);
    let mut gram = Matrix::from_shape_vec((n, n), among.gram()).expect("a square of those held");
    gram += constant;
    gram.diag_mut().iter_mut().zip(&held).for_each(|(v, i)| *v += give(*i));
    let Some(factor) = Cholesky::of(gram.view()) else { return vec![0.0; carriers.len()] };
    let inverse = factor.inverse();
    let mut shares = vec![0.0; carriers.len()];
    let place: HashMap<u32, usize> = held.iter().copied().zip(0..).collect();
    for (i, k) in &place {
        shares[*i as usize] = 1.0 / inverse[[*k, *k]] - give(*i);
    }
    let others: Vec<u32> = (0..carriers.len() as u32).filter(|i| !place.contains_key(i)).collect();
    for some in others.chunks(PANEL) {
        let mut cells = Matrix::zeros((some.len(), n));
        let mut lines: Vec<&mut [f64]> =
            cells.as_slice_mut().expect("a fresh matrix is contiguous").chunks_mut(n).collect();
        all.columns(some, &among, &mut lines);
        cells += constant;
        let solved = multiply(cells.view(), inverse.view());
        for (i, (k, solved)) in some.iter().zip(cells.rows().into_iter().zip(solved.rows())) {
            shares[*i as usize] = own[*i as usize] + constant - k.dot(&solved);
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::design_matrix::DesignMatrix;
    use crate::linear::loss::hinge::{Penalties, Targets};
    use crate::model::Monitor;
    use crate::solver::augmented_lagrangian::{Asked, Dual, solve};
    use mercer_num::Sparse;
    use mercer_num::random::Random;

    /// Overlapping rows of two classes.
    fn rows(n: usize, width: usize) -> (Matrix, Vec<u32>) {
        let mut random = Random::new(12);
        let codes: Vec<u32> = (0..n as u32).map(|i| i % 2).collect();
        let x = Matrix::from_shape_fn((n, width), |(i, j)| {
            f64::from(codes[i]) * if j < 3 { 1.0 } else { 0.0 } + random.normal()
        });
        (x, codes)
    }

    fn solved<'a>(
        x: Rows<'a>,
        codes: &[u32],
        power: LossPower,
        costs: Penalties,
    ) -> MarginLoss<'a> {
        let monitor = Monitor::quiet();
        let design = DesignMatrix::new(&x, true, &monitor).unwrap();
        let aim = Targets::Classes { places: codes.to_vec(), factors: vec![1.0; 2] };
        let price = vec![0.3; codes.len()];
        let mut problem = MarginLoss::new(design, 1, aim, price, power, costs);
        let dual = Dual::Given(false);
        // A free constant has no price to measure its slope by, which leaves half of the digits.
        let asked = Asked { tol: 1e-6, gap: None, dual, max_iter: 1000, monitor: &monitor };
        assert!(solve(&mut problem, &asked).converged);
        problem
    }

    const SCALED: Penalties = Penalties { weights: (1.0, 0.0), constant: (1.0, 0.0) };

    #[test]
    fn what_would_be_said_without_a_row_is_nearly_what_is() {
        let (x, codes) = rows(60, 4);
        // The middle and the last but a tenth of what it is off by: without a row at a corner another comes to
        // stand there before its score has gone all the way.
        for (power, free, middle, last) in [
            (LossPower::Squared, false, 1e-3, 0.1),
            (LossPower::Squared, true, 1e-3, 0.1),
            (LossPower::Plain, false, 0.1, 1.0),
            (LossPower::Plain, true, 0.1, 1.0),
        ] {
            let costs = if free { Penalties { constant: (0.0, 0.0), ..SCALED } } else { SCALED };
            let problem = solved(Rows::from(&x), &codes, power, costs);

            let said = leave_one_out(&problem, &Rows::from(&x), 0);

            let mut off: Vec<f64> = (0..60)
                .map(|i| {
                    let others: Vec<usize> = (0..60).filter(|j| *j != i).collect();
                    let some = x.select(ndarray::Axis(0), &others);
                    let some_codes: Vec<u32> = others.iter().map(|j| codes[*j]).collect();
                    let left = solved(Rows::from(&some), &some_codes, power, costs);
                    let z: f64 = x.row(i).iter().zip(left.weights()).map(|(x, w)| x * w).sum();
                    (z + left.weights()[4] - said[i]).abs()
                })
                .collect();
            off.sort_by(f64::total_cmp);
            assert!(off[30] < middle && off[54] < last, "{power:?}: {}, {}", off[30], off[54]);
        }
    }

    #[test]
    fn by_rows_and_by_columns_are_the_same() {
        let (x, codes) = rows(80, 6);
        let thin = Sparse::csr_from_dense(x.view(), 0.0);
        for power in [LossPower::Squared, LossPower::Plain] {
            let problem = solved(Rows::from(&x), &codes, power, SCALED);
            let carriers = carriers(&problem, 0);
            let all = columns(&problem, 0, true);

            let narrow = by_columns(&problem, &carriers, &all);
            let sparse = solved(Rows::from(&thin), &codes, power, SCALED);
            let again = by_columns(&sparse, &super::carriers(&sparse, 0), &all);

            for rows in [Rows::from(&x), Rows::from(&thin)] {
                for (a, b) in by_rows(&problem, &rows, &carriers).iter().zip(&narrow) {
                    assert!((a - b).abs() < 1e-4 * b.abs().max(1e-3), "{power:?}: {a}, {b}");
                }
            }
            assert_eq!(narrow.len(), again.len());
            for (a, b) in again.iter().zip(&narrow) {
                assert!((a - b).abs() < 1e-3 * b.abs().max(1e-2), "{power:?}: {a}, {b}");
            }
        }
    }
}
