//! What the members of the family that count have in common: scores linear in the counts,
//! `score_c(x) = bias_c + Σⱼ xⱼ weight_cj`, and shares of counts with something added.
//!
//! A count of zero adds nothing, whatever its weight: `0 · log 0` is zero here, so an unsmoothed
//! probability of zero rules a class out only in rows where the word occurs.

use crate::error::{Error, Result};
use crate::model::{Classifier, OneOrEach};
use crate::stats::{for_each_count, not_a_count};
use mercer_num::{Matrix, Rows};
use rayon::prelude::*;

/// Rows scored by one thread at a time.
const CHUNK: usize = 256;

/// A cell that counts something: finite and not negative.
pub(super) fn as_count(x: f64) -> Option<f64> {
    (x.is_finite() && x >= 0.0).then_some(x)
}

/// One score a row and class; `weights` has one row a class.
pub(super) fn linear_scores(
    x: &Rows<'_>,
    bias: &[f64],
    weights: &Matrix,
    count: impl Fn(f64) -> Option<f64> + Sync,
) -> Result<Matrix> {
    let n_classes = bias.len();
    let mut out = Matrix::zeros((x.n_rows(), n_classes));
    // One row a column of the data, so that a cell finds its weight in all classes side by side.
    let by_column = transposed(weights);
    let cells = out.as_slice_mut().expect("a fresh matrix is contiguous");
    let scored: Vec<Result<()>> = cells
        .par_chunks_mut(CHUNK * n_classes)
        .enumerate()
        .map(|(k, scores)| {
            let first = k * CHUNK;
            let rows = x.slice(first..first + scores.len() / n_classes);
            scores.chunks_exact_mut(n_classes).for_each(|s| s.copy_from_slice(bias));
            for_each_count(&rows, &count, |i, j, n| {
                if n != 0.0 {
                    let scores = &mut scores[i * n_classes..(i + 1) * n_classes];
                    let weights = &by_column[j * n_classes..(j + 1) * n_classes];
                    scores.iter_mut().zip(weights).for_each(|(s, w)| *s += n * w);
                }
            })
            .map_err(|e| e.after_rows(first))
        })
        .collect();
    // The first bad cell in the order of the rows, whichever thread found one first.
    scored.into_iter().collect::<Result<()>>()?;
    Ok(out)
}

/// One row a column, in strips that stay in cache.
fn transposed(m: &Matrix) -> Vec<f64> {
    const STRIP: usize = 1024;
    let (n_rows, n_columns) = m.dim();
    let mut out = vec![0.0; n_rows * n_columns];
    out.par_chunks_mut(STRIP * n_rows).enumerate().for_each(|(k, strip)| {
        for (c, row) in m.outer_iter().enumerate() {
            let from = row.iter().skip(k * STRIP);
            strip[c..].iter_mut().step_by(n_rows).zip(from).for_each(|(to, v)| *to = *v);
        }
    });
    out
}

/// `log ((N_cj + αⱼ) / Σₖ (N_ck + αₖ))`, one row a class; a class without counts or alpha has shares
/// of zero.
pub(super) fn log_shares(counts: &Matrix, alphas: &[f64]) -> Matrix {
    let mut out = counts.as_standard_layout().into_owned();
    let cells = out.as_slice_mut().expect("standard layout is contiguous");
    cells.par_chunks_mut(alphas.len().max(1)).for_each(|row| {
        row.iter_mut().zip(alphas).for_each(|(n, alpha)| *n += alpha);
        let log_total = row.iter().sum::<f64>().ln();
        for n in row {
            *n = if *n > 0.0 { n.ln() - log_total } else { f64::NEG_INFINITY };
        }
    });
    out
}

/// The alpha of every feature.
pub(super) fn alphas(alpha: &OneOrEach, force: bool, n_features: usize) -> Result<Vec<f64>> {
    let mut all = match alpha {
        OneOrEach::One(alpha) => vec![*alpha; n_features],
        OneOrEach::Each(alphas) if alphas.len() == n_features => alphas.clone(),
        OneOrEach::Each(alphas) => {
            return Err(Error::Parameter {
                name: "alpha".into(),
                found: format!("{} numbers", alphas.len()),
                expected: format!("one number, or one for each of the {n_features} features"),
            });
        }
    };
    all.iter_mut().for_each(|a| *a = super::forced(*a, force));
    Ok(all)
}

/// The counts of one row, of the model's width.
pub(super) fn counted_row(
    model: &dyn Classifier,
    row: &[f64],
    count: impl Fn(f64) -> Option<f64>,
) -> Result<Vec<f64>> {
    model.check_columns(&Rows::from(ndarray::ArrayView1::from(row)))?;
    row.iter()
        .enumerate()
        .map(|(column, x)| count(*x).ok_or_else(|| not_a_count(0, column, *x)))
        .collect()
}

/// Refuses tables of counts that no rows could have given.
pub(super) fn check_counts(
    what: &str,
    classes: usize,
    per_class: &[&[f64]],
    alphas: &[f64],
    tables: &[&Matrix],
) -> Result<()> {
    let (n_classes, width) = tables[0].dim();
    let fits = n_classes >= 2
        && n_classes == classes
        && width > 0
        && per_class.iter().all(|v| v.len() == n_classes)
        && alphas.len() == width
        && tables.iter().all(|t| t.dim() == (n_classes, width))
        && tables[0].iter().chain(alphas).all(|n| n.is_finite() && *n >= 0.0)
        && tables.iter().all(|t| t.iter().all(|v| !v.is_nan()));
    if fits { Ok(()) } else { Err(Error::File(format!("a {what} model that no fit could make"))) }
}
