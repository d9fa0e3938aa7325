//! The options of a decision rule: a cost matrix, new class priors and a reject option.

use super::bayes::number::{named, number};
use crate::failure::{Failure, Result};
use crate::input;
use crate::session::Session;
use clap::{Args, ValueHint};
use mercer::data::{Classes, Label};
use mercer::decision::{Costs, DecisionRule};
use mercer::predict;
use mercer::train::Trained;
use mercer_io::{Options, Source};
use mercer_num::Matrix;
use std::path::{Path, PathBuf};

/// How to turn posterior probabilities into decisions.
#[derive(Args)]
pub struct DecisionOptions {
    /// Cost matrix: a table with one row per true class; the first column names the class, the others, named
    /// by class, hold the cost of predicting that class
    #[arg(long, help_heading = "Decision", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub cost: Option<PathBuf>,
    /// Reject (give no prediction) where the expected cost of every class is larger than this
    #[arg(long, help_heading = "Decision", value_parser = number, value_name = "COST")]
    pub reject: Option<f64>,
    /// Prior probability of a class where the model is used; the other classes share the rest in proportion to
    /// their training priors (may repeat)
    #[arg(long, help_heading = "Decision", value_parser = named, value_name = "CLASS=P")]
    pub prior: Vec<(String, f64)>,
    /// Prior probability of a class in the training data, for models that do not store it (may repeat)
    #[arg(long, help_heading = "Decision", value_parser = named, value_name = "CLASS=P", requires = "prior")]
    pub trained_prior: Vec<(String, f64)>,
}

impl DecisionOptions {
    /// Whether no option is given.
    pub fn is_empty(&self) -> bool {
        self.cost.is_none() && self.reject.is_none() && self.prior.is_empty()
    }

    /// Checks that costs and priors name known classes, before the fit.
    pub fn check(&self, classes: &Classes, session: &Session) -> Result<()> {
        self.coded(classes, session).map(drop)
    }

    /// The decision rule of the options, completed by the rule stored in the model; `None` if there is neither.
    pub fn rule(&self, model: &Trained, session: &Session) -> Result<Option<DecisionRule>> {
        let options = match self.is_empty() {
            true => predict::DecisionOptions::default(),
            false => self.coded(predict::decision_classes(model)?, session)?,
        };
        if options.is_empty() && model.decision.is_some() {
            session.message("using the decision rule stored in the model (see `mercer inspect`)");
        }
        Ok(options.rule(model)?)
    }

    /// The options with class codes in place of names.
    fn coded(&self, classes: &Classes, session: &Session) -> Result<predict::DecisionOptions> {
        let costs = self.cost.as_ref().map(|path| read_costs(path, &names(classes), session));
        Ok(predict::DecisionOptions {
            costs: costs.transpose()?,
            reject: self.reject,
            priors: codes(&self.prior, classes, "--prior")?,
            trained_priors: codes(&self.trained_prior, classes, "--trained-prior")?,
        })
    }
}

/// Classes by name, as codes.
fn codes(given: &[(String, f64)], classes: &Classes, flag: &str) -> Result<Vec<(usize, f64)>> {
    let names = names(classes);
    given.iter().map(|(name, p)| Ok((code(name, &names, flag)?, *p))).collect()
}

fn names(classes: &Classes) -> Vec<String> {
    classes.labels().iter().map(Label::to_string).collect()
}

fn code(name: &str, names: &[String], place: &str) -> Result<usize> {
    names.iter().position(|n| n == name).ok_or_else(|| {
        let known = names.join(", ");
        Failure::Usage(format!("{place}: no class is named `{name}`; the classes are {known}"))
    })
}

/// The cost matrix of these classes, with the rows and columns in any order.
pub fn read_costs(path: &Path, classes: &[String], session: &Session) -> Result<Costs> {
    let name = path.display().to_string();
    let refuse = |why: String| Failure::Data(format!("{name}: {why}"));
    let source = Source::open(&name, &Options::default())?;
    let profile = input::profile(&source, session)?;
    let table = source.read(&profile.schema())?;
    let k = classes.len();
    let Some((truths, answers)) = table.columns().split_first() else {
        return Err(refuse("the table has no columns".into()));
    };
    if answers.len() != k || table.n_rows() != k {
        return Err(refuse(format!(
            "found {} rows and {} cost columns, expected {k} of each for {k} classes",
            table.n_rows(),
            answers.len()
        )));
    }
    let mut matrix = Matrix::from_elem((k, k), f64::NAN);
    for i in 0..k {
        let truth = truths.values.cell(i).unwrap_or_default();
        let c = code(&truth, classes, &format!("{name}, row {}", i + 1))?;
        for answer in answers {
            let a = code(&answer.name, classes, &format!("{name}, column `{}`", answer.name))?;
            let cost = answer.values.cell(i).and_then(|word| number(&word).ok());
            matrix[[c, a]] = cost.ok_or_else(|| {
                refuse(format!("row {}, column `{}`: expected a number", i + 1, answer.name))
            })?;
        }
    }
    // A class named twice leaves another without a row.
    match matrix.outer_iter().position(|row| row.iter().any(|v| v.is_nan())) {
        Some(c) => Err(refuse(format!("class `{}` has no row", classes[c]))),
        None => Ok(Costs::new(matrix)?),
    }
}
