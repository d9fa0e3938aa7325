//! Where words begin and end.
//!
//! A word is a run of letters, digits and underscores in any script: Unicode's categories L and N,
//! which is what Python's `\w` and with it scikit-learn's token pattern `(?u)\b\w\w+\b` mean.

use std::sync::LazyLock;

/// The words of a text in lower case: runs of at least two letters, digits or underscores, in any
/// script.
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

/// What a byte says about the character it belongs to.
const BETWEEN: u8 = 0;
const WORD: u8 = 1;
const BEYOND_ASCII: u8 = 2;

static CLASSES: [u8; 256] = {
    let mut classes = [BETWEEN; 256];
    let mut b = 0;
    while b < 256 {
        let byte = b as u8;
        if byte.is_ascii_alphanumeric() || byte == b'_' {
            classes[b] = WORD;
        } else if !byte.is_ascii() {
            classes[b] = BEYOND_ASCII;
        }
        b += 1;
    }
    classes
};

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

/// Hands out where words of at least `least` characters begin and end.
#[inline]
pub(super) fn each_run(text: &str, least: usize, mut take: impl FnMut(usize, usize)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let mut n = 0;
        while at < bytes.len() {
            match CLASSES[bytes[at] as usize] {
                WORD => at += 1,
                BETWEEN => break,
                _ => match beyond_ascii(text, at) {
                    (true, length) => at += length,
                    (false, _) => break,
                },
            }
            n += 1;
        }
        if n >= least {
            take(start, at);
        }
        // What ended the word, and whatever else lies before the next.
        while at < bytes.len() {
            match CLASSES[bytes[at] as usize] {
                BETWEEN => at += 1,
                WORD => break,
                _ => match beyond_ascii(text, at) {
                    (false, length) => at += length,
                    (true, _) => break,
                },
            }
        }
    }
}

/// Whether the character at a place is part of a word, and its bytes.
#[cold]
#[inline(never)]
fn beyond_ascii(text: &str, at: usize) -> (bool, usize) {
    let c = text[at..].chars().next().unwrap_or(' ');
    (is_word(c), c.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn runs(text: &str, least: usize) -> Vec<&str> {
        let mut out = Vec::new();
        each_run(text, least, |from, to| out.push(&text[from..to]));
        out
    }

    #[test]
    fn words_are_what_pythons_pattern_finds() {
        assert_eq!(runs("don't x_1 a 42 ½ 你好 ⅷⅷ", 2), ["don", "x_1", "42", "你好", "ⅷⅷ"]);
        // A combining mark is no letter to Python, and neither is an emoji.
        assert_eq!(runs("cafe\u{301}s हिन्दी a😀b", 2), ["cafe"]);
        assert_eq!(runs("", 1), [""; 0]);
        assert_eq!(runs("ß é", 1), ["ß", "é"]);
    }

    proptest! {
        #[test]
        fn runs_are_those_of_the_regular_expression(text in r"[a-zA-Z0-9_ .,'éßİ\u{301}你😀½\u{1c}-]{0,60}") {
            let pattern = regex::Regex::new(r"[\p{L}\p{N}_]{2,}").unwrap();
            let found: Vec<&str> = pattern.find_iter(&text).map(|m| m.as_str()).collect();
            prop_assert_eq!(runs(&text, 2), found);
        }
    }
}
