//! The portfolio: the candidates for a table, by its task and shape.
//!
//! The order breaks ties, so the simpler estimators come first. The hyperparameters cover the ranges that differ most on
//! tables of many kinds: the strength of the regularization on a logarithmic grid, the width of a kernel relative to the
//! spread of the rows, and the shape of the numeric columns (as they are, after a power transform, in bins).

use super::candidate::Candidate;
use crate::data::{Kind, Schema};
use crate::error::Result;
use crate::train::{ColumnSelection, Task};

/// Networks of attributes and full covariance matrices are tried up to so many columns.
const MAX_COLUMNS_OF_PAIRS: usize = 300;
/// Kernel maps are tried from so many rows on; below, exact kernel methods are fast enough.
const MIN_ROWS_OF_MAPS: u64 = 10_000;
/// Landmarks of approximate kernel ridge regression.
const N_LANDMARKS: u64 = 3000;
/// A step that makes numeric columns more Gaussian.
const POWER: &str = "power=yeo-johnson";
/// A step that makes a linear model additive in step functions of the columns.
const BINS: &str = "bins=equal-frequency:32";

/// The candidates for a table.
///
/// # Errors
/// If a parameter of a candidate is refused, which is a defect of the portfolio.
pub fn portfolio(
    schema: &Schema,
    n_rows: u64,
    (target, task): (&str, Task<'_>),
    columns: ColumnSelection<'_>,
) -> Result<Vec<Candidate>> {
    let shape = Shape::of(schema, n_rows, target, columns);
    match (task, shape.is_text()) {
        (Task::Regression, _) => regressors(&shape),
        (_, true) => text_classifiers(),
        (_, false) => classifiers(&shape),
    }
}

/// The numbers of columns of each kind.
struct Shape {
    n_rows: u64,
    n_numeric: usize,
    n_categorical: usize,
    n_text: usize,
    /// The number of features of a sparse column.
    n_sparse: usize,
}

impl Shape {
    fn of(schema: &Schema, n_rows: u64, target: &str, selection: ColumnSelection<'_>) -> Shape {
        let used = |name: &String| {
            name != target
                && !selection.ignore.contains(name)
                && (selection.only.is_empty() || selection.only.contains(name))
        };
        let columns: Vec<_> = schema.fields.iter().filter(|c| used(&c.name)).collect();
        let count = |kind: Kind| columns.iter().filter(|c| c.kind == kind).count();
        let sparse = columns.iter().filter(|c| c.kind == Kind::Sparse);
        Shape {
            n_rows,
            n_numeric: count(Kind::Numeric),
            n_categorical: count(Kind::Categorical) + count(Kind::Boolean),
            n_text: count(Kind::Text),
            n_sparse: sparse.map(|c| c.width).sum(),
        }
    }

    /// Whether tokens are all there is, or most of it.
    fn is_text(&self) -> bool {
        self.n_text > 0 && self.n_numeric + self.n_categorical <= self.n_text
    }

    /// Whether numeric columns can be transformed one by one.
    fn has_numeric(&self) -> bool {
        self.n_numeric > 0 && self.n_sparse == 0
    }

    fn n_columns(&self) -> usize {
        self.n_numeric + self.n_categorical + self.n_text + self.n_sparse
    }
}

fn text_classifiers() -> Result<Vec<Candidate>> {
    let mut all = Vec::new();
    for alpha in [1.0, 0.1, 0.01] {
        all.push(Candidate::new("multinomial-nb")?.set("alpha", alpha)?);
        all.push(Candidate::new("complement-nb")?.set("alpha", alpha)?);
    }
    for ngrams in [None, Some("ngrams=1-2")] {
        let with = |candidate: Candidate| {
            let candidate = candidate.step("text=tf-idf").step("tf=log");
            ngrams.map_or(candidate.clone(), |step| candidate.step(step))
        };
        for c in [1.0, 10.0, 100.0] {
            all.push(with(Candidate::new("logistic")?.set("C", c)?));
        }
        for c in [0.1, 1.0] {
            all.push(with(Candidate::new("linear-svc")?.set("C", c)?.set("probability", true)?));
        }
        all.push(with(Candidate::new("multinomial-nb")?.set("alpha", 0.1)?));
    }
    Ok(all)
}

fn classifiers(shape: &Shape) -> Result<Vec<Candidate>> {
    let mut all = vec![Candidate::new("gaussian-nb")?];
    if shape.n_sparse == 0 {
        all = vec![
            Candidate::new("mixed-nb")?,
            Candidate::new("mixed-nb")?.set("weights", "learned")?,
        ];
        if shape.n_columns() <= MAX_COLUMNS_OF_PAIRS {
            all.push(Candidate::new("tan")?);
        }
    }
    for c in [0.1, 1.0, 10.0] {
        all.push(Candidate::new("logistic")?.set("C", c)?);
    }
    if shape.n_columns() <= MAX_COLUMNS_OF_PAIRS {
        all.extend([Candidate::new("lda")?, Candidate::new("rda")?]);
    }
    all.push(Candidate::new("linear-svc")?.set("probability", true)?);
    if shape.has_numeric() {
        for c in [0.1, 1.0] {
            all.push(Candidate::new("logistic")?.set("C", c)?.step(POWER));
        }
        for c in [0.1, 1.0, 10.0] {
            all.push(Candidate::new("logistic")?.set("C", c)?.step(BINS));
        }
        all.push(Candidate::new("rda")?.step(POWER));
    }
    for step in steps(shape) {
        let with = |candidate: Candidate| step.map_or(candidate.clone(), |s| candidate.step(s));
        for (c, gamma) in
            [(1.0, 0.3), (1.0, 1.0), (10.0, 0.3), (10.0, 1.0), (10.0, 3.0), (100.0, 1.0)]
        {
            all.push(with(svc(c)?.relative_gamma(gamma)));
        }
        for (c, gamma) in [(1.0, 1.0), (10.0, 1.0), (10.0, 3.0)] {
            all.push(with(svc(c)?.set("kernel", "laplacian")?.relative_gamma(gamma)));
        }
        for alpha in [0.01, 1.0] {
            all.push(with(mlp("mlp", &[50], alpha)?));
        }
        if shape.n_rows >= MIN_ROWS_OF_MAPS {
            for c in [1.0, 10.0] {
                let mapped = Candidate::new("logistic")?
                    .set("C", c)?
                    .mapped("nystroem:500,kernel=laplacian");
                all.push(with(mapped));
            }
        }
    }
    Ok(all)
}

fn regressors(shape: &Shape) -> Result<Vec<Candidate>> {
    let evidence = || Candidate::new("ridge")?.set("alpha_from", "evidence");
    let mut all = vec![evidence()?];
    if shape.n_text > 0 {
        for c in [0.1, 1.0, 10.0] {
            all.push(Candidate::new("linear-svr")?.set("C", c)?);
        }
        return Ok(all);
    }
    if shape.has_numeric() {
        all.extend([evidence()?.step(POWER), evidence()?.step(BINS)]);
        if shape.n_columns() <= 30 {
            all.push(evidence()?.mapped("poly:2"));
        }
    }
    for step in steps(shape) {
        let with = |candidate: Candidate| step.map_or(candidate.clone(), |s| candidate.step(s));
        for kernel in ["rbf", "laplacian"] {
            for (c, gamma) in [(1.0, 1.0), (10.0, 0.3), (10.0, 1.0), (10.0, 3.0)] {
                let svr = Candidate::new("svr")?.set("kernel", kernel)?.set("C", c)?;
                all.push(with(svr.relative_gamma(gamma)));
            }
            for (alpha, gamma) in [(0.1, 0.3), (0.1, 1.0), (0.1, 3.0), (0.01, 1.0)] {
                let ridge =
                    Candidate::new("kernel-ridge")?.set("kernel", kernel)?.set("alpha", alpha)?;
                all.push(with(ridge.relative_gamma(gamma)));
            }
        }
        if shape.n_rows >= MIN_ROWS_OF_MAPS {
            for (alpha, gamma) in [(0.1, 1.0), (0.1, 3.0), (0.01, 1.0)] {
                let landmarks = Candidate::new("kernel-ridge")?
                    .set("kernel", "laplacian")?
                    .set("alpha", alpha)?
                    .set("solver", "approx")?
                    .set("n_landmarks", N_LANDMARKS)?;
                all.push(with(landmarks.relative_gamma(gamma)));
            }
        }
        for (layers, alpha) in [(&[50][..], 0.01), (&[100, 50][..], 0.01), (&[100, 50][..], 1.0)] {
            all.push(with(mlp("mlp-regressor", layers, alpha)?));
        }
    }
    Ok(all)
}

/// The shapes of the numeric columns that kernels and networks are tried with.
fn steps(shape: &Shape) -> Vec<Option<&'static str>> {
    if shape.has_numeric() { vec![None, Some(POWER)] } else { vec![None] }
}

fn svc(c: f64) -> Result<Candidate> {
    Candidate::new("svc")?.set("C", c)?.set("probability", true)
}

fn mlp(id: &str, layers: &[u64], alpha: f64) -> Result<Candidate> {
    Candidate::new(id)?.set("hidden_layer_sizes", layers.to_vec())?.set("alpha", alpha)
}
