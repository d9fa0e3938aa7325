//! A text split into spans, each with its contribution to the log-odds of the predicted class.

use super::analyzer::Analyzer;
use crate::error::Result;
use serde::Serialize;
use std::collections::HashMap;

/// A span of a text and its contribution to the log-odds of the predicted class over the runner-up.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TextSpan {
    /// The span as it stands in the text.
    pub text: String,
    /// The log-odds; `None` between tokens and for tokens outside the vocabulary.
    pub log_odds: Option<f64>,
}

/// Splits a text into tokens and the spans between them.
///
/// `feature` maps a term to its feature index and `log_odds` gives the contribution of a feature. A
/// feature that occurs several times divides its contribution equally among its occurrences. N-grams of
/// several tokens are not highlighted, because their tokens need not be adjacent.
///
/// # Errors
/// If the analyzer is not usable.
pub fn highlight(
    text: &str,
    analyzer: &Analyzer,
    feature: impl Fn(&str) -> Option<usize>,
    log_odds: impl Fn(usize) -> Option<f64>,
) -> Result<Vec<TextSpan>> {
    let reader = analyzer.reader()?;
    let mut occurrences: HashMap<usize, f64> = HashMap::new();
    for feature in reader.terms(text).iter().filter_map(|term| feature(term)) {
        *occurrences.entry(feature).or_insert(0.0) += 1.0;
    }
    let mut spans = Vec::new();
    let mut at = 0;
    for token in reader.spans(text) {
        if at < token.start {
            spans.push(TextSpan { text: text[at..token.start].to_owned(), log_odds: None });
        }
        let contributions: Vec<f64> = (reader.terms(&text[token.clone()]).iter())
            .filter_map(|term| feature(term))
            .filter_map(|feature| Some(log_odds(feature)? / occurrences.get(&feature)?))
            .collect();
        let sum = (!contributions.is_empty()).then(|| contributions.iter().sum());
        spans.push(TextSpan { text: text[token.clone()].to_owned(), log_odds: sum });
        at = token.end;
    }
    if at < text.len() {
        spans.push(TextSpan { text: text[at..].to_owned(), log_odds: None });
    }
    Ok(spans)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_concatenate_to_the_text_and_occurrences_divide_the_contribution() {
        let text = "Win MONEY, a lot of money!";
        let feature = |term: &str| ["money", "win"].iter().position(|known| *known == term);

        let spans =
            highlight(text, &Analyzer::default(), feature, |feature| Some([3.0, -1.0][feature]))
                .unwrap();

        assert_eq!(spans.iter().map(|s| s.text.as_str()).collect::<String>(), text);
        let log_odds = |token: &str| spans.iter().find(|s| s.text == token).unwrap().log_odds;
        assert_eq!(log_odds("MONEY"), Some(1.5));
        assert_eq!(log_odds("Win"), Some(-1.0));
        assert_eq!(log_odds("lot"), None);
    }
}
