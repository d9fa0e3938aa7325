//! Estimators that update a model or start from one declare it on their card, and no others can.

use super::{Cases, LONG_WAY, small, those_that_can};
use crate::cases::*;
use mercer::catalog::{AnyModel, CATALOG, Capability};
use mercer::prelude::*;

/// Continues with more rows in Python, but cannot be trained out of core, which `Online` promises.
const NOT_OUT_OF_CORE: &str = "sgd-one-class";

#[test]
fn online_estimators_declare_it() {
    for card in CATALOG.iter().filter(|card| card.id != NOT_OUT_OF_CORE) {
        let case = Case::new(card, small());
        let data = case.data(card);

        let learned = estimator(card).partial_fit(None, &data, &Monitor::quiet());

        match learned {
            Ok(fitted) => {
                assert!(card.can(Capability::Online), "{}", card.id);
                assert_eq!((fitted.certificate.rows, fitted.certificate.iterations), (40, 1));
                let more = estimator(card).partial_fit(Some(&fitted), &data, &Monitor::quiet());
                assert_eq!(more.unwrap().certificate.rows, 80, "{}", card.id);
            }
            Err(error) => {
                assert!(!card.can(Capability::Online), "{}: {error}", card.id);
                assert!(matches!(error, Error::Unable { .. }), "{}: {error}", card.id);
            }
        }
    }
}

#[test]
fn updates_by_parts_equal_one_pass_over_all_rows() {
    let cases = Cases::default();
    for card in those_that_can(Capability::Online) {
        let case = Case::new(card, Shape { weighted: true, ..small() });
        let data = case.data(card);
        let plain = estimator(card).set_from_str("shuffle", "false").unwrap();

        let whole = plain.partial_fit(None, &data, &Monitor::quiet()).unwrap();
        let mut parts: Option<Fitted<AnyModel>> = None;
        for range in [0..11, 11..12, 12..31, 31..40] {
            let part = data.slice(range);
            parts = Some(plain.partial_fit(parts.as_ref(), &part, &Monitor::quiet()).unwrap());
        }

        let parts = parts.unwrap();
        assert_near(&predictions(&parts, &case.x), &predictions(&whole, &case.x), LONG_WAY);
        // Another order gives another model, as the card declares.
        let back: Vec<usize> = (0..40).rev().collect();
        let reversed = case.select(&back);
        let reversed = plain.partial_fit(None, &reversed.data(card), &Monitor::quiet()).unwrap();
        assert_ne!(predictions(&reversed, &case.x), predictions(&whole, &case.x), "{}", card.id);
        cases.checked();
    }
    cases.at_least(5);
}

#[test]
fn estimators_with_a_warm_start_declare_it() {
    for card in CATALOG {
        let case = Case::new(card, small());
        let data = case.data(card);
        let fitted = fit_data(card, &data).unwrap();

        match estimator(card).fit_from(&fitted.model, &data, &Monitor::quiet()) {
            Ok(again) => {
                assert!(card.can(Capability::WarmStart), "{}", card.id);
                // A fit with a unique optimum that starts there stays there.
                if !card.can(Capability::OrderDependent) && !card.can(Capability::NonConvex) {
                    assert!(again.certificate.iterations <= 1, "{}", card.id);
                    assert_near(
                        &predictions(&again, &case.x),
                        &predictions(&fitted, &case.x),
                        SOLVED,
                    );
                }
                let narrow = Case::new(card, Shape { n_columns: 3, ..small() });
                let other =
                    estimator(card).fit_from(&fitted.model, &narrow.data(card), &Monitor::quiet());
                assert!(other.is_err() || predictions(&other.unwrap(), &narrow.x).nrows() == 40);
            }
            Err(error) => {
                assert!(!card.can(Capability::WarmStart), "{}: {error}", card.id);
                assert!(matches!(error, Error::Unable { .. }), "{}: {error}", card.id);
            }
        }
    }
}
