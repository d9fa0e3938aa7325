//! The nonzero blocks of four cells of a row.

/// Cells per block.
pub const BLOCK_CELLS: usize = 4;
/// Maximum number of cells per call.
pub const MAX_CELLS: usize = 1024;

/// The indices of the blocks of four cells that are not all zero, and their number. Cells behind the last whole block
/// are ignored.
///
/// ```
/// use mercer_num::simd::nonzero::{MAX_BLOCKS, nonzero_block_indices};
/// let mut indices = [0; MAX_BLOCKS];
/// let n = nonzero_block_indices(&[0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0, -0.0, 1.0], &mut indices);
/// assert_eq!(indices[..n], [1]);
/// ```
///
/// # Panics
/// If there are more than [`MAX_CELLS`] cells.
#[inline]
pub fn nonzero_block_indices(cells: &[f64], indices: &mut [u16; MAX_BLOCKS]) -> usize {
    assert!(cells.len() <= MAX_CELLS, "at most MAX_CELLS cells");
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the instructions were detected.
        return unsafe { wide(cells, indices) };
    }
    plain(cells, 0, 0, indices)
}

/// Maximum number of blocks per call.
pub const MAX_BLOCKS: usize = MAX_CELLS / BLOCK_CELLS;

/// Continues from a block, with `n` indices found before it.
#[inline]
fn plain(cells: &[f64], from: usize, mut n: usize, indices: &mut [u16; MAX_BLOCKS]) -> usize {
    let (fours, _) = cells.as_chunks::<BLOCK_CELLS>();
    for (at, four) in fours.iter().enumerate().skip(from) {
        // Written unconditionally and counted if it is nonzero, because a branch would be unpredictable.
        indices[n] = at as u16;
        n += usize::from(four.iter().any(|x| *x != 0.0));
    }
    n
}

/// The same, sixteen cells at a time.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn wide(cells: &[f64], indices: &mut [u16; MAX_BLOCKS]) -> usize {
    use std::arch::x86_64::*;
    let (sixteens, _) = cells.as_chunks::<16>();
    let mut n = 0;
    for (at, sixteen) in sixteens.iter().enumerate() {
        let other = |k: usize| {
            // SAFETY: four of sixteen values.
            let four = unsafe { _mm256_loadu_pd(sixteen.as_ptr().add(4 * k)) };
            _mm256_castpd_si256(_mm256_cmp_pd::<_CMP_NEQ_UQ>(four, _mm256_setzero_pd()))
        };
        // The comparison masks of eight bytes are packed to one byte: two values of each block in the lower half, two
        // in the upper.
        let front = _mm256_packs_epi32(other(0), other(1));
        let back = _mm256_packs_epi32(other(2), other(3));
        let bits = _mm256_movemask_epi8(_mm256_packs_epi16(front, back)) as u32;
        let mut found = bits | bits >> 16;
        found |= found >> 2;
        for k in 0..4 {
            indices[n % MAX_BLOCKS] = (4 * at + k) as u16;
            n += (found >> (4 * k) & 1) as usize;
        }
    }
    plain(cells, 4 * sixteens.len(), n, indices)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn every_set_of_blocks_equals_that_of_the_scalar_loop() {
        let mut random = Random::new(5);
        for n in [0, 3, 4, 15, 16, 17, 100, MAX_CELLS] {
            for coefficient in [0.0, 0.05, 0.5, 1.0] {
                let mut cell =
                    || if random.uniform() < coefficient { random.normal() } else { -0.0 };
                let mut cells: Vec<f64> = (0..n).map(|_| cell()).collect();
                cells.iter_mut().skip(2).step_by(37).for_each(|x| *x = f64::NAN);
                let (mut found, mut expected) = ([0; MAX_BLOCKS], [0; MAX_BLOCKS]);

                let n_found = nonzero_block_indices(&cells, &mut found);
                let n_expected = plain(&cells, 0, 0, &mut expected);

                assert_eq!(found[..n_found], expected[..n_expected]);
            }
        }
    }
}
