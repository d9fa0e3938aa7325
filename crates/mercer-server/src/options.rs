//! What a request asks for: outputs, decision rule, prediction interval; from JSON parameters or a query string.

use crate::error::{ApiError, ApiResult};
use crate::models::Served;
use mercer::data::Label;
use mercer::decision::Costs;
use mercer::predict::{DecisionOptions, PredictOptions, decision_classes};
use mercer_num::Matrix;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// An output of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Output {
    Predict,
    PredictProba,
    DecisionFunction,
    LogDensity,
    Transform,
    Interval,
    Risk,
    Explain,
}

impl Output {
    pub const ALL: [Output; 8] = [
        Output::Predict,
        Output::PredictProba,
        Output::DecisionFunction,
        Output::LogDensity,
        Output::Transform,
        Output::Interval,
        Output::Risk,
        Output::Explain,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Output::Predict => "predict",
            Output::PredictProba => "predict_proba",
            Output::DecisionFunction => "decision_function",
            Output::LogDensity => "log_density",
            Output::Transform => "transform",
            Output::Interval => "interval",
            Output::Risk => "risk",
            Output::Explain => "explain",
        }
    }

    pub fn parse(name: &str, served: &Served) -> ApiResult<Output> {
        let known = Output::of(served);
        known.iter().copied().find(|output| output.name() == name).ok_or_else(|| {
            let names: Vec<&str> = known.iter().map(|output| output.name()).collect();
            ApiError::bad(format!(
                "model `{}` has no output `{}`; its outputs are {}",
                served.name,
                name.escape_debug(),
                names.join(", ")
            ))
        })
    }

    /// The outputs that a model can compute.
    pub fn of(served: &Served) -> Vec<Output> {
        let able = served.trained.fitted.model.as_model();
        let transforms_only = able.transformer().is_some()
            && able.classifier().is_none()
            && able.regressor().is_none()
            && able.outlier_detector().is_none()
            && able.clusterer().is_none();
        let explains = mercer::predict::check_explainable(&served.trained).is_ok();
        let can = |output: &Output| match output {
            Output::Predict => !transforms_only,
            Output::PredictProba | Output::Risk => able.probabilistic().is_some(),
            Output::DecisionFunction => able.decision_function().is_some(),
            Output::LogDensity => able.generative().is_some(),
            Output::Transform => {
                able.transformer().is_some() && (transforms_only || able.classifier().is_some())
            }
            Output::Interval => able.regressor().is_some(),
            Output::Explain => explains,
        };
        Output::ALL.into_iter().filter(can).collect()
    }

    /// The outputs of a request that names none.
    pub fn defaults(served: &Served) -> Vec<Output> {
        let defaults = [Output::Predict, Output::PredictProba];
        let mut outputs = Output::of(served);
        let is_default = |output: &Output| defaults.contains(output);
        if outputs.iter().any(is_default) {
            outputs.retain(is_default);
        } else {
            outputs.retain(|output| *output == Output::Transform);
        }
        outputs
    }
}

/// The parameters of a request. Those that other servers know and that have no meaning here are accepted by name;
/// everything else is refused, so that a misspelled parameter is noticed.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Parameters {
    /// The coverage probability of a prediction interval.
    pub interval: Option<f64>,
    /// The cost of a rejection.
    pub reject: Option<f64>,
    /// New class priors by class.
    pub priors: BTreeMap<String, f64>,
    /// The class priors of the training data, for models that do not store them.
    pub trained_priors: BTreeMap<String, f64>,
    /// The cost of each prediction for each true class.
    pub costs: Option<CostTable>,
    /// The outputs, in protocols without a list of them.
    pub outputs: Option<Vec<String>>,
    /// Whether outputs are binary if they do not say it themselves.
    pub binary_data_output: bool,
    #[serde(rename = "content_type")]
    _content_type: IgnoredAny,
    #[serde(rename = "headers")]
    _headers: IgnoredAny,
    #[serde(rename = "priority")]
    _priority: IgnoredAny,
    #[serde(rename = "timeout")]
    _timeout: IgnoredAny,
    #[serde(rename = "sequence_id")]
    _sequence_id: IgnoredAny,
    #[serde(rename = "sequence_start")]
    _sequence_start: IgnoredAny,
    #[serde(rename = "sequence_end")]
    _sequence_end: IgnoredAny,
    #[serde(rename = "triton_enable_empty_final_response")]
    _triton_enable_empty_final_response: IgnoredAny,
}

/// A cost matrix: rows of numbers in the order of the classes, or costs by true and predicted class.
#[derive(Debug, PartialEq)]
pub(crate) enum CostTable {
    Rows(Vec<Vec<f64>>),
    ByName(BTreeMap<String, BTreeMap<String, f64>>),
}

impl<'de> Deserialize<'de> for CostTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<CostTable, D::Error> {
        struct CostVisitor;

        impl<'de> Visitor<'de> for CostVisitor {
            type Value = CostTable;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of rows of costs, or costs by true and predicted class")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<CostTable, A::Error> {
                let mut rows = Vec::new();
                while let Some(row) = list.next_element()? {
                    rows.push(row);
                }
                Ok(CostTable::Rows(rows))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<CostTable, A::Error> {
                let mut costs = BTreeMap::new();
                while let Some((truth, row)) = map.next_entry()? {
                    costs.insert(truth, row);
                }
                Ok(CostTable::ByName(costs))
            }
        }

        deserializer.deserialize_any(CostVisitor)
    }
}

impl CostTable {
    fn costs(&self, labels: &[Label]) -> ApiResult<Costs> {
        let k = labels.len();
        let mut matrix = Matrix::from_elem((k, k), f64::NAN);
        match self {
            CostTable::Rows(rows) => {
                if rows.len() != k || rows.iter().any(|row| row.len() != k) {
                    return Err(ApiError::bad(format!(
                        "`costs` must have one row and one column for each of the {k} classes"
                    )));
                }
                let cells = rows.iter().flatten();
                matrix.iter_mut().zip(cells).for_each(|(to, cost)| *to = *cost);
            }
            CostTable::ByName(costs) => {
                for (truth, row) in costs {
                    let c = class_code(truth, labels, "costs")?;
                    for (predicted, cost) in row {
                        matrix[[c, class_code(predicted, labels, "costs")?]] = *cost;
                    }
                }
                if let Some(at) = matrix.iter().position(|cost| cost.is_nan()) {
                    return Err(ApiError::bad(format!(
                        "`costs` has no cost of predicting `{}` for the true class `{}`",
                        labels[at % k],
                        labels[at / k]
                    )));
                }
            }
        }
        Ok(Costs::new(matrix)?)
    }
}

fn class_code(name: &str, labels: &[Label], parameter: &str) -> ApiResult<usize> {
    labels.iter().position(|label| label.to_string() == name).ok_or_else(|| {
        let known: Vec<String> = labels.iter().map(Label::to_string).collect();
        ApiError::bad(format!(
            "`{parameter}`: no class is named `{}`; the classes are {}",
            name.escape_debug(),
            known.join(", ")
        ))
    })
}

/// What to compute for a request.
pub(crate) struct Wanted {
    pub outputs: Vec<Output>,
    pub predict: PredictOptions,
    /// Whether the client asked for the mark of outliers itself.
    pub marks_outliers: bool,
}

impl Parameters {
    /// The outputs and options for a model. `outputs` are those of the protocol, if it has a list of them.
    pub fn wanted(&self, served: &Served, outputs: Option<Vec<Output>>) -> ApiResult<Wanted> {
        let named = match (outputs, &self.outputs) {
            (Some(outputs), _) => Some(outputs),
            (None, Some(names)) => Some(
                names.iter().map(|name| Output::parse(name, served)).collect::<Result<_, _>>()?,
            ),
            (None, None) => None,
        };
        let decision = self.decision(served)?;
        let mut outputs = named.unwrap_or_else(|| {
            let mut outputs = Output::defaults(served);
            outputs.extend((!decision.is_empty()).then_some(Output::Risk));
            outputs.extend(self.interval.map(|_| Output::Interval));
            outputs
        });
        let mut seen = Vec::new();
        outputs.retain(|output| {
            !seen.contains(output) && {
                seen.push(*output);
                true
            }
        });
        let has = |output: Output| outputs.contains(&output);
        let classifies = !served.labels.is_empty();
        let mut rule = decision.rule(&served.trained)?;
        if rule.is_none() && has(Output::Risk) {
            // Without costs, the risk is the probability of an error.
            rule = DecisionOptions {
                costs: Some(Costs::zero_one(served.labels.len())),
                ..DecisionOptions::default()
            }
            .rule(&served.trained)?;
        }
        let predict = PredictOptions {
            proba: has(Output::PredictProba),
            density: has(Output::LogDensity),
            projection: has(Output::Transform) && classifies,
            decision_values: has(Output::DecisionFunction),
            interval: has(Output::Interval).then(|| self.interval.unwrap_or(0.95)),
            outlier_threshold: served.low_density,
            rule,
            ..PredictOptions::default()
        };
        if let Some(level) = predict.interval
            && !(level > 0.0 && level < 1.0)
        {
            return Err(ApiError::bad(format!(
                "`interval` is {level}; it must be a probability between 0 and 1"
            )));
        }
        predict.check(&served.trained)?;
        Ok(Wanted { outputs, predict, marks_outliers: false })
    }

    fn decision(&self, served: &Served) -> ApiResult<DecisionOptions> {
        let given = self.costs.is_some() || self.reject.is_some() || !self.priors.is_empty();
        if !given {
            return Ok(DecisionOptions::default());
        }
        let labels = decision_classes(&served.trained)?.labels();
        let codes = |priors: &BTreeMap<String, f64>, parameter: &str| -> ApiResult<Vec<_>> {
            let coded =
                priors.iter().map(|(class, p)| Ok((class_code(class, labels, parameter)?, *p)));
            coded.collect()
        };
        Ok(DecisionOptions {
            costs: self.costs.as_ref().map(|costs| costs.costs(labels)).transpose()?,
            reject: self.reject,
            priors: codes(&self.priors, "priors")?,
            trained_priors: codes(&self.trained_priors, "trained_priors")?,
        })
    }
}

/// The options of a query string, as `mercer predict` has them.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Query {
    pub model: Option<String>,
    pub proba: bool,
    pub density: bool,
    pub projection: bool,
    pub interval: Option<f64>,
    pub outliers: Option<f64>,
    pub reject: Option<f64>,
    pub priors: BTreeMap<String, f64>,
    pub trained_priors: BTreeMap<String, f64>,
}

impl Query {
    pub fn parse(query: Option<&str>) -> ApiResult<Query> {
        let mut parsed = Query::default();
        for pair in query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (name, value) = (decoded(name)?, decoded(value)?);
            match name.as_str() {
                "model" => parsed.model = Some(value),
                "proba" => parsed.proba = flag(&name, &value)?,
                "density" => parsed.density = flag(&name, &value)?,
                "projection" => parsed.projection = flag(&name, &value)?,
                "interval" => parsed.interval = Some(number(&name, &value)?),
                "outliers" => parsed.outliers = Some(number(&name, &value)?),
                "reject" => parsed.reject = Some(number(&name, &value)?),
                "prior" => parsed.priors.extend([class_and_number(&name, &value)?]),
                "trained_prior" => parsed.trained_priors.extend([class_and_number(&name, &value)?]),
                _ => {
                    return Err(ApiError::bad(format!(
                        "unknown option `{}` in the query; the options are model, proba, density, projection, \
                         interval, outliers, reject, prior, trained_prior",
                        name.escape_debug()
                    )));
                }
            }
        }
        Ok(parsed)
    }

    /// The same options for a model, as parameters.
    pub fn wanted(&self, served: &Served) -> ApiResult<Wanted> {
        let parameters = Parameters {
            interval: self.interval,
            reject: self.reject,
            priors: self.priors.clone(),
            trained_priors: self.trained_priors.clone(),
            ..Parameters::default()
        };
        let mut outputs = Vec::new();
        let named = [
            (self.proba, Output::PredictProba),
            (self.density, Output::LogDensity),
            (self.projection, Output::Transform),
            (self.interval.is_some(), Output::Interval),
        ];
        outputs.extend(named.iter().filter(|(given, _)| *given).map(|(_, output)| *output));
        let mut wanted = parameters.wanted(served, Some(outputs))?;
        if let Some(fraction) = self.outliers {
            let densities = served.trained.densities.as_ref().ok_or_else(|| {
                ApiError::bad(
                    "`outliers`: the model stores no densities of held-out training rows; train it with \
                     cross-validation",
                )
            })?;
            wanted.predict.outlier_threshold = Some(densities.threshold(fraction)?);
            wanted.marks_outliers = true;
        }
        Ok(wanted)
    }
}

fn flag(name: &str, value: &str) -> ApiResult<bool> {
    match value {
        "" | "1" | "true" => Ok(true),
        "0" | "false" => Ok(false),
        _ => Err(ApiError::bad(format!("`{name}` must be true or false"))),
    }
}

fn number(name: &str, value: &str) -> ApiResult<f64> {
    let parsed = value.parse::<f64>().ok().filter(|x| x.is_finite());
    parsed.ok_or_else(|| ApiError::bad(format!("`{name}` must be a number")))
}

fn class_and_number(name: &str, value: &str) -> ApiResult<(String, f64)> {
    let (class, p) = value
        .rsplit_once('=')
        .ok_or_else(|| ApiError::bad(format!("`{name}` must be CLASS=PROBABILITY")))?;
    Ok((class.to_owned(), number(name, p)?))
}

/// A part of a URL with its percent escapes undone.
pub(crate) fn decoded(text: &str) -> ApiResult<String> {
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while i < bytes.len() {
        match bytes[i] {
            b'%' => {
                let digits = text.get(i + 1..i + 3);
                let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
                plain.push(byte.ok_or_else(|| ApiError::bad("the URL has a broken `%` escape"))?);
                i += 3;
            }
            b'+' => {
                plain.push(b' ');
                i += 1;
            }
            byte => {
                plain.push(byte);
                i += 1;
            }
        }
    }
    String::from_utf8(plain).map_err(|_| ApiError::bad("the URL is not UTF-8"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_query_has_the_options_of_the_command_line() {
        let query = Query::parse(Some("proba&interval=0.9&prior=a%3Db=0.25&model=x")).unwrap();

        assert!(query.proba && !query.density);
        assert_eq!(query.interval, Some(0.9));
        assert_eq!(query.priors, BTreeMap::from([("a=b".to_owned(), 0.25)]));
        assert_eq!(query.model.as_deref(), Some("x"));
        for bad in ["probab", "interval=x", "proba=2", "prior=0.5", "a=%f", "a=%ff", "reject=inf"] {
            assert_eq!(Query::parse(Some(bad)).unwrap_err().status, 400, "{bad}");
        }
    }

    #[test]
    fn misspelled_parameters_are_refused_and_foreign_ones_accepted() {
        let foreign = r#"{"sequence_id": 0, "priority": {"x": [1]}, "content_type": "pd"}"#;
        assert!(serde_json::from_str::<Parameters>(foreign).is_ok());
        let error = serde_json::from_str::<Parameters>(r#"{"rejct": 0.1}"#).unwrap_err();
        assert!(error.to_string().contains("unknown field `rejct`"), "{error}");
    }
}
