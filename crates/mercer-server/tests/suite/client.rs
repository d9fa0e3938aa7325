//! A small HTTP client that can also misbehave.

use mercer::train::Trained;
use mercer_server::{Config, Server, StudioOptions, Token};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;
use tempfile::TempDir;

/// A server that runs until it is dropped.
pub struct Running {
    pub address: SocketAddr,
    pub folder: TempDir,
    pub log: Arc<Mutex<Vec<String>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// A response.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// Starts a server for some models by name.
pub fn serve(models: &[(&str, &Trained)]) -> Running {
    serve_with(models, |_| {})
}

/// The same with other settings.
pub fn serve_with(models: &[(&str, &Trained)], set: impl FnOnce(&mut Config)) -> Running {
    let folder = TempDir::new().unwrap();
    let paths: Vec<PathBuf> = models
        .iter()
        .map(|(name, model)| {
            let path = folder.path().join(format!("{name}.mercer"));
            model.save(&path).unwrap();
            path
        })
        .collect();
    let mut config = Config::new("127.0.0.1:0".parse().unwrap());
    config.threads = 2;
    config.limits.reload_time = Duration::from_millis(20);
    let log = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&log);
    config.log = Arc::new(move |text| sink.lock().unwrap().push(text.to_owned()));
    set(&mut config);
    let server = Server::bind(config, &paths).unwrap();
    let address = server.address();
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let thread = std::thread::spawn(move || server.run(&flag).unwrap());
    Running { address, folder, log, stop, thread: Some(thread) }
}

/// The token of the studios of the tests.
pub const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// Starts a studio.
pub fn studio(options: StudioOptions) -> Running {
    let mut config = Config::new("127.0.0.1:0".parse().unwrap());
    config.threads = 2;
    config.token = Some(Token::new(TOKEN).unwrap());
    let server = Server::studio(config, options).unwrap();
    let address = server.address();
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let thread = std::thread::spawn(move || server.run(&flag).unwrap());
    let (folder, log) = (TempDir::new().unwrap(), Arc::default());
    Running { address, folder, log, stop, thread: Some(thread) }
}

impl Running {
    /// Makes a call of the studio.
    pub fn try_call(&self, name: &str, mut message: Value) -> Response {
        message["call"] = name.into();
        let token = format!("Bearer {TOKEN}");
        let headers = [("Content-Type", "application/json"), ("Authorization", token.as_str())];
        self.post_with("/studio/call", &headers, message.to_string().as_bytes())
    }

    /// Makes a call that succeeds.
    pub fn call(&self, name: &str, message: Value) -> Value {
        let response = self.try_call(name, message);
        assert_eq!(response.status, 200, "{name}: {}", response.text());
        response.json()
    }

    /// Asks the server to stop, and returns when it has.
    pub fn stop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }

    /// Asks the server to stop, without waiting.
    pub fn begin_stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.set_nodelay(true).unwrap();
        stream
    }

    /// Sends raw bytes on a new connection and reads one response.
    pub fn raw(&self, bytes: &[u8]) -> Response {
        let mut stream = self.connect();
        // A server that refuses early may close before everything is written.
        stream.write_all(bytes).ok();
        read_response(&mut stream).unwrap()
    }

    pub fn get(&self, path: &str) -> Response {
        self.raw(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes())
    }

    pub fn post(&self, path: &str, content_type: &str, body: &[u8]) -> Response {
        self.post_with(path, &[("Content-Type", content_type)], body)
    }

    pub fn post_with(&self, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Response {
        self.raw(&request(path, headers, body))
    }

    /// Posts JSON and returns the JSON of a success.
    pub fn json(&self, path: &str, body: &Value) -> Value {
        let response = self.post(path, "application/json", body.to_string().as_bytes());
        assert_eq!(response.status, 200, "{}", response.text());
        response.json()
    }

    /// Posts JSON and returns the message of a refusal.
    pub fn refusal(&self, path: &str, body: &str, status: u16) -> String {
        let response = self.post(path, "application/json", body.as_bytes());
        assert_eq!(response.status, status, "{}", response.text());
        response.error()
    }

    /// The value of a metric.
    pub fn metric(&self, name: &str) -> f64 {
        let text = self.get("/metrics").text();
        let line = text.lines().find(|line| line.starts_with(name));
        line.map_or(0.0, |line| line.rsplit(' ').next().unwrap().parse().unwrap())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The bytes of a POST.
pub fn request(path: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut head =
        format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n", body.len());
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    let mut bytes = (head + "\r\n").into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

/// Reads one response with a Content-Length.
pub fn read_response(stream: &mut TcpStream) -> std::io::Result<Response> {
    let mut bytes = Vec::new();
    let mut one = [0];
    while !bytes.ends_with(b"\r\n\r\n") {
        if stream.read(&mut one)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        bytes.push(one[0]);
    }
    let head = String::from_utf8(bytes).unwrap();
    let mut lines = head.split("\r\n").filter(|line| !line.is_empty());
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let headers: Vec<(String, String)> = lines
        .map(|line| line.split_once(": ").unwrap())
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length").unwrap();
    let mut body = vec![0; length.1.parse().unwrap()];
    stream.read_exact(&mut body)?;
    Ok(Response { status, headers, body })
}

impl Response {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The message of a refusal, which is all that its body holds.
    pub fn error(&self) -> String {
        let body = self.json();
        assert_eq!(body.as_object().unwrap().len(), 1, "{body}");
        body["error"].as_str().unwrap().to_owned()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}
