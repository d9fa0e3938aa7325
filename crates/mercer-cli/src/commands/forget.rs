//! `mercer forget`: removes training rows from a model.

use crate::args::Forget;
use crate::failure::{Failure, Result};
use crate::input;
use crate::session::Session;
use mercer::data::Classes;
use mercer::train::{Task, Training, train};
use serde_json::json;

pub fn run(args: Forget, session: &Session) -> Result<()> {
    session.check_output(&args.out)?;
    let model = input::load(&args.model)?;
    let regression = model.fitted.model.as_model().regressor().is_some();
    let classes = if regression { Classes::default() } else { input::classes(&model)? };
    let source = input::open(&args.data, &args.reading, model.features.target.as_deref(), session)?;
    let bar = session.bar("reading");
    let training = Training {
        estimator: model.estimator.clone(),
        features: model.features.clone(),
        task: if regression { Task::Regression } else { Task::Classification(&classes) },
        n_rows: None,
        n_folds: 0,
        seed: 0,
        recipe: mercer::preprocess::Recipe::default(),
    };
    let forgotten = train(training, &source, &session.monitor(&bar))?.trained;
    bar.finish_and_clear();
    session.check_interrupt()?;
    let rows = forgotten.fitted.certificate.rows;
    let stats = forgotten.stats.ok_or_else(|| Failure::from(model.estimator.unable("forget")))?;
    let left = model.forget(&stats, rows)?;
    left.save(&args.out).map_err(Failure::model(&args.out.display().to_string()))?;
    let certificate = &left.fitted.certificate;
    session.message(&format!("removed {rows} rows: {certificate}"));
    session.message(&format!("saved {}", args.out.display()));
    if session.json {
        session.print_json(
            &json!({"model": args.out, "forgotten": rows, "certificate": certificate}),
        )?;
    }
    Ok(())
}
