//! Networks from rows.

mod spanning;

pub(crate) use spanning::{Gain, mutual_information, spanning_forest};
