//! Where words begin and end.

/// The words of a text in lower case: runs of at least two letters, digits or underscores, in any
/// script.
///
/// ```
/// let words: Vec<String> = mercer::text::words("Win a PRIZE, c'est l'été!").collect();
/// assert_eq!(words, ["win", "prize", "est", "été"]);
/// ```
pub fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| word.chars().nth(1).is_some())
        .map(str::to_lowercase)
}
