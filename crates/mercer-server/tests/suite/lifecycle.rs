//! Start, reload and shutdown.

use crate::client::{read_response, request, serve, serve_with};
use crate::models::{iris, trained};
use mercer_server::{Config, Server, StartError, Token};
use serde_json::json;
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_new_file_replaces_the_version_and_a_bad_one_does_not() {
    let server = serve(&[("iris", &iris())]);
    let version = || server.get("/v2/models/iris").json()["versions"][0].clone();
    let first = version();
    let path = server.folder.path().join("iris.mercer");
    let row = json!({"instances": [[5.1, 3.5, 1.4, 0.2]]});

    std::fs::write(&path, b"not a model").unwrap();
    wait_until("the bad file is noticed", || {
        server.metric("mercer_reload_failures_total{model=\"iris\"}") == 1.0
    });
    assert_eq!(version(), first);
    assert_eq!(server.json("/v1/models/iris:predict", &row)["predictions"], json!(["setosa"]));
    assert!(server.log.lock().unwrap()[0].contains("stays in place"));

    std::fs::remove_file(&path).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(version(), first);

    trained("lda", "iris.csv", Some("species"), &[]).save(&path).unwrap();
    wait_until("the new file is served", || version() != first);
    assert_eq!(server.get("/v2/models/iris").json()["parameters"]["estimator"], "lda");
    assert_eq!(server.metric("mercer_reloads_total{model=\"iris\"}"), 1.0);
    assert_eq!(server.json("/v1/models/iris:predict", &row)["predictions"], json!(["setosa"]));
}

#[test]
fn shutdown_finishes_what_runs() {
    let mut server = serve(&[("iris", &iris())]);
    let body = json!({"instances": vec![[5.1, 3.5, 1.4, 0.2]; 2000]}).to_string();
    let bytes = request("/v1/models/iris:predict", &[], body.as_bytes());
    let (address, done) = (server.address, AtomicUsize::new(0));
    let stopped = AtomicBool::new(false);

    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                // A client sends one request after the other until the server closes the connection between two.
                let mut stream = std::net::TcpStream::connect(address).unwrap();
                loop {
                    if stream.write_all(&bytes).is_err() {
                        break;
                    }
                    match read_response(&mut stream) {
                        Ok(response) => {
                            assert_eq!(response.status, 200);
                            done.fetch_add(1, Ordering::Relaxed);
                        }
                        // Only a server that stops may close a connection.
                        Err(_) => {
                            assert!(stopped.load(Ordering::Relaxed));
                            break;
                        }
                    }
                }
            });
        }
        wait_until("requests are answered", || done.load(Ordering::Relaxed) > 20);
        stopped.store(true, Ordering::Relaxed);
        server.begin_stop();
    });
    let start = Instant::now();
    server.stop();

    assert!(start.elapsed() < Duration::from_secs(10));
    assert!(std::net::TcpStream::connect(address).is_err());
}

#[test]
fn a_request_whose_body_arrives_during_shutdown_is_answered() {
    let mut server = serve(&[("iris", &iris())]);
    let bytes = request("/v1/models/iris:predict", &[], b"{\"instances\": [[5.1, 3.5, 1.4, 0.2]]}");
    let mut stream = server.connect();
    stream.write_all(&bytes[..bytes.len() - 5]).unwrap();
    wait_until("the request is in flight", || server.metric("mercer_in_flight_requests") >= 2.0);

    server.begin_stop();
    std::thread::sleep(Duration::from_millis(200));
    stream.write_all(&bytes[bytes.len() - 5..]).unwrap();
    let response = read_response(&mut stream).unwrap();
    server.stop();

    assert_eq!(response.status, 200, "{}", response.text());
}

#[test]
fn unsafe_settings_and_bad_models_do_not_start() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("iris.mercer");
    iris().save(&path).unwrap();
    let bind = |listen: &str, paths: &[std::path::PathBuf]| {
        Server::bind(Config::new(listen.parse().unwrap()), paths).err().map(|e| e.to_string())
    };

    let refused = bind("0.0.0.0:0", std::slice::from_ref(&path)).unwrap();
    assert!(refused.contains("--token-file"), "{refused}");
    assert!(
        bind("127.0.0.1:0", &[path.clone(), path.clone()]).unwrap().contains("both named `iris`")
    );
    assert!(bind("127.0.0.1:0", &[]).is_some());
    let bad = folder.path().join("bad.mercer");
    std::fs::write(&bad, b"no").unwrap();
    assert!(bind("127.0.0.1:0", &[bad]).unwrap().contains("not a valid model file"));
    let spaced = folder.path().join("two words.mercer");
    std::fs::copy(&path, &spaced).unwrap();
    assert!(bind("127.0.0.1:0", &[spaced]).unwrap().contains("rename the file"));
    assert!(matches!(Token::new("short"), Err(StartError::Settings(_))));
}

#[test]
fn a_token_guards_everything_but_the_probes() {
    let secret = "0123456789abcdef0123456789abcdef";
    let server = serve_with(&[("iris", &iris())], |config| {
        config.listen = "0.0.0.0:0".parse().unwrap();
        config.token = Some(Token::new(secret).unwrap());
    });
    let get = |path: &str, token: &str| {
        let address = format!("127.0.0.1:{}", server.address.port());
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        let head = format!(
            "GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        read_response(&mut stream).unwrap()
    };

    for path in ["/v2/health/live", "/v2/health/ready", "/ping", "/health"] {
        assert_eq!(get(path, "").status, 200, "{path}");
    }
    for path in ["/v2", "/v2/models/iris", "/metrics", "/docs", "/openapi.json", "/nothing"] {
        let refused = get(path, "0123456789abcdef0123456789abcdee");
        assert_eq!(refused.status, 401, "{path}");
        assert_eq!(refused.header("www-authenticate"), Some("Bearer"));
        assert_ne!(get(path, secret).status, 401, "{path}");
    }
}
