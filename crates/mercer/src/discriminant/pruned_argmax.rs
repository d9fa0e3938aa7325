//! The argmax of Gaussian scores with pruning by partial distances.
//!
//! A squared distance is a sum of squares, so a partial sum bounds a score from above. Every class is evaluated along the
//! first directions; the class with the best bound is evaluated completely; the others continue, block by block, only
//! for the rows in which their bound still exceeds the best score.

use super::whitening::{Whitening, centered_rows};

/// Rows of one block: enough that every class is evaluated for many of them at once.
pub(super) const ROWS_PER_BLOCK: usize = 1024;
/// Blocks of directions along which every class is evaluated.
const INITIAL_BLOCKS: usize = 2;
/// Scores with a smaller relative difference are compared again in full: partial sums round differently.
const RELATIVE_TIE: f64 = 1e-9;

/// The classes of an argmax.
pub(super) struct PrunedArgmax<'a> {
    /// The whitening and the mean of each class.
    pub classes: Vec<(&'a Whitening, &'a [f64])>,
    /// The scores at the class means.
    pub peak_scores: &'a [f64],
}

/// The best class so far of every row.
struct Incumbents {
    best: Vec<f64>,
    code: Vec<usize>,
    /// Whether another class is within rounding of the best.
    close: Vec<bool>,
}

impl PrunedArgmax<'_> {
    /// Writes the code of the best class of every row of a row-major block.
    pub fn run(&self, block: &[f64], codes: &mut [f64]) {
        let n = codes.len();
        let sums: Vec<Vec<f64>> = (self.classes.iter())
            .map(|(whitening, mean)| {
                let first = INITIAL_BLOCKS.min(whitening.n_blocks());
                let columns = (0..first).map(|k| whitening.columns(k)).max().unwrap_or(0);
                let centered = centered_rows(block, mean, 0..n, columns);
                let mut sums = vec![0.0; n];
                (0..first).for_each(|k| whitening.add_block(k, &centered, &mut sums));
                sums
            })
            .collect();
        let bound = |c: usize, i: usize| self.peak_scores[c] - 0.5 * sums[c][i];
        let n_classes = self.classes.len();
        let ahead: Vec<usize> = (0..n)
            .map(|i| (1..n_classes).fold(0, |a, c| if bound(c, i) > bound(a, i) { c } else { a }))
            .collect();
        let mut incumbents = Incumbents {
            best: vec![f64::NEG_INFINITY; n],
            code: ahead.clone(),
            close: (0..n).map(|i| !(0..n_classes).all(|c| bound(c, i).is_finite())).collect(),
        };
        for (c, sums) in sums.iter().enumerate() {
            let rows: Vec<usize> = (0..n).filter(|i| ahead[*i] == c).collect();
            self.finish(c, block, rows, sums, &mut incumbents);
        }
        for (c, sums) in sums.iter().enumerate() {
            let rows: Vec<usize> =
                (0..n).filter(|i| ahead[*i] != c && incumbents.may_win(*i, bound(c, *i))).collect();
            self.finish(c, block, rows, sums, &mut incumbents);
        }
        for (i, code) in codes.iter_mut().enumerate() {
            *code = incumbents.code[i] as f64;
        }
        if incumbents.close.contains(&true) {
            self.resolve_ties(block, &incumbents.close, codes);
        }
    }

    /// Evaluates a class completely for the rows in which it may be the best.
    fn finish(
        &self,
        class: usize,
        block: &[f64],
        mut rows: Vec<usize>,
        sums: &[f64],
        incumbents: &mut Incumbents,
    ) {
        let (whitening, mean) = self.classes[class];
        let mut sums: Vec<f64> = rows.iter().map(|i| sums[*i]).collect();
        let width = mean.len();
        let mut centered = centered_rows(block, mean, rows.iter().copied(), width);
        for block in INITIAL_BLOCKS..whitening.n_blocks() {
            whitening.add_block(block, &centered, &mut sums);
            let n = rows.len();
            let open =
                |k: &usize| incumbents.may_win(rows[*k], self.peak_scores[class] - 0.5 * sums[*k]);
            let left: Vec<usize> = (0..n).filter(open).collect();
            // Compacting the rows pays off only if a quarter of them is pruned.
            if 4 * left.len() < 3 * n {
                for (to, from) in left.iter().enumerate() {
                    centered.copy_within(from * width..(from + 1) * width, to * width);
                }
                centered.truncate(left.len() * width);
                rows = left.iter().map(|k| rows[*k]).collect();
                sums = left.iter().map(|k| sums[*k]).collect();
            }
        }
        for (i, sum) in rows.iter().zip(&sums) {
            incumbents.enter(*i, class, self.peak_scores[class] - 0.5 * sum);
        }
    }

    /// Evaluates all scores of the rows with ties, without pruning.
    fn resolve_ties(&self, block: &[f64], close: &[bool], codes: &mut [f64]) {
        let distances: Vec<Vec<f64>> =
            self.classes.iter().map(|(whitening, mean)| whitening.distances(block, mean)).collect();
        for (i, code) in codes.iter_mut().enumerate().filter(|(i, _)| close[*i]) {
            let mut scores: Vec<f64> =
                distances.iter().zip(self.peak_scores).map(|(d, peak)| peak - 0.5 * d[i]).collect();
            super::row_blocks::reset_overflow(&mut scores);
            *code = mercer_num::special::argmax(&scores) as f64;
        }
    }
}

impl Incumbents {
    fn may_win(&self, i: usize, bound: f64) -> bool {
        let best = self.best[i];
        best == f64::NEG_INFINITY || bound >= best - RELATIVE_TIE * best.abs()
    }

    fn enter(&mut self, i: usize, class: usize, score: f64) {
        let best = self.best[i];
        if best.is_finite() && (score - best).abs() <= RELATIVE_TIE * best.abs() {
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
    fn the_pruned_argmax_is_that_of_all_scores() {
        let mut random = Random::new(7);
        let (n, width) = (1200, 300);
        // The classes 3 and 4 have the same rows, so that their scores are equal.
        let codes: Vec<u32> = (0..n as u32).map(|i| i % 5).collect();
        let mut x = Matrix::from_shape_fn((n, width), |(i, j)| {
            random.normal() * (1.0 + 0.2 * (i % 5) as f64) + 0.15 * ((i * j) % 5) as f64
        });
        for i in (4..n).step_by(5) {
            let duplicate = x.row(i - 1).to_owned();
            x.row_mut(i).assign(&duplicate);
        }
        let classes = Classes::from_names(["a", "b", "c", "d", "e"]);
        let data = Dataset::classes(&x, &codes, &classes).unwrap();
        for params in [
            QuadraticDiscriminantAnalysis::new().reg_param(0.2),
            // Fewer rows than columns.
            QuadraticDiscriminantAnalysis::new().reg_param(1e-4),
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
