//! `mercer explain`: a prediction, line by line.

use crate::args::Explain;
use crate::failure::{Failure, Result};
use crate::input;
use crate::report::terminal;
use crate::session::Session;
use mercer::data::Stream;
use mercer::explain::{explain, explain_scores, explain_terms};
use std::ops::ControlFlow;

/// Rows read at a time on the way to the one asked for.
const STEP: usize = 1024;

pub fn run(args: Explain, session: &Session) -> Result<()> {
    let model = input::load(&args.model)?;
    let able = model.fitted.model.as_model();
    if able.factored().is_none() && able.summed().is_none() && able.additive().is_none() {
        return Err(model.estimator.unable("explain a prediction step by step").into());
    }
    let source = input::open(&args.data, &args.reading, None, session)?;
    let wanted = args.row as usize - 1;
    let (mut found, mut seen) = (None, 0);
    source.stream(&model.features.reading(None), STEP, &mut |tables| {
        for table in tables {
            if wanted < seen + table.n_rows() {
                let rows = model.features.encode(&table, None)?;
                found = Some(rows.rows().row(wanted - seen));
                return Ok(ControlFlow::Break(()));
            }
            seen += table.n_rows();
        }
        Ok(if session.interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    session.check_interrupt()?;
    let row = found.ok_or_else(|| {
        Failure::Usage(format!("{} has {seen} rows; there is no row {}", source.name(), args.row))
    })?;
    let names = model.features.names();
    if able.summed().is_some() {
        let explanation = explain_scores(able, &row, &names)?;
        if session.json {
            return session.print_json(&explanation);
        }
        return terminal::scores(&explanation);
    }
    if let Some(additive) = able.additive() {
        let explanation = explain_terms(additive, &row, &names)?;
        if session.json {
            return session.print_json(&explanation);
        }
        let target = model.features.target.as_deref().unwrap_or("prediction");
        return terminal::terms(&explanation, target);
    }
    let Some(factored) = able.factored() else { return Ok(()) };
    let explanation =
        explain(factored, &row, &names)?.in_words(|feature, x| model.features.word(feature, x));
    if session.json {
        return session.print_json(&explanation);
    }
    terminal::explanation(&explanation)
}
