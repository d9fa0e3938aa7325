//! The rows of a plot, and predictions over one or two of their columns.

use super::contour::{Grid, Point};
use crate::failure::{Failure, Result};
use mercer::data::{Column, Kind, Table, Values};
use mercer::preprocess::Encoded;
use mercer::train::Trained;

/// Grid points along each axis.
pub const POINTS_PER_AXIS: usize = 160;
/// Points of a curve.
pub const POINTS_PER_CURVE: usize = 240;
/// The margin around the data, as a fraction of their range.
const MARGIN: f64 = 0.08;

/// Rows of a table with what the model sees of them.
pub struct PlotRows {
    pub table: Table,
    pub encoded: Encoded,
}

/// A numeric column of the model that is an axis of the plot.
pub struct Axis {
    /// The index among the columns of the model.
    pub index: usize,
    pub name: String,
    pub values: Vec<f64>,
    /// The range of the values, with a margin.
    pub range: (f64, f64),
}

impl PlotRows {
    /// The class of every row.
    pub fn codes(&self) -> &[u32] {
        &self.encoded.codes
    }

    /// The axes for columns that the user names, or for the only numeric columns.
    pub fn axes(&self, model: &Trained, named: &[String], n: usize) -> Result<Vec<Axis>> {
        let fields = &model.features.schema.fields;
        let numeric = || fields.iter().filter(|f| f.kind == Kind::Numeric).map(|f| f.name.clone());
        let names: Vec<String> =
            if named.is_empty() { numeric().collect() } else { named.to_vec() };
        if names.len() != n {
            return Err(Failure::Usage(format!(
                "the plot needs {n} numeric column{}, found {}; select them with --axis NAME, of {}",
                if n == 1 { "" } else { "s" },
                names.len(),
                numeric().collect::<Vec<_>>().join(", ")
            )));
        }
        names.iter().map(|name| self.axis(model, name)).collect()
    }

    fn axis(&self, model: &Trained, name: &str) -> Result<Axis> {
        let fields = &model.features.schema.fields;
        let index = fields.iter().position(|f| f.name == name && f.kind == Kind::Numeric);
        let index = index.ok_or_else(|| {
            let numeric = fields.iter().filter(|f| f.kind == Kind::Numeric);
            let known: Vec<&str> = numeric.map(|f| f.name.as_str()).collect();
            Failure::Usage(format!(
                "--axis {name}: the model has no such numeric column; it has {}",
                known.join(", ")
            ))
        })?;
        let values = self.numeric(name)?;
        let range = range_of(&values).ok_or_else(|| {
            Failure::Data(format!("column `{name}` has no finite value, so there is no plot"))
        })?;
        Ok(Axis { index, name: name.to_owned(), values, range })
    }

    fn numeric(&self, name: &str) -> Result<Vec<f64>> {
        match self.table.column(name).map(|column| &column.values) {
            Some(Values::Numeric(values)) => Ok(values.clone()),
            _ => Err(Failure::Data(format!("column `{name}` is not numeric"))),
        }
    }

    /// What the model sees of rows with the given values on the axes and the mean in every other column.
    pub fn slice(&self, model: &Trained, axes: &[Axis], values: Vec<Vec<f64>>) -> Result<Encoded> {
        let n = values.first().map_or(0, Vec::len);
        let mut columns = Vec::new();
        for (k, field) in model.features.schema.fields.iter().enumerate() {
            let cells = match axes.iter().position(|axis| axis.index == k) {
                Some(axis) => values[axis].clone(),
                None if field.kind == Kind::Numeric => vec![mean(&self.numeric(&field.name)?); n],
                None => {
                    return Err(Failure::Usage(format!(
                        "column `{}` is {}; a plot over chosen columns fixes the others at their mean, so \
                         they must be numeric",
                        field.name, field.kind
                    )));
                }
            };
            columns.push(Column { name: field.name.clone(), values: Values::Numeric(cells) });
        }
        Ok(model.features.encode(&Table::new(columns)?, None)?)
    }

    /// What the model sees of a grid over two axes, the first axis fastest.
    pub fn grid(&self, model: &Trained, axes: &[Axis]) -> Result<Encoded> {
        let [xs, ys] = [0, 1].map(|k| spaced(axes[k].range, POINTS_PER_AXIS));
        let across = ys.iter().flat_map(|_| xs.iter().copied()).collect();
        let up = ys.iter().flat_map(|y| xs.iter().map(|_| *y)).collect();
        self.slice(model, axes, vec![across, up])
    }
}

/// A function on the grid of [`PlotRows::grid`].
pub fn on_grid(xs: &[f64], ys: &[f64], values: Vec<f64>) -> Grid {
    Grid { xs: xs.to_vec(), ys: ys.to_vec(), values }
}

/// The points of two axes.
pub fn points(axes: &[Axis]) -> Vec<Point> {
    axes[0].values.iter().copied().zip(axes[1].values.iter().copied()).collect()
}

/// Equally spaced values of a range.
pub fn spaced((low, high): (f64, f64), n: usize) -> Vec<f64> {
    (0..=n).map(|k| low + (high - low) * k as f64 / n as f64).collect()
}

/// The range of the finite values, with a margin; `None` without any.
pub fn range_of(values: &[f64]) -> Option<(f64, f64)> {
    let finite = || values.iter().copied().filter(|x| x.is_finite());
    let (low, high) =
        (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
    if low > high {
        return None;
    }
    let margin = if high > low { MARGIN * (high - low) } else { 0.5 * low.abs().max(1.0) };
    Some((low - margin, high + margin))
}

fn mean(values: &[f64]) -> f64 {
    let finite = || values.iter().copied().filter(|x| x.is_finite());
    let n = finite().count();
    if n == 0 { 0.0 } else { finite().map(|x| x / n as f64).sum() }
}
