//! Vectorized search and classification of the bytes of a text.

/// Writes the positions of every `a` and `b` in `bytes` to `out` and returns their number.
///
/// # Panics
/// If `out` is shorter than `bytes`.
pub fn positions_of_either(bytes: &[u8], a: u8, b: u8, out: &mut [u32]) -> usize {
    assert!(out.len() >= bytes.len(), "space for one position per byte");
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: AVX2 was detected.
        return unsafe { with_avx2(bytes, a, b, out) };
    }
    by_word(bytes, a, b, 0, out)
}

/// The specification, eight bytes at a time within a 64-bit word; positions count from `base`.
fn by_word(bytes: &[u8], a: u8, b: u8, base: u32, out: &mut [u32]) -> usize {
    let (words, tail) = bytes.as_chunks::<8>();
    let (all_a, all_b) = (u64::from_ne_bytes([a; 8]), u64::from_ne_bytes([b; 8]));
    let mut n = 0;
    let mut at = base;
    for word in words {
        let word = u64::from_le_bytes(*word);
        let mut found = zero_bytes(word ^ all_a) | zero_bytes(word ^ all_b);
        while found != 0 {
            out[n] = at + found.trailing_zeros() / 8;
            n += 1;
            found &= found - 1;
        }
        at += 8;
    }
    for byte in tail {
        if *byte == a || *byte == b {
            out[n] = at;
            n += 1;
        }
        at += 1;
    }
    n
}

/// The high bit of every byte that is zero, and no other.
fn zero_bytes(word: u64) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    !(((word & LOW) + LOW) | word | LOW)
}

/// # Safety
/// The processor must support AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1")]
unsafe fn with_avx2(bytes: &[u8], a: u8, b: u8, out: &mut [u32]) -> usize {
    use std::arch::x86_64::*;
    let (all_a, all_b) = (_mm256_set1_epi8(a as i8), _mm256_set1_epi8(b as i8));
    let (chunks, tail) = bytes.as_chunks::<32>();
    let mut n = 0;
    let mut at = 0;
    for chunk in chunks {
        // SAFETY: the chunk has 32 bytes, and the load needs no alignment.
        let x = unsafe { _mm256_loadu_si256(chunk.as_ptr().cast()) };
        let either = _mm256_or_si256(_mm256_cmpeq_epi8(x, all_a), _mm256_cmpeq_epi8(x, all_b));
        let mut found = _mm256_movemask_epi8(either) as u32;
        while found != 0 {
            // SAFETY: there are at most as many positions as bytes, and `out` has space for every byte.
            unsafe { *out.get_unchecked_mut(n) = at + found.trailing_zeros() };
            n += 1;
            found &= found - 1;
        }
        at += 32;
    }
    n + by_word(tail, a, b, at, &mut out[n..])
}

/// The classes of 64 bytes as bit sets, the first byte in the lowest bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByteClasses {
    /// Letters and digits of ASCII, and underscores.
    pub word: u64,
    /// Bytes beyond ASCII.
    pub non_ascii: u64,
}

/// Writes the classes of every 64 bytes to `out` and returns the number of entries; bits behind the last byte are zero.
///
/// # Panics
/// If `out` is too short.
pub fn classify_bytes(bytes: &[u8], out: &mut [ByteClasses]) -> usize {
    let n = bytes.len().div_ceil(64);
    let out = &mut out[..n];
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: AVX2 was detected.
        unsafe { classify_with_avx2(bytes, out) };
        return n;
    }
    for (some, classes) in bytes.chunks(64).zip(out) {
        *classes = classify_chunk(some);
    }
    n
}

/// The specification, byte by byte.
fn classify_chunk(bytes: &[u8]) -> ByteClasses {
    let mut classes = ByteClasses::default();
    for (i, byte) in bytes.iter().enumerate() {
        let word = byte.is_ascii_alphanumeric() || *byte == b'_';
        classes.word |= u64::from(word) << i;
        classes.non_ascii |= u64::from(!byte.is_ascii()) << i;
    }
    classes
}

/// # Safety
/// The processor must support AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn classify_with_avx2(bytes: &[u8], out: &mut [ByteClasses]) {
    use std::arch::x86_64::*;
    let all = |byte: u8| _mm256_set1_epi8(byte as i8);
    let half = |half: &[u8; 32]| {
        // SAFETY: the half has 32 bytes, and the load needs no alignment.
        let x = unsafe { _mm256_loadu_si256(half.as_ptr().cast()) };
        // Whether unsigned bytes lie in a range: bytes below its start wrap around to large values.
        let in_range = |x: __m256i, first: u8, n: u8| {
            let from_first = _mm256_sub_epi8(x, all(first));
            _mm256_cmpeq_epi8(_mm256_min_epu8(from_first, all(n - 1)), from_first)
        };
        // Setting one bit converts upper to lower case, and maps no other byte to a letter.
        let letters = in_range(_mm256_or_si256(x, all(0x20)), b'a', 26);
        let digits = in_range(x, b'0', 10);
        let words = _mm256_or_si256(letters, digits);
        let words = _mm256_or_si256(words, _mm256_cmpeq_epi8(x, all(b'_')));
        let bits = |x: __m256i| u64::from(_mm256_movemask_epi8(x) as u32);
        (bits(words), bits(x))
    };
    let (chunks, tail) = bytes.as_chunks::<64>();
    for (chunk, classes) in chunks.iter().zip(out.iter_mut()) {
        let [low, high] = chunk.as_chunks::<32>().0 else { continue };
        let ((low_words, low_others), (high_words, high_others)) = (half(low), half(high));
        *classes = ByteClasses {
            word: low_words | high_words << 32,
            non_ascii: low_others | high_others << 32,
        };
    }
    if let (Some(last), false) = (out.last_mut(), tail.is_empty()) {
        *last = classify_chunk(tail);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_byte_has_the_class_of_the_specification() {
        let bytes: Vec<u8> = (0..=255).chain(0..=70).collect();
        let mut out = [ByteClasses::default(); 6];

        assert_eq!(classify_bytes(&bytes, &mut out), 6);

        for (some, found) in bytes.chunks(64).zip(&out) {
            assert_eq!(*found, classify_chunk(some));
        }
        assert_eq!(
            classify_chunk(b"a-Z_9\xc3"),
            ByteClasses { word: 0b11101, non_ascii: 0b10_0000 }
        );
    }

    proptest! {
        #[test]
        fn every_implementation_finds_the_same_positions(text in prop::collection::vec(0u8..6, 0..200)) {
            let plain: Vec<u32> = (text.iter().enumerate())
                .filter(|(_, byte)| **byte == 1 || **byte == 4)
                .map(|(i, _)| i as u32)
                .collect();

            let mut out = vec![0; text.len()];
            let n = positions_of_either(&text, 1, 4, &mut out);
            prop_assert_eq!(&out[..n], &plain[..]);
            let n = by_word(&text, 1, 4, 0, &mut out);
            prop_assert_eq!(&out[..n], &plain[..]);
        }

        #[test]
        fn bytes_that_differ_in_one_bit_are_distinguished(a: u8, b: u8, text: Vec<u8>) {
            let mut out = vec![0; text.len()];
            let n = by_word(&text, a, b, 0, &mut out);
            let plain = text.iter().filter(|byte| **byte == a || **byte == b).count();
            prop_assert_eq!(n, plain);
        }
    }
}
