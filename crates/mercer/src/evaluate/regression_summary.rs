//! The summary table of a regression: coefficients with standard errors and t tests, and the fit statistics.

use crate::explain::short;
use serde::Serialize;
use std::fmt;

/// The estimate of one coefficient.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The column.
    pub name: String,
    /// The coefficient.
    pub value: f64,
    /// Its standard error.
    pub error: f64,
    /// The t statistic: the coefficient divided by its standard error.
    pub t: f64,
    /// The two-sided p-value of the t test.
    pub p: f64,
    /// The lower end of its confidence interval.
    pub low: f64,
    /// The upper end of its confidence interval.
    pub high: f64,
}

/// The summary of a regression.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// One entry per coefficient, the intercept first.
    pub estimates: Vec<Estimate>,
    /// The confidence level of the intervals.
    pub level: f64,
    /// The residual standard error.
    pub residual_error: f64,
    /// The residual degrees of freedom.
    pub degrees_of_freedom: f64,
    /// The rank of the columns.
    pub rank: usize,
    /// The number of columns.
    pub n_columns: usize,
    /// The coefficient of determination.
    pub r_squared: f64,
    /// `R²` adjusted for the number of columns.
    pub adjusted_r_squared: f64,
    /// The F statistic of the overall regression.
    pub f: f64,
    /// Its p-value.
    pub f_p: f64,
}

/// The layout of the summary of R.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let interval = format!("{}% interval", short(100.0 * self.level));
        let head = ["", "estimate", "std. error", "t value", "p(>|t|)", "", &interval];
        let mut rows = vec![head.map(str::to_owned)];
        rows.extend(self.estimates.iter().map(|e| {
            [
                e.name.clone(),
                short(e.value),
                short(e.error),
                short(e.t),
                probability(e.p),
                stars(e.p).to_owned(),
                format!("{} to {}", short(e.low), short(e.high)),
            ]
        }));
        let widths: Vec<usize> = (0..head.len())
            .map(|j| rows.iter().map(|r| r[j].chars().count()).max().unwrap_or(0))
            .collect();
        for row in &rows {
            let mut line = format!("{:<1$}", row[0], widths[0]);
            for (j, cell) in row.iter().enumerate().skip(1) {
                let left = j >= 5;
                line += &if left {
                    format!("  {cell:<0$}", widths[j])
                } else {
                    format!("  {cell:>0$}", widths[j])
                };
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        writeln!(f, "signif. codes: 0 '***' 0.001 '**' 0.01 '*' 0.05 '.' 0.1")?;
        let degrees = short(self.degrees_of_freedom);
        writeln!(
            f,
            "\nresidual standard error {} on {degrees} degrees of freedom",
            short(self.residual_error)
        )?;
        writeln!(f, "R² {}, adjusted {}", short(self.r_squared), short(self.adjusted_r_squared))?;
        write!(
            f,
            "F {} on {} and {degrees} degrees of freedom, p {}",
            short(self.f),
            self.rank,
            probability(self.f_p)
        )?;
        if self.rank < self.n_columns {
            write!(
                f,
                "\nrank {} of {} columns: the columns are linearly dependent, and the minimum-norm \
                 solution is shown",
                self.rank, self.n_columns
            )?;
        }
        Ok(())
    }
}

/// A p-value as R writes it.
fn probability(p: f64) -> String {
    if p < 2e-16 { "<2e-16".into() } else { short(p) }
}

fn stars(p: f64) -> &'static str {
    match p {
        p if p < 0.001 => "***",
        p if p < 0.01 => "**",
        p if p < 0.05 => "*",
        p if p < 0.1 => ".",
        _ => "",
    }
}
