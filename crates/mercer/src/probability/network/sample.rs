//! Ancestral sampling: every variable is drawn after its parents.

use super::Network;
use mercer_num::random::Random;

impl Network {
    /// Draws `n` samples; one row per sample, variables in order.
    pub fn sample(&self, n: usize, random: &mut Random) -> Vec<Vec<usize>> {
        let order = self.topological_order();
        let draw = |random: &mut Random| {
            let mut states = vec![0; self.len()];
            for v in &order {
                let row = self.parents(*v).iter().fold(0, |r, p| r * self.size(*p) + states[*p]);
                let size = self.size(*v);
                states[*v] = random.choice(&self.table(*v)[row * size..(row + 1) * size]);
            }
            states
        };
        (0..n).map(|_| draw(random)).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::probability::network::Network;
    use mercer_num::random::Random;

    #[test]
    fn sample_frequencies_follow_the_tables() {
        let network = Network::builder("rain")
            .variable("wet", ["yes", "no"])
            .variable("rain", ["yes", "no"])
            .table("wet", ["rain"], &[0.9, 0.1, 0.0, 1.0])
            .table("rain", [], &[0.25, 0.75])
            .build()
            .unwrap();

        let draws = network.sample(4000, &mut Random::new(5));

        let fraction = |wet, rain| {
            draws.iter().filter(|d| **d == [wet, rain]).count() as f64 / draws.len() as f64
        };
        assert!((fraction(0, 0) - 0.225).abs() < 0.02);
        assert_eq!(fraction(0, 1), 0.0);
        assert!((fraction(1, 1) - 0.75).abs() < 0.02);
    }
}
