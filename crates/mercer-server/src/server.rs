//! The server: an acceptor, one reactor per core, and a pool for long computations.
//!
//! A reactor is a thread with its own event loop. It is also the only thread of a rayon pool of its own, so that the
//! parallel loops of a small prediction run where they are called, without waking another thread.

use crate::batch::Queue;
use crate::config::Config;
use crate::connection;
use crate::error::StartError;
use crate::metrics::Metrics;
use crate::models::Models;
use crate::router;
use crate::studio::{self, StudioOptions};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};

/// How often the acceptor checks whether to stop.
const STOP_CHECK: Duration = Duration::from_millis(50);
/// File descriptors for other things than connections.
#[cfg(unix)]
const OTHER_FILES: u64 = 64;

/// Time for a call of the studio: reading a large table takes longer than a prediction.
const STUDIO_CALL_TIME: Duration = Duration::from_secs(600);

/// What all threads share.
pub(crate) struct State {
    pub config: Config,
    pub models: Models,
    /// The session of `mercer studio`; such a server has no models.
    pub studio: Option<Arc<studio::Session>>,
    pub metrics: Metrics,
    /// Bytes taken by request bodies.
    pub memory: Arc<AtomicUsize>,
    /// Whether the server finishes what runs and admits nothing new.
    pub draining: AtomicBool,
    /// The pool for long computations.
    pub compute: rayon::ThreadPool,
}

/// A thread that serves connections.
pub(crate) struct Reactor {
    pub state: Arc<State>,
    pub queue: Queue,
}

/// A connection on its way to a reactor.
type Accepted = (std::net::TcpStream, OwnedSemaphorePermit);

/// A server that listens and is ready to run.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    state: Arc<State>,
    n_reactors: usize,
}

impl Server {
    /// Loads the models and binds the address.
    ///
    /// # Errors
    /// If a model is not valid, the address is not free, or it is not loopback and there is no token.
    pub fn bind(config: Config, models: &[PathBuf]) -> Result<Server, StartError> {
        let mut metrics = Metrics::new(&router::call_names());
        check_token(&config)?;
        let models = Models::load(models, &mut metrics)?;
        Server::listen(config, models, None, metrics)
    }

    /// Binds the address for the studio: its page, and the session that answers the page's calls.
    ///
    /// # Errors
    /// If the address is not free, or it is not loopback and there is no token.
    pub fn studio(mut config: Config, options: StudioOptions) -> Result<Server, StartError> {
        check_token(&config)?;
        // Calls go on while a large table arrives, whose parsed cells are reserved too.
        let limits = &mut config.limits;
        limits.request_time = limits.request_time.max(STUDIO_CALL_TIME);
        limits.memory_bytes = limits.memory_bytes.max(limits.body_bytes.saturating_mul(16));
        let session = studio::Session::new(options);
        let metrics = Metrics::new(&router::call_names());
        let models = Models { slots: Vec::new() };
        Server::listen(config, models, Some(Arc::new(session)), metrics)
    }

    fn listen(
        config: Config,
        models: Models,
        studio: Option<Arc<studio::Session>>,
        metrics: Metrics,
    ) -> Result<Server, StartError> {
        let system = |e: &dyn std::fmt::Display| StartError::System(e.to_string());
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let n_reactors = if config.threads == 0 { cores } else { config.threads };
        let compute = rayon::ThreadPoolBuilder::new()
            .num_threads(n_reactors)
            .thread_name(|k| format!("mercer-compute-{k}"))
            .build()
            .map_err(|e| system(&e))?;
        let listener = TcpListener::bind(config.listen)
            .map_err(|e| StartError::System(format!("{}: {e}", config.listen)))?;
        listener.set_nonblocking(true).map_err(|e| system(&e))?;
        let address = listener.local_addr().map_err(|e| system(&e))?;
        allow_files(&config);
        let state = State {
            config,
            models,
            studio,
            metrics,
            memory: Arc::default(),
            draining: AtomicBool::new(false),
            compute,
        };
        Ok(Server { listener, address, state: Arc::new(state), n_reactors })
    }

    /// The address that the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The name and the version of each model.
    pub fn models(&self) -> Vec<(String, String)> {
        let slots = self.state.models.slots.iter();
        slots.map(|slot| (slot.name.clone(), slot.served().version.clone())).collect()
    }

    /// Serves until `stop` is set, then finishes the requests that run and returns.
    ///
    /// # Errors
    /// If the operating system refuses threads or event loops.
    pub fn run(self, stop: &Arc<AtomicBool>) -> io::Result<()> {
        let mut reactors = Vec::new();
        for k in 0..self.n_reactors {
            reactors.push(start_reactor(k, &self.state)?);
        }
        let watcher = watch_files(&self.state, stop)?;
        let (senders, threads): (Vec<_>, Vec<_>) = reactors.into_iter().unzip();
        let runtime = event_loop()?;
        runtime.block_on(accept(self.listener, &self.state, senders, stop))?;
        if let Some(session) = &self.state.studio {
            session.stop();
        }
        for thread in threads.into_iter().chain([watcher]) {
            thread.join().ok();
        }
        Ok(())
    }
}

/// Refuses an address that other machines reach without a token.
fn check_token(config: &Config) -> Result<(), StartError> {
    if !config.listen.ip().is_loopback() && config.token.is_none() {
        return Err(StartError::Settings(format!(
            "{} can be reached from other machines, so requests need a token: pass `--token-file FILE` (a \
             new token is written to it if it does not exist), or listen on 127.0.0.1",
            config.listen.ip()
        )));
    }
    Ok(())
}

fn event_loop() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_io().enable_time().build()
}

/// Accepts connections and gives them to the reactors in turn. At the limit of open connections, new ones wait.
async fn accept(
    listener: TcpListener,
    state: &Arc<State>,
    senders: Vec<UnboundedSender<Accepted>>,
    stop: &AtomicBool,
) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let slots = Arc::new(Semaphore::new(state.config.limits.connections));
    let mut turns = (0..senders.len()).cycle();
    while !stop.load(Ordering::Relaxed) {
        let Ok(Ok(permit)) = timeout(STOP_CHECK, Arc::clone(&slots).acquire_owned()).await else {
            continue;
        };
        match timeout(STOP_CHECK, listener.accept()).await {
            Ok(Ok((stream, _))) => {
                let Some(k) = turns.next() else { break };
                // A response is written at once; waiting to fill a packet would only delay it.
                stream.set_nodelay(true).ok();
                if let Ok(stream) = stream.into_std() {
                    senders[k].send((stream, permit)).ok();
                }
            }
            // Out of file descriptors, or the client is gone already: others may still come.
            Ok(Err(_)) => sleep(STOP_CHECK).await,
            Err(_) => {}
        }
    }
    state.draining.store(true, Ordering::Relaxed);
    Ok(())
}

fn start_reactor(
    k: usize,
    state: &Arc<State>,
) -> io::Result<(UnboundedSender<Accepted>, JoinHandle<()>)> {
    let (sender, receiver) = unbounded_channel();
    let state = Arc::clone(state);
    let thread =
        std::thread::Builder::new().name(format!("mercer-serve-{k}")).spawn(move || {
            // Without the pool, parallel loops run on the global one: slower, with the same results.
            let _pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
            let reactor = Arc::new(Reactor { state: Arc::clone(&state), queue: Queue::default() });
            match event_loop() {
                Ok(runtime) => runtime.block_on(react(reactor, receiver)),
                Err(error) => (state.config.log)(&format!("a thread could not start: {error}")),
            }
        })?;
    Ok((sender, thread))
}

/// Serves connections until the acceptor ends, then waits for those that are open.
async fn react(reactor: Arc<Reactor>, mut receiver: UnboundedReceiver<Accepted>) {
    let (stop, _) = watch::channel(false);
    while let Some((stream, permit)) = receiver.recv().await {
        if let Ok(stream) = tokio::net::TcpStream::from_std(stream) {
            let connection =
                connection::serve(stream, Arc::clone(&reactor), stop.subscribe(), permit);
            tokio::spawn(connection);
        }
    }
    // Every open connection holds a receiver.
    stop.send(true).ok();
    timeout(reactor.state.config.limits.drain_time, stop.closed()).await.ok();
}

/// Starts the thread that reloads model files.
fn watch_files(state: &Arc<State>, stop: &Arc<AtomicBool>) -> io::Result<JoinHandle<()>> {
    let (state, stop) = (Arc::clone(state), Arc::clone(stop));
    std::thread::Builder::new().name("mercer-reload".into()).spawn(move || {
        let every = state.config.limits.reload_time;
        let mut waited = Duration::ZERO;
        while !stop.load(Ordering::Relaxed) {
            std::thread::sleep(STOP_CHECK.min(every));
            waited += STOP_CHECK.min(every);
            if waited >= every {
                waited = Duration::ZERO;
                state.models.reload(&state.config);
            }
        }
    })
}

/// Raises the number of files that the process may open to that of the connections, as far as the system allows.
#[cfg(unix)]
fn allow_files(config: &Config) {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let needed = config.limits.connections as u64 + OTHER_FILES;
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < needed) {
        limit.current = Some(limit.maximum.map_or(needed, |maximum| needed.min(maximum)));
        setrlimit(Resource::Nofile, limit).ok();
    }
}

#[cfg(not(unix))]
fn allow_files(_config: &Config) {}
