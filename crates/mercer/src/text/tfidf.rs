//! TF-IDF weights: term frequency times inverse document frequency.
//!
//! ```text
//! weight(t, d) = tf(t, d) · idf(t), each row then divided by its norm
//! ```
//!
//! | `Tf` | tf(t, d), t occurring n times in a document of N tokens |
//! |---|---|
//! | `Count` | n |
//! | `Log` | 1 + ln n (scikit-learn's `sublinear_tf`) |
//! | `Frequency` | n / N (relative term frequency) |
//! | `Binary` | 1 |
//!
//! | `Idf` | idf(t), t occurring in m of M documents |
//! |---|---|
//! | `None` | 1 |
//! | `Smooth` | ln((1 + M) / (1 + m)) + 1 (scikit-learn's default) |
//! | `Plain` | ln(M / m) + 1 (scikit-learn's `smooth_idf=False`) |
//! | `Information` | ln(M / m), the self-information of the event that a document contains the term |
//! | `InformationPlusOne` | ln(M / (m + 1)), the same with one added to the document frequency |

use crate::data::DocumentTermMatrix;
use mercer_num::parallel::prelude::*;
use serde::{Deserialize, Serialize};

/// Rows that one task weights.
const ROWS_PER_TASK: usize = 512;

/// The weighting of counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weighting {
    /// The term frequency.
    pub tf: Tf,
    /// The inverse document frequency.
    pub idf: Idf,
    /// The norm that every row is divided by.
    pub norm: Norm,
}

/// The term frequency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tf {
    /// The count.
    #[default]
    Count,
    /// One plus the logarithm of the count.
    Log,
    /// The count divided by the number of tokens of the document.
    Frequency,
    /// One.
    Binary,
}

/// The inverse document frequency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Idf {
    /// One for every term.
    #[default]
    None,
    /// `ln((1 + M) / (1 + m)) + 1`.
    Smooth,
    /// `ln(M / m) + 1`.
    Plain,
    /// `ln(M / m)`.
    Information,
    /// `ln(M / (m + 1))`.
    InformationPlusOne,
}

/// The norm that every row is divided by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Norm {
    /// Rows are not normalized.
    #[default]
    None,
    /// The sum of absolute values.
    L1,
    /// The Euclidean norm.
    L2,
}

impl Weighting {
    /// One for every term that is present.
    pub const BINARY: Weighting = Weighting { tf: Tf::Binary, idf: Idf::None, norm: Norm::None };
    /// The default of scikit-learn: counts times smooth IDF, rows of Euclidean norm one.
    pub const TF_IDF: Weighting = Weighting { tf: Tf::Count, idf: Idf::Smooth, norm: Norm::L2 };
    /// The lecture's definition: relative frequencies times self-information.
    pub const LECTURE: Weighting =
        Weighting { tf: Tf::Frequency, idf: Idf::Information, norm: Norm::None };

    /// Weights counts in place; `idf` has one entry per column, or is empty for [`Idf::None`].
    pub fn apply(&self, rows: &mut DocumentTermMatrix, idf: &[f64]) {
        let DocumentTermMatrix { starts, columns, values, lengths, .. } = rows;
        weigh(starts, columns, values, idf, self.norm, |row, values| match self.tf {
            Tf::Count => {}
            Tf::Log => values.iter_mut().for_each(|n| *n = n.ln() + 1.0),
            Tf::Frequency => {
                let length = f64::from(lengths[row]);
                values.iter_mut().for_each(|n| *n /= length);
            }
            Tf::Binary => values.fill(1.0),
        });
    }
}

impl Idf {
    /// The IDF weight of terms by their document frequency; empty for [`Idf::None`].
    ///
    /// ```
    /// use mercer::text::Idf;
    /// assert_eq!(Idf::Information.weights(&[1, 2, 4], 4), [4_f64.ln(), 2_f64.ln(), 0.0]);
    /// assert_eq!(Idf::InformationPlusOne.weights(&[1], 4), [2_f64.ln()]);
    /// assert_eq!(Idf::Smooth.weights(&[1], 3), [2_f64.ln() + 1.0]);
    /// assert_eq!(Idf::Plain.weights(&[1], 3), [3_f64.ln() + 1.0]);
    /// ```
    pub fn weights(self, document_frequencies: &[u64], n_documents: u64) -> Vec<f64> {
        let all = n_documents as f64;
        let weight = |df: &u64| {
            let df = *df as f64;
            match self {
                Idf::None => 1.0,
                Idf::Smooth => ((all + 1.0) / (df + 1.0)).ln() + 1.0,
                Idf::Plain => (all / df).ln() + 1.0,
                Idf::Information => (all / df).ln(),
                Idf::InformationPlusOne => (all / (df + 1.0)).ln(),
            }
        };
        if self == Idf::None {
            Vec::new()
        } else {
            document_frequencies.iter().map(weight).collect()
        }
    }
}

/// Multiplies the cells of rows by the IDF weights of their columns and divides every row by its norm.
/// `first` transforms the values of each row before. Norms are summed within a row, so the result does not
/// depend on the number of threads.
///
/// # Panics
/// If the lengths of the arrays do not match.
pub fn weigh(
    starts: &[usize],
    columns: &[i32],
    values: &mut [f64],
    idf: &[f64],
    norm: Norm,
    first: impl Fn(usize, &mut [f64]) + Sync,
) {
    let n_rows = starts.len().saturating_sub(1);
    let mut rest = values;
    let mut tasks = Vec::with_capacity(n_rows / ROWS_PER_TASK + 1);
    for from in (0..n_rows).step_by(ROWS_PER_TASK) {
        let to = (from + ROWS_PER_TASK).min(n_rows);
        let (some, more) = rest.split_at_mut(starts[to] - starts[from]);
        tasks.push((from..to, some));
        rest = more;
    }
    tasks.into_par_iter().for_each(|(rows, values)| {
        let begin = starts[rows.start];
        for row in rows {
            let cells = starts[row]..starts[row + 1];
            let values = &mut values[cells.start - begin..cells.end - begin];
            first(row, values);
            if !idf.is_empty() {
                let weights = columns[cells].iter().map(|j| idf[*j as usize]);
                values.iter_mut().zip(weights).for_each(|(x, w)| *x *= w);
            }
            let length = match norm {
                Norm::None => continue,
                Norm::L1 => values.iter().fold(0.0, |sum, x| sum + x.abs()),
                Norm::L2 => values.iter().fold(0.0, |sum, x| sum + x * x).sqrt(),
            };
            if length != 0.0 {
                values.iter_mut().for_each(|x| *x /= length);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> DocumentTermMatrix {
        DocumentTermMatrix {
            starts: vec![0, 2, 2, 3],
            columns: vec![0, 1, 1],
            values: vec![3.0, 1.0, 2.0],
            lengths: vec![4, 0, 5],
            n_columns: 2,
        }
    }

    fn weighed(weighting: Weighting, idf: &[f64]) -> Vec<f64> {
        let mut rows = rows();
        weighting.apply(&mut rows, idf);
        rows.values
    }

    #[test]
    fn term_frequencies_follow_their_definitions() {
        let tf = |tf| weighed(Weighting { tf, ..Weighting::default() }, &[]);

        assert_eq!(tf(Tf::Count), [3.0, 1.0, 2.0]);
        assert_eq!(tf(Tf::Frequency), [0.75, 0.25, 0.4]);
        assert_eq!(tf(Tf::Log), [3_f64.ln() + 1.0, 1.0, 2_f64.ln() + 1.0]);
        assert_eq!(tf(Tf::Binary), [1.0; 3]);
    }

    #[test]
    fn rows_are_normalized_and_empty_rows_stay_empty() {
        let l1 = Weighting { norm: Norm::L1, ..Weighting::default() };

        assert_eq!(weighed(l1, &[1.0, 2.0]), [0.6, 0.4, 1.0]);
        assert_eq!(
            weighed(Weighting { norm: Norm::L2, ..l1 }, &[4.0, 5.0]),
            [12.0 / 13.0, 5.0 / 13.0, 1.0]
        );
    }
}
