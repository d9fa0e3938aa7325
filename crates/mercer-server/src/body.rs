//! Request bodies: read within the limits on bytes, time and memory, and decompressed.

use crate::config::Limits;
use crate::error::{ApiError, ApiResult};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use hyper::header::{CONTENT_ENCODING, HeaderMap};
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::time::timeout;

/// Bytes that a byte of a body may become while it is parsed, in columns of numbers and strings.
const BYTES_PER_BODY_BYTE: usize = 8;
/// Responses of fewer bytes are not compressed.
const MIN_COMPRESSED_BYTES: usize = 16 << 10;

/// A part of the memory for requests, given back when it is dropped.
pub(crate) struct Reservation {
    used: Arc<AtomicUsize>,
    bytes: usize,
    limit: usize,
}

impl Reservation {
    pub fn new(used: &Arc<AtomicUsize>, limit: usize) -> Reservation {
        Reservation { used: Arc::clone(used), bytes: 0, limit }
    }

    /// Enlarges the part to that of a body of so many bytes.
    fn grow(&mut self, body_bytes: usize) -> ApiResult<()> {
        let wanted = body_bytes.saturating_mul(BYTES_PER_BODY_BYTE);
        let more = wanted.saturating_sub(self.bytes);
        let before = self.used.fetch_add(more, Ordering::Relaxed);
        self.bytes += more;
        // A request that is alone may always go on: its size has a limit of its own.
        let others = before.saturating_sub(self.bytes - more);
        if others > 0 && before.saturating_add(more) > self.limit {
            return Err(ApiError::busy());
        }
        Ok(())
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Reads a body and undoes its compression.
pub(crate) async fn read(
    headers: &HeaderMap,
    body: Incoming,
    limits: &Limits,
    memory: &mut Reservation,
) -> ApiResult<Bytes> {
    let encoding = headers.get(CONTENT_ENCODING).map(|value| value.as_bytes().to_ascii_lowercase());
    let encoding = match encoding.as_deref() {
        None | Some(b"identity" | b"") => None,
        Some(b"gzip") => Some(Encoding::Gzip),
        Some(b"deflate") => Some(Encoding::Deflate),
        Some(_) => {
            return Err(ApiError::new(
                415,
                "the Content-Encoding is not supported; use gzip, deflate or none",
            ));
        }
    };
    let received = timeout(limits.request_time, receive(body, limits, memory));
    let bytes = received.await.map_err(|_| {
        ApiError::new(408, format!("the body took longer than {} s", limits.request_time.as_secs()))
    })??;
    match encoding {
        None => Ok(bytes),
        Some(encoding) => inflate(&bytes, encoding, limits, memory),
    }
}

async fn receive(
    mut body: Incoming,
    limits: &Limits,
    memory: &mut Reservation,
) -> ApiResult<Bytes> {
    let announced = body.size_hint().lower();
    if announced > limits.body_bytes as u64 {
        return Err(too_large(limits));
    }
    let mut parts = BytesMut::new();
    let mut first = Bytes::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| ApiError::bad("the body is cut off or badly framed"))?;
        let Ok(data) = frame.into_data() else { continue };
        let length = parts.len() + first.len() + data.len();
        if length > limits.body_bytes {
            return Err(too_large(limits));
        }
        memory.grow(length)?;
        // Most bodies come in one frame, which needs no copy.
        if first.is_empty() && parts.is_empty() {
            first = data;
            continue;
        }
        if parts.is_empty() {
            parts.extend_from_slice(&std::mem::take(&mut first));
        }
        parts.extend_from_slice(&data);
    }
    Ok(if parts.is_empty() { first } else { parts.freeze() })
}

fn too_large(limits: &Limits) -> ApiError {
    ApiError::large(format!("the body is larger than the limit of {} bytes", limits.body_bytes))
}

#[derive(Clone, Copy)]
enum Encoding {
    Gzip,
    Deflate,
}

fn inflate(
    bytes: &[u8],
    encoding: Encoding,
    limits: &Limits,
    memory: &mut Reservation,
) -> ApiResult<Bytes> {
    let mut reader: Box<dyn Read + '_> = match encoding {
        Encoding::Gzip => Box::new(flate2::read::MultiGzDecoder::new(bytes)),
        Encoding::Deflate => Box::new(flate2::read::ZlibDecoder::new(bytes)),
    };
    let mut plain = Vec::new();
    let mut block = vec![0; 1 << 16];
    loop {
        let n = reader
            .read(&mut block)
            .map_err(|_| ApiError::bad("the body is not valid in its Content-Encoding"))?;
        if n == 0 {
            return Ok(plain.into());
        }
        if plain.len() + n > limits.body_bytes {
            return Err(ApiError::large(format!(
                "the decompressed body is larger than the limit of {} bytes",
                limits.body_bytes
            )));
        }
        memory.grow(plain.len() + n)?;
        plain.extend_from_slice(&block[..n]);
    }
}

/// Compresses a large body if the client accepts it, and returns the name of the encoding.
pub(crate) fn compress(accepted: Option<&str>, body: &mut Vec<u8>) -> Option<&'static str> {
    if body.len() < MIN_COMPRESSED_BYTES {
        return None;
    }
    let accepted = accepted?;
    let accepts = |name: &str| {
        accepted.split(',').any(|part| {
            let mut words = part.split(';').map(str::trim);
            words.next() == Some(name) && words.all(|word| word != "q=0")
        })
    };
    let fast = flate2::Compression::fast();
    let mut packed = Vec::new();
    let (name, read) = if accepts("gzip") {
        ("gzip", flate2::read::GzEncoder::new(body.as_slice(), fast).read_to_end(&mut packed))
    } else if accepts("deflate") {
        ("deflate", flate2::read::ZlibEncoder::new(body.as_slice(), fast).read_to_end(&mut packed))
    } else {
        return None;
    };
    read.ok()?;
    *body = packed;
    Some(name)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_given_back_and_refused_beyond_the_limit() {
        let used = Arc::new(AtomicUsize::new(0));
        let mut first = Reservation::new(&used, 100 * BYTES_PER_BODY_BYTE);
        let mut second = Reservation::new(&used, 100 * BYTES_PER_BODY_BYTE);

        first.grow(60).unwrap();
        first.grow(60).unwrap();
        assert_eq!(second.grow(60).unwrap_err().status, 429);
        drop(second);
        assert_eq!(used.load(Ordering::Relaxed), 60 * BYTES_PER_BODY_BYTE);
        drop(first);

        assert_eq!(used.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_bomb_is_refused_at_the_limit() {
        let limits = Limits { body_bytes: 1 << 20, ..Limits::default() };
        let mut packed = Vec::new();
        let zeros = vec![0; 64 << 20];
        flate2::read::GzEncoder::new(zeros.as_slice(), flate2::Compression::best())
            .read_to_end(&mut packed)
            .unwrap();
        let mut memory = Reservation::new(&Arc::default(), usize::MAX);

        let refused = inflate(&packed, Encoding::Gzip, &limits, &mut memory).unwrap_err();

        assert!(packed.len() < 100_000);
        assert_eq!(refused.status, 413);
        assert!(memory.bytes <= BYTES_PER_BODY_BYTE << 20);
    }
}
