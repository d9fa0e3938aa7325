//! The nearest class without the distances of all.
//!
//! A distance is a sum of squares that only grows, so what is summed up after some directions bounds a score
//! from above. Every class is measured along the first directions; the one that is ahead is measured to the
//! end; the others go on, block by block, only for the rows in which they could still be ahead of it.

use super::whitening::{Whitening, apart};

/// Rows that run together: enough of them that each class has many to itself.
pub(super) const PANEL: usize = 1024;
/// Blocks of directions that every class is measured along.
const FIRST: usize = 2;
/// Scores nearer than this, relative to their size, are not told apart by sums in parts.
const CLOSE: f64 = 1e-9;

/// Classes that compete for rows.
pub(super) struct PrunedArgmax<'a> {
    /// The roots and centers of the classes.
    pub classes: Vec<(&'a Whitening, &'a [f64])>,
    /// The scores at the centers.
    pub peaks: &'a [f64],
}

/// How a race stands: a row a row of the data.
struct Standing {
    best: Vec<f64>,
    code: Vec<usize>,
    /// Whether another class came so close that all scores must be looked at.
    close: Vec<bool>,
}

impl PrunedArgmax<'_> {
    /// Writes the code of the winner of every row of a row-major panel.
    pub fn run(&self, panel: &[f64], codes: &mut [f64]) {
        let n = codes.len();
        let sums: Vec<Vec<f64>> = (self.classes.iter())
            .map(|(root, mean)| {
                let first = FIRST.min(root.n_blocks());
                let columns = (0..first).map(|k| root.columns(k)).max().unwrap_or(0);
                let apart = apart(panel, mean, 0..n, columns);
                let mut sums = vec![0.0; n];
                (0..first).for_each(|k| root.add_block(k, &apart, &mut sums));
                sums
            })
            .collect();
        let bound = |c: usize, i: usize| self.peaks[c] - 0.5 * sums[c][i];
        let n_classes = self.classes.len();
        let ahead: Vec<usize> = (0..n)
            .map(|i| (1..n_classes).fold(0, |a, c| if bound(c, i) > bound(a, i) { c } else { a }))
            .collect();
        let mut standing = Standing {
            best: vec![f64::NEG_INFINITY; n],
            code: ahead.clone(),
            close: (0..n).map(|i| !(0..n_classes).all(|c| bound(c, i).is_finite())).collect(),
        };
        for (c, sums) in sums.iter().enumerate() {
            let rows: Vec<usize> = (0..n).filter(|i| ahead[*i] == c).collect();
            self.finish(c, panel, rows, sums, &mut standing);
        }
        for (c, sums) in sums.iter().enumerate() {
            let rows: Vec<usize> =
                (0..n).filter(|i| ahead[*i] != c && standing.may_win(*i, bound(c, *i))).collect();
            self.finish(c, panel, rows, sums, &mut standing);
        }
        for (i, code) in codes.iter_mut().enumerate() {
            *code = standing.code[i] as f64;
        }
        if standing.close.contains(&true) {
            self.look_again(panel, &standing.close, codes);
        }
    }

    /// Measures a class to the end for the rows in which it may win.
    fn finish(
        &self,
        class: usize,
        panel: &[f64],
        mut rows: Vec<usize>,
        sums: &[f64],
        standing: &mut Standing,
    ) {
        let (root, mean) = self.classes[class];
        let mut sums: Vec<f64> = rows.iter().map(|i| sums[*i]).collect();
        let width = mean.len();
        let mut apart = apart(panel, mean, rows.iter().copied(), width);
        for block in FIRST..root.n_blocks() {
            root.add_block(block, &apart, &mut sums);
            let n = rows.len();
            let open = |k: &usize| standing.may_win(rows[*k], self.peaks[class] - 0.5 * sums[*k]);
            let left: Vec<usize> = (0..n).filter(open).collect();
            // A few that have lost cost less to take along than to leave behind.
            if 4 * left.len() < 3 * n {
                for (to, from) in left.iter().enumerate() {
                    apart.copy_within(from * width..(from + 1) * width, to * width);
                }
                apart.truncate(left.len() * width);
                rows = left.iter().map(|k| rows[*k]).collect();
                sums = left.iter().map(|k| sums[*k]).collect();
            }
        }
        for (i, sum) in rows.iter().zip(&sums) {
            standing.enter(*i, class, self.peaks[class] - 0.5 * sum);
        }
    }

    /// All scores of the rows in which two classes are as good as equal, as if there were no race.
    fn look_again(&self, panel: &[f64], close: &[bool], codes: &mut [f64]) {
        let distances: Vec<Vec<f64>> =
            self.classes.iter().map(|(root, mean)| root.distances(panel, mean)).collect();
        for (i, code) in codes.iter_mut().enumerate().filter(|(i, _)| close[*i]) {
            let mut scores: Vec<f64> =
                distances.iter().zip(self.peaks).map(|(d, peak)| peak - 0.5 * d[i]).collect();
            super::row_blocks::tame(&mut scores);
            *code = mercer_num::special::argmax(&scores) as f64;
        }
    }
}

impl Standing {
    fn may_win(&self, i: usize, bound: f64) -> bool {
        let best = self.best[i];
        best == f64::NEG_INFINITY || bound >= best - CLOSE * best.abs()
    }

    fn enter(&mut self, i: usize, class: usize, score: f64) {
        let best = self.best[i];
        if best.is_finite() && (score - best).abs() <= CLOSE * best.abs() {
            self.close[i] = true;
        }
        if score > best {
            self.best[i] = score;
            self.code[i] = class;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::discriminant::QuadraticDiscriminantAnalysis;
    use crate::model::argmax_rows;
    use crate::prelude::*;
    use mercer_num::random::Random;

    #[test]
    fn the_winner_is_that_of_all_scores() {
        let mut random = Random::new(7);
        let (n, width) = (1200, 300);
        // The classes 3 and 4 have the same rows, so that their scores are equal.
        let codes: Vec<u32> = (0..n as u32).map(|i| i % 5).collect();
        let mut x = Matrix::from_shape_fn((n, width), |(i, j)| {
            random.normal() * (1.0 + 0.2 * (i % 5) as f64) + 0.15 * ((i * j) % 5) as f64
        });
        for i in (4..n).step_by(5) {
            let twin = x.row(i - 1).to_owned();
            x.row_mut(i).assign(&twin);
        }
        let classes = Classes::from_names(["a", "b", "c", "d", "e"]);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        for params in [
            QuadraticDiscriminantAnalysis::new().reg_param(0.2),
            // Fewer rows than columns: by eigenvectors.
            QuadraticDiscriminantAnalysis::new().tol(0.1),
        ] {
            let model = params.fit(&data, &Monitor::quiet()).unwrap();
            let mut new = Matrix::from_shape_fn((400, width), |_| 1.5 * random.normal());
            new.row_mut(3).fill(1e200);

            for rows in [&x, &new] {
                let rows = Rows::from(rows);
                assert_eq!(
                    model.predict(&rows).unwrap(),
                    argmax_rows(&model.scores(&rows).unwrap())
                );
            }
            assert!(model.predict(&Rows::from(&x)).unwrap().iter().all(|code| *code != 4));
        }
    }
}
