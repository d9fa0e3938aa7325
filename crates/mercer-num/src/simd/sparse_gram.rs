//! Cross-products of rows that are mostly zeros: `Σ w x xᵀ`.
//!
//! Of a row the places of four cells that hold anything but zeros are kept. The products of one place with all that
//! stand before it are a line of tiles, which stays in the nearest cache while the rows that have the place go by.

use super::nonzero::{BLOCK_CELLS, MAX_BLOCKS, MAX_CELLS, nonzero_block_indices};
use multiversion::multiversion;

/// Rows that go through all lines before the next do: they stay in cache, and every line is used often enough.
const ROWS_PER_PANEL: usize = 256;

/// The products of the cells of two places.
type Tile = [[f64; BLOCK_CELLS]; BLOCK_CELLS];

/// Rows as their places that are not zero.
#[derive(Clone, Debug, Default)]
pub struct BlockSparseRows {
    /// Where the places of each row end, and what it weighs.
    rows: Vec<(usize, f64)>,
    places: Vec<u32>,
    cells: Vec<[f64; BLOCK_CELLS]>,
}

impl BlockSparseRows {
    /// Adds a row; answers its places and their cells, of which the last may reach beyond the row with zeros.
    pub fn push(&mut self, row: &[f64], weight: f64) -> (&[u32], &[[f64; BLOCK_CELLS]]) {
        let before = self.places.len();
        let mut found = [0; MAX_BLOCKS];
        for (first, stretch) in (0..).step_by(MAX_BLOCKS).zip(row.chunks(MAX_CELLS)) {
            let n = nonzero_block_indices(stretch, &mut found);
            let (fours, rest) = stretch.as_chunks::<BLOCK_CELLS>();
            self.places.extend(found[..n].iter().map(|at| first + u32::from(*at)));
            self.cells.extend(found[..n].iter().map(|at| fours[usize::from(*at)]));
            if rest.iter().any(|x| *x != 0.0) {
                let mut cells = [0.0; BLOCK_CELLS];
                cells[..rest.len()].copy_from_slice(rest);
                self.places.push(first + fours.len() as u32);
                self.cells.push(cells);
            }
        }
        self.rows.push((self.places.len(), weight));
        (&self.places[before..], &self.cells[before..])
    }

    /// How many places all rows have.
    pub fn n_blocks(&self) -> usize {
        self.places.len()
    }

    /// The lower triangle of `Σ w x xᵀ` for rows of so many cells, row after row.
    ///
    /// # Panics
    /// If a row has a place beyond the width.
    pub fn gram(&self, width: usize) -> Vec<f64> {
        let n_lines = width.div_ceil(BLOCK_CELLS);
        let mut tiles = vec![Tile::default(); n_lines * (n_lines + 1) / 2];
        let mut first = 0;
        for rows in self.rows.chunks(ROWS_PER_PANEL) {
            self.add_panel(first, rows, n_lines, &mut tiles);
            first = rows.last().map_or(first, |(end, _)| *end);
        }
        let mut triangle = Vec::with_capacity(width * (width + 1) / 2);
        for i in 0..width {
            let (line, r) = (i / BLOCK_CELLS, i % BLOCK_CELLS);
            let line = &tiles[line * (line + 1) / 2..][..=line];
            triangle.extend(line.iter().flat_map(|tile| tile[r]).take(i + 1));
        }
        triangle
    }

    /// Adds rows whose places begin at `first`.
    fn add_panel(&self, first: usize, rows: &[(usize, f64)], n_lines: usize, tiles: &mut [Tile]) {
        let end = rows.last().map_or(first, |(end, _)| *end);
        let (places, cells) = (&self.places[first..end], &self.cells[first..end]);
        // Who has each place: where the row begins, where the place stands, and the weight.
        let mut starts = vec![0; n_lines + 1];
        places.iter().for_each(|at| starts[*at as usize + 1] += 1);
        for line in 0..n_lines {
            starts[line + 1] += starts[line];
        }
        let mut next = starts.clone();
        let mut visits = vec![(0, 0, 0.0); places.len()];
        let mut begin = 0;
        for (end, weight) in rows {
            let end = end - first;
            for at in begin..end {
                let next = &mut next[places[at] as usize];
                visits[*next] = (begin as u32, at as u32, *weight);
                *next += 1;
            }
            begin = end;
        }
        let mut rest = tiles;
        for line in 0..n_lines {
            let (tiles, others) = rest.split_at_mut(line + 1);
            rest = others;
            add_line(&visits[starts[line]..starts[line + 1]], places, cells, tiles);
        }
    }
}

/// Adds the products of the cells of one place with those before it, row by row.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq", "x86_64+avx+avx2", "aarch64+neon"))]
fn add_line(
    visits: &[(u32, u32, f64)],
    places: &[u32],
    cells: &[[f64; BLOCK_CELLS]],
    tiles: &mut [Tile],
) {
    for (begin, at, weight) in visits {
        let (row, own) = (*begin as usize..=*at as usize, cells[*at as usize].map(|x| weight * x));
        for (at, other) in places[row.clone()].iter().zip(&cells[row]) {
            let tile = &mut tiles[*at as usize];
            for r in 0..BLOCK_CELLS {
                for k in 0..BLOCK_CELLS {
                    tile[r][k] += own[r] * other[k];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn products_of_what_is_not_zero_are_all_there_are() {
        let mut random = Random::new(3);
        for width in [1, 4, 30, MAX_CELLS + 7] {
            let n = 2 * ROWS_PER_PANEL + 5;
            let mut cell = || if random.uniform() < 0.1 { random.normal() } else { 0.0 };
            let rows: Vec<Vec<f64>> =
                (0..n).map(|_| (0..width).map(|_| cell()).collect()).collect();
            let weight = |i: usize| (i % 3) as f64;

            let mut thin = BlockSparseRows::default();
            for (i, row) in rows.iter().enumerate() {
                let (places, cells) = thin.push(row, weight(i));
                let found: f64 = cells.as_flattened().iter().sum();
                assert!((found - row.iter().sum::<f64>()).abs() < 1e-12);
                assert!(places.is_sorted_by(|a, b| a < b));
            }
            let found = thin.gram(width);

            assert_eq!(found.len(), width * (width + 1) / 2);
            // All cells of a few columns.
            for i in (0..width).step_by(1 + width / 40) {
                for j in 0..=i {
                    let expected: f64 =
                        rows.iter().enumerate().map(|(r, x)| weight(r) * x[i] * x[j]).sum();
                    assert!((found[i * (i + 1) / 2 + j] - expected).abs() < 1e-10);
                }
            }
        }
    }
}
