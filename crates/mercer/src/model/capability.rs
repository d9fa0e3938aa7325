//! What a fitted thing can do.

use crate::data::{Classes, check_storage};
use crate::error::{Error, Result};
use crate::evaluate::Summary;
use crate::explain::{ClassMeans, SupportExplanation, Terms};
use mercer_num::parallel;
use mercer_num::random::Random;
use mercer_num::special::{argmax, log_normalize, log_sum_exp};
use mercer_num::{Matrix, Rows, Sparse};
use ndarray::Array2;
use rayon::prelude::*;
use serde::Serialize;

/// Tells classes apart.
pub trait Classifier: Send + Sync {
    /// The classes in code order.
    fn classes(&self) -> &Classes;

    /// How many columns a row has.
    fn n_columns(&self) -> usize;

    /// One row a row, one column a class; the largest wins.
    ///
    /// # Errors
    /// If the width differs or a cell is infinite.
    fn scores(&self, x: &Rows<'_>) -> Result<Matrix>;

    /// The code of the winning class of each row; ties go to the first.
    ///
    /// # Errors
    /// As [`Classifier::scores`].
    fn predict(&self, x: &Rows<'_>) -> Result<Vec<u32>> {
        Ok(winners(&self.scores(x)?))
    }

    /// What the rows of each class look like, where the model has a picture of them.
    fn portrait(&self) -> Option<ClassMeans> {
        None
    }

    /// Refuses rows of another width than the model's, and sparse ones stored by columns.
    ///
    /// # Errors
    /// [`Error::Columns`], [`Error::ByColumns`].
    fn check_columns(&self, x: &Rows<'_>) -> Result<()> {
        check_storage(x)?;
        let (found, expected) = (x.n_columns(), self.n_columns());
        if found == expected { Ok(()) } else { Err(Error::Columns { found, expected }) }
    }
}

/// The place of the largest score of each row.
pub fn winners(scores: &Matrix) -> Vec<u32> {
    by_row(scores, |row| argmax(row) as u32)
}

/// Rows answered by one thread at a time.
const ROWS: usize = 4096;

/// One answer a row, on all threads.
fn by_row<T: Send>(scores: &Matrix, answer: impl Fn(&[f64]) -> T + Sync + Send) -> Vec<T> {
    let width = scores.ncols().max(1);
    let cells = scores.as_standard_layout();
    let cells = cells.as_slice().unwrap_or_default();
    let answer = &answer;
    cells
        .par_chunks(ROWS * width)
        .flat_map_iter(|rows| rows.chunks_exact(width).map(answer))
        .collect()
}

/// Says how sure it is.
pub trait Probabilistic: Classifier {
    /// `log P(class | row)`. For scores that are joint log-likelihoods, normalizing them is all
    /// there is to do.
    ///
    /// # Errors
    /// As [`Classifier::scores`].
    fn log_proba(&self, x: &Rows<'_>) -> Result<Matrix> {
        let mut scores = self.scores(x)?;
        let width = scores.ncols().max(1);
        if let Some(cells) = scores.as_slice_mut() {
            cells.par_chunks_mut(ROWS * width).for_each(|rows| {
                rows.chunks_exact_mut(width).for_each(|row| {
                    log_normalize(row);
                });
            });
        }
        Ok(scores)
    }
}

/// Has a density over rows: recognizes strangers and invents new rows.
pub trait Generative: Classifier {
    /// `log p(row)`: the joint log-likelihoods summed over the classes.
    ///
    /// # Errors
    /// As [`Classifier::scores`].
    fn log_density(&self, x: &Rows<'_>) -> Result<Vec<f64>> {
        Ok(by_row(&self.log_joint(x)?, log_sum_exp))
    }

    /// `log p(row, class)`: the scores, where those are not a shorter form of it.
    ///
    /// # Errors
    /// As [`Classifier::scores`].
    fn log_joint(&self, x: &Rows<'_>) -> Result<Matrix> {
        self.scores(x)
    }

    /// New rows and their classes.
    fn sample(&self, n: usize, random: &mut Random) -> (Matrix, Vec<u32>);
}

/// Has scores that are a prior times one factor a column, so that a prediction can be told
/// factor by factor.
pub trait Factored: Classifier {
    /// `log P(class)`.
    fn log_priors(&self) -> &[f64];

    /// `log p(xⱼ | class)`: one row a column of the data, one column a class; zero where `xⱼ` is
    /// missing.
    ///
    /// # Errors
    /// If the width differs.
    fn log_factors(&self, row: &[f64]) -> Result<Matrix>;

    /// Tells the factors of many rows: a column, a row and `log p(xⱼ | class)` of every class. The rows of
    /// a column come in order; factors of one may be left out.
    ///
    /// # Errors
    /// As [`Factored::log_factors`].
    fn each_factor(&self, x: &Rows<'_>, tell: &mut dyn FnMut(usize, usize, &[f64])) -> Result<()> {
        for i in 0..x.n_rows() {
            let factors = self.log_factors(&x.row(i)).map_err(|e| e.after_rows(i))?;
            for (j, factors) in factors.outer_iter().enumerate() {
                tell(j, i, &factors.to_vec());
            }
        }
        Ok(())
    }

    /// How the lecture writes the factor of a column and class.
    fn factor_formula(&self, column: usize, class: u32, value: f64) -> String;

    /// The column, beside the class, that the factor of a column depends on.
    fn given(&self, _column: usize) -> Option<usize> {
        None
    }

    /// How the lecture writes the factor of a column and class in a row, where a factor may depend
    /// on more than its own value.
    fn factor_formula_in(&self, column: usize, class: u32, row: &[f64]) -> String {
        self.factor_formula(column, class, row[column])
    }
}

/// Has scores that are a sum with one term a column, so that a prediction can be told term by term.
pub trait Summed: Classifier {
    /// The scores of a row as a sum: what stands before any column is looked at, one number a
    /// class, and what each column adds, one row a column of the data and one column a class.
    ///
    /// # Errors
    /// As [`Classifier::scores`].
    fn terms(&self, row: &[f64]) -> Result<(Vec<f64>, Matrix)>;
}

/// Answers by rows that it keeps, so that an answer can be told row by row.
pub trait Supported: Send + Sync {
    /// What each of them adds to the answer about a row; of many classes, to the choice between the class
    /// that wins and the one that comes second.
    ///
    /// # Errors
    /// If the width differs, a cell is not finite, or there are several answers.
    fn supports(&self, row: &[f64]) -> Result<SupportExplanation>;
}

/// Has a center for every class and measures how far rows are from it, in units of the class's
/// own spread.
pub trait Discriminant: Summed {
    /// Squared Mahalanobis distances: one row a row, one column a class.
    ///
    /// # Errors
    /// As [`Classifier::scores`].
    fn distances(&self, x: &Rows<'_>) -> Result<Matrix>;

    /// The names of numbers that follow from the model and are not kept in it.
    fn derived_names(&self) -> &'static [&'static str];

    /// Such numbers by name; a list is one row.
    fn derived(&self, name: &str) -> Option<Matrix>;
}

/// Was chosen among others.
pub trait Selected: Send + Sync {
    /// What there was to choose from, and how it did.
    fn candidates(&self) -> Candidates;
}

/// What there was to choose from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Candidates {
    /// The parameters that differ.
    pub names: Vec<&'static str>,
    /// What they were judged by; the higher the better.
    pub score: &'static str,
    /// All of them, in order.
    pub all: Vec<Candidate>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Candidate {
    /// Its parameters.
    pub values: Vec<f64>,
    /// How it did on rows that had no say.
    pub score: f64,
    /// The standard error of that, where it is the mean of several.
    pub error: Option<f64>,
    /// Whether it was taken.
    pub chosen: bool,
}

/// Can tell whether a fit could have made it; asked of everything that comes from a file.
pub trait Check {
    /// Refuses a model that no fit could have made.
    ///
    /// # Errors
    /// What does not fit.
    fn check(&self) -> Result<()>;
}

/// What a fitted thing can do, asked at run time by the faces. Written by the catalog.
pub trait Model: Check + Send + Sync {
    /// As a classifier.
    fn classifier(&self) -> Option<&dyn Classifier> {
        None
    }

    /// As a classifier with probabilities.
    fn probabilistic(&self) -> Option<&dyn Probabilistic> {
        None
    }

    /// As a density.
    fn generative(&self) -> Option<&dyn Generative> {
        None
    }

    /// As a product of factors.
    fn factored(&self) -> Option<&dyn Factored> {
        None
    }

    /// As a sum with one term a column.
    fn summed(&self) -> Option<&dyn Summed> {
        None
    }

    /// As centers with distances.
    fn discriminant(&self) -> Option<&dyn Discriminant> {
        None
    }

    /// As a sum over rows that it keeps.
    fn supported(&self) -> Option<&dyn Supported> {
        None
    }

    /// As a predictor of numbers.
    fn regressor(&self) -> Option<&dyn Regressor> {
        None
    }

    /// As a weighted sum of columns.
    fn additive(&self) -> Option<&dyn Additive> {
        None
    }

    /// As one that knows strangers.
    fn detector(&self) -> Option<&dyn Detector> {
        None
    }

    /// As one that knows which rows lie together.
    fn clusterer(&self) -> Option<&dyn Clusterer> {
        None
    }

    /// As one with a decision function.
    fn decides(&self) -> Option<&dyn Decides> {
        None
    }

    /// As one of several.
    fn selected(&self) -> Option<&dyn Selected> {
        None
    }

    /// As a map from rows to rows.
    fn transformer(&self) -> Option<&dyn Transformer> {
        None
    }
}

/// Predicts numbers.
pub trait Regressor: Send + Sync {
    /// How many columns a row has.
    fn n_columns(&self) -> usize;

    /// One number a row.
    ///
    /// # Errors
    /// If the width differs or a cell is infinite.
    fn predict(&self, x: &Rows<'_>) -> Result<Vec<f64>>;

    /// How many numbers were learned of a row; [`Regressor::predict`] tells the first.
    fn n_targets(&self) -> usize {
        1
    }

    /// Every number of every row: a column each.
    ///
    /// # Errors
    /// As [`Regressor::predict`].
    fn predict_many(&self, x: &Rows<'_>) -> Result<Matrix> {
        let column = self.predict(x)?;
        Ok(Matrix::from_shape_fn((column.len(), 1), |(i, _)| column[i]))
    }

    /// For every row, the ends of an interval that holds its number with probability `level`; `None`
    /// where the model cannot say.
    ///
    /// # Errors
    /// As [`Regressor::predict`].
    fn intervals(&self, _x: &Rows<'_>, _level: f64) -> Result<Option<Vec<(f64, f64)>>> {
        Ok(None)
    }
}

/// Has predictions that are a weighted sum of columns, so that they can be told term by term.
pub trait Additive: Regressor {
    /// The constant term, the weights, and where the columns stand on average.
    fn terms(&self) -> Terms<'_>;

    /// The coefficients with their errors, where the model has such.
    fn summary(&self, _names: &[String], _level: f64) -> Option<Summary> {
        None
    }
}

/// Knows the rows that are like those it learned from.
pub trait Detector: Send + Sync {
    /// How many columns a row has.
    fn n_columns(&self) -> usize;

    /// A number a row: above zero inside, and the higher the farther from the border.
    ///
    /// # Errors
    /// If the width differs or a cell is not finite.
    fn inside(&self, x: &Rows<'_>) -> Result<Vec<f64>>;
}

/// Knows which rows lie together.
pub trait Clusterer: Send + Sync {
    /// How many columns a row has.
    fn n_columns(&self) -> usize;

    /// How many clusters there are.
    fn n_clusters(&self) -> usize;

    /// The squared distance of every row from the center of every cluster: a column a cluster.
    ///
    /// # Errors
    /// If the width differs or a cell is not finite.
    fn distances(&self, x: &Rows<'_>) -> Result<Matrix>;

    /// The nearest cluster of every row; ties go to the first.
    ///
    /// # Errors
    /// As [`Clusterer::distances`].
    fn assign(&self, x: &Rows<'_>) -> Result<Vec<u32>>;
}

/// Has a decision function, as scikit-learn shapes it.
pub trait Decides: Send + Sync {
    /// One row a row; of two classes, or where there are none, a single column.
    ///
    /// # Errors
    /// If the width differs or a cell is not finite.
    fn decisions(&self, x: &Rows<'_>) -> Result<Matrix>;
}

/// Maps rows to other rows.
pub trait Transformer: Send + Sync {
    /// How many columns a row has.
    fn n_inputs(&self) -> usize;

    /// How many columns the new rows have.
    fn n_outputs(&self) -> usize;

    /// The new rows.
    ///
    /// # Errors
    /// If the width differs or a cell is infinite.
    fn transform(&self, x: &Rows<'_>) -> Result<Matrix>;

    /// Rows that new ones could come from; `None` where the way back is not known.
    ///
    /// # Errors
    /// If the width differs or a cell is not finite.
    fn inverse(&self, _new: &Rows<'_>) -> Result<Option<Matrix>> {
        Ok(None)
    }

    /// The new rows in single precision, for rows that came so.
    ///
    /// # Errors
    /// As [`Transformer::transform`].
    fn transform_single(&self, x: &Rows<'_>) -> Result<Array2<f32>> {
        Ok(self.transform(x)?.mapv(|v| v as f32))
    }

    /// The new rows, row-major, in memory that waits for them: a large table is touched once.
    ///
    /// # Errors
    /// As [`Transformer::transform`].
    ///
    /// # Panics
    /// If there is not one place a cell.
    fn transform_to(&self, x: &Rows<'_>, out: &mut [f64]) -> Result<()> {
        let rows = self.transform(x)?;
        parallel::copy(
            rows.as_standard_layout().as_slice().expect("standard layout is contiguous"),
            out,
        );
        Ok(())
    }

    /// The same in single precision.
    ///
    /// # Errors
    /// As [`Transformer::transform`].
    ///
    /// # Panics
    /// If there is not one place a cell.
    fn transform_single_to(&self, x: &Rows<'_>, out: &mut [f32]) -> Result<()> {
        let rows = self.transform_single(x)?;
        parallel::copy(
            rows.as_standard_layout().as_slice().expect("standard layout is contiguous"),
            out,
        );
        Ok(())
    }

    /// The new rows in compressed form, of sparse rows whose new ones are sparse too; `None` where they
    /// are not.
    ///
    /// # Errors
    /// As [`Transformer::transform`].
    fn transform_sparse(&self, _x: &Rows<'_>) -> Result<Option<Sparse>> {
        Ok(None)
    }

    /// What the new columns are called, from the names of the old ones, where they have names of their
    /// own.
    fn names_out(&self, _inputs: &[String]) -> Option<Vec<String>> {
        None
    }
}
