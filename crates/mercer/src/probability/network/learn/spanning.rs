//! The maximum spanning tree by mutual information.
//!
//! The tree with the largest sum of `I(Xᵢ; Xⱼ)` over its edges has the largest likelihood
//! (Chow & Liu, 1968); given the class it is `I(Xᵢ; Xⱼ | C)` (Friedman, Geiger & Goldszmidt, 1997).

/// The resolution of gains: closer ones are ties, which go to the first pair, so that rounding does not determine the
/// tree.
const RESOLUTION: f64 = 1e-9;

/// The gain in log-likelihood of an edge, in units of the resolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Gain(i64);

impl Gain {
    /// From nats per row.
    pub fn nats(x: f64) -> Gain {
        Gain((x / RESOLUTION).round() as i64)
    }
}

/// `Σ n_ab log (n_ab n / (n_a n_b))` of a table of counts with rows of `width`: the mutual information
/// times the number of rows.
pub(crate) fn mutual_information(counts: &[f64], width: usize) -> f64 {
    if width == 0 {
        return 0.0;
    }
    let mut columns = vec![0.0; width];
    let mut total = 0.0;
    for row in counts.chunks_exact(width) {
        columns.iter_mut().zip(row).for_each(|(sum, n)| *sum += n);
    }
    total += columns.iter().sum::<f64>();
    let mut sum = 0.0;
    for row in counts.chunks_exact(width) {
        let in_row: f64 = row.iter().sum();
        for (n, in_column) in row.iter().zip(&columns).filter(|(n, _)| **n > 0.0) {
            sum += n * ((n / in_row) * (total / in_column)).ln();
        }
    }
    sum
}

/// The parent of every column in the maximum spanning forest with root `root`; the root of another component is its
/// first column. Edges with a gain of at most `least` are omitted.
pub(crate) fn spanning_forest(
    n: usize,
    root: usize,
    least: Gain,
    gain: impl Fn(usize, usize) -> Gain,
) -> Vec<Option<usize>> {
    // Prim's algorithm: the best edge from the tree to each column outside it.
    let mut parents = vec![None; n];
    let mut best: Vec<Option<(Gain, usize)>> = vec![None; n];
    let mut outside: Vec<bool> = vec![true; n];
    for _ in 0..n {
        let mut next: Option<usize> = None;
        for v in (0..n).filter(|v| outside[*v] && best[*v].is_some()) {
            if next.is_none_or(|u| best[v].map(|b| b.0) > best[u].map(|b| b.0)) {
                next = Some(v);
            }
        }
        let first = if outside[root] { Some(root) } else { outside.iter().position(|o| *o) };
        let Some(v) = next.or(first) else { break };
        parents[v] = best[v].map(|(_, p)| p);
        outside[v] = false;
        for u in (0..n).filter(|u| outside[*u]) {
            let gain = gain(v.min(u), v.max(u));
            if gain > least && best[u].is_none_or(|(before, _)| gain > before) {
                best[u] = Some((gain, v));
            }
        }
    }
    parents
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn independent_columns_have_no_mutual_information() {
        assert!(mutual_information(&[1.0, 2.0, 2.0, 4.0], 2).abs() < 1e-15);
        let copies = mutual_information(&[3.0, 0.0, 0.0, 3.0], 2);
        assert!((copies - 6.0 * 2f64.ln()).abs() < 1e-14);
    }

    #[test]
    fn the_spanning_forest_has_the_largest_gain() {
        let gains = [[0, 5, 1, 0, 0], [5, 0, 4, 0, 0], [1, 4, 0, 0, 0], [0, 0, 0, 0, 7], [0; 5]];

        let parents = spanning_forest(5, 2, Gain(0), |i, j| Gain(gains[i][j]));

        assert_eq!(parents, [Some(1), Some(2), None, None, Some(3)]);
    }
}
