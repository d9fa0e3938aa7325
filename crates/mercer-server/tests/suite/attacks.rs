//! Bad requests: refused within the limits, without a status of 500 or more, and the server goes on.

use crate::client::{Running, read_response, request, serve, serve_with};
use crate::models::iris;
use std::io::{Read, Write};
use std::time::{Duration, Instant};

const INFER: &str = "/v2/models/iris/infer";

fn check_alive(server: &Running) {
    assert_eq!(server.get("/v2/health/live").status, 200);
    assert_eq!(server.metric("mercer_panics_total"), 0.0);
}

#[test]
fn deeply_nested_json_is_refused() {
    let server = serve(&[("iris", &iris())]);
    let depth = 100_000;
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let nested = open.repeat(depth) + "1" + &close.repeat(depth);
        for body in [
            nested.clone(),
            format!("{{\"inputs\": {nested}}}"),
            format!(
                "{{\"inputs\": [{{\"name\": \"x\", \"shape\": [1], \"datatype\": \"FP64\", \"data\": {nested}}}]}}"
            ),
            format!("{{\"instances\": {nested}}}"),
            format!("{{\"parameters\": {{\"costs\": {nested}}}}}"),
            format!("{{\"unknown\": {nested}, \"instances\": []}}"),
        ] {
            for path in [INFER, "/v1/models/iris:predict", "/invocations"] {
                let response = server.post(path, "application/json", body.as_bytes());
                assert_eq!(response.status, 400, "{}", response.text());
                assert!(response.error().len() < 1000);
            }
        }
    }
    check_alive(&server);
}

#[test]
fn sizes_beyond_the_limit_are_refused_before_they_arrive() {
    let server = serve_with(&[("iris", &iris())], |config| config.limits.body_bytes = 1 << 20);
    for length in ["1099511627776", "1048577", "9223372036854775807"] {
        let head = format!(
            "POST {INFER} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n{{"
        );
        let start = Instant::now();
        let response = server.raw(head.as_bytes());
        assert_eq!(response.status, 413, "{length}: {}", response.text());
        assert!(start.elapsed() < Duration::from_secs(5));
    }
    for length in ["18446744073709551616", "-1", "1e3", "0x10", "+5", "5, 5, 6"] {
        let head = format!(
            "POST {INFER} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n{{"
        );
        assert_eq!(server.raw(head.as_bytes()).status, 400, "{length}");
    }
    let head = format!(
        "POST {INFER} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 18446744073709551615\r\n\r\n"
    );
    assert_eq!(server.raw(head.as_bytes()).status, 431);
    check_alive(&server);
}

#[test]
fn endless_chunks_end_at_the_limit() {
    let server = serve_with(&[("iris", &iris())], |config| {
        config.limits.body_bytes = 1 << 20;
        config.limits.request_time = Duration::from_secs(2);
    });
    let mut stream = server.connect();
    let head =
        format!("POST {INFER} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let chunk = [b"10000\r\n", vec![b' '; 0x10000].as_slice(), b"\r\n"].concat();
    let mut sent = 0;
    while sent < 64 << 20 && stream.write_all(&chunk).is_ok() {
        sent += chunk.len();
    }

    assert!(sent < 64 << 20, "the server read {sent} bytes");
    if let Ok(response) = read_response(&mut stream) {
        assert_eq!(response.status, 413);
    }
    let sizes = ["ffffffffffffffff\r\nx", "fffffffffffffffff\r\nx", "-1\r\nx", "g\r\nx"];
    for size in sizes {
        let response = server.raw(format!("{head}{size}\r\n0\r\n\r\n").as_bytes());
        assert!((400..500).contains(&response.status), "{size}: {}", response.status);
    }
    check_alive(&server);
}

#[test]
fn ambiguous_framing_is_refused() {
    let server = serve(&[("iris", &iris())]);
    let smuggled = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let start = format!("POST {INFER} HTTP/1.1\r\nHost: localhost\r\n");
    for framing in [
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        "Content-Length: 5\r\nContent-Length: 6\r\n\r\n01234",
        "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n",
        " Content-Length: 0\r\n\r\n",
        "Content Length: 0\r\n\r\n",
        "X: a\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Foo\r\n\r\n",
    ] {
        let mut stream = server.connect();
        stream.write_all(format!("{start}{framing}{smuggled}").as_bytes()).unwrap();
        let response = read_response(&mut stream).unwrap();
        assert_eq!(response.status, 400, "{framing:?}");
        // What follows is never answered as a second request.
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).ok();
        assert!(!String::from_utf8_lossy(&rest).contains("mercer_requests_total"), "{framing:?}");
    }
    check_alive(&server);
}

#[test]
fn paths_lead_nowhere_else() {
    let server = serve(&[("iris", &iris())]);
    for path in [
        "/../../etc/passwd",
        "/v2/models/../../../etc/passwd",
        "/v2/models/..%2f..%2f..%2fetc%2fpasswd",
        "/v2/models/%2e%2e/infer",
        "/v2/models/iris%00",
        "/v2/models/iris/../../metrics",
        "/docs/../../Cargo.toml",
        "/v2/models/%c3%28",
        "/v2/models/%",
        "/v2/models/file:%2f%2f%2fetc%2fpasswd",
        "//etc/passwd",
        "/static/..%5c..%5cboot.ini",
    ] {
        let response = server.get(path);
        assert!([400, 404, 405].contains(&response.status), "{path}: {}", response.status);
        assert!(!response.text().contains("root:"), "{path}");
    }
    check_alive(&server);
}

#[test]
fn other_hosts_and_origins_are_refused() {
    let server =
        serve_with(&[("iris", &iris())], |config| config.hosts = vec!["models.example".into()]);
    let status =
        |head: &str| server.raw(format!("GET /v2 HTTP/1.1\r\n{head}\r\n\r\n").as_bytes()).status;

    for host in ["localhost", "127.0.0.1:8080", "[::1]", "models.example", "MODELS.EXAMPLE:80"] {
        assert_eq!(status(&format!("Host: {host}")), 200, "{host}");
    }
    // DNS rebinding: the name of another site that resolves to this machine.
    for host in [
        "evil.example",
        "evil.example:8080",
        "localhost.evil.example",
        "127.0.0.1.nip.io",
        "xlocalhost",
    ] {
        assert_eq!(status(&format!("Host: {host}")), 403, "{host}");
    }
    for head in
        ["X: 1", "Host: localhost\r\nHost: evil.example", "Host: evil.example\r\nHost: localhost"]
    {
        assert_eq!(status(head), 400, "{head}");
    }
    let absolute = server.raw(b"GET http://evil.example/v2 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert!([400, 403].contains(&absolute.status));
    for (origin, expected) in [
        ("http://localhost:8080", 200),
        ("https://evil.example", 403),
        ("null", 403),
        ("file://", 403),
    ] {
        assert_eq!(status(&format!("Host: localhost\r\nOrigin: {origin}")), expected, "{origin}");
    }
    let form = [("Origin", "https://evil.example"), ("Content-Type", "text/plain")];
    let posted = server.post_with(INFER, &form, b"{}");
    assert_eq!(posted.status, 403);
    check_alive(&server);
}

#[test]
fn slow_clients_are_disconnected_and_others_served() {
    let server = serve_with(&[("iris", &iris())], |config| {
        config.limits.header_time = Duration::from_millis(400);
        config.limits.request_time = Duration::from_millis(600);
        config.limits.connections = 60;
    });
    let mut slow: Vec<_> = (0..50)
        .map(|_| {
            let mut stream = server.connect();
            stream.write_all(b"GET /v2 HTTP/1.1\r\nHost: loc").unwrap();
            stream
        })
        .collect();
    check_alive(&server);
    std::thread::sleep(Duration::from_millis(300));
    for stream in &mut slow {
        stream.write_all(b"a").ok();
    }
    // One byte now and then does not extend the time for the head.
    std::thread::sleep(Duration::from_millis(800));
    for stream in &mut slow {
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).ok();
        assert!(!String::from_utf8_lossy(&rest).contains("200 OK"));
    }

    let mut body = server.connect();
    body.write_all(&request(INFER, &[], b"{\"inputs\": []}")[..80]).unwrap();
    let response = read_response(&mut body).unwrap();
    assert_eq!(response.status, 408, "{}", response.text());
    check_alive(&server);
}

#[test]
fn more_connections_than_allowed_wait_for_their_turn() {
    let server = serve_with(&[("iris", &iris())], |config| {
        config.limits.connections = 4;
        config.limits.header_time = Duration::from_millis(500);
    });
    let idle: Vec<_> = (0..4).map(|_| server.connect()).collect();

    let start = Instant::now();
    assert_eq!(server.get("/v2/health/live").status, 200);

    assert!(start.elapsed() < Duration::from_secs(10));
    drop(idle);
    check_alive(&server);
}

#[test]
fn long_heads_and_garbage_are_refused() {
    let server = serve(&[("iris", &iris())]);
    let long = format!("GET /v2 HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "a".repeat(100_000));
    let many = format!("GET /v2 HTTP/1.1\r\nHost: localhost\r\n{}\r\n", "X: 1\r\n".repeat(2_000));
    let path = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "a".repeat(100_000));
    for head in [long, many, path] {
        let response = server.raw(head.as_bytes());
        assert!([400, 414, 431].contains(&response.status), "{}", response.status);
    }
    for garbage in [
        &b"\x16\x03\x01\x02\x00\x01\x00"[..],
        b"\0\0\0\0\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\n",
    ] {
        let mut stream = server.connect();
        stream.write_all(garbage).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).ok();
        assert!(!rest.starts_with(b"HTTP/1.1 5") && !rest.starts_with(b"HTTP/1.1 2"));
    }
    check_alive(&server);
}

#[test]
fn a_full_queue_and_full_memory_answer_429() {
    let server = serve_with(&[("iris", &iris())], |config| {
        config.limits.memory_bytes = 1;
        config.limits.body_bytes = 4 << 20;
    });
    // A request that holds its memory while its body is not complete.
    let mut holding = server.connect();
    let bytes = request("/v1/models/iris:predict", &[], &vec![b' '; 100_000]);
    holding.write_all(&bytes[..60_000]).unwrap();
    std::thread::sleep(Duration::from_millis(200));

    let body = b"{\"instances\": [[5.1, 3.5, 1.4, 0.2]]}";
    let response = server.post("/v1/models/iris:predict", "application/json", body);
    assert_eq!(response.status, 429, "{}", response.text());
    assert_eq!(response.header("retry-after"), Some("1"));
    drop(holding);
    let start = Instant::now();
    while server.post("/v1/models/iris:predict", "application/json", body).status != 200 {
        assert!(start.elapsed() < Duration::from_secs(10));
    }
    check_alive(&server);
}

#[test]
fn random_bytes_never_give_a_server_error() {
    let server = serve(&[("iris", &iris())]);
    let good = serde_json::json!({"id": "1", "parameters": {"reject": 0.1}, "inputs": [
        {"name": "x", "datatype": "FP64", "shape": [1, 4], "data": [5.1, 3.5, 1.4, 0.2]},
    ], "outputs": [{"name": "predict"}]})
    .to_string()
    .into_bytes();
    let mut state = 1_u64;
    let mut random = move |n: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let (mut n_refused, mut stream) = (0, server.connect());
    for _ in 0..3_000 {
        let mut body = good.clone();
        for _ in 0..1 + random(4) {
            let at = random(body.len());
            match random(4) {
                0 => body[at] = random(256) as u8,
                1 => drop(body.remove(at)),
                2 => body.insert(at, b"[]{}\",:0-eE.nt\\"[random(15)]),
                _ => body.truncate(at.max(1)),
            }
        }
        stream.write_all(&request(INFER, &[], &body)).unwrap();
        let response = read_response(&mut stream).unwrap();
        assert!(response.status < 500, "{}: {}", String::from_utf8_lossy(&body), response.text());
        n_refused += usize::from(response.status != 200);
    }
    assert!(n_refused > 1_000, "only {n_refused} bodies were refused");
    check_alive(&server);
}
