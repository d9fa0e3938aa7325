//! Support vector machines: the boundary that keeps farthest from both sides.
//!
//! Every machine here is one quadratic problem over a kernel ([`crate::solver`]), whose solution is a
//! sum over few of the rows, `f(x) = Σᵢ βᵢ K(xᵢ, x) + b`. Each comes with the proof of how far from the
//! optimum it can be, computed afresh in double precision from nothing but the rows and `β`.

mod approximate;
mod crammer_singer;
mod dual_problem;
mod duality_gap;
mod duplicate_rows;
mod hard_margin;
mod leave_one_out;
mod multiclass;
mod nu_svc;
mod nu_svr;
mod one_class;
mod plan;
mod svc;
mod svc_model;
mod svr;
#[cfg(test)]
mod tests;

pub use crate::kernel::{CsrRows, KernelExpansion, Precision};
pub use multiclass::{DecisionShape, Multiclass};
pub use nu_svc::{NuSvc, NuSvcModel};
pub use nu_svr::{NuSvr, NuSvrModel};
pub use one_class::{OneClassSvm, OneClassSvmModel};
pub use svc::{Margin, Svc};
pub use svc_model::SvcModel;
pub use svr::{Svr, SvrModel};
