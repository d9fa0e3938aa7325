//! The options of cross-validation that the learning commands share.

use super::parse;
use clap::Args as Group;
use mercer::evaluate::Splitting;

/// How rows are split into training and test rows.
#[derive(Clone, Group)]
pub struct FoldOptions {
    /// Keep all rows with the same value of this column in the same fold, such as those of one patient; the column is no
    /// feature
    #[arg(long, help_heading = "Cross-validation", value_name = "COLUMN", conflicts_with = "time")]
    pub group: Option<String>,
    /// Predict every fold from earlier rows only, in order of this column (numbers, or dates such as 2024-05-31)
    #[arg(
        long,
        help_heading = "Cross-validation",
        value_name = "COLUMN",
        conflicts_with = "repeats"
    )]
    pub time: Option<String>,
    /// Draw the folds anew so many times; scores are those of all of them
    #[arg(long, help_heading = "Cross-validation", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=100), value_name = "N")]
    pub repeats: u16,
    /// Test on this fraction of the rows, once, instead of on every fold
    #[arg(long, help_heading = "Cross-validation", value_parser = parse::hold_out, value_name = "FRACTION")]
    pub hold_out: Option<f64>,
}

impl FoldOptions {
    /// Whether they are other than plain folds.
    pub fn is_special(&self) -> bool {
        self.group.is_some() || self.time.is_some() || self.repeats > 1 || self.hold_out.is_some()
    }

    /// The splits with a number of folds and a seed.
    pub fn splitting(&self, n_folds: usize, seed: u64) -> Splitting {
        Splitting { n_folds, n_repeats: self.repeats.into(), hold_out: self.hold_out, seed }
    }

    /// The options as words of a command.
    pub fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        for (name, value) in [("--group", &self.group), ("--time", &self.time)] {
            words.extend(value.iter().flat_map(|value| [name.to_owned(), value.clone()]));
        }
        if self.repeats > 1 {
            words.extend(["--repeats".to_owned(), self.repeats.to_string()]);
        }
        if let Some(fraction) = self.hold_out {
            words.extend(["--hold-out".to_owned(), fraction.to_string()]);
        }
        words
    }
}
