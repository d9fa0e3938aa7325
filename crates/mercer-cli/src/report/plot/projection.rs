//! Fisher's projection: the rows on the discriminant axes.

use super::rows::{PlotRows, range_of};
use super::style::{class_points, histograms, layout};
use crate::failure::Result;
use kuva::render::render::{Scene, render_multiple};
use mercer::data::Classes;
use mercer::train::Trained;

/// Bins of the histogram.
const N_BINS: usize = 24;

/// The rows over the first two discriminant axes, or a histogram per class on the only one.
pub fn projection(model: &Trained, rows: &PlotRows, classes: &Classes) -> Result<Scene> {
    let able = model.fitted.model.as_model();
    let (Some(transformer), Some(discriminant)) = (able.transformer(), able.discriminant()) else {
        return Err(model.estimator.unable("be plotted on discriminant axes; train lda").into());
    };
    let projected = transformer.transform(&rows.encoded.rows())?;
    let ratios = discriminant.derived("explained_variance_ratio");
    let name = |k: usize| match ratios.as_ref().filter(|r| r.ncols() > 1) {
        Some(ratios) => {
            format!("discriminant axis {} ({:.1} % of the variance)", k + 1, 100.0 * ratios[[0, k]])
        }
        None => format!("discriminant axis {}", k + 1),
    };
    let names: Vec<String> = classes.labels().iter().map(ToString::to_string).collect();
    if projected.ncols() >= 2 {
        let points: Vec<_> = projected.outer_iter().map(|row| (row[0], row[1])).collect();
        let plots = class_points(&points, rows.codes(), &names, 3.2);
        let layout = layout(&plots, "Fisher's projection", &name(0), &name(1));
        return Ok(render_multiple(plots, layout));
    }
    let values: Vec<f64> = projected.iter().copied().collect();
    let range = range_of(&values).unwrap_or((-1.0, 1.0));
    let (plots, _) = histograms(&values, rows.codes(), &names, range, N_BINS);
    let layout = layout(&plots, "Fisher's projection", &name(0), "rows");
    Ok(render_multiple(plots, layout))
}
