//! Two results of linear models for `mercer inspect`: the posterior of ridge coefficients and Fisher's projection.

use super::terminal::{align_right, table};
use crate::failure::Result;
use mercer::catalog::AnyModel;
use mercer::explain::short;
use mercer::train::Trained;
use serde::Serialize;
use std::io::Write;

/// Columns of a covariance matrix that is printed.
const MAX_COLUMNS: usize = 12;
/// Rows of a table that is printed; the others are in the JSON.
const MAX_ROWS: usize = 100;

/// The posterior distribution of the coefficients of ridge regression, `N(b, σ² (XᵀX + αI)⁻¹)`.
#[derive(Serialize)]
pub struct Posterior {
    features: Vec<String>,
    mean: Vec<f64>,
    standard_deviation: Vec<f64>,
    covariance: Vec<Vec<f64>>,
    noise_variance: f64,
}

impl Posterior {
    pub fn of(model: &Trained) -> Option<Posterior> {
        let AnyModel::Ridge(ridge) = &model.fitted.model else { return None };
        let covariance = ridge.covariance();
        Some(Posterior {
            features: model.features.names(),
            mean: ridge.coefficients.clone(),
            standard_deviation: ridge.standard_errors(),
            covariance: covariance.outer_iter().map(|row| row.to_vec()).collect(),
            noise_variance: ridge.noise_variance,
        })
    }

    pub fn print(&self, out: &mut impl Write) -> Result<()> {
        let n = self.features.len();
        let few = n <= MAX_COLUMNS;
        let mut headings = vec!["", "mean", "deviation"];
        if few {
            headings.push("covariance");
            headings.extend(std::iter::repeat_n("", n.saturating_sub(1)));
        }
        let mut rows = table(&headings);
        align_right(&mut rows, &(1..headings.len()).collect::<Vec<_>>());
        for (j, name) in self.features.iter().enumerate().take(MAX_ROWS) {
            let mut cells =
                vec![name.clone(), short(self.mean[j]), short(self.standard_deviation[j])];
            if few {
                cells.extend(self.covariance[j].iter().map(|v| short(*v)));
            }
            rows.add_row(cells);
        }
        let variance = short(self.noise_variance);
        writeln!(out, "posterior of the coefficients, with residual variance {variance}:\n{rows}")?;
        if !few {
            writeln!(out, "the covariance matrix is in --json")?;
        }
        writeln!(out)?;
        Ok(())
    }
}

/// Fisher's projection of linear discriminant analysis: `z = Aᵀ (x − center)`.
#[derive(Serialize)]
pub struct Projection {
    features: Vec<String>,
    center: Vec<f64>,
    /// One list of weights per axis.
    axes: Vec<Vec<f64>>,
    /// The fraction of the variance between the classes along each axis.
    explained_variance_ratio: Vec<f64>,
}

impl Projection {
    pub fn of(model: &Trained) -> Option<Projection> {
        let able = model.fitted.model.as_model();
        let (discriminant, map) = (able.discriminant()?, able.transformer()?);
        if model.features.map.is_some() {
            return None;
        }
        let axes = discriminant.derived("axes")?;
        let list = |name: &str| -> Option<Vec<f64>> {
            Some(discriminant.derived(name)?.iter().copied().collect())
        };
        let mut ratio = list("explained_variance_ratio")?;
        ratio.truncate(map.n_outputs());
        Some(Projection {
            features: model.features.names(),
            center: list("center")?,
            axes: axes.columns().into_iter().take(map.n_outputs()).map(|c| c.to_vec()).collect(),
            explained_variance_ratio: ratio,
        })
    }

    pub fn print(&self, out: &mut impl Write) -> Result<()> {
        let mut headings = vec!["Fisher's projection".to_owned(), "center".into()];
        headings.extend((1..=self.axes.len()).map(|k| format!("axis {k}")));
        let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
        let mut rows = table(&headings);
        align_right(&mut rows, &(1..headings.len()).collect::<Vec<_>>());
        for (j, name) in self.features.iter().enumerate().take(MAX_ROWS) {
            let mut cells = vec![name.clone(), short(self.center[j])];
            cells.extend(self.axes.iter().map(|axis| short(axis[j])));
            rows.add_row(cells);
        }
        let mut cells = vec!["between-class variance".to_owned(), String::new()];
        cells.extend(self.explained_variance_ratio.iter().map(|r| format!("{:.2} %", 100.0 * r)));
        rows.add_row(cells);
        writeln!(out, "{rows}\nthe projected rows: mercer predict --projection\n")?;
        Ok(())
    }
}
