//! Counters in the text format of Prometheus.

use mercer::data::{Column, Schema, Table, UNSEEN, Values};
use mercer::predict::{Predicted, Predictions};
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// The statuses that the server sends, each with its own counter.
const STATUSES: [u16; 16] =
    [200, 400, 401, 403, 404, 405, 408, 411, 413, 415, 422, 429, 500, 501, 503, 504];
/// Upper bounds of the histogram of response times, in seconds.
const SECONDS: [f64; 14] =
    [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 10.0];
/// Upper bounds of the histogram of batch sizes, in requests.
const BATCH_SIZES: [f64; 8] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];

/// A histogram with fixed bounds.
struct Histogram<const N: usize> {
    counts: [AtomicU64; N],
    /// Values above the last bound.
    above: AtomicU64,
    /// The sum in units of a billionth.
    sum: AtomicU64,
}

impl<const N: usize> Histogram<N> {
    fn new() -> Histogram<N> {
        Histogram {
            counts: std::array::from_fn(|_| AtomicU64::new(0)),
            above: AtomicU64::new(0),
            sum: AtomicU64::new(0),
        }
    }

    fn observe(&self, bounds: &[f64; N], value: f64) {
        let k = bounds.iter().position(|bound| value <= *bound);
        add(k.map_or(&self.above, |k| &self.counts[k]), 1);
        add(&self.sum, (value * 1e9) as u64);
    }

    fn write(&self, text: &mut String, name: &str, labels: &str, bounds: &[f64; N]) {
        let comma = if labels.is_empty() { "" } else { "," };
        let mut total = 0;
        for (bound, count) in bounds.iter().zip(&self.counts) {
            total += get(count);
            line(text, &format!("{name}_bucket{{{labels}{comma}le=\"{bound}\"}} {total}"));
        }
        total += get(&self.above);
        line(text, &format!("{name}_bucket{{{labels}{comma}le=\"+Inf\"}} {total}"));
        line(text, &format!("{name}_sum{{{labels}}} {}", get(&self.sum) as f64 / 1e9));
        line(text, &format!("{name}_count{{{labels}}} {total}"));
    }
}

fn add(counter: &AtomicU64, n: u64) {
    counter.fetch_add(n, Ordering::Relaxed);
}

fn get(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

fn line(text: &mut String, line: &str) {
    // Writing to a string cannot fail.
    writeln!(text, "{line}").ok();
}

/// The counters of the whole server.
pub(crate) struct Metrics {
    /// One row per call, one counter per status.
    requests: Vec<(&'static str, [AtomicU64; STATUSES.len()])>,
    seconds: Histogram<{ SECONDS.len() }>,
    batches: Histogram<{ BATCH_SIZES.len() }>,
    panics: AtomicU64,
    pub in_flight: AtomicUsize,
    /// Rows that wait for their prediction.
    pub waiting_rows: Arc<AtomicUsize>,
    models: Vec<Arc<ModelMetrics>>,
}

/// The counters of one model.
pub(crate) struct ModelMetrics {
    name: String,
    columns: Vec<ColumnMetrics>,
    rows: AtomicU64,
    unknown_tokens: AtomicU64,
    rejected: AtomicU64,
    low_density: AtomicU64,
    impossible: AtomicU64,
    reloads: [AtomicU64; 2],
    /// Requests for predictions, failed and successful, and their nanoseconds.
    pub inferences: [AtomicU64; 2],
    pub nanoseconds: AtomicU64,
}

/// The counters of one column.
struct ColumnMetrics {
    name: String,
    missing: AtomicU64,
    unseen: AtomicU64,
}

impl ModelMetrics {
    /// Counts the cells of a table that hold no value, or a category that the model does not know.
    pub fn count_cells(&self, table: &Table) {
        add(&self.rows, table.n_rows() as u64);
        for (column, counters) in table.columns().iter().zip(&self.columns) {
            let Column { values, .. } = column;
            let missing = values.n_missing() as u64;
            if missing > 0 {
                add(&counters.missing, missing);
            }
            if let Values::Categorical { codes, .. } = values {
                let unseen = codes.iter().filter(|code| **code == UNSEEN).count() as u64;
                if unseen > 0 {
                    add(&counters.unseen, unseen);
                }
            }
        }
    }

    /// Counts what the predictions say about their rows.
    pub fn count_predictions(&self, predictions: &Predictions) {
        if let Predicted::Classes(codes) = &predictions.predicted {
            add(&self.rejected, codes.iter().filter(|code| code.is_none()).count() as u64);
        }
        if let Some(outliers) = &predictions.outliers {
            add(&self.low_density, outliers.iter().filter(|outlier| **outlier).count() as u64);
        }
    }

    /// Counts what only the totals of a batch tell.
    pub fn count_totals(&self, totals: &Predictions) {
        add(&self.unknown_tokens, totals.n_unknown_tokens);
        add(&self.impossible, totals.n_impossible as u64);
    }

    /// Counts a new version, or one that was refused.
    pub fn count_reload(&self, succeeded: bool) {
        add(&self.reloads[usize::from(succeeded)], 1);
    }

    /// Counts a request for predictions.
    pub fn count_inference(&self, succeeded: bool, time: Duration) {
        add(&self.inferences[usize::from(succeeded)], 1);
        add(&self.nanoseconds, time.as_nanos() as u64);
    }
}

impl Metrics {
    /// Counters for these calls.
    pub fn new(calls: &[&'static str]) -> Metrics {
        let zeros = || std::array::from_fn(|_| AtomicU64::new(0));
        Metrics {
            requests: calls.iter().map(|call| (*call, zeros())).collect(),
            seconds: Histogram::new(),
            batches: Histogram::new(),
            panics: AtomicU64::new(0),
            in_flight: AtomicUsize::new(0),
            waiting_rows: Arc::default(),
            models: Vec::new(),
        }
    }

    /// Counters for a model with these columns.
    pub fn add_model(&mut self, name: &str, schema: &Schema) -> Arc<ModelMetrics> {
        let zero = || AtomicU64::new(0);
        let columns = schema.fields.iter().map(|field| ColumnMetrics {
            name: field.name.clone(),
            missing: zero(),
            unseen: zero(),
        });
        let model = Arc::new(ModelMetrics {
            name: name.to_owned(),
            columns: columns.collect(),
            rows: zero(),
            unknown_tokens: zero(),
            rejected: zero(),
            low_density: zero(),
            impossible: zero(),
            reloads: [zero(), zero()],
            inferences: [zero(), zero()],
            nanoseconds: zero(),
        });
        self.models.push(Arc::clone(&model));
        model
    }

    /// Counts a response.
    pub fn count_response(&self, call: &str, status: u16, time: Duration) {
        let status = STATUSES.iter().position(|known| *known == status);
        let call = self.requests.iter().find(|(known, _)| *known == call);
        if let (Some(k), Some((_, counters))) = (status, call) {
            add(&counters[k], 1);
        }
        self.seconds.observe(&SECONDS, time.as_secs_f64());
    }

    /// Counts requests that were predicted together.
    pub fn count_batch(&self, n_requests: usize) {
        self.batches.observe(&BATCH_SIZES, n_requests as f64);
    }

    /// Counts a panic that was caught.
    pub fn count_panic(&self) {
        add(&self.panics, 1);
    }

    /// All counters in the text format of Prometheus. `versions` are the name, version and estimator of each model.
    pub fn text(&self, versions: &[[&str; 3]]) -> String {
        let mut text = String::new();
        let mut head = |text: &mut String, name: &str, kind: &str, help: &str| {
            line(text, &format!("# HELP {name} {help}"));
            line(text, &format!("# TYPE {name} {kind}"));
        };
        let name = "mercer_requests_total";
        head(&mut text, name, "counter", "Responses by call and status.");
        for (call, counters) in &self.requests {
            for (status, count) in STATUSES.iter().zip(counters).filter(|(_, n)| get(n) > 0) {
                let count = get(count);
                line(&mut text, &format!("{name}{{call=\"{call}\",code=\"{status}\"}} {count}"));
            }
        }
        let name = "mercer_request_seconds";
        head(&mut text, name, "histogram", "Time from the head of a request to its response.");
        self.seconds.write(&mut text, name, "", &SECONDS);
        let name = "mercer_batch_requests";
        head(&mut text, name, "histogram", "Requests that were predicted together.");
        self.batches.write(&mut text, name, "", &BATCH_SIZES);
        let gauges = [
            ("mercer_in_flight_requests", "Requests without a response yet.", &self.in_flight),
            ("mercer_waiting_rows", "Rows that wait for their prediction.", &*self.waiting_rows),
        ];
        for (name, help, gauge) in gauges {
            head(&mut text, name, "gauge", help);
            line(&mut text, &format!("{name} {}", gauge.load(Ordering::Relaxed)));
        }
        head(&mut text, "mercer_panics_total", "counter", "Panics that were caught.");
        line(&mut text, &format!("mercer_panics_total {}", get(&self.panics)));
        head(&mut text, "mercer_model_info", "gauge", "The served version of each model.");
        for [model, version, estimator] in versions {
            let (model, estimator) = (escaped(model), escaped(estimator));
            line(
                &mut text,
                &format!(
                    "mercer_model_info{{model=\"{model}\",version=\"{version}\",estimator=\"{estimator}\"}} 1"
                ),
            );
        }
        self.write_models(&mut text, &mut head);
        text
    }

    fn write_models(&self, text: &mut String, head: &mut dyn FnMut(&mut String, &str, &str, &str)) {
        type Counter = fn(&ModelMetrics) -> u64;
        let counters: [(&str, &str, Counter); 7] = [
            ("mercer_rows_total", "Rows received for prediction.", |m| get(&m.rows)),
            ("mercer_unknown_tokens_total", "Tokens outside the vocabulary.", |m| {
                get(&m.unknown_tokens)
            }),
            ("mercer_rejected_rows_total", "Rows that the decision rule rejected.", |m| {
                get(&m.rejected)
            }),
            (
                "mercer_low_density_rows_total",
                "Rows rarer than 99 percent of the held-out training rows.",
                |m| get(&m.low_density),
            ),
            ("mercer_impossible_rows_total", "Rows with likelihood zero in every class.", |m| {
                get(&m.impossible)
            }),
            ("mercer_reloads_total", "New versions of the model file.", |m| get(&m.reloads[1])),
            ("mercer_reload_failures_total", "Model files that were refused.", |m| {
                get(&m.reloads[0])
            }),
        ];
        for (name, help, value) in counters {
            head(text, name, "counter", help);
            for model in &self.models {
                line(
                    text,
                    &format!("{name}{{model=\"{}\"}} {}", escaped(&model.name), value(model)),
                );
            }
        }
        type Cells = fn(&ColumnMetrics) -> u64;
        let cells: [(&str, &str, Cells); 2] = [
            ("mercer_missing_values_total", "Missing values by column.", |c| get(&c.missing)),
            ("mercer_unseen_categories_total", "Cells with an unknown category by column.", |c| {
                get(&c.unseen)
            }),
        ];
        for (name, help, value) in cells {
            head(text, name, "counter", help);
            for model in &self.models {
                for column in model.columns.iter().filter(|column| value(column) > 0) {
                    let labels = format!(
                        "model=\"{}\",column=\"{}\"",
                        escaped(&model.name),
                        escaped(&column.name)
                    );
                    line(text, &format!("{name}{{{labels}}} {}", value(column)));
                }
            }
        }
    }
}

/// The value of a label.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_cumulative_and_labels_escaped() {
        let metrics = Metrics::new(&["infer"]);
        metrics.count_response("infer", 200, Duration::from_micros(50));
        metrics.count_response("infer", 200, Duration::from_millis(2));
        metrics.count_response("infer", 400, Duration::from_secs(60));

        let text = metrics.text(&[["a\"b", "1", "svc"]]);

        for expected in [
            "mercer_requests_total{call=\"infer\",code=\"200\"} 2",
            "mercer_request_seconds_bucket{le=\"0.0001\"} 1",
            "mercer_request_seconds_bucket{le=\"0.0025\"} 2",
            "mercer_request_seconds_bucket{le=\"10\"} 2",
            "mercer_request_seconds_bucket{le=\"+Inf\"} 3",
            "mercer_request_seconds_count{} 3",
            "mercer_model_info{model=\"a\\\"b\",version=\"1\",estimator=\"svc\"} 1",
        ] {
            assert!(text.lines().any(|line| line == expected), "{expected} is not in\n{text}");
        }
    }
}
