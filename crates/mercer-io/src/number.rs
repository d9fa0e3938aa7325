//! Numbers out of bytes, read once: digits become a 64-bit mantissa m and a power of ten e, and the
//! scan ends where the number does, so that the end of the field need not be found first.
//!
//! The value m * 10^e is exact in one rounding if m < 2^53 and |e| <= 22, since then both factors
//! are doubles without error (Clinger, 1990). Everything else goes to `fast-float2`, which is
//! correctly rounded. Eight digits are read at a time inside one 64-bit word (Lemire, 2021,
//! "Number parsing at a gigabyte per second").
//!
//! Grammar: `[+-]? (d+ .? d* | . d+) ([eE] [+-]? d+)?`; no `inf`, no `nan`, no `_`.

const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];
const WHOLE_POWERS: [u64; 9] =
    [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];
/// `00000000`.
const ZEROS: u64 = 0x3030_3030_3030_3030;
/// As many digits always fit into 64 bits.
const MAX_DIGITS: usize = 19;
const MAX_EXACT: u64 = 1 << 53;

/// A number as it stands in a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Number {
    mantissa: u64,
    exponent: i32,
    negative: bool,
    /// More digits than the mantissa holds: only the text knows the value.
    long: bool,
    /// Where it ends.
    pub end: usize,
}

/// A number of fewer than eight digits on either side of its point, and no power: most numbers of
/// most files. Its value needs no check, since 14 digits and seven decimals are always exact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Short {
    mantissa: u64,
    n_fraction: usize,
    negative: bool,
    /// Where it ends.
    pub end: usize,
}

impl Short {
    /// The correctly rounded value.
    #[inline(always)]
    pub fn value(&self) -> f64 {
        signed(self.mantissa as i64 as f64 / POWERS[self.n_fraction & 7], self.negative)
    }

    /// Whether it is written without a fraction.
    #[inline(always)]
    pub fn is_plain_integer(&self) -> bool {
        self.n_fraction == 0
    }
}

/// Reads a short number without a loop; `None` leaves the decision to [`scan`].
#[inline(always)]
pub(crate) fn scan_short(bytes: &[u8], start: usize) -> Option<Short> {
    let window: &[u8; 32] = bytes.get(start..)?.first_chunk()?;
    let negative = window[0] == b'-';
    let begin = usize::from(negative | (window[0] == b'+'));
    let whole = word(window, begin);
    let n_whole = n_digits(whole);
    if n_whole == 8 {
        return None;
    }
    let mut end = begin.wrapping_add(n_whole);
    let mut digits = whole & low_bytes(n_whole);
    let mut n_fraction = 0;
    let mut mantissa = 0;
    if window[end] == b'.' {
        let fraction = word(window, end.wrapping_add(1));
        n_fraction = n_digits(fraction);
        if n_fraction == 8 {
            return None;
        }
        end = end.wrapping_add(n_fraction).wrapping_add(1);
        if n_whole.wrapping_add(n_fraction) > 8 {
            mantissa = eight_digits(align(digits, n_whole)).wrapping_mul(WHOLE_POWERS[n_fraction]);
            digits = fraction;
        } else {
            digits |= fraction << (n_whole * 8);
        }
    }
    let n_digits = n_whole.wrapping_add(n_fraction);
    // A power makes this end with `e`, which ends no field, so the caller sends it to `scan`.
    if n_digits == 0 {
        return None;
    }
    let n_aligned = if n_digits > 8 { n_fraction } else { n_digits };
    mantissa = mantissa.wrapping_add(eight_digits(align(digits, n_aligned)));
    Some(Short { mantissa, n_fraction, negative, end: start.wrapping_add(end) })
}

/// Reads the number that begins at `start`, if one does.
pub(crate) fn scan(bytes: &[u8], start: usize) -> Option<Number> {
    let mut number = scan_any(bytes.get(start..)?)?;
    number.end += start;
    Some(number)
}

fn scan_any(bytes: &[u8]) -> Option<Number> {
    let mut at = 0;
    let sign = *bytes.first()?;
    let negative = sign == b'-';
    at += usize::from(negative | (sign == b'+'));
    let mut mantissa = 0;
    let whole = digits(bytes, &mut at, &mut mantissa);
    let mut fraction = 0;
    if bytes.get(at) == Some(&b'.') {
        at += 1;
        fraction = digits(bytes, &mut at, &mut mantissa);
    }
    let n_digits = whole + fraction;
    if n_digits == 0 {
        return None;
    }
    let mut number = Number {
        mantissa,
        exponent: -(fraction.min(1 << 20) as i32),
        negative,
        long: n_digits > MAX_DIGITS,
        end: at,
    };
    if bytes.get(at).is_some_and(|b| b | 0x20 == b'e') {
        number.power(bytes)?;
    }
    Some(number)
}

/// The value of a text that is exactly one number.
pub(crate) fn parse(text: &[u8]) -> Option<f64> {
    let number = scan(text, 0)?;
    let value = number.value(text);
    (number.end == text.len() && value.is_finite()).then_some(value)
}

impl Number {
    /// The correctly rounded value; `text` is the number from its sign to its end.
    #[inline]
    pub fn value(&self, text: &[u8]) -> f64 {
        if !self.is_exact() {
            return slow(text);
        }
        // Through i64: one instruction, where u64 takes a branch.
        self.signed(self.mantissa as i64 as f64)
    }

    /// Whether mantissa and power are doubles without error, so that one rounding gives the value.
    #[inline]
    pub fn is_exact(&self) -> bool {
        !self.long && self.mantissa <= MAX_EXACT && self.exponent.unsigned_abs() <= 22
    }

    /// A value within a few roundings of the true one, where that is cheap.
    #[inline]
    pub fn estimate(&self) -> Option<f64> {
        (!self.long && self.exponent.unsigned_abs() <= 22)
            .then(|| self.signed(self.mantissa as f64))
    }

    /// Whether it is written without fraction and power.
    #[inline]
    pub fn is_plain_integer(&self) -> bool {
        self.exponent == 0
    }

    #[inline]
    fn signed(&self, mantissa: f64) -> f64 {
        let power = POWERS[self.exponent.unsigned_abs() as usize & 31];
        let size = if self.exponent < 0 { mantissa / power } else { mantissa * power };
        signed(size, self.negative)
    }

    /// Reads the power of ten at `end`. A power without digits is no number.
    fn power(&mut self, bytes: &[u8]) -> Option<()> {
        let mut at = self.end + 1;
        let negative = bytes.get(at) == Some(&b'-');
        at += usize::from(negative || bytes.get(at) == Some(&b'+'));
        let begin = at;
        let mut power = 0i32;
        while let Some(d) = bytes.get(at).map(|b| b.wrapping_sub(b'0')).filter(|d| *d < 10) {
            // Far beyond any double; the text decides.
            power = (power * 10 + i32::from(d)).min(1 << 20);
            at += 1;
        }
        if at == begin {
            return None;
        }
        self.exponent += if negative { -power } else { power };
        self.end = at;
        Some(())
    }
}

/// Signs are random; a branch on them would be inferred wrong half of the time.
#[inline(always)]
fn signed(size: f64, negative: bool) -> f64 {
    f64::from_bits(size.to_bits() | u64::from(negative) << 63)
}

#[cold]
fn slow(text: &[u8]) -> f64 {
    // `fast-float2` accepts what the scan accepts; an overflow gives infinity.
    fast_float2::parse(text).unwrap_or(f64::INFINITY)
}

/// Appends digits to the mantissa and returns their number; beyond 19 the mantissa is meaningless.
#[inline]
fn digits(bytes: &[u8], at: &mut usize, mantissa: &mut u64) -> usize {
    let begin = *at;
    loop {
        let word = eight(bytes, *at) ^ ZEROS;
        let n = n_digits(word);
        if n == 0 {
            break;
        }
        *mantissa =
            mantissa.wrapping_mul(WHOLE_POWERS[n]).wrapping_add(eight_digits(align(word, n)));
        *at += n;
        if n < 8 {
            break;
        }
    }
    *at - begin
}

/// Eight bytes of a window, digits turned into 0..=9, the first lowest.
#[inline]
fn word(window: &[u8; 32], at: usize) -> u64 {
    eight(window, at) ^ ZEROS
}

/// How many bytes of a word are digits, up to the first that is not. Anything but a digit is at
/// least 10 here or has its high bit set.
#[inline]
fn n_digits(word: u64) -> usize {
    let others = (word.wrapping_add(0x7676_7676_7676_7676) | word) & 0x8080_8080_8080_8080;
    (others.trailing_zeros() / 8) as usize
}

/// The first `n` bytes of a word, fewer than eight; the others are zero.
#[inline]
fn low_bytes(n: usize) -> u64 {
    (1u64 << ((n & 7) * 8)).wrapping_sub(1)
}

/// Moves the first `n` digits to the end of the word: what comes in before them are leading zeros.
#[inline]
fn align(word: u64, n: usize) -> u64 {
    word << (64usize.wrapping_sub(n.wrapping_mul(8)) & 63)
}

/// The value of eight digits in one word, the first lowest: pairs, then fours, then all.
#[inline]
fn eight_digits(word: u64) -> u64 {
    let pairs = word.wrapping_mul(10).wrapping_add(word >> 8);
    let low = (pairs & 0x0000_00ff_0000_00ff).wrapping_mul(0x000f_4240_0000_0064);
    let high = (pairs >> 16 & 0x0000_00ff_0000_00ff).wrapping_mul(0x0000_2710_0000_0001);
    low.wrapping_add(high) >> 32
}

#[inline]
fn eight(bytes: &[u8], at: usize) -> u64 {
    match bytes.get(at..).and_then(<[u8]>::first_chunk) {
        Some(chunk) => u64::from_le_bytes(*chunk),
        None => last_few(bytes, at),
    }
}

#[cold]
fn last_few(bytes: &[u8], at: usize) -> u64 {
    let mut chunk = [0; 8];
    let rest = bytes.get(at..).unwrap_or(&[]);
    chunk[..rest.len()].copy_from_slice(rest);
    u64::from_le_bytes(chunk)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str) {
        let expected: f64 = text.parse().unwrap();
        assert_eq!(parse(text.as_bytes()).unwrap().to_bits(), expected.to_bits(), "{text}");
        // With more text behind it, so that eight digits are read at a time.
        let longer = format!("{text},{}", "123456789".repeat(4));
        if let Some(short) = scan_short(longer.as_bytes(), 0).filter(|s| s.end == text.len()) {
            assert_eq!(short.value().to_bits(), expected.to_bits(), "{text}");
        }
        let number = scan(longer.as_bytes(), 0).unwrap();
        assert_eq!(number.end, text.len(), "{text}");
        assert_eq!(number.value(text.as_bytes()).to_bits(), expected.to_bits(), "{text}");
        if let Some(estimate) = number.estimate() {
            assert!((estimate - expected).abs() <= expected.abs() * 1e-15, "{text}");
        }
    }

    #[test]
    fn numbers_are_what_rust_reads() {
        for text in [
            "0",
            "-0",
            "+3",
            ".5",
            "5.",
            "-.5e1",
            "1e5",
            "1E+05",
            "1e-7",
            "007",
            "0.1",
            "123456789",
            "12345678",
            "1234567890123456789",
            "9007199254740993",
            "9007199254740992",
            "0.30000000000000004",
            "1.7976931348623157e308",
            "5e-324",
            "1e-400",
            "4.35e22",
            "4.35e23",
            "123456789012345678901234567890",
            "0.000000000000000000000000000001234",
            "2.2250738585072011e-308",
            "179769313486231570000",
            "1e22",
            "1e23",
            "8.5e-23",
        ] {
            check(text);
        }
    }

    #[test]
    fn other_words_are_no_numbers() {
        for text in [
            "", "-", "+", ".", "e5", "1e", "1e+", "inf", "nan", "Infinity", "-inf", "1_000",
            "0x10", "1 ", " 1", "1,5", "--1", "1.2.3", "1e999", "-1e999", "١",
        ] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_double_written_by_rust_comes_back(bits: u64) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            check(&value.to_string());
            check(&format!("{value:e}"));
            check(&format!("{value:.6}"));
        }

        #[test]
        fn any_digits_are_rounded_correctly(
            text in "[+-]?([0-9]{1,25}(\\.[0-9]{0,25})?|\\.[0-9]{1,25})([eE][+-]?[0-9]{1,2})?"
        ) {
            check(&text);
        }
    }
}
