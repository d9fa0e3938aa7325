//! Support vector machines with one decision function over all rows: regression and the one-class problem.

use super::dual_problem::{DualProblem, DualSolution};
use super::plan::{Reduction, plan};
use super::subproblem::{Subproblem, certificate, solve_all};
use crate::explain::SupportExplanation;
use crate::kernel::{KernelExpansion, Segment};
use crate::model::Certificate;
use crate::prelude::*;
use std::time::Instant;

/// A fitted decision function with its certificate.
pub(super) struct SingleOutput {
    pub expansion: KernelExpansion,
    pub solution: DualSolution,
    pub certificate: Certificate,
}

/// Solves one subproblem; `function` gives the coefficient of every row and the intercept.
pub(super) fn fit(
    problem: &DualProblem<'_>,
    subproblem: Subproblem,
    function: impl Fn(&DualSolution) -> (Vec<f64>, f64),
    monitor: &Monitor<'_>,
    start: Instant,
) -> SingleOutput {
    let subproblems = [subproblem];
    let plan = plan(problem, Reduction::None, &subproblems, monitor);
    let mut solutions = solve_all(problem, &subproblems, monitor);
    let (beta, intercept) = function(&solutions[0]);
    let rows: Vec<u32> = (0..beta.len() as u32).filter(|k| beta[*k as usize] != 0.0).collect();
    let values = rows.iter().map(|k| beta[*k as usize]).collect();
    let coefficients =
        Matrix::from_shape_vec((1, rows.len()), values).expect("one coefficient per vector");
    let positions: Vec<u32> = (0..beta.len() as u32).collect();
    let intercept = problem.input_intercept(&positions, &beta, intercept);
    let expansion = problem.expansion(&rows, coefficients, vec![intercept]);
    let certificate =
        certificate(problem, plan, &subproblems, &solutions, expansion.n_vectors(), start);
    SingleOutput { expansion, solution: solutions.swap_remove(0), certificate }
}

/// The coefficients and the intercept of a solution with one group of variables.
pub(super) fn one_group(solution: &DualSolution) -> (Vec<f64>, f64) {
    (solution.beta.clone(), solution.intercepts[0])
}

/// The decision values of rows, as one column.
pub(super) fn decisions(expansion: &KernelExpansion, x: &Rows<'_>) -> Result<Matrix> {
    expansion.decisions(x, &[Segment::all(expansion)])
}

/// The decision values of rows.
pub(super) fn values(expansion: &KernelExpansion, x: &Rows<'_>) -> Result<Vec<f64>> {
    Ok(decisions(expansion, x)?.column(0).to_vec())
}

/// The decision value of a row as a sum over support vectors.
pub(super) fn support_terms(
    expansion: &KernelExpansion,
    row: &[f64],
) -> Result<SupportExplanation> {
    expansion.explain(row, &[Segment::all(expansion)], &[(0, 1.0)])
}

/// Refuses an expansion without exactly one decision function, for models that come from a file.
pub(super) fn check(expansion: &KernelExpansion) -> Result<()> {
    expansion.check()?;
    if expansion.coefficients.nrows() == 1 && expansion.intercepts.len() == 1 {
        Ok(())
    } else {
        Err(Error::File("a kernel expansion with one decision function is expected".into()))
    }
}
