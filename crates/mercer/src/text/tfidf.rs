//! Weights of terms: how often a term occurs here, and in how few texts it occurs at all.
//!
//! ```text
//! weight(t, d) = tf(t, d) · idf(t), each row then divided by its norm
//! ```
//!
//! | `Tf` | tf(t, d), t occurring n times in a text of N terms |
//! |---|---|
//! | `Count` | n |
//! | `Log` | 1 + ln n (scikit-learn's `sublinear_tf`) |
//! | `Share` | n / N (the lecture's term frequency) |
//! | `Binary` | 1 |
//!
//! | `Idf` | idf(t), t occurring in m of M texts |
//! |---|---|
//! | `None` | 1 |
//! | `Smooth` | ln((1 + M) / (1 + m)) + 1 (scikit-learn's default) |
//! | `Plain` | ln(M / m) + 1 (scikit-learn's `smooth_idf=False`) |
//! | `Information` | ln(M / m), the self-information of a text that has the term (the lecture's) |
//! | `InformationPlusOne` | ln(M / (m + 1)) (the lecture's, with its optional one) |

use super::counts::TextRows;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Rows weighed together.
const ROWS: usize = 512;

/// How counts become weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weighting {
    /// What a term's count in a text becomes.
    pub tf: Tf,
    /// What a term's rarity multiplies it by.
    pub idf: Idf,
    /// What is the same for every text in the end.
    pub norm: Norm,
}

/// What a term's count in a text becomes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tf {
    /// The count.
    #[default]
    Count,
    /// One and the logarithm of the count.
    Log,
    /// The share of the term among all terms of the text.
    Share,
    /// One.
    Binary,
}

/// What a term's rarity multiplies its frequency by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Idf {
    /// Nothing.
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

/// What is the same for every text in the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Norm {
    /// Nothing.
    #[default]
    None,
    /// Absolute weights add up to one.
    L1,
    /// Squares of weights add up to one.
    L2,
}

impl Weighting {
    /// Scikit-learn's default: counts times smooth idf, of length one.
    pub const TF_IDF: Weighting = Weighting { tf: Tf::Count, idf: Idf::Smooth, norm: Norm::L2 };
    /// The lecture's definition: shares times self-information.
    pub const LECTURE: Weighting =
        Weighting { tf: Tf::Share, idf: Idf::Information, norm: Norm::None };

    /// Weighs counts; `idf` has one entry a column, or none where rarity has no say.
    pub fn apply(&self, rows: &mut TextRows, idf: &[f64]) {
        let TextRows { starts, columns, values, lengths, .. } = rows;
        weigh(starts, columns, values, idf, self.norm, |row, values| match self.tf {
            Tf::Count => {}
            Tf::Log => values.iter_mut().for_each(|n| *n = n.ln() + 1.0),
            Tf::Share => {
                let length = f64::from(lengths[row]);
                values.iter_mut().for_each(|n| *n /= length);
            }
            Tf::Binary => values.fill(1.0),
        });
    }
}

impl Idf {
    /// The weight of every term that occurs in so many of `n_texts` texts; empty for [`Idf::None`].
    ///
    /// ```
    /// use mercer::text::Idf;
    /// assert_eq!(Idf::Information.weights(&[1, 2, 4], 4), [4_f64.ln(), 2_f64.ln(), 0.0]);
    /// assert_eq!(Idf::InformationPlusOne.weights(&[1], 4), [2_f64.ln()]);
    /// assert_eq!(Idf::Smooth.weights(&[1], 3), [2_f64.ln() + 1.0]);
    /// assert_eq!(Idf::Plain.weights(&[1], 3), [3_f64.ln() + 1.0]);
    /// ```
    pub fn weights(self, documents: &[u64], n_texts: u64) -> Vec<f64> {
        let all = n_texts as f64;
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
        if self == Idf::None { Vec::new() } else { documents.iter().map(weight).collect() }
    }
}

/// Multiplies the cells of rows by the weights of their columns and divides every row by its norm.
/// `first` sees each row's values before. Sums go along the row, so any split gives the same bits.
///
/// # Panics
/// If the parts do not fit together.
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
    let mut parts = Vec::with_capacity(n_rows / ROWS + 1);
    for from in (0..n_rows).step_by(ROWS) {
        let to = (from + ROWS).min(n_rows);
        let (some, more) = rest.split_at_mut(starts[to] - starts[from]);
        parts.push((from..to, some));
        rest = more;
    }
    parts.into_par_iter().for_each(|(rows, values)| {
        let begin = starts[rows.start];
        for row in rows {
            let cells = starts[row]..starts[row + 1];
            let values = &mut values[cells.start - begin..cells.end - begin];
            first(row, values);
            if !idf.is_empty() {
                let weights = columns[cells].iter().map(|j| idf[*j as usize]);
                values.iter_mut().zip(weights).for_each(|(x, w)| *x *= w);
            }
            let size = match norm {
                Norm::None => continue,
                Norm::L1 => values.iter().fold(0.0, |sum, x| sum + x.abs()),
                Norm::L2 => values.iter().fold(0.0, |sum, x| sum + x * x).sqrt(),
            };
            if size != 0.0 {
                values.iter_mut().for_each(|x| *x /= size);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> TextRows {
        TextRows {
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
    fn frequencies_are_the_lectures_and_scikit_learns() {
        let tf = |tf| weighed(Weighting { tf, ..Weighting::default() }, &[]);

        assert_eq!(tf(Tf::Count), [3.0, 1.0, 2.0]);
        assert_eq!(tf(Tf::Share), [0.75, 0.25, 0.4]);
        assert_eq!(tf(Tf::Log), [3_f64.ln() + 1.0, 1.0, 2_f64.ln() + 1.0]);
        assert_eq!(tf(Tf::Binary), [1.0; 3]);
    }

    #[test]
    fn rows_have_the_norm_asked_for_and_empty_ones_stay_empty() {
        let l1 = Weighting { norm: Norm::L1, ..Weighting::default() };

        assert_eq!(weighed(l1, &[1.0, 2.0]), [0.6, 0.4, 1.0]);
        assert_eq!(
            weighed(Weighting { norm: Norm::L2, ..l1 }, &[4.0, 5.0]),
            [12.0 / 13.0, 5.0 / 13.0, 1.0]
        );
    }
}
