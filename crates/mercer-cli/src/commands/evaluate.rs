//! `mercer evaluate`: a saved model judged on rows it has not seen.

use crate::args::Evaluate;
use crate::failure::Result;
use crate::input;
use crate::report::terminal;
use crate::session::Session;
use mercer::data::Stream;
use mercer::evaluate::Evaluation;
use mercer::model::chunk_rows;
use mercer_num::parallel;
use std::ops::ControlFlow;

pub fn run(args: Evaluate, session: &Session) -> Result<()> {
    let model = input::load(&args.model)?;
    let classes = input::classes(&model)?;
    let features = &model.features;
    let source = input::open(&args.data, &args.reading, features.target.as_deref(), session)?;
    let mut evaluation = Evaluation::new(&classes);
    let mut n_unseen = 0;
    let chunk = chunk_rows(features.n_features(), features.layout());
    let mut seen = 0;
    source.stream(&features.reading(Some(&classes)), chunk, &mut |tables| {
        let judged = parallel::map(tables.len(), |k| {
            let rows = features.encode(&tables[k], Some(&classes))?;
            let log_proba = match model.fitted.model.as_model().probabilistic() {
                Some(model) => model.log_proba(&rows.rows())?,
                None => return Err(model.estimator.unable("give probabilities")),
            };
            Ok((rows.codes, rows.n_unseen, log_proba))
        })
        .map_err(|e: mercer::Error| e.after_rows(seen))?;
        for (codes, unseen, log_proba) in judged {
            evaluation.judge(&codes, &log_proba);
            n_unseen += unseen;
        }
        seen += tables.iter().map(|t| t.n_rows()).sum::<usize>();
        Ok(if session.interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    session.check_interrupt()?;
    if n_unseen > 0 {
        session.say(&format!("{n_unseen} cells hold words the model never saw; they were skipped"));
    }
    let report = evaluation.report();
    if session.json {
        return session.print_json(&report);
    }
    terminal::classification(&report)
}
