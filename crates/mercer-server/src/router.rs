//! From a request to its call and back to a response.

use crate::body::{self, Reservation};
use crate::connection::Reply;
use crate::error::{ApiError, ApiResult};
use crate::guard;
use crate::options::{Query, decoded};
use crate::protocol::{Target, mlflow, pages, plain, v1, v2};
use crate::server::{Reactor, State};
use crate::studio;
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{ACCEPT_ENCODING, ALLOW, CONTENT_LENGTH, HeaderValue, TRANSFER_ENCODING};
use hyper::{Method, Request, Response};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;
use tokio::time::timeout;

/// What a request asks the server to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Infer,
    Live,
    Ready,
    ServerMetadata,
    Models,
    AllStatistics,
    ModelMetadata,
    ModelReady,
    ModelConfig,
    ModelStatistics,
    RepositoryIndex,
    V1Models,
    V1Model,
    V1Predict,
    V1Explain,
    Invocations,
    Ping,
    Health,
    Version,
    Predict,
    Explain,
    Metrics,
    OpenApi,
    Docs,
    DocsStyle,
    StudioPage,
    StudioAsset,
    StudioMessage,
    StudioData,
    StudioModel,
}

/// A method and a path, with `{model}` and `{version}` for segments of any text and `{file}` for the rest of a path.
pub(crate) struct Route {
    pub method: Method,
    pub path: &'static str,
    pub call: Call,
    /// The name of the call in the metrics.
    pub name: &'static str,
}

macro_rules! routes {
    ($table:ident: $($method:ident $path:literal => $call:ident $name:literal;)*) => {
        /// Routes; the most frequent ones come first.
        static $table: &[Route] = &[$(
            Route { method: Method::$method, path: $path, call: Call::$call, name: $name },
        )*];
    };
}

routes! { ROUTES:
    POST "/v2/models/{model}/infer" => Infer "infer";
    POST "/v2/models/{model}/versions/{version}/infer" => Infer "infer";
    POST "/invocations" => Invocations "invocations";
    POST "/predict" => Predict "predict";
    POST "/explain" => Explain "explain";
    POST "/v1/models/{model}:predict" => V1Predict "v1_predict";
    POST "/v1/models/{model}:explain" => V1Explain "v1_explain";
    GET "/v2/health/live" => Live "live";
    GET "/v2/health/ready" => Ready "ready";
    GET "/v2" => ServerMetadata "server_metadata";
    GET "/v2/" => ServerMetadata "server_metadata";
    GET "/v2/models" => Models "models";
    GET "/v2/models/stats" => AllStatistics "statistics";
    GET "/v2/models/{model}" => ModelMetadata "model_metadata";
    GET "/v2/models/{model}/versions/{version}" => ModelMetadata "model_metadata";
    GET "/v2/models/{model}/ready" => ModelReady "model_ready";
    GET "/v2/models/{model}/versions/{version}/ready" => ModelReady "model_ready";
    GET "/v2/models/{model}/config" => ModelConfig "model_config";
    GET "/v2/models/{model}/versions/{version}/config" => ModelConfig "model_config";
    GET "/v2/models/{model}/stats" => ModelStatistics "statistics";
    GET "/v2/models/{model}/versions/{version}/stats" => ModelStatistics "statistics";
    POST "/v2/repository/index" => RepositoryIndex "repository_index";
    GET "/v1/models" => V1Models "v1_models";
    GET "/v1/models/{model}" => V1Model "v1_model";
    GET "/ping" => Ping "ping";
    GET "/health" => Health "health";
    GET "/version" => Version "version";
    GET "/metrics" => Metrics "metrics";
    GET "/openapi.json" => OpenApi "openapi";
    GET "/docs" => Docs "docs";
    GET "/" => Docs "docs";
    GET "/docs/style.css" => DocsStyle "docs";
}

routes! { STUDIO_ROUTES:
    POST "/studio/call" => StudioMessage "studio_call";
    POST "/studio/data" => StudioData "studio_data";
    GET "/studio/model" => StudioModel "studio_model";
    GET "/" => StudioPage "studio_page";
    GET "/assets/{file}" => StudioAsset "studio_page";
    GET "/health" => Health "health";
}

/// The routes of a server: those of the studio, or those of models.
fn routes(state: &State) -> &'static [Route] {
    if state.studio.is_some() { STUDIO_ROUTES } else { ROUTES }
}

/// The name of requests without a route in the metrics.
const NO_ROUTE: &str = "none";

/// The names of all calls, for the metrics.
pub(crate) fn call_names() -> Vec<&'static str> {
    let mut names: Vec<&'static str> =
        ROUTES.iter().chain(STUDIO_ROUTES).map(|route| route.name).collect();
    names.push(NO_ROUTE);
    names.sort_unstable();
    names.dedup();
    names
}

/// A route that matches, with what its path names.
struct Match<'p> {
    route: &'static Route,
    model: Option<&'p str>,
    version: Option<&'p str>,
    file: Option<&'p str>,
}

/// The routes of a path, whatever their method.
fn matches<'p>(routes: &'static [Route], path: &'p str) -> impl Iterator<Item = Match<'p>> {
    routes.iter().filter_map(move |route| match_path(route, path))
}

fn match_path<'p>(route: &'static Route, path: &'p str) -> Option<Match<'p>> {
    let mut found = Match { route, model: None, version: None, file: None };
    if let Some(folder) = route.path.strip_suffix("{file}") {
        found.file = Some(path.strip_prefix(folder)?);
        return Some(found);
    }
    let (mut pattern, mut path) = (route.path.split('/'), path.split('/'));
    loop {
        match (pattern.next(), path.next()) {
            (None, None) => return Some(found),
            (Some("{version}"), Some(segment)) if !segment.is_empty() => {
                found.version = Some(segment);
            }
            (Some(part), Some(segment)) if part.starts_with("{model}") => {
                let suffix = &part["{model}".len()..];
                let name = segment.strip_suffix(suffix).filter(|name| !name.is_empty())?;
                // A colon begins the verb of the V1 protocol; no model has one in its name.
                if name.contains(':') {
                    return None;
                }
                found.model = Some(name);
            }
            (Some(part), Some(segment)) if part == segment => {}
            _ => return None,
        }
    }
}

/// Answers a request.
pub(crate) async fn respond(
    request: Request<Incoming>,
    reactor: Arc<Reactor>,
) -> Response<Full<Bytes>> {
    let start = Instant::now();
    let state = Arc::clone(&reactor.state);
    state.metrics.in_flight.fetch_add(1, Ordering::Relaxed);
    let is_head = request.method() == Method::HEAD;
    let accepted = request.headers().get(ACCEPT_ENCODING).cloned();
    let (parts, body) = request.into_parts();
    let head = Request::from_parts(parts, ());
    let method = if is_head { Method::GET } else { head.method().clone() };
    let path = head.uri().path();
    let mut allowed = None;
    let routes = routes(&state);
    let found = matches(routes, path).find(|found| found.route.method == method);
    let name = found.as_ref().map_or(NO_ROUTE, |found| found.route.name);
    let outcome =
        match (guard::check(&head, &state.config, found.as_ref().is_some_and(is_open)), found) {
            (Err(error), _) => Err(error),
            (Ok(()), Some(found)) => answer(&reactor, found, &head, body).await,
            (Ok(()), None) => {
                allowed = matches(routes, path).next().map(|other| other.route.method.as_str());
                Err(match allowed {
                    Some(method) => ApiError::new(405, format!("the method must be {method}")),
                    None => ApiError::new(404, "there is no such path; see /docs"),
                })
            }
        };
    let mut reply = outcome.unwrap_or_else(|error| Reply::error(&error));
    let encoding = body::compress(accepted.as_ref().and_then(|v| v.to_str().ok()), &mut reply.body);
    state.metrics.in_flight.fetch_sub(1, Ordering::Relaxed);
    state.metrics.count_response(name, reply.status, start.elapsed());
    let mut response = reply.into_response(is_head, encoding);
    if let Some(method) = allowed {
        response.headers_mut().insert(ALLOW, HeaderValue::from_static(method));
    }
    response
}

/// Whether the call needs no token: probes, and the files of the studio's page, which hold no data.
fn is_open(found: &Match<'_>) -> bool {
    matches!(
        found.route.call,
        Call::Live | Call::Ready | Call::Ping | Call::Health | Call::StudioPage | Call::StudioAsset
    )
}

/// Reads the body if the call has one, and makes the call within its time.
async fn answer(
    reactor: &Arc<Reactor>,
    found: Match<'_>,
    head: &Request<()>,
    body: Incoming,
) -> ApiResult<Reply> {
    let headers = head.headers();
    // A proxy in front might see another end of the body than we do.
    if headers.contains_key(TRANSFER_ENCODING) && headers.contains_key(CONTENT_LENGTH) {
        return Err(ApiError::bad("Content-Length and Transfer-Encoding exclude each other"));
    }
    let state = &reactor.state;
    let limits = &state.config.limits;
    if found.route.method == Method::GET {
        return read_only(state, &found);
    }
    let mut memory = Reservation::new(&state.memory, limits.memory_bytes);
    let body = body::read(headers, body, limits, &mut memory).await?;
    let work = async {
        match &state.studio {
            Some(session) => studio::respond(reactor, session, found.route.call, head, body).await,
            None => modelled(reactor, &found, head, body).await,
        }
    };
    let done = timeout(limits.request_time, work).await;
    done.unwrap_or_else(|_| {
        Err(ApiError::new(
            504,
            format!(
                "the prediction took longer than {} s; send fewer rows",
                limits.request_time.as_secs()
            ),
        ))
    })
}

/// The calls without a body.
fn read_only(state: &State, found: &Match<'_>) -> ApiResult<Reply> {
    let model = || {
        let name = decoded(found.model.unwrap_or_default())?;
        state.models.find(&name, found.version)
    };
    let is_ready = !state.draining.load(Ordering::Relaxed);
    Ok(match found.route.call {
        Call::Live => Reply::json(&json!({"live": true})),
        Call::Ready if is_ready => Reply::json(&json!({"ready": true, "live": true})),
        Call::Ready => return Err(ApiError::new(503, "the server is shutting down")),
        Call::ServerMetadata => v2::server_metadata(),
        Call::Models => v2::list(&state.models.slots),
        Call::AllStatistics => v2::statistics(&state.models.slots.iter().collect::<Vec<_>>()),
        Call::ModelMetadata => v2::metadata(&model()?.1),
        Call::ModelReady => Reply::json(&json!({"name": model()?.1.name, "ready": true})),
        Call::ModelConfig => v2::config(&model()?.1),
        Call::ModelStatistics => v2::statistics(&[model()?.0]),
        Call::V1Models => v1::list(&state.models.slots),
        Call::V1Model => v1::ready(&model()?.1.name),
        Call::Ping | Call::Health => Reply::json(&json!({"status": "ok"})),
        Call::Version => Reply::new("text/plain; charset=utf-8", env!("CARGO_PKG_VERSION").into()),
        Call::Metrics => metrics(state),
        Call::OpenApi => pages::openapi(),
        Call::Docs => pages::docs(&state.models.slots),
        Call::DocsStyle => pages::style(),
        Call::StudioPage => studio::assets::page(),
        Call::StudioAsset => studio::assets::file(found.file.unwrap_or_default())?,
        Call::StudioModel => studio::model(state.studio.as_deref())?,
        _ => return Err(ApiError::internal()),
    })
}

fn metrics(state: &State) -> Reply {
    let served: Vec<_> = state.models.slots.iter().map(|slot| slot.served()).collect();
    let versions: Vec<[&str; 3]> = served
        .iter()
        .map(|s| [s.name.as_str(), s.version.as_str(), s.trained.estimator.id()])
        .collect();
    let text = state.metrics.text(&versions);
    Reply::new("text/plain; version=0.0.4; charset=utf-8", text.into_bytes())
}

/// The calls with a body.
async fn modelled(
    reactor: &Arc<Reactor>,
    found: &Match<'_>,
    head: &Request<()>,
    body: Bytes,
) -> ApiResult<Reply> {
    let models = &reactor.state.models;
    let call = found.route.call;
    if call == Call::RepositoryIndex {
        return Ok(v2::index(&models.slots));
    }
    let headers = head.headers();
    let query = match call {
        Call::Invocations | Call::Predict | Call::Explain => Query::parse(head.uri().query())?,
        _ => Query::default(),
    };
    let (slot, served) = match found.model {
        Some(name) => models.find(&decoded(name)?, found.version)?,
        None => models.chosen(query.model.as_deref())?,
    };
    let target = Target { served, metrics: Arc::clone(&slot.metrics) };
    match call {
        Call::Infer => v2::infer(reactor, target, headers, &body).await,
        Call::V1Predict => v1::predict(reactor, target, &body).await,
        Call::V1Explain => v1::explain(reactor, target, &body).await,
        Call::Invocations => mlflow::invocations(reactor, target, headers, body).await,
        Call::Predict => plain::predict(reactor, target, &query, headers, body).await,
        Call::Explain => plain::explain(reactor, target, &query, headers, body).await,
        _ => Err(ApiError::internal()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn call(path: &str) -> Option<(Call, Option<&str>, Option<&str>)> {
        matches(ROUTES, path).next().map(|found| (found.route.call, found.model, found.version))
    }

    #[test]
    fn paths_find_their_calls() {
        assert_eq!(call("/v2/models/a.b/infer"), Some((Call::Infer, Some("a.b"), None)));
        let versioned = Some((Call::Infer, Some("a"), Some("1f")));
        assert_eq!(call("/v2/models/a/versions/1f/infer"), versioned);
        assert_eq!(call("/v2/models/stats"), Some((Call::AllStatistics, None, None)));
        assert_eq!(call("/v1/models/a:predict"), Some((Call::V1Predict, Some("a"), None)));
        assert_eq!(call("/v2/"), Some((Call::ServerMetadata, None, None)));
        for path in [
            "",
            "/v2//",
            "/v2/models//infer",
            "/v1/models/:predict",
            "/v2/models/a/b/infer",
            "/docs/",
        ] {
            assert_eq!(call(path), None, "{path}");
        }
    }

    #[test]
    fn the_openapi_document_describes_every_route() {
        let document: serde_json::Value = serde_json::from_slice(&pages::openapi().body).unwrap();
        let paths = document["paths"].as_object().unwrap();
        let hidden = ["/", "/v2/", "/docs", "/docs/style.css"];
        let described: Vec<(String, String)> = paths
            .iter()
            .flat_map(|(path, methods)| {
                methods
                    .as_object()
                    .unwrap()
                    .keys()
                    .map(|method| (path.clone(), method.to_uppercase()))
            })
            .collect();

        for route in ROUTES.iter().filter(|route| !hidden.contains(&route.path)) {
            let wanted = (route.path.to_owned(), route.method.to_string());
            assert!(described.contains(&wanted), "{wanted:?} is not described");
        }
        for (path, method) in described {
            let exists = ROUTES.iter().any(|r| r.path == path && r.method == method.as_str());
            assert!(exists, "{method} {path} does not exist");
        }
        assert_eq!(document["info"]["version"], env!("CARGO_PKG_VERSION"));
    }
}
