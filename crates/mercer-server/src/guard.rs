//! Which requests are admitted: host, origin and token.
//!
//! A web page can make a browser send requests to an address of the user's machine, and by DNS rebinding also read the
//! responses under a name that the page's owner controls. So the `Host` must be an IP address, `localhost` or a
//! configured name, and an `Origin`, which browsers send with every request of another page, must be such a host too.

use crate::config::Config;
use crate::error::{ApiError, ApiResult};
use hyper::header::{AUTHORIZATION, HOST, HeaderMap, HeaderName, ORIGIN};
use hyper::{Request, Version};
use std::net::{Ipv4Addr, Ipv6Addr};

/// Admits or refuses a request. `open` calls, which probes make, need no token.
pub(crate) fn check<B>(request: &Request<B>, config: &Config, open: bool) -> ApiResult<()> {
    let headers = request.headers();
    match single(headers, &HOST)? {
        Some(host) if is_allowed_host(host, config) => {}
        Some(_) => {
            return Err(ApiError::new(
                403,
                "the Host is none of this server's; use its IP address, `localhost`, or start the server with \
                 `--host NAME`",
            ));
        }
        None if request.version() == Version::HTTP_10 => {}
        None => return Err(ApiError::bad("the request has no Host header")),
    }
    // A target in absolute form would name a second host.
    if request.uri().authority().is_some() {
        return Err(ApiError::bad("the request target must be a path"));
    }
    if let Some(origin) = single(headers, &ORIGIN)?
        && !is_allowed_origin(origin, config)
    {
        return Err(ApiError::new(403, "requests of other web pages are refused"));
    }
    if let Some(token) = &config.token
        && !open
        && !token.admits(headers.get(AUTHORIZATION).map(|value| value.as_bytes()))
    {
        return Err(ApiError::new(
            401,
            "the request needs the header `Authorization: Bearer TOKEN`",
        ));
    }
    Ok(())
}

/// The value of a header that may occur once.
fn single<'h>(headers: &'h HeaderMap, name: &HeaderName) -> ApiResult<Option<&'h str>> {
    let mut values = headers.get_all(name).iter();
    let value = values.next().map(|value| value.to_str());
    match (value, values.next()) {
        (None, _) => Ok(None),
        (Some(Ok(value)), None) => Ok(Some(value)),
        _ => Err(ApiError::bad(format!("the header `{name}` is repeated or not readable"))),
    }
}

fn is_allowed_host(host: &str, config: &Config) -> bool {
    let name = without_port(host);
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    name.parse::<Ipv4Addr>().is_ok()
        || bare.is_some_and(|name| name.parse::<Ipv6Addr>().is_ok())
        || name.eq_ignore_ascii_case("localhost")
        || config.hosts.iter().any(|allowed| name.eq_ignore_ascii_case(allowed))
}

fn is_allowed_origin(origin: &str, config: &Config) -> bool {
    let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    host.is_some_and(|host| is_allowed_host(host, config))
}

/// A host without its port; the colons of an IPv6 address stand in brackets.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) && !name.is_empty() => name,
        _ => host,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn names_that_resolve_anywhere_are_refused() {
        let mut config = Config::new("127.0.0.1:0".parse().unwrap());
        config.hosts = vec!["models.example".into()];
        let allowed = |host: &str| is_allowed_host(host, &config);

        for host in
            ["127.0.0.1", "127.0.0.1:8080", "localhost:1", "[::1]:80", "[::1]", "MODELS.example:8"]
        {
            assert!(allowed(host), "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:8080",
            "127.0.0.1.evil.example",
            "localhost.evil",
            "",
            ":80",
            "::1",
            "127.0.0.1@evil.example",
            "[evil]",
        ] {
            assert!(!allowed(host), "{host}");
        }
        assert!(is_allowed_origin("http://localhost:3000", &config));
        for origin in ["null", "http://evil.example", "file://", "http://localhost.evil.example"] {
            assert!(!is_allowed_origin(origin, &config), "{origin}");
        }
    }
}
