//! In which order variables are summed out.
//!
//! Summing a variable out joins all its neighbors. Finding the order whose largest table is smallest
//! is NP-hard; taking next the variable that needs the fewest new joins (min-fill) is what works well
//! (Kjærulff, 1990). Ties go to the smaller table, then to the first variable.

use std::collections::BTreeSet;

/// The steps of an elimination: each variable with the neighbors it still had, rising.
pub(super) struct Elimination {
    /// One entry a variable, in order.
    pub steps: Vec<(usize, Vec<usize>)>,
}

impl Elimination {
    /// Sums out `gone` from the graph in which each family is joined. Variables in no family are
    /// left alone.
    pub fn min_fill(families: &[Vec<usize>], sizes: &[usize], gone: &[bool]) -> Elimination {
        let n = sizes.len();
        let mut neighbors: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); n];
        for family in families {
            for v in family {
                neighbors[*v].extend(family.iter().filter(|u| *u != v));
            }
        }
        let mut left: BTreeSet<usize> = (0..n).filter(|v| gone[*v]).collect();
        let mut fills: Vec<usize> = (0..n).map(|v| fill(v, &neighbors)).collect();
        let cells = |v: usize, neighbors: &[BTreeSet<usize>]| {
            neighbors[v].iter().map(|u| sizes[*u] as f64).product::<f64>() * sizes[v] as f64
        };
        let mut tables: Vec<f64> = (0..n).map(|v| cells(v, &neighbors)).collect();
        let mut steps = Vec::with_capacity(left.len());
        while let Some(v) = left
            .iter()
            .copied()
            .min_by(|a, b| fills[*a].cmp(&fills[*b]).then(tables[*a].total_cmp(&tables[*b])))
        {
            left.remove(&v);
            let around: Vec<usize> = neighbors[v].iter().copied().collect();
            for (i, a) in around.iter().enumerate() {
                for b in &around[i + 1..] {
                    join(*a, *b, &mut neighbors, &mut fills);
                }
            }
            for a in &around {
                // Its neighbors that did not know the one who goes need no join with it any more.
                fills[*a] -= neighbors[*a].len() - around.len();
                neighbors[*a].remove(&v);
            }
            neighbors[v].clear();
            around.iter().for_each(|a| tables[*a] = cells(*a, &neighbors));
            steps.push((v, around));
        }
        Elimination { steps }
    }

    /// Cells of the largest table and of all tables together.
    pub fn cells(&self, sizes: &[usize]) -> (f64, f64) {
        let tables = self.steps.iter().map(|(v, around)| {
            sizes[*v] as f64 * around.iter().map(|u| sizes[*u] as f64).product::<f64>()
        });
        tables.fold((0.0, 0.0), |(most, all), n| (n.max(most), all + n))
    }
}

/// New joins that summing out a variable needs.
fn fill(v: usize, neighbors: &[BTreeSet<usize>]) -> usize {
    let around: Vec<usize> = neighbors[v].iter().copied().collect();
    let missing = |(i, a): (usize, &usize)| {
        around[i + 1..].iter().filter(|b| !neighbors[*a].contains(b)).count()
    };
    around.iter().enumerate().map(missing).sum()
}

/// Joins two variables and keeps the number of joins that others need up to date, so that a hub with
/// thousands of neighbors is counted once and not at every step.
fn join(a: usize, b: usize, neighbors: &mut [BTreeSet<usize>], fills: &mut [usize]) {
    if neighbors[a].contains(&b) {
        return;
    }
    let both: Vec<usize> = neighbors[a].intersection(&neighbors[b]).copied().collect();
    both.iter().for_each(|c| fills[*c] -= 1);
    fills[a] += neighbors[a].len() - both.len();
    fills[b] += neighbors[b].len() - both.len();
    neighbors[a].insert(b);
    neighbors[b].insert(a);
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
    fn counts_kept_up_to_date_are_the_counts() {
        let mut random = mercer_num::random::Random::new(3);
        let mut neighbors: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); 12];
        let mut fills = vec![0; 12];
        for _ in 0..40 {
            let (a, b) = (random.below(12), random.below(12));
            if a != b {
                join(a, b, &mut neighbors, &mut fills);
            }

            let counted: Vec<usize> = (0..12).map(|v| fill(v, &neighbors)).collect();
            assert_eq!(fills, counted);
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
