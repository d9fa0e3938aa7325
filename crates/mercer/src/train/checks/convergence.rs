//! The certificate of a fit: convergence, the duality gap, and the definiteness of the kernel.

use super::{Check, Finding, Remedy};
use crate::train::Trained;

/// A relative duality gap above this leaves the objective open in its third digit.
const MAX_RELATIVE_GAP: f64 = 1e-2;

pub(super) fn check(trained: &Trained) -> Vec<Finding> {
    let certificate = &trained.fitted.certificate;
    let mut findings = Vec::new();
    let indefinite = certificate
        .notes
        .iter()
        .find(|note| note.contains("not positive semi-definite") || note.contains("indefinite"));
    if let Some(note) = indefinite {
        let remedy = Remedy::new("use a kernel that is positive semi-definite for all parameters")
            .option("--model", trained.estimator.id())
            .option("--set", "kernel=rbf");
        findings.push(Finding::new(Check::KernelNotPsd, note.clone(), remedy));
    }
    let gap = certificate.relative_gap().filter(|gap| *gap > MAX_RELATIVE_GAP);
    if certificate.status.is_converged() && gap.is_none() {
        return findings;
    }
    let measured = match (gap, &certificate.violation) {
        (Some(gap), _) => format!(", relative duality gap {gap:.1e}"),
        (None, Some(violation)) => format!(", {} {:.1e}", violation.name, violation.value),
        _ => String::new(),
    };
    let figure =
        format!("{}{measured} after {} iterations", certificate.status, certificate.iterations);
    findings.push(Finding::new(Check::NotConverged, figure, longer(trained)));
    findings
}

/// The remedy for a fit that ended early: more iterations, or standardized columns.
fn longer(trained: &Trained) -> Remedy {
    let params = trained.estimator.params();
    let id = trained.estimator.id();
    match params.get("max_iter").and_then(serde_json::Value::as_f64).filter(|n| *n > 0.0) {
        Some(n) => Remedy::new("allow more iterations")
            .option("--model", id)
            .option("--set", format!("max_iter={}", n * 10.0)),
        None => Remedy::new("standardize the columns")
            .option("--model", id)
            .option("--prepare", "scale=standard"),
    }
}
