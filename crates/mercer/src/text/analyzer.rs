//! From a text to its terms: words or characters, alone or in a row.

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

/// How texts are read as terms. The default reads as scikit-learn's vectorizers do: lower-case words
/// of at least two letters, digits or underscores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Analyzer {
    /// Whether capitals are made small.
    pub case: Case,
    /// What happens to accents.
    pub accents: Accents,
    /// What a term is made of.
    pub unit: Unit,
    /// Terms are this many units in a row, from the first number to the second.
    pub ngrams: (usize, usize),
    /// CategoryEncoding that are left out before anything is counted.
    pub stop_words: StopWords,
    /// The language whose endings are taken off words.
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

/// What a term is made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Runs of at least so many letters, digits and underscores.
    CategoryEncoding(usize),
    /// CategoryEncoding as Unicode separates them (UAX #29): `don't` and `3.14` are one word each.
    UnicodeWords,
    /// Whatever a regular expression finds, or the one group it has.
    Pattern(String),
    /// Characters, with any white space as one space.
    Characters,
    /// Characters within words, each word with a space at both ends.
    CharactersInWords,
}

impl Default for Unit {
    fn default() -> Unit {
        Unit::CategoryEncoding(2)
    }
}

macro_rules! languages {
    ($($Name:ident $word:literal,)*) => {
        /// A language with a Snowball stemmer.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        #[allow(missing_docs)]
        pub enum Language { $($Name,)* }

        impl Language {
            /// Every language there is, by name.
            pub const ALL: &'static [(&'static str, Language)] = &[$(($word, Language::$Name),)*];

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
    /// The language of a name.
    ///
    /// # Errors
    /// [`Error::Parameter`] with the names there are.
    pub fn parse(name: &str) -> Result<Language> {
        let found = Language::ALL.iter().find(|(word, _)| *word == name);
        found.map(|(_, language)| *language).ok_or_else(|| {
            let names: Vec<&str> = Language::ALL.iter().map(|(word, _)| *word).collect();
            Error::Parameter {
                name: "stem".into(),
                found: format!("`{name}`"),
                expected: format!("one of {}", names.join(", ")),
            }
        })
    }
}

/// An analyzer made ready: what can be prepared once is prepared.
pub struct Reader {
    analyzer: Analyzer,
    pattern: Option<Regex>,
    stop_words: Option<Terms>,
    stemmer: Option<Stemmer>,
}

/// Buffers a reader fills and empties; one a thread.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    folded: String,
    /// Terms in a row, so that any n-gram is one slice.
    joined: String,
    /// Where each unit begins and ends in `joined`.
    units: Vec<(usize, usize)>,
}

impl Analyzer {
    /// Makes it ready.
    ///
    /// # Errors
    /// If n-grams are impossible or the pattern is none.
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
                "two numbers from 1, the second not below the first",
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
                        "one with at most one group",
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
    /// Hands out the terms of a text, those of one unit first: each lies in some bytes from one place to
    /// another.
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
            // The usual case goes straight from the text to the taker.
            Unit::CategoryEncoding(least) if self.is_plain() => {
                each_run(folded, *least, |from, to| take(folded.as_bytes(), from, to));
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

    /// Where the words of a text lie, for marking them in the text as it is; for characters, the
    /// words they are in.
    pub fn spans(&self, text: &str) -> Vec<Range<usize>> {
        match (&self.analyzer.unit, &self.pattern) {
            (Unit::UnicodeWords, _) => {
                text.unicode_word_indices().map(|(at, word)| at..at + word.len()).collect()
            }
            (_, Some(pattern)) => {
                // Capitals are found where making them small moves nothing.
                let mut folded = String::new();
                fold_into(text, self.analyzer.case, Accents::Keep, &mut folded);
                let read = if folded.len() == text.len() { &folded } else { text };
                let spans = pattern.find_iter(read).map(|found| found.range());
                spans.filter(|span| text.get(span.clone()).is_some()).collect()
            }
            (unit, _) => {
                let least = if let Unit::CategoryEncoding(least) = unit { *least } else { 1 };
                let mut spans = Vec::new();
                each_run(text, least, |from, to| spans.push(from..to));
                spans
            }
        }
    }

    fn is_plain(&self) -> bool {
        self.analyzer.ngrams == (1, 1) && self.stop_words.is_none() && self.stemmer.is_none()
    }

    /// Writes the words that stay in a row, a space between them.
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
            (Unit::CategoryEncoding(least), _) => {
                each_run(folded, *least, |from, to| push(&folded[from..to]));
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

    /// All rows of units of the lengths asked for, the shorter first.
    #[inline]
    fn each_ngram(
        &self,
        joined: &str,
        units: &[(usize, usize)],
        mut take: impl FnMut(&[u8], usize, usize),
    ) {
        let (low, high) = self.analyzer.ngrams;
        for n in low..=high.min(units.len()) {
            for row in units.windows(n) {
                take(joined.as_bytes(), row[0].0, row[n - 1].1);
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
                // A word too short for the length counts whole, and for the longer ones not again.
                let n_here = n.min(units.len());
                for row in units.windows(n_here) {
                    take(joined.as_bytes(), row[0].0, row[n_here - 1].1);
                }
                if units.len() <= n {
                    break;
                }
            }
        }
    }
}

/// Writes a text with every two or more white spaces as one space.
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

/// Where every character begins and ends.
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
    fn rows_of_words_skip_the_words_left_out() {
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
    fn characters_have_their_white_space_made_one() {
        let analyzer = Analyzer { unit: Unit::Characters, ngrams: (2, 2), ..Analyzer::default() };

        assert_eq!(terms(analyzer.clone(), "a \n b"), ["a ", " b"]);
        // A single line break stays what it is, as in scikit-learn.
        assert_eq!(terms(analyzer, "a\nb"), ["a\n", "\nb"]);
    }

    #[test]
    fn characters_within_words_count_a_short_word_once() {
        let analyzer =
            Analyzer { unit: Unit::CharactersInWords, ngrams: (2, 4), ..Analyzer::default() };

        assert_eq!(
            terms(analyzer, "ab é"),
            [" a", "ab", "b ", " ab", "ab ", " ab ", " é", "é ", " é "]
        );
    }

    #[test]
    fn endings_come_off_after_stop_words_are_left_out() {
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
    fn words_can_be_unicodes_or_a_patterns() {
        let unicode = Analyzer { unit: Unit::UnicodeWords, ..Analyzer::default() };
        let group = Analyzer { unit: Unit::Pattern("#([a-z]+)".into()), ..Analyzer::default() };

        assert_eq!(terms(unicode, "Don't pay 3.14!"), ["don't", "pay", "3.14"]);
        assert_eq!(terms(group, "#Spam and #eggs"), ["spam", "eggs"]);
    }

    #[test]
    fn an_analyzer_that_cannot_be_is_refused() {
        let none = Analyzer { ngrams: (2, 1), ..Analyzer::default() };
        let broken = Analyzer { unit: Unit::Pattern("(".into()), ..Analyzer::default() };
        let groups = Analyzer { unit: Unit::Pattern("(a)(b)".into()), ..Analyzer::default() };

        assert!(none.reader().is_err() && broken.reader().is_err() && groups.reader().is_err());
        assert!(Language::parse("klingon").unwrap_err().to_string().contains("finnish"));
    }
}
