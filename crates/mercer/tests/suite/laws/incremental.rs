//! What can be learned on top of a model says so, and nothing else can.

use super::{Cases, LONG_WAY, small, those_that_can};
use crate::cases::*;
use mercer::catalog::{AnyModel, CATALOG, Capability};
use mercer::prelude::*;

#[test]
fn those_that_learn_row_by_row_say_so() {
    for card in CATALOG {
        let case = Case::new(card, small());
        let data = case.data(card);

        let learned = estimator(card).learn_on(None, &data, &Monitor::quiet());

        match learned {
            Ok(fitted) => {
                assert!(card.can(Capability::Online), "{}", card.id);
                assert_eq!((fitted.certificate.rows, fitted.certificate.iterations), (40, 1));
                let more = estimator(card).learn_on(Some(&fitted), &data, &Monitor::quiet());
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
fn rows_in_parts_are_one_pass_over_rows_as_they_come() {
    let cases = Cases::default();
    for card in those_that_can(Capability::Online) {
        let case = Case::new(card, Shape { weighted: true, ..small() });
        let data = case.data(card);
        let plain = estimator(card).set_from_str("shuffle", "false").unwrap();

        let whole = plain.learn_on(None, &data, &Monitor::quiet()).unwrap();
        let mut parts: Option<Fitted<AnyModel>> = None;
        for range in [0..11, 11..12, 12..31, 31..40] {
            let part = data.slice(range);
            parts = Some(plain.learn_on(parts.as_ref(), &part, &Monitor::quiet()).unwrap());
        }

        let parts = parts.unwrap();
        assert_near(&answers(&parts, &case.x), &answers(&whole, &case.x), LONG_WAY);
        // Another order is another model, which is what their card says.
        let back: Vec<usize> = (0..40).rev().collect();
        let turned = case.select(&back);
        let turned = plain.learn_on(None, &turned.data(card), &Monitor::quiet()).unwrap();
        assert_ne!(answers(&turned, &case.x), answers(&whole, &case.x), "{}", card.id);
        cases.checked();
    }
    cases.at_least(5);
}

#[test]
fn those_that_can_begin_at_another_model_say_so() {
    for card in CATALOG {
        let case = Case::new(card, small());
        let data = case.data(card);
        let fitted = fit_data(card, &data).unwrap();

        match estimator(card).fit_from(&fitted.model, &data, &Monitor::quiet()) {
            Ok(again) => {
                assert!(card.can(Capability::WarmStart), "{}", card.id);
                // Whoever has an optimum, and looks for it to the end, is there already.
                if !card.can(Capability::Online) && !card.can(Capability::NonConvex) {
                    assert!(again.certificate.iterations <= 1, "{}", card.id);
                    assert_near(&answers(&again, &case.x), &answers(&fitted, &case.x), SOLVED);
                }
                let narrow = Case::new(card, Shape { n_columns: 3, ..small() });
                let other =
                    estimator(card).fit_from(&fitted.model, &narrow.data(card), &Monitor::quiet());
                assert!(other.is_err() || answers(&other.unwrap(), &narrow.x).nrows() == 40);
            }
            Err(error) => {
                assert!(!card.can(Capability::WarmStart), "{}: {error}", card.id);
                assert!(matches!(error, Error::Unable { .. }), "{}: {error}", card.id);
            }
        }
    }
}
