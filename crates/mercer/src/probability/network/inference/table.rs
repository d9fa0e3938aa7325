//! Tables over a few variables, and the loops over their strides: product, quotient, marginal, slice.
//!
//! Variables are in ascending order and tables in row-major order. A table that lacks a variable of another has stride
//! zero there, so every operation is one pass over the larger table in which adjacent variables that both tables store
//! contiguously are merged into one.

use super::semiring::Semiring;
use crate::probability::network::Network;

/// A number for every configuration of some variables.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// The variables, ascending.
    pub vars: Vec<usize>,
    /// The number of states of each.
    pub sizes: Vec<usize>,
    /// The numbers in row-major order.
    pub cells: Vec<f64>,
}

impl Table {
    /// The table without variables.
    pub fn one<S: Semiring>() -> Table {
        Table { vars: Vec::new(), sizes: Vec::new(), cells: vec![S::ONE] }
    }

    /// A table of ones over variables in ascending order.
    pub fn ones<S: Semiring>(vars: Vec<usize>, sizes: Vec<usize>) -> Table {
        let n = sizes.iter().product();
        Table { vars, sizes, cells: vec![S::ONE; n] }
    }

    /// `P(v | parents)` with the variables in ascending order and the evidence fixed.
    pub fn conditional<S: Semiring>(
        network: &Network,
        v: usize,
        seen: impl Fn(usize) -> Option<usize>,
    ) -> Table {
        let family: Vec<usize> = network.parents(v).iter().chain([&v]).copied().collect();
        let strides = row_major(&family.iter().map(|u| network.size(*u)).collect::<Vec<_>>());
        let mut retained: Vec<(usize, usize)> = Vec::with_capacity(family.len());
        let mut start = 0;
        for (u, stride) in family.iter().zip(strides) {
            match seen(*u) {
                Some(state) => start += state * stride,
                None => retained.push((*u, stride)),
            }
        }
        retained.sort_unstable();
        let vars: Vec<usize> = retained.iter().map(|(u, _)| *u).collect();
        let sizes: Vec<usize> = vars.iter().map(|u| network.size(*u)).collect();
        let from = &network.table(v)[start..];
        let mut cells = vec![S::ONE; sizes.iter().product()];
        Walk::new(&sizes, [retained.iter().map(|(_, s)| *s).collect()]).run(
            |to, [at], n, [step]| {
                for (i, cell) in cells[to..to + n].iter_mut().enumerate() {
                    *cell = S::lift(from[at + i * step]);
                }
            },
        );
        Table { vars, sizes, cells }
    }

    /// The product, over the variables of both.
    pub fn product<S: Semiring>(&self, other: &Table) -> Table {
        let (vars, sizes) = union(self, other);
        let (a, b) = (&self.cells, &other.cells);
        let mut cells = vec![S::ONE; sizes.iter().product()];
        let walk = Walk::new(&sizes, [self.strides_in(&vars), other.strides_in(&vars)]);
        walk.run(|to, [x, y], n, steps| {
            let out = &mut cells[to..to + n];
            match steps {
                [1, 0] => {
                    let y = b[y];
                    out.iter_mut().zip(&a[x..x + n]).for_each(|(o, a)| *o = S::times(*a, y));
                }
                [0, 1] => {
                    let x = a[x];
                    out.iter_mut().zip(&b[y..y + n]).for_each(|(o, b)| *o = S::times(x, *b));
                }
                [p, q] => {
                    for (i, o) in out.iter_mut().enumerate() {
                        *o = S::times(a[x + i * p], b[y + i * q]);
                    }
                }
            }
        });
        Table { vars, sizes, cells }
    }

    /// Multiplies by a table over a subset of the variables.
    pub fn multiply<S: Semiring>(&mut self, other: &Table) {
        self.combine(other, S::times);
    }

    /// Divides by a table over a subset of the variables.
    pub fn divide<S: Semiring>(&mut self, other: &Table) {
        self.combine(other, S::over);
    }

    fn combine(&mut self, other: &Table, f: impl Fn(f64, f64) -> f64) {
        let walk = Walk::new(&self.sizes, [other.strides_in(&self.vars)]);
        let cells = &mut self.cells;
        walk.run(|to, [y], n, [step]| {
            let out = &mut cells[to..to + n];
            if step == 0 {
                let y = other.cells[y];
                out.iter_mut().for_each(|o| *o = f(*o, y));
            } else {
                for (i, o) in out.iter_mut().enumerate() {
                    *o = f(*o, other.cells[y + i * step]);
                }
            }
        });
    }

    /// The marginal over a subset of the variables in ascending order.
    pub fn marginal<S: Semiring>(&self, retained: &[usize]) -> Table {
        let sizes: Vec<usize> = retained.iter().map(|v| self.size_of(*v)).collect();
        let mut out =
            Table { vars: retained.to_vec(), cells: vec![S::ZERO; sizes.iter().product()], sizes };
        let walk = Walk::new(&self.sizes, [out.strides_in(&self.vars)]);
        let sums = &mut out.cells;
        walk.run(|from, [to], n, [step]| {
            let cells = &self.cells[from..from + n];
            match step {
                0 => sums[to] = S::plus(sums[to], S::sum(cells)),
                1 => {
                    let sums = &mut sums[to..to + n];
                    sums.iter_mut().zip(cells).for_each(|(s, c)| *s = S::plus(*s, *c));
                }
                _ => {
                    for (i, c) in cells.iter().enumerate() {
                        let sum = &mut sums[to + i * step];
                        *sum = S::plus(*sum, *c);
                    }
                }
            }
        });
        out
    }

    /// Sums out one variable.
    pub fn without<S: Semiring>(&self, v: usize) -> Table {
        let retained: Vec<usize> = self.vars.iter().copied().filter(|u| *u != v).collect();
        self.marginal::<S>(&retained)
    }

    /// Maximizes over one variable, with the first maximizing state.
    pub fn best(&self, v: usize) -> (Table, Vec<u32>) {
        let at = self.index(v).unwrap_or(0);
        let (n, inner) = (self.sizes[at], self.sizes[at + 1..].iter().product::<usize>());
        let outer = self.cells.len() / (n * inner);
        let mut cells = vec![f64::NEG_INFINITY; outer * inner];
        let mut states = vec![0; outer * inner];
        for o in 0..outer {
            let out = o * inner..(o + 1) * inner;
            for s in 0..n {
                let from = &self.cells[(o * n + s) * inner..(o * n + s + 1) * inner];
                let bests = cells[out.clone()].iter_mut().zip(&mut states[out.clone()]);
                for (cell, (best, state)) in from.iter().zip(bests) {
                    if *cell > *best {
                        (*best, *state) = (*cell, s as u32);
                    }
                }
            }
        }
        let (mut vars, mut sizes) = (self.vars.clone(), self.sizes.clone());
        vars.remove(at);
        sizes.remove(at);
        (Table { vars, sizes, cells }, states)
    }

    /// Sets all cells to zero in which a variable is not in the given state.
    pub fn observe<S: Semiring>(&mut self, v: usize, state: usize) {
        let Some(at) = self.index(v) else { return };
        let (n, inner) = (self.sizes[at], self.sizes[at + 1..].iter().product::<usize>());
        for (k, run) in self.cells.chunks_exact_mut(inner).enumerate() {
            if k % n != state {
                run.fill(S::ZERO);
            }
        }
    }

    /// The cells with the variables in another order, row-major.
    pub fn ordered(&self, order: &[usize]) -> Vec<f64> {
        let sizes: Vec<usize> = order.iter().map(|v| self.size_of(*v)).collect();
        let mut out = vec![0.0; self.cells.len()];
        let walk = Walk::new(&sizes, [self.strides_in(order)]);
        walk.run(|to, [at], n, [step]| {
            for (i, cell) in out[to..to + n].iter_mut().enumerate() {
                *cell = self.cells[at + i * step];
            }
        });
        out
    }

    fn index(&self, v: usize) -> Option<usize> {
        self.vars.iter().position(|u| *u == v)
    }

    fn size_of(&self, v: usize) -> usize {
        self.index(v).map_or(1, |at| self.sizes[at])
    }

    /// The stride for each of some variables, zero if the table lacks it.
    fn strides_in(&self, vars: &[usize]) -> Vec<usize> {
        let mine = row_major(&self.sizes);
        vars.iter().map(|v| self.index(*v).map_or(0, |at| mine[at])).collect()
    }
}

/// The variables of both with their sizes.
fn union(a: &Table, b: &Table) -> (Vec<usize>, Vec<usize>) {
    let mut both: Vec<(usize, usize)> =
        [a, b].into_iter().flat_map(|t| t.vars.iter().copied().zip(t.sizes.clone())).collect();
    both.sort_unstable();
    both.dedup();
    both.into_iter().unzip()
}

/// The strides of row-major order.
fn row_major(sizes: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; sizes.len()];
    for at in (1..sizes.len()).rev() {
        strides[at - 1] = strides[at] * sizes[at];
    }
    strides
}

/// An iteration over all configurations in contiguous runs, with the positions in `N` other tables.
struct Walk<const N: usize> {
    sizes: Vec<usize>,
    strides: [Vec<usize>; N],
}

impl<const N: usize> Walk<N> {
    /// Merges adjacent dimensions that are contiguous in all tables.
    fn new(sizes: &[usize], strides: [Vec<usize>; N]) -> Walk<N> {
        let mut walk = Walk { sizes: Vec::new(), strides: std::array::from_fn(|_| Vec::new()) };
        for at in 0..sizes.len() {
            if sizes[at] == 1 {
                continue;
            }
            let joins = !walk.sizes.is_empty()
                && (0..N).all(|t| walk.strides[t].last() == Some(&(strides[t][at] * sizes[at])));
            if joins {
                let last = walk.sizes.len() - 1;
                walk.sizes[last] *= sizes[at];
                (0..N).for_each(|t| walk.strides[t][last] = strides[t][at]);
            } else {
                walk.sizes.push(sizes[at]);
                (0..N).for_each(|t| walk.strides[t].push(strides[t][at]));
            }
        }
        if walk.sizes.is_empty() {
            walk.sizes.push(1);
            (0..N).for_each(|t| walk.strides[t].push(0));
        }
        walk
    }

    /// Calls `visit` with the start of each run in all tables, its length, and the stride of the other tables along it.
    fn run(&self, mut visit: impl FnMut(usize, [usize; N], usize, [usize; N])) {
        let last = self.sizes.len() - 1;
        let n = self.sizes[last];
        let steps: [usize; N] = std::array::from_fn(|t| self.strides[t][last]);
        let mut state = vec![0; last];
        let mut at = [0; N];
        let mut here = 0;
        loop {
            visit(here, at, n, steps);
            here += n;
            let mut d = last;
            loop {
                if d == 0 {
                    return;
                }
                d -= 1;
                state[d] += 1;
                (0..N).for_each(|t| at[t] += self.strides[t][d]);
                if state[d] < self.sizes[d] {
                    break;
                }
                (0..N).for_each(|t| at[t] -= self.strides[t][d] * self.sizes[d]);
                state[d] = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::semiring::Plain;
    use super::*;

    fn table(vars: &[usize], sizes: &[usize]) -> Table {
        let n: usize = sizes.iter().product();
        let cells = (0..n).map(|i| (i * 7 % 11 + 1) as f64).collect();
        Table { vars: vars.to_vec(), sizes: sizes.to_vec(), cells }
    }

    #[test]
    fn a_product_has_the_product_in_every_cell() {
        let (a, b) = (table(&[0, 2, 3], &[2, 3, 2]), table(&[1, 2], &[2, 3]));

        let c = a.product::<Plain>(&b);

        assert_eq!((&c.vars[..], &c.sizes[..]), (&[0, 1, 2, 3][..], &[2, 2, 3, 2][..]));
        for (at, cell) in c.cells.iter().enumerate() {
            let (x0, x1, x2, x3) = (at / 12, at / 6 % 2, at / 2 % 3, at % 2);
            assert_eq!(*cell, a.cells[x0 * 6 + x2 * 2 + x3] * b.cells[x1 * 3 + x2]);
        }
    }

    #[test]
    fn marginals_slices_and_orders_move_the_right_cells() {
        let a = table(&[0, 2, 3], &[2, 3, 2]);

        let sums = a.marginal::<Plain>(&[0, 3]);
        let transposed = a.ordered(&[3, 0, 2]);
        let (best, states) = a.best(2);

        for (x0, x3) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let column: Vec<f64> = (0..3).map(|x2| a.cells[x0 * 6 + x2 * 2 + x3]).collect();
            assert_eq!(sums.cells[x0 * 2 + x3], column.iter().sum::<f64>());
            assert_eq!(best.cells[x0 * 2 + x3], column[states[x0 * 2 + x3] as usize]);
            assert_eq!(transposed[x3 * 6 + x0 * 3..x3 * 6 + x0 * 3 + 3], column);
        }
    }
}
