//! `mercer bayes`: probability calculus; one file per subcommand.

mod distribution;
mod estimate;
mod gaussian;
mod learn;
mod network;
pub mod number;
mod risk;
mod rule;
mod table;
mod update;

use crate::failure::Result;
use crate::session::Session;
use clap::{Args, Subcommand};

/// Compute with probabilities: joint tables, Bayes' theorem, belief updating, parameter estimation, binomial,
/// multinomial and normal distributions, Bayes error, Bayesian networks.
///
/// Numbers may be written as fractions (1/50000) or percentages (5%).
#[derive(Args)]
#[command(after_help = "\
Examples:
  mercer bayes rule --prior 1/50000 --likelihood 0.5 --evidence 1/20
  mercer bayes table examples/data/weather.csv --given temp=hot
  mercer bayes network alarm.bif --query Burglary --evidence JohnCalls=true")]
pub struct Bayes {
    #[command(subcommand)]
    ask: Ask,
}

#[derive(Subcommand)]
enum Ask {
    Rule(rule::Rule),
    Table(table::Table),
    Update(update::Update),
    Estimate(estimate::Estimate),
    Binomial(distribution::Binomial),
    Multinomial(distribution::Multinomial),
    Gaussian(gaussian::Gaussian),
    Risk(risk::Risk),
    Network(network::Network),
    Learn(learn::Learn),
}

pub fn run(args: Bayes, session: &Session) -> Result<()> {
    match args.ask {
        Ask::Rule(args) => rule::run(args, session),
        Ask::Table(args) => table::run(args, session),
        Ask::Update(args) => update::run(args, session),
        Ask::Estimate(args) => estimate::run(args, session),
        Ask::Binomial(args) => distribution::binomial(args, session),
        Ask::Multinomial(args) => distribution::multinomial(args, session),
        Ask::Risk(args) => risk::run(args, session),
        Ask::Gaussian(args) => gaussian::run(args, session),
        Ask::Network(args) => network::run(args, session),
        Ask::Learn(args) => learn::run(args, session),
    }
}
