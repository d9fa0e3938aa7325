//! The options of `mercer plot`.

use super::{Reading, parse};
use clap::{Args as Group, ValueEnum, ValueHint};
use std::path::PathBuf;

/// Plot a model with the rows of a table, as SVG or PNG.
///
/// The kind of plot follows from the model: the margin of a support vector machine, the tube of support vector
/// regression, the Gaussians of discriminant analysis, the coefficients of a linear model, and so on.
#[derive(Group)]
#[command(after_help = "\
Examples:
  mercer plot svc.mercer points.csv --out street.svg             # boundary, margin, support vectors, slacks
  mercer plot svr.mercer points.csv --out tube.png               # function and epsilon-tube
  mercer plot lda.mercer iris.csv --kind projection --out fisher.svg
  mercer plot lda.mercer iris.csv --axis petal_length --axis petal_width --out gaussians.svg
  mercer plot poly.mercer points.csv --kind feature-map --out map.svg
  mercer plot rff.mercer points.csv --kind approximation-error --out error.svg
  mercer plot digits.mercer --image 8x8 --out digits.png         # class means, deviations, both in color")]
pub struct Plot {
    /// Model file
    #[arg(value_hint = ValueHint::FilePath)]
    pub model: PathBuf,
    /// Table with the rows to draw, usually the training rows; `-` is standard input. Not needed for coefficients
    /// and images
    #[arg(value_hint = ValueHint::FilePath)]
    pub data: Option<String>,
    /// What to draw [default: chosen for the model]
    #[arg(long, value_enum)]
    pub kind: Option<PlotKind>,
    /// Column of an axis, or column to draw (may repeat); a plot over some columns fixes the others at their mean
    #[arg(long = "axis", value_name = "NAME")]
    pub axes: Vec<String>,
    /// The columns are the pixels of an image of this size, row by row
    #[arg(long, value_parser = parse::image, value_name = "ROWSxCOLUMNS")]
    pub image: Option<(usize, usize)>,
    /// File to write: .svg, .png or .html
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: PathBuf,
    #[command(flatten)]
    pub reading: Reading,
}

/// The kinds of plots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PlotKind {
    /// Decision boundary over two columns; margin, support vectors and slacks of a support vector machine
    #[value(alias = "street")]
    Margin,
    /// Decision values of the rows by class, for any number of columns
    Decisions,
    /// Function of a regressor, with the epsilon-tube, support vectors and slacks of support vector regression
    Tube,
    /// Posterior probabilities over one column
    #[value(alias = "sigmoid")]
    Posterior,
    /// Gaussians of the classes as ellipses over two columns, with the boundaries
    Gaussians,
    /// Fisher's projection on the discriminant axes
    #[value(alias = "fisher")]
    Projection,
    /// Class-conditional densities and probabilities, column by column
    Densities,
    /// Class means, standard deviations and both in color, or probabilities, as images
    #[value(alias = "means")]
    Images,
    /// Coefficients of a linear model
    Coefficients,
    /// Rows before and after a feature map, with the boundary in both spaces
    FeatureMap,
    /// Inner products of random or Nystroem features against their kernel
    #[value(alias = "approximation")]
    KernelApproximation,
    /// Error of a kernel approximation against the number of features, refitted to the rows
    ApproximationError,
}

impl PlotKind {
    /// The name on the command line.
    pub fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}
