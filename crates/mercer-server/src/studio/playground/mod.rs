//! The playgrounds: models of a few points in the plane that are fitted again whenever a point moves.
//!
//! Every function takes a message and returns an answer, without HTTP and without state, so that another engine than
//! the server (WebAssembly in the page) can answer the same messages. All numbers come from the library.
//!
//! - `plane`: points, grids and limits that the pictures share
//! - `margin`: support vector classification; `leave_one_out`: its exact leave-one-out error
//! - `tube`: support vector regression
//! - `bayes`: Gaussian classes, beside logistic regression
//! - `belief`: sequential updating; `table`: joint, marginal and conditional probabilities as fractions
//! - `network`: beliefs, sums and d-separation in a Bayesian network
//! - `certificate`: a certificate as fields and sentences

mod bayes;
mod belief;
mod certificate;
mod leave_one_out;
mod margin;
mod network;
mod plane;
mod table;
mod tube;

pub(crate) use bayes::fit_bayes;
pub(crate) use belief::update_belief;
pub(crate) use margin::fit_margin;
pub(crate) use network::network_beliefs;
pub(crate) use table::joint_table;
pub(crate) use tube::fit_tube;
