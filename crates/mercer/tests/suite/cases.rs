//! Rows to try estimators on, made to fit whatever the catalog holds.
//!
//! Nothing here names an estimator: what it wants is read from its card, and where the card is
//! silent, from the first kind of rows it accepts.

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

/// What is drawn at random.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub n_rows: usize,
    pub n_columns: usize,
    pub n_classes: usize,
    pub gaps: bool,
    pub weighted: bool,
    pub seed: u64,
}

/// Shapes small enough to try many.
pub fn shapes() -> impl Strategy<Value = Shape> {
    (1usize..200, 1usize..12, 2usize..=5, any::<bool>(), any::<bool>(), 0u64..1_000_000).prop_map(
        |(n_rows, n_columns, n_classes, gaps, weighted, seed)| Shape {
            n_rows,
            n_columns,
            n_classes,
            gaps,
            weighted,
            seed,
        },
    )
}

/// Columns of rows over many chunks: where a summary is as wide as the data, so many that a dense
/// chunk has few rows; where it may grow with the square of that, few.
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
    // A solver has no chunks, and its time grows faster than the rows.
    if card.learns != Learns::Statistics {
        return 32;
    }
    estimator(card).chunk_rows(n_columns, Layout::Dense)
}

/// Rows over many chunks.
pub fn many_chunks(card: &Card, n_chunks: usize, seed: u64) -> Shape {
    Shape {
        n_rows: (n_chunks - 1) * chunk(card) + 17,
        n_columns: width(card),
        n_classes: 3,
        gaps: false,
        weighted: false,
        seed,
    }
}

/// Rows with every kind of target, of which an estimator takes the one it can use.
#[derive(Clone, Debug)]
pub struct Case {
    pub x: Matrix,
    pub codes: Vec<u32>,
    pub classes: Classes,
    pub numbers: Vec<f64>,
    pub weights: Option<Vec<f64>>,
}

/// What the cells are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cells {
    /// Any real number.
    Real,
    /// Numbers above zero.
    Positive,
    /// Whole numbers from zero.
    Counts,
}

impl Case {
    /// Rows that fit an estimator.
    pub fn new(card: &Card, shape: Shape) -> Case {
        let mut case =
            Case::of(cells(card), shape.gaps && card.accepts(Input::MissingValues), shape);
        if card.can(Capability::Online) {
            // Steps of a fixed length want columns of about unit size.
            case.x /= 4.0;
        }
        case
    }

    fn of(cells: Cells, gaps: bool, shape: Shape) -> Case {
        let mut random = Random::new(shape.seed);
        let codes: Vec<u32> = (0..shape.n_rows)
            .map(|i| if i < shape.n_classes { i } else { random.below(shape.n_classes) } as u32)
            .collect();
        let x = Matrix::from_shape_fn((shape.n_rows, shape.n_columns), |(i, j)| {
            let place = f64::from(codes[i]) * (1 + j % 3) as f64;
            let value = 3.0 + place + 2.0 * random.normal();
            if gaps && random.uniform() < 0.2 {
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

    /// The case's own rows with the target the estimator learns.
    pub fn data(&self, card: &Card) -> Dataset<'_> {
        self.data_of(card, &self.x)
    }

    /// Other rows of the same length with the same target and weights.
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

    /// The rows at some places, any number of times.
    pub fn select(&self, places: &[usize]) -> Case {
        Case {
            x: self.x.select(Axis(0), places),
            codes: places.iter().map(|i| self.codes[*i]).collect(),
            classes: self.classes.clone(),
            numbers: places.iter().map(|i| self.numbers[*i]).collect(),
            weights: self.weights.as_ref().map(|w| places.iter().map(|i| w[*i]).collect()),
        }
    }

    /// The same with about half of the cells zero.
    pub fn thinned(mut self) -> Case {
        for ((i, j), v) in self.x.indexed_iter_mut() {
            if (i * 7 + j * 3) % 5 < 2 {
                *v = 0.0;
            }
        }
        self
    }

    /// The same rows as a table with the target column the estimator learns.
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

    /// How the table becomes the rows again.
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

/// The freest kind of cells an estimator accepts.
pub fn cells(card: &Card) -> Cells {
    let shape =
        Shape { n_rows: 60, n_columns: 3, n_classes: 3, gaps: false, weighted: false, seed: 1 };
    [Cells::Real, Cells::Positive, Cells::Counts]
        .into_iter()
        .find(|cells| fit(card, &Case::of(*cells, false, shape)).is_ok())
        .unwrap_or_else(|| panic!("`{}` accepts no rows at all", card.id))
}

/// The estimator of a card with its defaults; a solver comes so near to its optimum that laws can be
/// seen to hold. One that learns row by row has steps and no optimum to be near to. Its constant term steps
/// alike in any storage, and little: a step as long as a short row needs overshoots by the constant, which
/// makes much of the last digit. One of many minima is far from where it began, and the last digit may decide
/// for another: a few steps on the way are the same.
pub fn estimator(card: &Card) -> Estimator {
    let estimator = Estimator::from_id(card.id).unwrap();
    let has = |name: &str| card.specs.iter().any(|spec| spec.name == name);
    match card.learns {
        Learns::Rounds | Learns::Solver
            if card.can(Capability::Online) && has("intercept_decay") =>
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

/// Fails where two fits of the same learning differ: in any number of the model, or, where a solver may
/// come to the same function by other numbers, in what they say about rows.
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
        assert_near(&answers(a, rows), &answers(b, rows), SOLVED);
    } else {
        assert_models_near(a, b, tolerance);
    }
}

/// How far answers may be apart that a solver came to by two ways.
pub const SOLVED: f64 = 1e-5;

/// The tolerance for answers, or the solver's.
pub fn within(card: &Card, tolerance: f64) -> f64 {
    if card.learns != Learns::Statistics { SOLVED } else { tolerance }
}

/// So many cases, the same ones every time: a red run is never bad luck. `PROPTEST_RNG_SEED` goes looking
/// for others.
pub fn same_cases(cases: u32) -> Config {
    let plain = Config::default();
    let rng_seed = match plain.rng_seed {
        RngSeed::Random => RngSeed::Fixed(2026),
        seed => seed,
    };
    Config { cases, failure_persistence: None, rng_seed, ..plain }
}

/// Whether a law is tried on a shape: solvers take long to the last digit, so that one shape in eight is
/// theirs.
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

/// Fits rows and packs them as they are saved.
pub fn trained(card: &Card, data: &Dataset<'_>) -> Result<Trained> {
    let estimator = estimator(card);
    let fitted = estimator.fit(data, &Monitor::quiet())?;
    let stats = match card.learns {
        Learns::Statistics => Some(estimator.gather(data, &Monitor::quiet())?.stats),
        _ => None,
    };
    Ok(Trained::new(estimator, Features::plain(names(data.n_columns())), fitted, stats))
}

/// The saved bytes, or the refusal.
pub fn bytes(card: &Card, data: &Dataset<'_>) -> Result<Vec<u8>> {
    trained(card, data)?.to_bytes()
}

/// What a model says about rows: the most telling thing it can say.
pub fn answers<'a>(model: &AnyModel, rows: impl Into<Rows<'a>>) -> Matrix {
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
        panic!("a model that can do nothing")
    }
}

/// Whether two numbers agree: relative where they are large, absolute where they are small.
pub fn near(a: f64, b: f64, tolerance: f64) -> bool {
    a == b
        || (a.is_nan() && b.is_nan())
        || (a - b).abs() <= tolerance * a.abs().max(b.abs()).max(1.0)
}

/// How much further than rounding two fits of the same rows may lie apart: what a nearly singular
/// fit magnifies.
pub fn slack(fitted: &Fitted<AnyModel>) -> f64 {
    (1e-5 * fitted.certificate.condition.unwrap_or(1.0)).max(1.0)
}

/// Fails where two tables of numbers differ by more than the tolerance.
#[track_caller]
pub fn assert_near(a: &Matrix, b: &Matrix, tolerance: f64) {
    assert_eq!(a.dim(), b.dim());
    for ((at, a), b) in a.indexed_iter().zip(b) {
        assert!(near(*a, *b, tolerance), "at {at:?}: {a} and {b}");
    }
}

/// Fails where two models differ in any number by more than the tolerance.
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

/// The same numbers in compressed rows; zeros are left out, gaps are kept.
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

/// Compressed rows in their own parts, as scipy hands them out.
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

/// The same numbers in disorder: columns fall, and every other cell is stored as `2v` and `-v`, far
/// from each other.
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
