//! The commands, a file each.

mod bayes;
mod check;
mod columns;
mod compare;
mod completions;
mod decide;
mod decision_options;
mod evaluate;
mod explain;
mod forget;
mod generate;
mod hyperplane;
mod inspect;
mod inspect_svm;
mod kernel;
mod merge;
mod models;
mod plot;
mod predict;
mod predict_keep;
mod profile;
mod sample;
mod select;
#[cfg(feature = "serve")]
mod serve;
#[cfg(feature = "serve")]
mod studio;
mod train;
mod tune;
mod unsupervised;

pub use bayes::Bayes;
pub use check::{Commands, WithCommand, remedy_command};
pub use compare::Compared;
pub use decision_options::DecisionOptions;
pub use hyperplane::Hyperplane;
pub use kernel::Kernel;

use crate::args::Command;
use crate::failure::Result;
use crate::session::Session;

/// Runs a command.
pub fn run(command: Command, session: &Session) -> Result<()> {
    match command {
        Command::Train(args) => train::run(*args, session),
        Command::Predict(args) => predict::run(args, session),
        Command::Evaluate(args) => evaluate::run(args, session),
        Command::Compare(args) => compare::run(args, session),
        Command::Tune(args) => tune::run(args, session),
        Command::Check(args) => check::run(args, session),
        Command::Profile(args) => profile::run(args, session),
        Command::Bayes(args) => bayes::run(args, session),
        Command::Decide(args) => decide::run(args, session),
        Command::Explain(args) => explain::run(args, session),
        Command::Inspect(args) => inspect::run(args, session),
        Command::Models(args) => models::run(args, session),
        Command::Hyperplane(args) => hyperplane::run(args, session),
        Command::Kernel(args) => kernel::run(args, session),
        Command::Plot(args) => plot::run(args, session),
        Command::Merge(args) => merge::run(args, session),
        Command::Forget(args) => forget::run(args, session),
        Command::Sample(args) => sample::run(args, session),
        #[cfg(feature = "serve")]
        Command::Serve(args) => serve::run(args, session),
        #[cfg(feature = "serve")]
        Command::Studio(args) => studio::run(args, session),
        Command::Completions(args) => completions::run(args),
        Command::Generate(args) => generate::run(args, session),
    }
}
