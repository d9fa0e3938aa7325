//! The OpenAPI document and a documentation page, both without a request to any other host.

use crate::connection::Reply;
use crate::models::Slot;
use mercer::data::{Kind, Label};
use std::fmt::Write as _;

const OPENAPI: &str = include_str!("openapi.json");
const STYLE: &str = include_str!("style.css");
const PAGE: &str = include_str!("docs.html");
/// Columns and classes of a model that are listed.
const MAX_LISTED: usize = 40;

/// `GET /openapi.json`.
pub(crate) fn openapi() -> Reply {
    let document = OPENAPI.replace("MERCER_VERSION", env!("CARGO_PKG_VERSION"));
    Reply::new("application/json", document.into_bytes())
}

/// `GET /docs/style.css`.
pub(crate) fn style() -> Reply {
    Reply::new("text/css; charset=utf-8", STYLE.into())
}

/// `GET /docs`: the calls, and the models with their columns.
pub(crate) fn docs(slots: &[Slot]) -> Reply {
    let models: String = slots.iter().map(model_section).collect();
    let name = slots.first().map_or("model", |slot| slot.name.as_str());
    let page = PAGE.replace("{models}", &models).replace("{name}", &escaped(name));
    Reply::new("text/html; charset=utf-8", page.into_bytes())
}

fn model_section(slot: &Slot) -> String {
    let served = slot.served();
    let fields = &served.trained.features.schema.fields;
    let mut text = String::new();
    // Writing to a string cannot fail.
    writeln!(
        text,
        "<section><h3>{}</h3><p><code>{}</code>, version <code>{}</code></p>",
        escaped(&slot.name),
        escaped(served.trained.estimator.id()),
        served.version
    )
    .ok();
    if !served.labels.is_empty() {
        let labels: Vec<String> =
            served.labels.iter().take(MAX_LISTED).map(Label::to_string).collect();
        let more = if served.labels.len() > MAX_LISTED { ", …" } else { "" };
        writeln!(text, "<p>Classes: {}{more}</p>", escaped(&labels.join(", "))).ok();
    }
    text += "<table><tr><th>column</th><th>type</th></tr>\n";
    for field in fields.iter().take(MAX_LISTED) {
        let levels: Vec<&str> = field.levels.names().iter().take(8).map(String::as_str).collect();
        let levels = match field.kind {
            Kind::Categorical => format!(": {}", levels.join(", ")),
            _ => String::new(),
        };
        let kind = format!("{}{levels}", field.kind);
        writeln!(text, "<tr><td>{}</td><td>{}</td></tr>", escaped(&field.name), escaped(&kind))
            .ok();
    }
    if fields.len() > MAX_LISTED {
        writeln!(text, "<tr><td>and {} more</td><td></td></tr>", fields.len() - MAX_LISTED).ok();
    }
    text + "</table></section>\n"
}

/// Text that has no markup.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
