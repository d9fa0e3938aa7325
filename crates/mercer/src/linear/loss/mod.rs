//! Loss functions of the linear models, with their gradients, Hessian products and duality gaps.

pub(crate) mod hinge;
pub(crate) mod leave_one_out;
pub(crate) mod softmax;
