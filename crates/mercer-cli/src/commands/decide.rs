//! `mercer decide`: stores a decision rule in a model.

use crate::args::Decide;
use crate::failure::{Failure, Result};
use crate::input;
use crate::session::Session;
use mercer::data::{Classes, Label};
use mercer::decision::DecisionRule;
use mercer::explain::short;
use serde_json::json;

pub fn run(args: Decide, session: &Session) -> Result<()> {
    if args.decision.is_empty() && !args.forget {
        let why =
            "pass --cost, --reject or --prior to store a decision rule, or --forget to remove it";
        return Err(Failure::Usage(why.into()));
    }
    session.check_output(&args.out)?;
    let mut model = input::load(&args.model)?;
    let classes = input::classes(&model)?;
    if args.forget {
        model.decision = None;
    }
    model.decision = args.decision.rule(&model, session)?;
    model.save(&args.out).map_err(Failure::model(&args.out.display().to_string()))?;
    match &model.decision {
        Some(rule) => description(rule, &classes).iter().for_each(|line| session.message(line)),
        None => session.message("the model predicts the most probable class"),
    }
    session.message(&format!("saved {}", args.out.display()));
    if session.json {
        session.print_json(&json!({"model": args.out, "decision": model.decision}))?;
    }
    Ok(())
}

/// A rule in words, line by line.
pub fn description(rule: &DecisionRule, classes: &Classes) -> Vec<String> {
    let names: Vec<String> = classes.labels().iter().map(Label::to_string).collect();
    let mut lines = Vec::new();
    for (truth, row) in names.iter().zip(rule.costs.matrix().outer_iter()) {
        let answers = names.iter().zip(row).filter(|(_, cost)| **cost != 0.0);
        let answers: Vec<String> =
            answers.map(|(a, c)| format!("{a} costs {}", short(*c))).collect();
        lines.push(format!("true class `{truth}`: predicting {}", answers.join(", ")));
    }
    if let Some(reject) = rule.costs.reject() {
        lines
            .push(format!("reject if the expected cost of every class is above {}", short(reject)));
    }
    if !rule.shift().is_empty() {
        let shifts = names.iter().zip(rule.shift());
        let shifts: Vec<String> =
            shifts.map(|(name, shift)| format!("{name} times {}", short(shift.exp()))).collect();
        lines.push(format!("new priors change the odds: {}", shifts.join(", ")));
    }
    lines
}
