//! Tokenization into words.
//!
//! A word is a run of letters, digits and underscores in any script: Unicode's categories L and N,
//! which is what Python's `\w` and with it scikit-learn's token pattern `(?u)\b\w\w+\b` mean.

use mercer_num::simd::bytes::{ByteClasses, classify_bytes};
use std::sync::LazyLock;

/// The lower-case words of a text: runs of at least two letters, digits or underscores, in any script.
///
/// ```
/// let words: Vec<String> = mercer::text::words("Win a PRIZE, c'est l'été!").collect();
/// assert_eq!(words, ["win", "prize", "est", "été"]);
/// ```
pub fn words(text: &str) -> impl Iterator<Item = String> {
    let lower = text.to_lowercase();
    let mut words = Vec::new();
    each_run(&lower, 2, |from, to| words.push(lower[from..to].to_owned()));
    words.into_iter()
}

/// Windows of 64 bytes that are classified together.
const WINDOWS: usize = 16;

/// A bit for every code point: whether it is of category L or N.
static LETTERS: LazyLock<Vec<u64>> = LazyLock::new(|| {
    let mut bits = vec![0_u64; 0x11_0000 / 64];
    let class = regex_syntax::parse(r"[\p{L}\p{N}_]").expect("the pattern is our own");
    if let regex_syntax::hir::HirKind::Class(regex_syntax::hir::Class::Unicode(class)) =
        class.kind()
    {
        for c in class.iter().flat_map(|range| range.start()..=range.end()) {
            bits[c as usize / 64] |= 1 << (c as usize % 64);
        }
    }
    bits
});

/// Whether a character can be part of a word.
pub(super) fn is_word(c: char) -> bool {
    LETTERS[c as usize / 64] >> (c as usize % 64) & 1 == 1
}

/// White space as Python's `str.isspace` has it: Unicode's, and the four ASCII separators.
pub(super) fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// Calls `take` with the byte range of every word of at least `min_length` characters. Bytes are classified 64
/// at a time, and words begin and end where a bit differs from its predecessor, which avoids a branch per
/// byte.
#[inline]
pub(super) fn each_run(text: &str, min_length: usize, mut take: impl FnMut(usize, usize)) {
    let bytes = text.as_bytes();
    let mut windows = [ByteClasses::default(); WINDOWS];
    let (mut from, mut inside) = (0, false);
    let mut beyond = BeyondAscii { seen: 0, over: 0, is_word: false };
    let mut end = |from: usize, to: usize, seen: usize| {
        // Every byte is one character, unless the word has characters beyond ASCII.
        let n = if seen > from { text[from..to].chars().count() } else { to - from };
        if n >= min_length {
            take(from, to);
        }
    };
    for (k, block) in bytes.chunks(64 * WINDOWS).enumerate() {
        let n = classify_bytes(block, &mut windows);
        for (w, classes) in windows[..n].iter().enumerate() {
            let base = 64 * (k * WINDOWS + w);
            let mut words = classes.word;
            if classes.non_ascii != 0 {
                words |= beyond.words(text, base, classes.non_ascii);
            }
            let mut edges = words ^ (words << 1 | u64::from(inside));
            while edges != 0 {
                let at = base + edges.trailing_zeros() as usize;
                edges &= edges - 1;
                if inside {
                    end(from, at, beyond.seen);
                } else {
                    from = at;
                }
                inside = !inside;
            }
        }
    }
    // Bits after the last byte are zero, which ends every word except one that fills its window.
    if inside {
        end(from, bytes.len(), beyond.seen);
    }
}

/// The state of characters beyond ASCII.
struct BeyondAscii {
    /// Where the last one ended.
    seen: usize,
    /// The number of its bytes in the next window, and whether it is part of a word.
    over: usize,
    is_word: bool,
}

impl BeyondAscii {
    /// The bits of characters beyond ASCII that are part of words, in the window at `base`.
    #[cold]
    #[inline(never)]
    fn words(&mut self, text: &str, base: usize, mut others: u64) -> u64 {
        let before = (1 << self.over) - 1;
        let mut words = if self.is_word { before } else { 0 };
        others &= !before;
        (self.over, self.is_word) = (0, false);
        while others != 0 {
            let i = others.trailing_zeros() as usize;
            let Some(c) = text[base + i..].chars().next() else { break };
            let end = i + c.len_utf8();
            let bits = if end >= 64 { u64::MAX << i } else { (1 << end) - (1 << i) };
            let is_word = is_word(c);
            words |= if is_word { bits } else { 0 };
            others &= !bits;
            self.seen = base + end;
            if end > 64 {
                (self.over, self.is_word) = (end - 64, is_word);
            }
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn runs(text: &str, min_length: usize) -> Vec<&str> {
        let mut out = Vec::new();
        each_run(text, min_length, |from, to| out.push(&text[from..to]));
        out
    }

    #[test]
    fn words_match_the_token_pattern_of_python() {
        assert_eq!(runs("don't x_1 a 42 ½ 你好 ⅷⅷ", 2), ["don", "x_1", "42", "你好", "ⅷⅷ"]);
        // Neither a combining mark nor an emoji is a letter in Python.
        assert_eq!(runs("cafe\u{301}s हिन्दी a😀b", 2), ["cafe"]);
        assert_eq!(runs("", 1), [""; 0]);
        assert_eq!(runs("ß é", 1), ["ß", "é"]);
    }

    #[test]
    fn words_may_cross_window_boundaries() {
        for n in 55..75 {
            let (plain, long) = ("x".repeat(n), "é".repeat(n));
            assert_eq!(runs(&plain, 2), [&plain]);
            assert_eq!(runs(&long, 2), [&long]);
            let apart = format!("{}é{}你 {} ß", " ".repeat(n), "a".repeat(n), "😀".repeat(n));
            assert_eq!(runs(&apart, 2), [format!("é{}你", "a".repeat(n))]);
        }
        let many = "ab ".repeat(1000);
        assert_eq!(runs(&many, 2).len(), 1000);
    }

    proptest! {
        #[test]
        fn words_equal_the_matches_of_the_regular_expression(text in r"[a-zA-Z0-9_ .,'éßİ\u{301}你😀½\u{1c}-]{0,200}") {
            let pattern = regex::Regex::new(r"[\p{L}\p{N}_]{2,}").unwrap();
            let found: Vec<&str> = pattern.find_iter(&text).map(|m| m.as_str()).collect();
            prop_assert_eq!(runs(&text, 2), found);
        }
    }
}
