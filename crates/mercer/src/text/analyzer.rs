//! From a document to its terms: n-grams of words or characters.

use super::fold::{Accents, Case, fold_into};
use super::stop_words::StopWords;
use super::terms::Terms;
use super::token::{each_run, is_space};
use crate::error::{Error, Result};
use regex::Regex;
use rust_stemmers::{Algorithm, Stemmer};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// The rules by which documents are split into terms. The defaults are those of scikit-learn's vectorizers:
/// lower-case words of at least two letters, digits or underscores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Analyzer {
    /// Whether the text is lower-cased.
    pub case: Case,
    /// How accents are handled.
    pub accents: Accents,
    /// The unit of n-grams.
    pub unit: Unit,
    /// The minimum and maximum length of n-grams, in units.
    pub ngrams: (usize, usize),
    /// Words that are removed before n-grams are formed.
    pub stop_words: StopWords,
    /// The language of the stemmer; `None` does not stem.
    pub stem: Option<Language>,
}

impl Default for Analyzer {
    fn default() -> Analyzer {
        Analyzer {
            case: Case::Lower,
            accents: Accents::Keep,
            unit: Unit::default(),
            ngrams: (1, 1),
            stop_words: StopWords::Keep,
            stem: None,
        }
    }
}

/// The unit of n-grams.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Words: runs of letters, digits and underscores of at least this length.
    Words(usize),
    /// Words as Unicode separates them (UAX #29): `don't` and `3.14` are one word each.
    UnicodeWords,
    /// The matches of a regular expression, or of its one capture group.
    Pattern(String),
    /// Characters; consecutive white space is one space.
    Characters,
    /// Characters within word boundaries; each word is padded with a space on both sides.
    CharactersInWords,
}

impl Default for Unit {
    fn default() -> Unit {
        Unit::Words(2)
    }
}

macro_rules! languages {
    ($($Name:ident $name:literal,)*) => {
        /// A language with a Snowball stemmer.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        #[allow(missing_docs)]
        pub enum Language { $($Name,)* }

        impl Language {
            /// All languages with their names.
            pub const ALL: &'static [(&'static str, Language)] = &[$(($name, Language::$Name),)*];

            fn stemmer(self) -> Stemmer {
                Stemmer::create(match self { $(Language::$Name => Algorithm::$Name,)* })
            }
        }
    };
}

languages! {
    Arabic "arabic", Danish "danish", Dutch "dutch", English "english", Finnish "finnish",
    French "french", German "german", Greek "greek", Hungarian "hungarian", Italian "italian",
    Norwegian "norwegian", Portuguese "portuguese", Romanian "romanian", Russian "russian",
    Spanish "spanish", Swedish "swedish", Tamil "tamil", Turkish "turkish",
}

impl Language {
    /// The language with a name.
    ///
    /// # Errors
    /// [`Error::Parameter`] with the valid names.
    pub fn parse(name: &str) -> Result<Language> {
        let found = Language::ALL.iter().find(|(known, _)| *known == name);
        found.map(|(_, language)| *language).ok_or_else(|| {
            let names: Vec<&str> = Language::ALL.iter().map(|(known, _)| *known).collect();
            Error::Parameter {
                name: "stem".into(),
                found: format!("`{name}`"),
                expected: format!("one of {}", names.join(", ")),
            }
        })
    }
}

/// A compiled analyzer: the regular expression, stop-word table and stemmer are built once.
pub struct Reader {
    analyzer: Analyzer,
    pattern: Option<Regex>,
    stop_words: Option<Terms>,
    stemmer: Option<Stemmer>,
}

/// Buffers of a reader, one per thread.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    folded: String,
    /// Units separated by spaces, so that every n-gram is one slice.
    joined: String,
    /// Where each unit begins and ends in `joined`.
    units: Vec<(usize, usize)>,
}

impl Analyzer {
    /// Compiles the analyzer.
    ///
    /// # Errors
    /// If the n-gram lengths are invalid or the pattern is not a regular expression.
    pub fn reader(&self) -> Result<Reader> {
        let (low, high) = self.ngrams;
        let refuse = |name: &str, found: String, expected: &str| Error::Parameter {
            name: name.to_owned(),
            found,
            expected: expected.to_owned(),
        };
        if low < 1 || low > high {
            return Err(refuse(
                "ngrams",
                format!("{low}-{high}"),
                "two integers of at least 1, the second not below the first",
            ));
        }
        let pattern = match &self.unit {
            Unit::Pattern(text) => {
                let pattern = Regex::new(text).map_err(|e| {
                    refuse("pattern", format!("`{text}`"), &format!("a regular expression: {e}"))
                })?;
                if pattern.captures_len() > 2 {
                    return Err(refuse(
                        "pattern",
                        format!("`{text}`"),
                        "a regular expression with at most one capture group",
                    ));
                }
                Some(pattern)
            }
            _ => None,
        };
        let characters = matches!(self.unit, Unit::Characters | Unit::CharactersInWords);
        Ok(Reader {
            analyzer: self.clone(),
            pattern,
            stop_words: self.stop_words.table().filter(|_| !characters),
            stemmer: self.stem.filter(|_| !characters).map(Language::stemmer),
        })
    }
}

impl Reader {
    /// Calls `take` with every term of a text as a byte range of a buffer; shorter n-grams come first.
    #[inline]
    pub fn each(
        &self,
        text: &str,
        scratch: &mut Scratch,
        mut take: impl FnMut(&[u8], usize, usize),
    ) {
        let Scratch { folded, joined, units } = scratch;
        folded.clear();
        fold_into(text, self.analyzer.case, self.analyzer.accents, folded);
        match &self.analyzer.unit {
            // The common case needs no intermediate buffer.
            Unit::Words(min_length) if self.is_plain() => {
                each_run(folded, *min_length, |from, to| take(folded.as_bytes(), from, to));
            }
            Unit::Characters => {
                one_space(folded, joined);
                characters(joined, 0, units);
                self.each_ngram(joined, units, take);
            }
            Unit::CharactersInWords => self.each_in_words(folded, joined, units, take),
            _ => {
                self.words_into(folded, joined, units);
                self.each_ngram(joined, units, take);
            }
        }
    }

    /// The terms of a text.
    pub fn terms(&self, text: &str) -> Vec<String> {
        let mut terms = Vec::new();
        self.each(text, &mut Scratch::default(), |bytes, from, to| {
            terms.push(String::from_utf8_lossy(&bytes[from..to]).into_owned());
        });
        terms
    }

    /// The byte ranges of the words of a text, for highlighting them; for character n-grams, the words that
    /// contain them.
    pub fn spans(&self, text: &str) -> Vec<Range<usize>> {
        match (&self.analyzer.unit, &self.pattern) {
            (Unit::UnicodeWords, _) => {
                text.unicode_word_indices().map(|(at, word)| at..at + word.len()).collect()
            }
            (_, Some(pattern)) => {
                // Positions in the lower-cased text are valid only if lower-casing keeps the length.
                let mut folded = String::new();
                fold_into(text, self.analyzer.case, Accents::Keep, &mut folded);
                let read = if folded.len() == text.len() { &folded } else { text };
                let spans = pattern.find_iter(read).map(|found| found.range());
                spans.filter(|span| text.get(span.clone()).is_some()).collect()
            }
            (unit, _) => {
                let min_length = if let Unit::Words(min_length) = unit { *min_length } else { 1 };
                let mut spans = Vec::new();
                each_run(text, min_length, |from, to| spans.push(from..to));
                spans
            }
        }
    }

    fn is_plain(&self) -> bool {
        self.analyzer.ngrams == (1, 1) && self.stop_words.is_none() && self.stemmer.is_none()
    }

    /// Writes the words that are not stop words, separated by spaces.
    fn words_into(&self, folded: &str, joined: &mut String, units: &mut Vec<(usize, usize)>) {
        joined.clear();
        units.clear();
        let mut push = |word: &str| {
            if self.stop_words.as_ref().is_some_and(|stop| stop.find(word.as_bytes()).is_some()) {
                return;
            }
            if !units.is_empty() {
                joined.push(' ');
            }
            let from = joined.len();
            match &self.stemmer {
                Some(stemmer) => joined.push_str(&stemmer.stem(word)),
                None => joined.push_str(word),
            }
            units.push((from, joined.len()));
        };
        match (&self.analyzer.unit, &self.pattern) {
            (Unit::Words(min_length), _) => {
                each_run(folded, *min_length, |from, to| push(&folded[from..to]));
            }
            (_, Some(pattern)) if pattern.captures_len() == 2 => {
                let groups = pattern.captures_iter(folded);
                groups.for_each(|found| push(found.get(1).map_or("", |group| group.as_str())));
            }
            (_, Some(pattern)) => {
                pattern.find_iter(folded).for_each(|found| push(found.as_str()));
            }
            _ => folded.unicode_words().for_each(push),
        }
    }

    /// All n-grams of the requested lengths, the shorter first.
    #[inline]
    fn each_ngram(
        &self,
        joined: &str,
        units: &[(usize, usize)],
        mut take: impl FnMut(&[u8], usize, usize),
    ) {
        let (low, high) = self.analyzer.ngrams;
        for n in low..=high.min(units.len()) {
            for ngram in units.windows(n) {
                take(joined.as_bytes(), ngram[0].0, ngram[n - 1].1);
            }
        }
    }

    fn each_in_words(
        &self,
        folded: &str,
        joined: &mut String,
        units: &mut Vec<(usize, usize)>,
        mut take: impl FnMut(&[u8], usize, usize),
    ) {
        let (low, high) = self.analyzer.ngrams;
        for word in folded.split(is_space).filter(|word| !word.is_empty()) {
            joined.clear();
            joined.extend([" ", word, " "]);
            characters(joined, 0, units);
            for n in low..=high {
                // A word shorter than n is one term, and is not repeated for larger n.
                let n_here = n.min(units.len());
                for ngram in units.windows(n_here) {
                    take(joined.as_bytes(), ngram[0].0, ngram[n_here - 1].1);
                }
                if units.len() <= n {
                    break;
                }
            }
        }
    }
}

/// Copies a text with two or more consecutive white-space characters replaced by one space.
fn one_space(text: &str, out: &mut String) {
    out.clear();
    let mut rest = text.chars();
    let mut spaces = 0;
    let mut single = ' ';
    loop {
        let c = rest.next();
        match c {
            Some(c) if is_space(c) => {
                spaces += 1;
                single = c;
                continue;
            }
            _ => {}
        }
        match spaces {
            0 => {}
            1 => out.push(single),
            _ => out.push(' '),
        }
        spaces = 0;
        match c {
            Some(c) => out.push(c),
            None => break,
        }
    }
}

/// The byte range of every character.
fn characters(text: &str, from: usize, units: &mut Vec<(usize, usize)>) {
    units.clear();
    units.extend(text.char_indices().map(|(at, c)| (from + at, from + at + c.len_utf8())));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(analyzer: Analyzer, text: &str) -> Vec<String> {
        analyzer.reader().unwrap().terms(text)
    }

    #[test]
    fn ngrams_skip_stop_words() {
        let analyzer = Analyzer {
            ngrams: (1, 2),
            stop_words: StopWords::Own(vec!["of".into()]),
            ..Analyzer::default()
        };

        assert_eq!(
            terms(analyzer, "Bag of words, bags"),
            ["bag", "words", "bags", "bag words", "words bags"]
        );
    }

    #[test]
    fn white_space_between_characters_is_collapsed() {
        let analyzer = Analyzer { unit: Unit::Characters, ngrams: (2, 2), ..Analyzer::default() };

        assert_eq!(terms(analyzer.clone(), "a \n b"), ["a ", " b"]);
        // A single line break stays what it is, as in scikit-learn.
        assert_eq!(terms(analyzer, "a\nb"), ["a\n", "\nb"]);
    }

    #[test]
    fn a_word_shorter_than_n_is_one_term() {
        let analyzer =
            Analyzer { unit: Unit::CharactersInWords, ngrams: (2, 4), ..Analyzer::default() };

        assert_eq!(
            terms(analyzer, "ab é"),
            [" a", "ab", "b ", " ab", "ab ", " ab ", " é", "é ", " é "]
        );
    }

    #[test]
    fn stop_words_are_removed_before_stemming() {
        let analyzer = Analyzer {
            stem: Some(Language::English),
            stop_words: StopWords::English,
            ..Analyzer::default()
        };

        assert_eq!(
            terms(analyzer, "the engines were running fruitlessly"),
            ["engin", "run", "fruitless"]
        );
    }

    #[test]
    fn words_follow_unicode_or_a_pattern() {
        let unicode = Analyzer { unit: Unit::UnicodeWords, ..Analyzer::default() };
        let group = Analyzer { unit: Unit::Pattern("#([a-z]+)".into()), ..Analyzer::default() };

        assert_eq!(terms(unicode, "Don't pay 3.14!"), ["don't", "pay", "3.14"]);
        assert_eq!(terms(group, "#Spam and #eggs"), ["spam", "eggs"]);
    }

    #[test]
    fn an_invalid_analyzer_is_refused() {
        let none = Analyzer { ngrams: (2, 1), ..Analyzer::default() };
        let broken = Analyzer { unit: Unit::Pattern("(".into()), ..Analyzer::default() };
        let groups = Analyzer { unit: Unit::Pattern("(a)(b)".into()), ..Analyzer::default() };

        assert!(none.reader().is_err() && broken.reader().is_err() && groups.reader().is_err());
        assert!(Language::parse("klingon").unwrap_err().to_string().contains("finnish"));
    }
}
