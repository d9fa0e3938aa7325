//! Support vector machines: the boundary that keeps farthest from both sides.
//!
//! Every machine here is one quadratic problem over a kernel ([`crate::solver`]), whose solution is a
//! sum over few of the rows, `f(x) = Σᵢ βᵢ K(xᵢ, x) + b`. Each comes with the proof of how far from the
//! optimum it can be, computed afresh in double precision from nothing but the rows and `β`.

mod approximate;
pub(crate) mod calibrate;
pub(crate) mod distribution;
mod ground;
mod hard_margin;
mod isotonic;
mod leave_one_out;
mod nu_svc;
mod nu_svr;
mod one_class;
mod pairwise;
mod plan;
mod platt;
mod proof;
mod svc;
mod svc_model;
mod svc_together;
mod svr;
#[cfg(test)]
mod tests;
mod twins;
mod venn_abers;
mod weight;

pub use crate::kernel::{Machine, Precision, ThinRows};
pub use calibrate::{Calibration, CalibrationMap};
pub use isotonic::Isotonic;
pub use nu_svc::{NuSvc, NuSvcModel};
pub use nu_svr::{NuSvr, NuSvrModel};
pub use one_class::{OneClassSvm, OneClassSvmModel};
pub use pairwise::{DecisionShape, Multiclass};
pub use svc::{Margin, Svc};
pub use svc_model::SvcModel;
pub use svr::{Svr, SvrModel};
pub use venn_abers::VennAbers;
pub use weight::{ClassWeight, ClassWeightRule};
