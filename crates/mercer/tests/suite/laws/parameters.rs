//! Parameters with invalid values are refused by name.

use super::small;
use crate::cases::*;
use mercer::catalog::{CATALOG, Estimator};
use mercer::model::Rule;
use mercer::prelude::*;
use serde_json::{Value, json};

/// Values that violate a rule.
fn breaking(rule: Rule) -> Vec<Value> {
    match rule {
        Rule::Any => vec![],
        Rule::AtLeast(low) => vec![json!(low - 1.0), json!(low - 1e-3)],
        Rule::Above(low) => vec![json!(low), json!(low - 1.0)],
        Rule::Between(low, high) => vec![json!(low - 1.0), json!(high + 1.0)],
        Rule::Inside(low, high) => vec![json!(low), json!(low - 1.0), json!(high)],
        Rule::Simplex => vec![json!([0.5, 0.6]), json!([-0.5, 1.5]), json!([0.0])],
        Rule::OneOf(_) | Rule::Formula(_) => vec![json!("no such value"), json!(1)],
    }
}

#[test]
fn invalid_parameters_are_refused_by_name() {
    for card in CATALOG {
        let case = Case::new(card, small());
        for spec in card.specs {
            let mut bad = breaking(spec.rule);
            // An empty dictionary of columns is allowed.
            bad.push(if spec.type_name.contains("dict of str") {
                json!({"": {}})
            } else {
                json!({})
            });
            bad.extend((!spec.type_name.contains("None")).then_some(Value::Null));
            for value in bad {
                let refused = |error: Error| match error {
                    Error::Parameter { name, .. } => assert_eq!(name, spec.name),
                    other => panic!("`{}` {}={value}: {other}", card.id, spec.name),
                };
                refused(estimator(card).set(spec.name, value.clone()).unwrap_err());
                // Parameters may be deserialized from anywhere, so a fit checks them again.
                let described = json!({card.id: {spec.name: value}});
                if let Ok(estimator) = serde_json::from_value::<Estimator>(described) {
                    refused(estimator.fit(&case.data(card), &Monitor::quiet()).unwrap_err());
                }
            }
        }
        let unknown = estimator(card).set("no_such_parameter", json!(1)).unwrap_err();
        assert!(matches!(unknown, Error::UnknownParameter { .. }));
        let described = json!({card.id: {"no_such_parameter": 1}});
        assert!(serde_json::from_value::<Estimator>(described).is_err());
    }
    assert!(matches!(Estimator::from_id("no-such-id"), Err(Error::UnknownEstimator { .. })));
}

#[test]
fn defaults_are_valid_and_can_be_set_from_text() {
    for card in CATALOG {
        let defaults = card.defaults();
        let plain = Estimator::from_id(card.id).unwrap();
        for spec in card.specs {
            let value = &defaults[spec.name];
            let word = value.as_str().map_or_else(|| value.to_string(), str::to_owned);

            let set = plain.set_from_str(spec.name, &word).unwrap();

            assert_eq!(set, plain, "{} {}", card.id, spec.name);
            assert!(!spec.doc.trim().is_empty());
        }
        assert_eq!(plain.check(), Ok(()));
    }
}
