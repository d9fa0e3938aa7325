//! `mercer merge`: merges models into the model of all their rows.

use crate::args::Merge;
use crate::failure::{Failure, Result};
use crate::input;
use crate::session::Session;
use serde_json::json;

pub fn run(args: Merge, session: &Session) -> Result<()> {
    session.check_output(&args.out)?;
    let mut models = args.models.iter();
    let first = models.next().ok_or_else(|| Failure::Usage("pass at least two models".into()))?;
    let mut merged = input::load(first)?;
    for path in models {
        merged = merged.merge(&input::load(path)?).map_err(|e| {
            Failure::Data(format!("{} and {}: {e}", first.display(), path.display()))
        })?;
    }
    merged.save(&args.out).map_err(Failure::model(&args.out.display().to_string()))?;
    let certificate = &merged.fitted.certificate;
    session.message(&format!("merged {} models: {certificate}", args.models.len()));
    session.message(&format!("saved {}", args.out.display()));
    if session.json {
        session.print_json(&json!({"model": args.out, "certificate": certificate}))?;
    }
    Ok(())
}
