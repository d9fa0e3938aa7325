//! `mercer bayes`: reasoning with probabilities, a file a question.

mod learn;
mod network;

use crate::failure::Result;
use crate::session::Session;
use clap::{Args, Subcommand};

/// Reason with probabilities: Bayesian networks.
#[derive(Args)]
#[command(after_help = "\
Examples:
  mercer bayes network alarm.bif --query Burglary --evidence JohnCalls=true
  mercer bayes learn weather.csv --out weather.bif")]
pub struct Bayes {
    #[command(subcommand)]
    ask: Ask,
}

#[derive(Subcommand)]
enum Ask {
    Network(network::Network),
    Learn(learn::Learn),
}

pub fn run(args: Bayes, session: &Session) -> Result<()> {
    match args.ask {
        Ask::Network(args) => network::run(args, session),
        Ask::Learn(args) => learn::run(args, session),
    }
}
