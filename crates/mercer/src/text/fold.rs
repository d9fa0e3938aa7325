//! Normalization of text before tokenization: lower case, accents removed.

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::canonical_combining_class;

/// How accents are handled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Accents {
    /// Kept.
    #[default]
    Keep,
    /// Decomposed (NFKD), then everything that is not ASCII is dropped.
    Ascii,
    /// Decomposed (NFKD), then combining marks are dropped.
    Unicode,
}

/// Whether the text is lower-cased.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Case {
    /// Kept.
    Keep,
    /// Lower case as Unicode defines it: `İ` becomes two characters, a last `Σ` becomes `ς`.
    #[default]
    Lower,
}

/// Appends a normalized text to `out`.
pub(super) fn fold_into(text: &str, case: Case, accents: Accents, out: &mut String) {
    let start = out.len();
    match case {
        Case::Keep => out.push_str(text),
        Case::Lower => lower_into(text, out),
    }
    if accents == Accents::Keep || out[start..].is_ascii() {
        return;
    }
    let lowered = out.split_off(start);
    match accents {
        Accents::Ascii => out.extend(lowered.nfkd().filter(char::is_ascii)),
        _ => out.extend(lowered.nfkd().filter(|c| canonical_combining_class(*c) == 0)),
    }
}

fn lower_into(text: &str, out: &mut String) {
    if text.is_ascii() {
        push_lower(text, out);
        return;
    }
    // The lower case of a capital sigma depends on its neighbors; other letters are independent.
    if text.contains('Σ') {
        out.push_str(&text.to_lowercase());
        return;
    }
    let mut rest = text;
    loop {
        let (plain, other) = rest.split_at(n_ascii(rest.as_bytes()));
        if other.is_empty() {
            break;
        }
        push_lower(plain, out);
        let mut letters = other.chars();
        out.extend(letters.by_ref().take(1).flat_map(char::to_lowercase));
        rest = letters.as_str();
    }
    push_lower(rest, out);
}

/// The number of ASCII bytes at the start.
fn n_ascii(bytes: &[u8]) -> usize {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let (words, tail) = bytes.as_chunks::<8>();
    for (k, word) in words.iter().enumerate() {
        let high = u64::from_le_bytes(*word) & HIGH;
        if high != 0 {
            return 8 * k + high.trailing_zeros() as usize / 8;
        }
    }
    let plain = tail.iter().position(|byte| !byte.is_ascii());
    8 * words.len() + plain.unwrap_or(tail.len())
}

fn push_lower(plain: &str, out: &mut String) {
    let start = out.len();
    out.push_str(plain);
    out[start..].make_ascii_lowercase();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(text: &str, accents: Accents) -> String {
        let mut out = "kept ".to_owned();
        fold_into(text, Case::Lower, accents, &mut out);
        out.strip_prefix("kept ").expect("the prefix is kept").to_owned()
    }

    #[test]
    fn lower_case_follows_unicode() {
        assert_eq!(folded("ABC İSTANBUL ẞ ΟΔΟΣ", Accents::Keep), "abc i̇stanbul ß οδος");
        assert_eq!(folded("ÀÉ plain Ü", Accents::Keep), "àé plain ü");
    }

    #[test]
    fn accents_are_removed_as_requested() {
        assert_eq!(folded("Été à Zürich №5 ß", Accents::Unicode), "ete a zurich No5 ß");
        assert_eq!(folded("Été à Zürich №5 ß", Accents::Ascii), "ete a zurich No5 ");
    }
}
