//! Explanations of single predictions, as data for the interfaces to print.
//!
//! - `factors`: naive Bayes as a product of the prior and one likelihood per column
//! - `scores`: the scores of the classes as sums with one term per column
//! - `terms`: a linear prediction as a sum with one term per column
//! - `support_vectors`: a kernel expansion as a sum over support vectors
//! - `class_means`: mean and standard deviation of every column within every class
//! - `density_curves`: the class-conditional distributions of a column as points

mod class_means;
mod density_curves;
mod factors;
mod scores;
mod support_vectors;
mod terms;

pub(crate) use class_means::moments_of;
pub use class_means::{Center, ClassMeans};
pub use density_curves::{Distributions, Domain, distributions, normal_points};
pub use factors::{Explanation, Factor, explain, explain_shown};
pub use scores::{ScoreExplanation, ScoreMeasure, ScoreTerm, explain_scores};
pub(crate) use support_vectors::first_two;
pub use support_vectors::{DecidedBy, Decision, SupportExplanation, SupportVectorTerm};
pub use terms::{Term, TermExplanation, Terms, explain_terms};

/// A number with four significant digits and at least two decimals.
///
/// ```
/// use mercer::explain::short;
/// assert_eq!(short(0.007205), "0.007205");
/// assert_eq!(short(1.2151e-9), "1.215e-9");
/// assert_eq!(short(110.0), "110");
/// ```
pub fn short(x: f64) -> String {
    if x == 0.0 {
        // Minus zero has no sign worth printing.
        return "0".into();
    }
    if !x.is_finite() {
        return format!("{x}");
    }
    let exponent = x.abs().log10().floor() as i32;
    if !(-4..7).contains(&exponent) {
        return format!("{x:.3e}");
    }
    let digits = (3 - exponent).max(2) as usize;
    let text = format!("{x:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// Sorts contributions by magnitude, the largest first; ties keep their order.
fn ranked_by<T>(mut contributions: Vec<&T>, value: impl Fn(&T) -> f64) -> Vec<&T> {
    contributions.sort_by(|a, b| value(b).abs().total_cmp(&value(a).abs()));
    contributions
}

/// The name of a column, `x{j}` if it has none.
fn column_name(names: &[String], j: usize) -> String {
    names.get(j).cloned().unwrap_or_else(|| format!("x{j}"))
}
