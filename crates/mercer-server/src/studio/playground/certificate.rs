//! A certificate as fields and as sentences.

use mercer::model::{Certificate, Status};
use serde_json::{Value, json};

/// The fields of a certificate and what they say.
pub fn certificate(certificate: &Certificate) -> Value {
    json!({
        "text": certificate.to_string(),
        "status": certificate.status,
        "converged": certificate.status.is_converged(),
        "objective": certificate.objective,
        "dual": certificate.dual,
        "duality_gap": certificate.duality_gap(),
        "relative_gap": certificate.relative_gap(),
        "violation": certificate.violation,
        "iterations": certificate.iterations,
        "rows": certificate.rows,
        "notes": certificate.notes,
        "seconds": certificate.seconds,
        "sentences": sentences(certificate),
    })
}

/// What a certificate proves, in full sentences.
fn sentences(certificate: &Certificate) -> Vec<String> {
    let mut out = vec![optimality(certificate)];
    if let Some(violation) = &certificate.violation {
        out.push(format!(
            "The {} is {:.1e}; at an optimum it is zero.",
            violation.name, violation.value
        ));
    }
    out
}

/// How far from the optimum the model can be.
fn optimality(certificate: &Certificate) -> String {
    let gap = match (certificate.primal(), certificate.dual, certificate.duality_gap()) {
        (Some(primal), Some(dual), Some(gap)) => {
            let relative = certificate.relative_gap().unwrap_or(0.0);
            Some(format!(
                "its primal objective is {primal:.6}, and the dual problem proves that no other model is below \
                 {dual:.6}: the duality gap is {gap:.1e} (relative {relative:.1e})"
            ))
        }
        _ => None,
    };
    let why = || certificate.notes.first().map(String::as_str).unwrap_or_default();
    match (certificate.status, gap) {
        (Status::Converged, Some(gap)) => format!("This is the optimum: {gap}."),
        (Status::Stationary, _) => format!(
            "The duality gap is withdrawn: {}. The model is a stationary point, which need not be the best one.",
            why()
        ),
        (Status::ClosedForm, _) => "A formula over the points, exact up to rounding.".into(),
        (status, Some(gap)) => format!("{status}: {gap}."),
        (status, None) => format!("{status}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_says_what_it_proves() {
        let converged = Certificate::iterative(true, None).objective("primal objective", 2.0);
        let converged = converged.dual(1.5).violation("largest KKT violation", 1e-7);
        let stationary =
            Certificate::stationary(true, None).note("kernel is not positive semi-definite");
        let limited = Certificate::iterative(false, None).objective("primal objective", 2.0);

        let [first, second] = &sentences(&converged)[..] else { panic!("two sentences") };
        assert!(first.starts_with("This is the optimum") && first.contains("gap is 5.0e-1"));
        assert_eq!(second, "The largest KKT violation is 1.0e-7; at an optimum it is zero.");
        assert!(sentences(&stationary)[0].starts_with("The duality gap is withdrawn: kernel is"));
        assert!(sentences(&limited.dual(0.0))[0].starts_with("NOT CONVERGED"));
    }
}
