//! The nearest class without the distances of all.
//!
//! A distance is a sum of squares that only grows, so what is summed up after some directions bounds a score
//! from above. Every class is measured along the first directions; the one that is ahead is measured to the
//! end; the others go on, block by block, only for the rows in which they could still be ahead of it.

use super::root::{Root, differences};

/// Blocks of directions that every class is measured along.
const FIRST: usize = 2;
/// Scores nearer than this, relative to their size, are not told apart by sums in parts.
const CLOSE: f64 = 1e-9;

/// Classes that compete for rows.
pub(super) struct Race<'a> {
    /// The roots and centers of the classes.
    pub classes: Vec<(&'a Root, &'a [f64])>,
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

impl Race<'_> {
    /// Writes the code of the winner of every row of a row-major panel.
    pub fn run(&self, panel: &[f64], codes: &mut [f64]) {
        let n = codes.len();
        let sums: Vec<Vec<f64>> = (self.classes.iter())
            .map(|(root, mean)| {
                let differences = differences(panel, mean);
                let mut sums = vec![0.0; n];
                (0..FIRST.min(root.n_blocks()))
                    .for_each(|k| root.add_block(k, &differences, &mut sums));
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
        let width = mean.len();
        let written = |rows: &[usize]| {
            let some: Vec<f64> =
                rows.iter().flat_map(|i| &panel[i * width..(i + 1) * width]).copied().collect();
            differences(&some, mean)
        };
        let mut sums: Vec<f64> = rows.iter().map(|i| sums[*i]).collect();
        let mut apart = written(&rows);
        for block in FIRST..root.n_blocks() {
            root.add_block(block, &apart, &mut sums);
            let scores = sums.iter().map(|s| self.peaks[class] - 0.5 * s);
            let open: Vec<bool> =
                rows.iter().zip(scores).map(|(i, s)| standing.may_win(*i, s)).collect();
            if open.contains(&false) {
                let mut left = open.iter();
                rows.retain(|_| *left.next().unwrap_or(&false));
                let mut left = open.iter();
                sums.retain(|_| *left.next().unwrap_or(&false));
                apart = written(&rows);
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
            super::panels::tame(&mut scores);
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
    use crate::model::winners;
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
                assert_eq!(model.predict(&rows).unwrap(), winners(&model.scores(&rows).unwrap()));
            }
            assert!(model.predict(&Rows::from(&x)).unwrap().iter().all(|code| *code != 4));
        }
    }
}
