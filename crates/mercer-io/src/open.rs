//! Opened inputs that can be read again: files as they are, pipes spooled to an unlinked temporary
//! file, bytes in memory; gzip and zstd undone on the way.
//!
//! Every pass reads the same open file by offset, so two passes see the same bytes even if the path
//! is given to another file in between.

use crate::error::{Error, Result};
use crate::options::Limits;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of output before the expansion limit applies: small files may be highly compressible.
const EXPANSION_GRACE: u64 = 64 << 20;

/// An input that can be read again.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    /// For messages.
    pub name: String,
    /// Bytes on disk.
    pub size: u64,
    pub compression: Compression,
    pub storage: Arc<Storage>,
    expansion: u64,
}

/// Where the bytes are.
#[derive(Debug)]
pub(crate) enum Storage {
    File(File),
    Memory(Vec<u8>),
}

impl Storage {
    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize> {
        match self {
            Storage::File(file) => read_at(file, into, at),
            Storage::Memory(bytes) => {
                let start = usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
                (&bytes[start..]).read(into)
            }
        }
    }
}

/// How the bytes are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    None,
    Gzip,
    Zstd,
}

impl Input {
    /// Opens a path; `-` is standard input.
    pub fn open(path: &str, limits: &Limits) -> Result<Input> {
        let name = if path == "-" { "<stdin>" } else { path };
        let refuse = |e: io::Error| Error::System { file: name.to_owned(), why: e.to_string() };
        let file = if path == "-" {
            spool(&mut io::stdin().lock()).map_err(refuse)?
        } else {
            let mut file = File::open(path).map_err(refuse)?;
            let about = file.metadata().map_err(refuse)?;
            if about.is_dir() {
                return Err(Error::System {
                    file: name.to_owned(),
                    why: "is a directory; pass a file in it".to_owned(),
                });
            }
            // A named pipe or /dev/stdin can be read only once.
            if about.is_file() { file } else { spool(&mut file).map_err(refuse)? }
        };
        Input::from_file(name, file, limits)
    }

    fn from_file(name: &str, file: File, limits: &Limits) -> Result<Input> {
        let refuse = |e: io::Error| Error::System { file: name.to_owned(), why: e.to_string() };
        let size = file.metadata().map_err(refuse)?.len();
        let mut magic = [0; 4];
        let n = read_at(&file, &mut magic, 0).map_err(refuse)?;
        let compression = Compression::of(&magic[..n]);
        let storage = Arc::new(Storage::File(file));
        Ok(Input { name: name.to_owned(), size, compression, storage, expansion: limits.expansion })
    }

    /// The bytes of a file, whose compression is undone.
    pub fn from_file_bytes(name: &str, bytes: Vec<u8>, limits: &Limits) -> Input {
        let compression = Compression::of(&bytes);
        Input { compression, ..Input::from_bytes(name, bytes, limits) }
    }

    /// Bytes in memory, which are read as they are: no compression is undone.
    pub fn from_bytes(name: &str, bytes: Vec<u8>, limits: &Limits) -> Input {
        Input {
            name: name.to_owned(),
            size: bytes.len() as u64,
            compression: Compression::None,
            storage: Arc::new(Storage::Memory(bytes)),
            expansion: limits.expansion,
        }
    }

    /// The decompressed bytes from the beginning; `progress` counts the bytes read from disk.
    pub fn reader(&self, progress: &Arc<AtomicU64>) -> Result<Box<dyn Read + Send>> {
        let counted = Counted {
            inner: Cursor::new(&self.storage, self.size),
            progress: Arc::clone(progress),
        };
        let unpacked: Box<dyn Read + Send> = match self.compression {
            Compression::None => return Ok(Box::new(counted)),
            Compression::Gzip => Box::new(flate2::read::MultiGzDecoder::new(counted)),
            #[cfg(not(feature = "all-formats"))]
            Compression::Zstd => {
                return Err(Error::not_built(&self.name, "zstd", "decompress it with `zstd -d`"));
            }
            #[cfg(feature = "all-formats")]
            Compression::Zstd => {
                Box::new(zstd::stream::read::Decoder::new(counted).map_err(|e| self.failed(e))?)
            }
        };
        Ok(Box::new(ExpansionLimit {
            inner: unpacked,
            progress: Arc::clone(progress),
            n_out: 0,
            limit: self.expansion,
        }))
    }

    /// The decompressed bytes behind the first `skip`.
    pub fn reader_from(
        &self,
        skip: u64,
        progress: &Arc<AtomicU64>,
    ) -> Result<Box<dyn Read + Send>> {
        let mut reader = self.reader(progress)?;
        let skipped = io::copy(&mut (&mut reader).take(skip), &mut io::sink());
        skipped.map_err(|e| self.failed(e))?;
        Ok(reader)
    }

    /// The first `n` decompressed bytes.
    pub fn peek(&self, n: u64) -> Result<Vec<u8>> {
        let mut head = Vec::new();
        let read = self.reader(&Arc::default())?.take(n).read_to_end(&mut head);
        read.map_err(|e| self.failed(e))?;
        Ok(head)
    }

    /// The same input with the compression undone into a temporary file, for formats that seek.
    #[cfg(feature = "all-formats")]
    pub fn unpacked(self, limits: &Limits) -> Result<Input> {
        if self.compression == Compression::None {
            return Ok(self);
        }
        let file = spool(&mut self.reader(&Arc::default())?).map_err(|e| self.failed(e))?;
        let plain = Input::from_file(&self.name, file, limits)?;
        Ok(Input { compression: Compression::None, ..plain })
    }

    /// A reader that seeks, for formats that need it; not through compression.
    #[cfg(feature = "all-formats")]
    pub fn seeker(&self, progress: &Arc<AtomicU64>) -> Counted {
        Counted { inner: Cursor::new(&self.storage, self.size), progress: Arc::clone(progress) }
    }

    /// What a failed read means.
    pub fn failed(&self, error: io::Error) -> Error {
        let file = self.name.clone();
        if let Some(excess) = error.get_ref().and_then(|e| e.downcast_ref::<ExcessiveExpansion>()) {
            return Error::Limit {
                file,
                at: None,
                what: format!("{} bytes from {} compressed ones", excess.n_out, excess.n_in),
                limit: self.expansion,
                name: "expansion",
            };
        }
        match self.compression {
            Compression::None => Error::System { file, why: error.to_string() },
            compression => {
                Error::Damaged { file, format: compression.to_string(), why: error.to_string() }
            }
        }
    }
}

impl Compression {
    /// The compression of a file, by its first bytes.
    fn of(head: &[u8]) -> Compression {
        match head {
            [0x1f, 0x8b, ..] => Compression::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Compression::Zstd,
            _ => Compression::None,
        }
    }
}

impl std::fmt::Display for Compression {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Compression::None => "uncompressed",
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
        })
    }
}

/// Copies a stream to a file without a name, which is gone when it is closed.
fn spool(from: &mut dyn Read) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    io::copy(from, &mut file)?;
    Ok(file)
}

/// A position of its own in shared bytes.
#[derive(Debug)]
pub(crate) struct Cursor {
    storage: Arc<Storage>,
    at: u64,
    size: u64,
}

impl Cursor {
    fn new(storage: &Arc<Storage>, size: u64) -> Cursor {
        Cursor { storage: Arc::clone(storage), at: 0, size }
    }
}

impl Read for Cursor {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.storage.read_at(into, self.at)?;
        self.at += n as u64;
        Ok(n)
    }
}

impl Seek for Cursor {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (base, by) = match to {
            SeekFrom::Start(n) => (n, 0),
            SeekFrom::End(n) => (self.size, n),
            SeekFrom::Current(n) => (self.at, n),
        };
        self.at = base
            .checked_add_signed(by)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "seek before the start"))?;
        Ok(self.at)
    }
}

#[cfg(unix)]
fn read_at(file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, into, at)
}

#[cfg(windows)]
fn read_at(file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, into, at)
}

/// Counts what was read from disk, for progress and for the expansion limit.
#[derive(Debug)]
pub(crate) struct Counted {
    inner: Cursor,
    progress: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(into)?;
        self.progress.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

impl Seek for Counted {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}

/// Stops a decompressor that makes too much of too little.
struct ExpansionLimit {
    inner: Box<dyn Read + Send>,
    progress: Arc<AtomicU64>,
    n_out: u64,
    limit: u64,
}

impl Read for ExpansionLimit {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(into)?;
        self.n_out += n as u64;
        let n_in = self.progress.load(Ordering::Relaxed);
        if self.n_out > EXPANSION_GRACE && self.n_out / n_in.max(1) > self.limit {
            return Err(io::Error::other(ExcessiveExpansion { n_in, n_out: self.n_out }));
        }
        Ok(n)
    }
}

#[derive(Debug, thiserror::Error)]
#[error("{n_out} bytes came out of {n_in}")]
struct ExcessiveExpansion {
    n_in: u64,
    n_out: u64,
}
