//! Weighted Gram matrices `Σ w x xᵀ` of sparse rows in blocks of four cells.
//!
//! The nonzero blocks of every row are stored. The products of one block with all blocks before it form a row of tiles,
//! which stays in the first-level cache during the pass over the rows with this block.

use super::nonzero::{BLOCK_CELLS, MAX_BLOCKS, MAX_CELLS, nonzero_block_indices};
use multiversion::multiversion;

/// Rows per panel: few enough to stay in cache, many enough to use every row of tiles often.
const ROWS_PER_PANEL: usize = 256;

/// The products of the cells of two blocks.
type Tile = [[f64; BLOCK_CELLS]; BLOCK_CELLS];

/// Rows as their nonzero blocks.
#[derive(Clone, Debug, Default)]
pub struct BlockSparseRows {
    /// The end of the blocks of each row, and its weight.
    rows: Vec<(usize, f64)>,
    blocks: Vec<u32>,
    cells: Vec<[f64; BLOCK_CELLS]>,
}

impl BlockSparseRows {
    /// Adds a row; returns its nonzero blocks and their cells. The last block may be padded with zeros.
    pub fn push(&mut self, row: &[f64], weight: f64) -> (&[u32], &[[f64; BLOCK_CELLS]]) {
        let before = self.blocks.len();
        let mut found = [0; MAX_BLOCKS];
        for (first, stretch) in (0..).step_by(MAX_BLOCKS).zip(row.chunks(MAX_CELLS)) {
            let n = nonzero_block_indices(stretch, &mut found);
            let (fours, rest) = stretch.as_chunks::<BLOCK_CELLS>();
            self.blocks.extend(found[..n].iter().map(|at| first + u32::from(*at)));
            self.cells.extend(found[..n].iter().map(|at| fours[usize::from(*at)]));
            if rest.iter().any(|x| *x != 0.0) {
                let mut cells = [0.0; BLOCK_CELLS];
                cells[..rest.len()].copy_from_slice(rest);
                self.blocks.push(first + fours.len() as u32);
                self.cells.push(cells);
            }
        }
        self.rows.push((self.blocks.len(), weight));
        (&self.blocks[before..], &self.cells[before..])
    }

    /// The number of blocks of all rows.
    pub fn n_blocks(&self) -> usize {
        self.blocks.len()
    }

    /// The lower triangle of `Σ w x xᵀ` for rows of `width` cells, packed.
    ///
    /// # Panics
    /// If a row has a block beyond the width.
    pub fn gram(&self, width: usize) -> Vec<f64> {
        let n_tile_rows = width.div_ceil(BLOCK_CELLS);
        let mut tiles = vec![Tile::default(); n_tile_rows * (n_tile_rows + 1) / 2];
        let mut first = 0;
        for rows in self.rows.chunks(ROWS_PER_PANEL) {
            self.add_panel(first, rows, n_tile_rows, &mut tiles);
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

    /// Adds rows whose blocks start at `first`.
    fn add_panel(
        &self,
        first: usize,
        rows: &[(usize, f64)],
        n_tile_rows: usize,
        tiles: &mut [Tile],
    ) {
        let end = rows.last().map_or(first, |(end, _)| *end);
        let (blocks, cells) = (&self.blocks[first..end], &self.cells[first..end]);
        // For each block, the rows that have it: the start of the row, the position of the block, and the weight.
        let mut starts = vec![0; n_tile_rows + 1];
        blocks.iter().for_each(|at| starts[*at as usize + 1] += 1);
        for line in 0..n_tile_rows {
            starts[line + 1] += starts[line];
        }
        let mut next = starts.clone();
        let mut visits = vec![(0, 0, 0.0); blocks.len()];
        let mut begin = 0;
        for (end, weight) in rows {
            let end = end - first;
            for at in begin..end {
                let next = &mut next[blocks[at] as usize];
                visits[*next] = (begin as u32, at as u32, *weight);
                *next += 1;
            }
            begin = end;
        }
        let mut rest = tiles;
        for line in 0..n_tile_rows {
            let (tiles, others) = rest.split_at_mut(line + 1);
            rest = others;
            add_tile_row(&visits[starts[line]..starts[line + 1]], blocks, cells, tiles);
        }
    }
}

/// Adds the products of the cells of one block with those before it, row by row.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq", "x86_64+avx+avx2", "aarch64+neon"))]
fn add_tile_row(
    visits: &[(u32, u32, f64)],
    blocks: &[u32],
    cells: &[[f64; BLOCK_CELLS]],
    tiles: &mut [Tile],
) {
    for (begin, at, weight) in visits {
        let (row, own) = (*begin as usize..=*at as usize, cells[*at as usize].map(|x| weight * x));
        for (at, other) in blocks[row.clone()].iter().zip(&cells[row]) {
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
    fn gram_matrices_match_the_definition() {
        let mut random = Random::new(3);
        for width in [1, 4, 30, MAX_CELLS + 7] {
            let n = 2 * ROWS_PER_PANEL + 5;
            let mut cell = || if random.uniform() < 0.1 { random.normal() } else { 0.0 };
            let rows: Vec<Vec<f64>> =
                (0..n).map(|_| (0..width).map(|_| cell()).collect()).collect();
            let weight = |i: usize| (i % 3) as f64;

            let mut sparse = BlockSparseRows::default();
            for (i, row) in rows.iter().enumerate() {
                let (blocks, cells) = sparse.push(row, weight(i));
                let found: f64 = cells.as_flattened().iter().sum();
                assert!((found - row.iter().sum::<f64>()).abs() < 1e-12);
                assert!(blocks.is_sorted_by(|a, b| a < b));
            }
            let found = sparse.gram(width);

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
