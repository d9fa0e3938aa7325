//! Random networks for tests and benchmarks.

use super::{Network, Variable};
use mercer_num::random::Random;

/// The parameters of a random network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomNetwork {
    /// The number of variables.
    pub n_variables: usize,
    /// The maximum number of parents.
    pub max_parents: usize,
    /// The number of preceding variables that parents are drawn from; small values keep exact inference fast.
    pub reach: usize,
    /// The maximum number of states; the minimum is two.
    pub max_states: usize,
    /// The fraction of table cells that are zero.
    pub zeros: f64,
    /// The seed.
    pub seed: u64,
}

impl Default for RandomNetwork {
    fn default() -> Self {
        RandomNetwork {
            n_variables: 20,
            max_parents: 3,
            reach: 5,
            max_states: 4,
            zeros: 0.0,
            seed: 0,
        }
    }
}

impl RandomNetwork {
    /// Draws the network: variables `v0`, `v1`, … with states `s0`, `s1`, …, in random order.
    pub fn draw(&self) -> Network {
        let mut random = Random::new(self.seed);
        let n = self.n_variables;
        let sizes: Vec<usize> =
            (0..n).map(|_| 2 + random.below(self.max_states.max(2) - 1)).collect();
        // The order of the variables is not a topological order.
        let mut index: Vec<usize> = (0..n).collect();
        random.shuffle(&mut index);
        let mut parents = vec![Vec::new(); n];
        for at in 1..n {
            let mut near: Vec<usize> = (at.saturating_sub(self.reach.max(1))..at).collect();
            random.shuffle(&mut near);
            near.truncate(random.below(self.max_parents + 1));
            parents[index[at]] = near.into_iter().map(|p| index[p]).collect();
        }
        let tables = (0..n)
            .map(|v| {
                let rows: usize = parents[v].iter().map(|p: &usize| sizes[*p]).product();
                (0..rows).flat_map(|_| self.row(sizes[v], &mut random)).collect()
            })
            .collect();
        let variables = (0..n)
            .map(|v| Variable {
                name: format!("v{v}"),
                states: (0..sizes[v]).map(|s| format!("s{s}")).collect(),
            })
            .collect();
        Network::new("random", variables, parents, tables)
            .expect("edges follow the drawn order and rows are normalized")
    }

    fn row(&self, size: usize, random: &mut Random) -> Vec<f64> {
        let mut row: Vec<f64> = (0..size)
            .map(|_| if random.uniform() < self.zeros { 0.0 } else { random.uniform() + 0.01 })
            .collect();
        let sum: f64 = row.iter().sum();
        if sum == 0.0 {
            row[random.below(size)] = 1.0;
            return row;
        }
        row.iter_mut().for_each(|p| *p /= sum);
        row
    }
}
