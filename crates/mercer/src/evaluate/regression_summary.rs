//! The table of a regression: coefficients with their errors, and how well all of it fits.

use crate::explain::short;
use serde::Serialize;
use std::fmt;

/// What is known about one coefficient.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The column.
    pub name: String,
    /// The coefficient.
    pub value: f64,
    /// Its standard error.
    pub error: f64,
    /// How many errors it is from zero.
    pub t: f64,
    /// How often chance alone would bring it as far.
    pub p: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
}

/// A regression at a glance.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// One entry a coefficient, the constant term first.
    pub estimates: Vec<Estimate>,
    /// How sure the intervals are.
    pub level: f64,
    /// The standard error of a residual.
    pub residual_error: f64,
    /// Rows less what was fitted to them.
    pub degrees_of_freedom: f64,
    /// How many columns add something.
    pub rank: usize,
    /// How many columns there are.
    pub n_columns: usize,
    /// The share of the variance that is explained.
    pub r_squared: f64,
    /// The same, with what columns explain by chance taken off.
    pub adjusted_r_squared: f64,
    /// The F statistic of all columns together.
    pub f: f64,
    /// Its p-value.
    pub f_p: f64,
}

/// The table as R prints it.
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
                "\nrank {} of {} columns: some follow from others, and the shortest of the \
                 equally good solutions is shown",
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
