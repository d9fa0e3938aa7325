//! The server over real sockets: protocols, limits, attacks, reload and shutdown.

#![allow(clippy::unwrap_used)]

mod attacks;
mod batching;
mod client;
mod lifecycle;
mod models;
mod open_inference;
mod rows;
mod studio;
mod tables;
