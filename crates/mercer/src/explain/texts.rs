//! A text with the words that decided marked.

use crate::error::Result;
use crate::preprocess::TextStep;
use serde::Serialize;
use std::collections::HashMap;

/// A piece of a text and how much it speaks for the winner against the runner-up.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Piece {
    /// As the text has it.
    pub text: String,
    /// In log-odds; `None` for what lies between words, and for words the model does not know.
    pub log_odds: Option<f64>,
}

/// A text in pieces. `log_odds` knows what a feature says in all; words that share it share that.
///
/// Terms of several words are not marked: their words may be far apart.
///
/// # Errors
/// If the step's analyzer is not usable.
pub fn marked(
    text: &str,
    step: &TextStep,
    log_odds: impl Fn(usize) -> Option<f64>,
) -> Result<Vec<Piece>> {
    let reader = step.analyzer.reader()?;
    let mut times: HashMap<usize, f64> = HashMap::new();
    for feature in reader.terms(text).iter().filter_map(|term| step.feature(term)) {
        *times.entry(feature).or_insert(0.0) += 1.0;
    }
    let mut pieces = Vec::new();
    let mut at = 0;
    for span in reader.spans(text) {
        if at < span.start {
            pieces.push(Piece { text: text[at..span.start].to_owned(), log_odds: None });
        }
        let said: Vec<f64> = (reader.terms(&text[span.clone()]).iter())
            .filter_map(|term| step.feature(term))
            .filter_map(|feature| Some(log_odds(feature)? / times.get(&feature)?))
            .collect();
        let sum = (!said.is_empty()).then(|| said.iter().sum());
        pieces.push(Piece { text: text[span.clone()].to_owned(), log_odds: sum });
        at = span.end;
    }
    if at < text.len() {
        pieces.push(Piece { text: text[at..].to_owned(), log_odds: None });
    }
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preprocess::KnownTerms;
    use crate::text::{DocumentCounts, Vocabulary};

    #[test]
    fn pieces_make_the_text_and_share_what_their_word_says() {
        let vocabulary = Vocabulary::new(["money", "win"]).unwrap();
        let counts = DocumentCounts { n_texts: 1, vocabulary, documents: vec![1, 1] };
        let step = TextStep { terms: KnownTerms::Vocabulary(counts), ..TextStep::default() };
        let text = "Win MONEY, a lot of money!";

        let pieces = marked(text, &step, |feature| Some([3.0, -1.0][feature])).unwrap();

        assert_eq!(pieces.iter().map(|p| p.text.as_str()).collect::<String>(), text);
        let said = |word: &str| pieces.iter().find(|p| p.text == word).unwrap().log_odds;
        assert_eq!(said("MONEY"), Some(1.5));
        assert_eq!(said("Win"), Some(-1.0));
        assert_eq!(said("lot"), None);
    }
}
