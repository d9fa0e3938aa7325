//! One connection: HTTP/1.1 under time and size limits, each request answered by the router.

use crate::config::Limits;
use crate::error::ApiError;
use crate::router;
use crate::server::Reactor;
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::{Instant, Sleep, sleep};

/// The least read buffer that hyper accepts.
const MIN_BUFFER_BYTES: usize = 8 << 10;

/// What a page without scripts may load.
const STATIC_PAGE: &str = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; \
                           frame-ancestors 'none'";

/// Serves a connection until it closes, or, after a stop, until the request that runs is answered. The permit counts it
/// among the open connections.
pub(crate) async fn serve(
    stream: TcpStream,
    reactor: Arc<Reactor>,
    mut stop: watch::Receiver<bool>,
    permit: OwnedSemaphorePermit,
) {
    let limits = &reactor.state.config.limits;
    let io = TokioIo::new(StallGuard::new(stream, limits.write_time));
    let builder = http1_builder(limits);
    let service = service_fn(|request: Request<Incoming>| {
        let reactor = Arc::clone(&reactor);
        async move { Ok::<_, Infallible>(router::respond(request, reactor).await) }
    });
    let mut connection = pin!(builder.serve_connection(io, service));
    let mut stopping = pin!(stop.changed());
    let mut is_stopping = false;
    // The error of a connection is its client's: it sent something that is not HTTP, or went away.
    poll_fn(|cx| {
        if !is_stopping && stopping.as_mut().poll(cx).is_ready() {
            is_stopping = true;
            connection.as_mut().graceful_shutdown();
        }
        connection.as_mut().poll(cx)
    })
    .await
    .ok();
    drop(permit);
}

fn http1_builder(limits: &Limits) -> http1::Builder {
    let mut builder = http1::Builder::new();
    // Without a timer, hyper ignores the time for the head.
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_time)
        .max_headers(limits.headers)
        .max_buf_size(limits.header_bytes.max(MIN_BUFFER_BYTES));
    builder
}

/// What a call returns.
pub(crate) struct Reply {
    pub status: u16,
    pub content_type: &'static str,
    pub body: Vec<u8>,
    /// The length of the JSON before the binary tensors.
    pub json_length: Option<usize>,
    /// What a page may load.
    pub policy: &'static str,
}

impl Reply {
    pub fn json(value: &impl serde::Serialize) -> Reply {
        // Values of this crate have string keys only, so they are valid JSON.
        let body = serde_json::to_vec(value).unwrap_or_default();
        Reply::new("application/json", body)
    }

    pub fn new(content_type: &'static str, body: Vec<u8>) -> Reply {
        Reply { status: 200, content_type, body, json_length: None, policy: STATIC_PAGE }
    }

    pub fn error(error: &ApiError) -> Reply {
        Reply { status: error.status, ..Reply::json(&serde_json::json!({"error": error.message})) }
    }

    /// The HTTP response. A response to HEAD has the headers only.
    pub fn into_response(
        self,
        is_head: bool,
        encoding: Option<&'static str>,
    ) -> Response<Full<Bytes>> {
        let length = self.body.len();
        let body = if is_head { Bytes::new() } else { Bytes::from(self.body) };
        let mut response = Response::new(Full::new(body));
        *response.status_mut() =
            StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        let resource_policy = HeaderName::from_static("cross-origin-resource-policy");
        headers.insert(resource_policy, HeaderValue::from_static("same-origin"));
        if self.content_type.starts_with("text/html") {
            headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(self.policy));
            headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        }
        if is_head {
            headers.insert(header::CONTENT_LENGTH, length.into());
        }
        if let Some(encoding) = encoding {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
        }
        if let Some(length) = self.json_length {
            let name = HeaderName::from_static("inference-header-content-length");
            headers.insert(name, length.into());
        }
        match self.status {
            401 => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            429 | 503 => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            _ => {}
        }
        // A body that was refused is not read to its end, so the connection cannot be used again.
        if matches!(self.status, 408 | 411 | 413) {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}

/// A stream that fails if its client stops reading: hyper has no time limit for writing.
struct StallGuard {
    stream: TcpStream,
    limit: Duration,
    /// Runs while a write waits for the client.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl StallGuard {
    fn new(stream: TcpStream, limit: Duration) -> StallGuard {
        StallGuard { stream, limit, stalled: None }
    }

    fn guard<T>(&mut self, cx: &mut Context<'_>, poll: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if poll.is_ready() {
            self.stalled = None;
            return poll;
        }
        let limit = self.limit;
        let timer = self.stalled.get_or_insert_with(|| Box::pin(sleep(limit)));
        match timer.as_mut().poll(cx) {
            Poll::Ready(()) => {
                timer.as_mut().reset(Instant::now() + limit);
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for StallGuard {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for StallGuard {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.guard(cx, poll)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write_vectored(cx, bytes);
        self.guard(cx, poll)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
