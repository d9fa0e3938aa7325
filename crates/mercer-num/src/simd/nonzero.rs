//! Where the cells of a row are not zero, by places of four.

/// Cells of a place.
pub const BLOCK_CELLS: usize = 4;
/// Cells that are looked through together.
pub const MAX_CELLS: usize = 1024;

/// The places, four cells each, that hold anything but zeros, and how many of them there are. Cells behind the last
/// whole place are not looked at.
///
/// ```
/// use mercer_num::simd::nonzero::{MAX_BLOCKS, nonzero_block_indices};
/// let mut places = [0; MAX_BLOCKS];
/// let n = nonzero_block_indices(&[0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0, -0.0, 1.0], &mut places);
/// assert_eq!(places[..n], [1]);
/// ```
///
/// # Panics
/// If there are more than [`MAX_CELLS`] cells.
#[inline]
pub fn nonzero_block_indices(cells: &[f64], places: &mut [u16; MAX_BLOCKS]) -> usize {
    assert!(cells.len() <= MAX_CELLS, "a stretch at a time");
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: just detected.
        return unsafe { wide(cells, places) };
    }
    plain(cells, 0, 0, places)
}

/// Places of a stretch.
pub const MAX_BLOCKS: usize = MAX_CELLS / BLOCK_CELLS;

/// Goes on from a place, with so many found before it.
#[inline]
fn plain(cells: &[f64], from: usize, mut n: usize, places: &mut [u16; MAX_BLOCKS]) -> usize {
    let (fours, _) = cells.as_chunks::<BLOCK_CELLS>();
    for (at, four) in fours.iter().enumerate().skip(from) {
        // Written in any case, and counted where it should stay: nobody can tell what a branch would do.
        places[n] = at as u16;
        n += usize::from(four.iter().any(|x| *x != 0.0));
    }
    n
}

/// The same, sixteen cells at a time.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn wide(cells: &[f64], places: &mut [u16; MAX_BLOCKS]) -> usize {
    use std::arch::x86_64::*;
    let (sixteens, _) = cells.as_chunks::<16>();
    let mut n = 0;
    for (at, sixteen) in sixteens.iter().enumerate() {
        let other = |k: usize| {
            // SAFETY: four of sixteen numbers.
            let four = unsafe { _mm256_loadu_pd(sixteen.as_ptr().add(4 * k)) };
            _mm256_castpd_si256(_mm256_cmp_pd::<_CMP_NEQ_UQ>(four, _mm256_setzero_pd()))
        };
        // Eight bytes a number become one: two numbers of each place in the lower half, two in the upper.
        let front = _mm256_packs_epi32(other(0), other(1));
        let back = _mm256_packs_epi32(other(2), other(3));
        let bits = _mm256_movemask_epi8(_mm256_packs_epi16(front, back)) as u32;
        let mut found = bits | bits >> 16;
        found |= found >> 2;
        for k in 0..4 {
            places[n % MAX_BLOCKS] = (4 * at + k) as u16;
            n += (found >> (4 * k) & 1) as usize;
        }
    }
    plain(cells, 4 * sixteens.len(), n, places)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn every_set_of_places_is_found_as_the_plain_loop_finds_it() {
        let mut random = Random::new(5);
        for n in [0, 3, 4, 15, 16, 17, 100, MAX_CELLS] {
            for share in [0.0, 0.05, 0.5, 1.0] {
                let mut cell = || if random.uniform() < share { random.normal() } else { -0.0 };
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
