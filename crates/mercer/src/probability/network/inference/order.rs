//! Elimination orders by the min-fill heuristic.
//!
//! Eliminating a variable connects all its neighbors. Finding the order whose largest table is smallest is NP-hard;
//! min-fill eliminates the variable that needs the fewest new edges next (Kjærulff, 1990). Ties go to the smaller
//! table, then to the first variable.

/// An elimination order: each variable with its neighbors at elimination, ascending.
#[derive(Debug)]
pub(super) struct Elimination {
    /// One entry per variable, in order.
    pub steps: Vec<(usize, Vec<usize>)>,
}

impl Elimination {
    /// Eliminates `removed` from the moral graph of the families. Variables in no family are ignored.
    pub fn min_fill(families: &[Vec<usize>], sizes: &[usize], removed: &[bool]) -> Elimination {
        let n = sizes.len();
        let mut graph = Graph::new(n);
        for family in families {
            for v in family {
                family.iter().filter(|u| *u != v).for_each(|u| graph.set(*v, *u));
            }
        }
        graph.count();
        let cells = |v: usize, graph: &Graph| {
            graph.around(v).map(|u| sizes[u] as f64).product::<f64>() * sizes[v] as f64
        };
        let mut left: Vec<usize> = (0..n).filter(|v| removed[*v]).collect();
        let mut tables = vec![0.0; n];
        left.iter().for_each(|v| tables[*v] = cells(*v, &graph));
        let mut steps = Vec::with_capacity(left.len());
        while !left.is_empty() {
            let mut at = 0;
            for (i, v) in left.iter().enumerate() {
                let (best, fills) = (left[at], &graph.fills);
                if (fills[*v], tables[*v]) < (fills[best], tables[best]) {
                    at = i;
                }
            }
            let v = left.remove(at);
            let around: Vec<usize> = graph.around(v).collect();
            for (i, a) in around.iter().enumerate() {
                around[i + 1..].iter().for_each(|b| graph.join(*a, *b));
            }
            graph.remove(v, &around);
            around.iter().for_each(|a| tables[*a] = cells(*a, &graph));
            steps.push((v, around));
        }
        Elimination { steps }
    }

    /// The number of cells of the largest table and of all tables.
    pub fn cells(&self, sizes: &[usize]) -> (f64, f64) {
        let tables = self.steps.iter().map(|(v, around)| {
            sizes[*v] as f64 * around.iter().map(|u| sizes[*u] as f64).product::<f64>()
        });
        tables.fold((0.0, 0.0), |(most, all), n| (n.max(most), all + n))
    }
}

/// The adjacency matrix as bits, and the number of fill-in edges of every variable: updated incrementally, so that a
/// variable with thousands of neighbors is counted once and not at every step.
struct Graph {
    words: usize,
    bits: Vec<u64>,
    degrees: Vec<usize>,
    fills: Vec<usize>,
}

impl Graph {
    fn new(n: usize) -> Graph {
        let words = n.div_ceil(64);
        Graph { words, bits: vec![0; n * words], degrees: vec![0; n], fills: vec![0; n] }
    }

    fn row(&self, v: usize) -> &[u64] {
        &self.bits[v * self.words..(v + 1) * self.words]
    }

    fn has(&self, a: usize, b: usize) -> bool {
        self.bits[a * self.words + b / 64] >> (b % 64) & 1 == 1
    }

    /// Adds `b` to the neighbors of `a`.
    fn set(&mut self, a: usize, b: usize) {
        self.degrees[a] += usize::from(!self.has(a, b));
        self.bits[a * self.words + b / 64] |= 1 << (b % 64);
    }

    fn around(&self, v: usize) -> impl Iterator<Item = usize> {
        ones(self.row(v).iter().copied())
    }

    fn common(&self, a: usize, b: usize) -> impl Iterator<Item = u64> {
        self.row(a).iter().zip(self.row(b)).map(|(x, y)| x & y)
    }

    /// Counts the fill-in edges of each variable.
    fn count(&mut self) {
        self.fills = (0..self.degrees.len()).map(|v| self.fill(v)).collect();
    }

    fn fill(&self, v: usize) -> usize {
        let known =
            |a: usize| -> usize { self.common(a, v).map(|w| w.count_ones() as usize).sum() };
        // Every fill-in edge is found from both ends.
        self.around(v).map(|a| self.degrees[v] - 1 - known(a)).sum::<usize>() / 2
    }

    fn join(&mut self, a: usize, b: usize) {
        if self.has(a, b) {
            return;
        }
        let both: Vec<usize> = ones(self.common(a, b)).collect();
        both.iter().for_each(|c| self.fills[*c] -= 1);
        self.fills[a] += self.degrees[a] - both.len();
        self.fills[b] += self.degrees[b] - both.len();
        self.set(a, b);
        self.set(b, a);
    }

    /// Removes a variable whose neighbors are pairwise connected.
    fn remove(&mut self, v: usize, around: &[usize]) {
        for a in around {
            // Pairs of a neighbor's neighbors that include the removed variable need no fill-in edge any more.
            self.fills[*a] -= self.degrees[*a] - around.len();
            self.degrees[*a] -= 1;
            self.bits[*a * self.words + v / 64] &= !(1 << (v % 64));
        }
        self.bits[v * self.words..(v + 1) * self.words].fill(0);
        self.degrees[v] = 0;
    }
}

/// The indices of the bits that are set.
fn ones(words: impl Iterator<Item = u64>) -> impl Iterator<Item = usize> {
    words.enumerate().flat_map(|(at, mut word)| {
        std::iter::from_fn(move || {
            if word == 0 {
                return None;
            }
            let bit = word.trailing_zeros() as usize;
            word &= word - 1;
            Some(at * 64 + bit)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_is_eaten_from_its_ends() {
        let families: Vec<Vec<usize>> = (1..6).map(|v| vec![v - 1, v]).collect();

        let order = Elimination::min_fill(&families, &[2; 6], &[true; 6]);

        assert!(order.steps.iter().all(|(_, around)| around.len() <= 1));
        assert_eq!(order.cells(&[2; 6]).0, 4.0);
    }

    #[test]
    fn incremental_fill_counts_equal_recomputed_ones() {
        let mut random = mercer_num::random::Random::new(3);
        let mut graph = Graph::new(100);
        for _ in 0..400 {
            let (a, b) = (random.below(100), random.below(100));
            if a != b {
                graph.join(a, b);
            }

            let missing = |v: usize| -> usize {
                let around: Vec<usize> = graph.around(v).collect();
                let later = |i: usize| around[i + 1..].iter();
                let unknown = |i: usize| later(i).filter(|b| !graph.has(around[i], **b)).count();
                (0..around.len()).map(unknown).sum()
            };
            let counted: Vec<usize> = (0..100).map(missing).collect();
            assert_eq!(graph.fills, counted);
            assert_eq!((0..100).map(|v| graph.fill(v)).collect::<Vec<_>>(), counted);
        }
    }

    #[test]
    fn a_square_needs_one_diagonal() {
        let families = [vec![0, 1], vec![1, 2], vec![2, 3], vec![0, 3]];

        let order = Elimination::min_fill(&families, &[2; 4], &[true; 4]);

        assert_eq!(order.steps[0], (0, vec![1, 3]));
        assert_eq!(order.cells(&[2; 4]).0, 8.0);
    }
}
