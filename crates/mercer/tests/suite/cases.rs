//! Random data for every estimator of the catalog.
//!
//! No estimator is named here: the data follow from the capabilities on its card, or else from the first kind of rows
//! that it accepts.

use mercer::catalog::{AnyModel, Capability, Card, Estimator, Input, Learns};
use mercer::data::{Column, Levels, Values};
use mercer::data::{Field, Schema};
use mercer::model::Tree;
use mercer::model::tree::{Array, Numbers};
use mercer::prelude::*;
use mercer::preprocess::{CategoryEncoding, Features};
use mercer::train::Trained;
use mercer_num::parallel::{Layout, chunk_rows};
use mercer_num::random::Random;
use ndarray::Axis;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use std::sync::Arc;

/// The name of the target in tables.
pub const TARGET: &str = "target";

/// The parameters of a random case.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub n_rows: usize,
    pub n_columns: usize,
    pub n_classes: usize,
    pub with_missing: bool,
    pub weighted: bool,
    pub seed: u64,
}

/// Shapes small enough for many cases.
pub fn shapes() -> impl Strategy<Value = Shape> {
    (1usize..200, 1usize..12, 2usize..=5, any::<bool>(), any::<bool>(), 0u64..1_000_000).prop_map(
        |(n_rows, n_columns, n_classes, with_missing, weighted, seed)| Shape {
            n_rows,
            n_columns,
            n_classes,
            with_missing,
            weighted,
            seed,
        },
    )
}

/// The number of columns of cases with many chunks: large if the statistics grow linearly with it, so that a dense
/// chunk has few rows; small if they may grow quadratically.
pub fn width(card: &Card) -> usize {
    if card.learns != Learns::Statistics {
        return 8;
    }
    let wide = if card.accepts(Input::Categories) { 16 } else { 128 };
    if chunk_of(card, wide) == chunk_rows(wide, Layout::Dense) { wide } else { 8 }
}

/// Rows of a dense chunk of [`width`] columns.
pub fn chunk(card: &Card) -> usize {
    chunk_of(card, width(card))
}

fn chunk_of(card: &Card, n_columns: usize) -> usize {
    // A solver has no chunks, and its time grows faster than the number of rows.
    if card.learns != Learns::Statistics {
        return 32;
    }
    estimator(card).chunk_rows(n_columns, Layout::Dense)
}

/// A shape with rows of many chunks.
pub fn many_chunks(card: &Card, n_chunks: usize, seed: u64) -> Shape {
    Shape {
        n_rows: (n_chunks - 1) * chunk(card) + 17,
        n_columns: width(card),
        n_classes: 3,
        with_missing: false,
        weighted: false,
        seed,
    }
}

/// Rows with every kind of target, of which an estimator uses one.
#[derive(Clone, Debug)]
pub struct Case {
    pub x: Matrix,
    pub codes: Vec<u32>,
    pub classes: Classes,
    pub numbers: Vec<f64>,
    pub weights: Option<Vec<f64>>,
}

/// The kind of the cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cells {
    /// Any real value.
    Real,
    /// Positive values.
    Positive,
    /// Nonnegative integers.
    Counts,
}

impl Case {
    /// A case for an estimator.
    pub fn new(card: &Card, shape: Shape) -> Case {
        let with_missing = shape.with_missing && card.accepts(Input::MissingValues);
        let mut case = Case::of(cells(card), with_missing, shape);
        if card.can(Capability::Discriminant)
            && matches!(fit(card, &case), Err(Error::SingularCovariance { .. }))
        {
            // Few rows of a class have a singular covariance, which is refused.
            let n_rows = shape.n_rows + 2 * shape.n_classes * (shape.n_columns + 3);
            case = Case::of(cells(card), with_missing, Shape { n_rows, ..shape });
        }
        if card.can(Capability::Online) {
            // Steps of a fixed size need columns of about unit variance.
            case.x /= 4.0;
        }
        case
    }

    fn of(cells: Cells, with_missing: bool, shape: Shape) -> Case {
        let mut random = Random::new(shape.seed);
        let codes: Vec<u32> = (0..shape.n_rows)
            .map(|i| if i < shape.n_classes { i } else { random.below(shape.n_classes) } as u32)
            .collect();
        let x = Matrix::from_shape_fn((shape.n_rows, shape.n_columns), |(i, j)| {
            let index = f64::from(codes[i]) * (1 + j % 3) as f64;
            let value = 3.0 + index + 2.0 * random.normal();
            if with_missing && random.uniform() < 0.2 {
                return f64::NAN;
            }
            match cells {
                Cells::Real => value,
                Cells::Positive => value.exp(),
                Cells::Counts => value.abs().floor(),
            }
        });
        let numbers = x
            .outer_iter()
            .map(|row| row.iter().filter(|v| !v.is_nan()).sum::<f64>() + random.normal())
            .collect();
        let weights =
            shape.weighted.then(|| (0..shape.n_rows).map(|_| 0.25 + random.uniform()).collect());
        let classes = Classes::from_names((0..shape.n_classes).map(|c| format!("class {c}")));
        Case { x, codes, classes, numbers, weights }
    }

    /// The rows with the target of the estimator's task.
    pub fn data(&self, card: &Card) -> Dataset<'_> {
        self.data_of(card, &self.x)
    }

    /// Other rows of the same number with the same target and weights.
    pub fn data_of<'a>(&'a self, card: &Card, rows: impl Into<Rows<'a>>) -> Dataset<'a> {
        let rows = rows.into();
        let data = if card.can(Capability::Classifier) {
            Dataset::classes(rows, &self.codes, &self.classes).unwrap()
        } else if card.can(Capability::Regressor) {
            Dataset::regression(rows, &self.numbers).unwrap()
        } else {
            Dataset::unlabeled(rows)
        };
        match &self.weights {
            Some(weights) => data.weighted(weights).unwrap(),
            None => data,
        }
    }

    /// The rows with some indices, which may be repeated.
    pub fn select(&self, indices: &[usize]) -> Case {
        Case {
            x: self.x.select(Axis(0), indices),
            codes: indices.iter().map(|i| self.codes[*i]).collect(),
            classes: self.classes.clone(),
            numbers: indices.iter().map(|i| self.numbers[*i]).collect(),
            weights: self.weights.as_ref().map(|w| indices.iter().map(|i| w[*i]).collect()),
        }
    }

    /// The same with about half of the cells set to zero.
    pub fn with_zeros(mut self) -> Case {
        for ((i, j), v) in self.x.indexed_iter_mut() {
            if (i * 7 + j * 3) % 5 < 2 {
                *v = 0.0;
            }
        }
        self
    }

    /// The same rows as a table with the target column of the estimator's task.
    pub fn table(&self, card: &Card) -> Table {
        let mut columns: Vec<Column> = names(self.x.ncols())
            .into_iter()
            .zip(self.x.columns())
            .map(|(name, x)| Column { name, values: Values::Numeric(x.to_vec()) })
            .collect();
        let levels = Arc::new(Levels::new(
            self.classes.labels().iter().map(mercer::data::Label::to_string).collect(),
        ));
        let values = match card.can(Capability::Regressor) {
            true => Values::Numeric(self.numbers.clone()),
            false => Values::Categorical { codes: self.codes.clone(), levels },
        };
        columns.push(Column { name: TARGET.into(), values });
        Table::new(columns).unwrap()
    }

    /// The preprocessing that restores the rows from the table.
    pub fn features(&self) -> Features {
        let mut fields: Vec<Field> =
            names(self.x.ncols()).into_iter().map(Field::numeric).collect();
        fields.push(Field::categorical(TARGET, Arc::default()));
        Features::plan(&Schema { fields }, Some(TARGET), CategoryEncoding::Auto).unwrap().0
    }
}

/// Column names.
pub fn names(n: usize) -> Vec<String> {
    (0..n).map(|j| format!("x{j}")).collect()
}

/// The most general kind of cells that an estimator accepts.
pub fn cells(card: &Card) -> Cells {
    let shape = Shape {
        n_rows: 60,
        n_columns: 3,
        n_classes: 3,
        with_missing: false,
        weighted: false,
        seed: 1,
    };
    [Cells::Real, Cells::Positive, Cells::Counts]
        .into_iter()
        .find(|cells| fit(card, &Case::of(*cells, false, shape)).is_ok())
        .unwrap_or_else(|| panic!("`{}` accepts no rows at all", card.id))
}

/// The estimator of a card with its defaults and a tight tolerance. An online estimator has step sizes instead of an
/// optimum; its intercept takes equal, small steps in any storage, because a passive-aggressive step for a short row
/// overshoots by the intercept and amplifies rounding errors. A nonconvex estimator takes a few iterations only,
/// because rounding may lead it to another minimum.
pub fn estimator(card: &Card) -> Estimator {
    let estimator = Estimator::from_id(card.id).unwrap();
    let has = |name: &str| card.specs.iter().any(|spec| spec.name == name);
    match card.learns {
        Learns::Rounds | Learns::Solver
            if card.can(Capability::OrderDependent) && has("intercept_decay") =>
        {
            estimator.set_from_str("intercept_decay", "0.001").unwrap()
        }
        Learns::Rounds | Learns::Solver if card.can(Capability::NonConvex) => {
            estimator.set_from_str("max_iter", "5").unwrap()
        }
        Learns::Rounds | Learns::Solver if has("tol") => {
            estimator.set_from_str("tol", "1e-10").unwrap()
        }
        _ => estimator,
    }
}

/// Fails if two equivalent fits differ: in a value of the model, or in predictions if a solver may represent the same
/// function by other values.
#[track_caller]
pub fn assert_same_learning<'a>(
    card: &Card,
    a: &AnyModel,
    b: &AnyModel,
    rows: impl Into<Rows<'a>>,
    tolerance: f64,
) {
    if card.learns != Learns::Statistics {
        let rows = rows.into();
        assert_near(&predictions(a, rows), &predictions(b, rows), SOLVED);
    } else {
        assert_models_near(a, b, tolerance);
    }
}

/// The tolerance for predictions of two runs of a solver.
pub const SOLVED: f64 = 1e-5;

/// The given tolerance, or that of the solver.
pub fn within(card: &Card, tolerance: f64) -> f64 {
    if card.learns != Learns::Statistics { SOLVED } else { tolerance }
}

/// A fixed number of fixed cases, so that a failure is reproducible. `PROPTEST_RNG_SEED` draws other cases.
pub fn same_cases(cases: u32) -> Config {
    let plain = Config::default();
    let rng_seed = match plain.rng_seed {
        RngSeed::Random => RngSeed::Fixed(2026),
        seed => seed,
    };
    Config { cases, failure_persistence: None, rng_seed, ..plain }
}

/// Whether a law is checked on a shape: solvers take long with tight tolerances, so they get one shape in eight.
pub fn tried(card: &Card, shape: Shape) -> bool {
    card.learns == Learns::Statistics || shape.seed.is_multiple_of(8)
}

/// Fits the case's own rows.
pub fn fit(card: &Card, case: &Case) -> Result<Fitted<AnyModel>> {
    fit_data(card, &case.data(card))
}

/// Fits any rows.
pub fn fit_data(card: &Card, data: &Dataset<'_>) -> Result<Fitted<AnyModel>> {
    estimator(card).fit(data, &Monitor::quiet())
}

/// Fits rows and returns the trained model as it is saved.
pub fn trained(card: &Card, data: &Dataset<'_>) -> Result<Trained> {
    let estimator = estimator(card);
    let fitted = estimator.fit(data, &Monitor::quiet())?;
    let stats = match card.learns {
        Learns::Statistics => Some(estimator.gather(data, &Monitor::quiet())?.stats),
        _ => None,
    };
    Ok(Trained::new(estimator, Features::plain(names(data.n_columns())), fitted, stats))
}

/// The bytes of the saved model, or the error.
pub fn bytes(card: &Card, data: &Dataset<'_>) -> Result<Vec<u8>> {
    trained(card, data)?.to_bytes()
}

/// The predictions of a model: the most detailed kind that it supports.
pub fn predictions<'a>(model: &AnyModel, rows: impl Into<Rows<'a>>) -> Matrix {
    let rows = rows.into();
    let model = model.as_model();
    if let Some(model) = model.probabilistic() {
        model.log_proba(&rows).unwrap()
    } else if let Some(model) = model.classifier() {
        model.scores(&rows).unwrap()
    } else if let Some(model) = model.regressor() {
        Matrix::from_shape_vec((rows.n_rows(), 1), model.predict(&rows).unwrap()).unwrap()
    } else if let Some(model) = model.outlier_detector() {
        Matrix::from_shape_vec((rows.n_rows(), 1), model.inlier_scores(&rows).unwrap()).unwrap()
    } else if let Some(model) = model.clusterer() {
        model.distances(&rows).unwrap()
    } else if let Some(model) = model.transformer() {
        model.transform(&rows).unwrap()
    } else {
        panic!("the model has no predictions")
    }
}

/// Whether two values agree: relative for large values, absolute for small ones.
pub fn near(a: f64, b: f64, tolerance: f64) -> bool {
    a == b
        || (a.is_nan() && b.is_nan())
        || (a - b).abs() <= tolerance * a.abs().max(b.abs()).max(1.0)
}

/// The factor by which an ill-conditioned fit amplifies rounding errors.
pub fn slack(fitted: &Fitted<AnyModel>) -> f64 {
    (1e-5 * fitted.certificate.condition.unwrap_or(1.0)).max(1.0)
}

/// Fails if two matrices differ by more than the tolerance.
#[track_caller]
pub fn assert_near(a: &Matrix, b: &Matrix, tolerance: f64) {
    assert_eq!(a.dim(), b.dim());
    for ((at, a), b) in a.indexed_iter().zip(b) {
        assert!(near(*a, *b, tolerance), "at {at:?}: {a} and {b}");
    }
}

/// Fails if two models differ in a value by more than the tolerance.
#[track_caller]
pub fn assert_models_near(a: &AnyModel, b: &AnyModel, tolerance: f64) {
    assert_trees_near(&a.fields(), &b.fields(), tolerance);
}

#[track_caller]
fn assert_trees_near(a: &Tree, b: &Tree, tolerance: f64) {
    match (a, b) {
        (Tree::Float(a), Tree::Float(b)) => assert!(near(*a, *b, tolerance), "{a} and {b}"),
        (
            Tree::Array(Array { numbers: Numbers::F64(x), shape }),
            Tree::Array(Array { numbers: Numbers::F64(y), shape: other }),
        ) => {
            assert_eq!(shape, other);
            for (x, y) in x.iter().zip(y) {
                assert!(near(*x, *y, tolerance), "{x} and {y} in\n{a:?}\n{b:?}");
            }
        }
        (Tree::List(a), Tree::List(b)) => {
            assert_eq!(a.len(), b.len());
            a.iter().zip(b).for_each(|(a, b)| assert_trees_near(a, b, tolerance));
        }
        (Tree::Map(a), Tree::Map(b)) => {
            assert_eq!(a.len(), b.len());
            for ((name, a), (other, b)) in a.iter().zip(b) {
                assert_eq!(name, other);
                assert_trees_near(a, b, tolerance);
            }
        }
        _ => assert_eq!(a, b),
    }
}

/// The same values in compressed rows; zeros are not stored, missing values are.
pub fn sparse(x: &Matrix) -> Sparse {
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in x.outer_iter() {
        for (j, v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            columns.push(j as i32);
            values.push(*v);
        }
        starts.push(values.len());
    }
    Sparse::new(x.dim(), starts, columns, values)
}

/// Compressed rows as separate arrays, as in scipy.
pub struct Parts {
    n_columns: usize,
    offsets: Vec<usize>,
    columns: Vec<i32>,
    values: Vec<f64>,
}

impl Parts {
    pub fn rows(&self) -> Rows<'_> {
        let view = SparseView::try_new(self.n_columns, &self.offsets, &self.columns, &self.values);
        Rows::Sparse(view.unwrap())
    }
}

/// The same values unsorted: columns descend, and every other cell is stored as `2v` and `-v`, far from each other.
pub fn disordered(x: &Matrix) -> Parts {
    let n_columns = x.ncols();
    let mut out = Parts { n_columns, offsets: vec![0], columns: Vec::new(), values: Vec::new() };
    for (i, row) in x.outer_iter().enumerate() {
        let cells = || row.iter().enumerate().rev().filter(|(_, v)| **v != 0.0);
        for (j, v) in cells() {
            out.columns.push(j as i32);
            out.values.push(if (i + j) % 2 == 0 { 2.0 * v } else { *v });
        }
        for (j, v) in cells().filter(|(j, _)| (i + j) % 2 == 0) {
            out.columns.push(j as i32);
            out.values.push(-v);
        }
        out.offsets.push(out.columns.len());
    }
    out
}

/// The text of a file in the repository.
pub fn repository_file(path: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}
