//! Predictions told step by step, as data; the faces print them.

mod class_means;
mod factors;
mod scores;
mod support_vectors;
mod terms;
mod texts;

pub(crate) use class_means::moments_of;
pub use class_means::{Center, ClassMeans};
pub use factors::{Explanation, Factor, explain, explain_shown};
pub use scores::{ScoreExplanation, ScoreTerm, explain_scores};
pub(crate) use support_vectors::first_two;
pub use support_vectors::{Support, SupportExplanation};
pub use terms::{Term, TermExplanation, Terms, explain_terms};
pub use texts::{Piece, marked};

/// A number with four significant digits and at least two decimals, as a lecture would write it.
///
/// ```
/// use mercer::explain::short;
/// assert_eq!(short(0.007205), "0.007205");
/// assert_eq!(short(1.2151e-9), "1.215e-9");
/// assert_eq!(short(110.0), "110");
/// ```
pub fn short(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return format!("{x}");
    }
    let size = x.abs().log10().floor() as i32;
    if !(-4..7).contains(&size) {
        return format!("{x:.3e}");
    }
    let digits = (3 - size).max(2) as usize;
    let text = format!("{x:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}
