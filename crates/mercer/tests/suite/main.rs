//! Integration tests of the core, one file per topic.

#![allow(clippy::unwrap_used)]

mod calibration;
mod cases;
mod extended_precision;
mod formats;
mod golden;
mod kernel;
mod laws;
mod layers;
mod lectures;
mod linear_svm;
mod maps;
mod mixed;
mod mutations;
mod network_learning;
mod networks;
mod neural;
mod nist;
mod numerics;
mod prepare;
mod probability;
mod rounds;
mod sgd;
mod special;
mod svm;
mod svm_certificates;
mod svm_models;
mod tables;
mod text;
mod unlabeled;
