//! Atomic writes: to a temporary file in the same folder, which is synced and renamed.
//!
//! A process that is killed leaves its temporary file. The next write in the folder removes it: a writer holds a lock
//! on its temporary file, and the operating system releases the locks of a process that ended.

use crate::error::{Error, Result};
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::Duration;

/// The beginning of the names of temporary files.
const PREFIX: &str = ".mercer-";
/// Younger temporary files are not removed, because their writer may not have locked them yet.
const MIN_AGE: Duration = Duration::from_secs(60);

/// Replaces a file by what `write` writes. A symbolic link is followed, and the permissions of an existing file are
/// kept; a new file gets those that the umask allows.
///
/// # Errors
/// If the operating system fails; the old file is then unchanged.
pub(super) fn replace(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> Result<()> {
    let failed =
        |e: io::Error| Error::System { path: path.display().to_string(), why: e.to_string() };
    if path.is_dir() {
        let why = "is a directory; pass the name of a file".to_owned();
        return Err(Error::System { path: path.display().to_string(), why });
    }
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    remove_abandoned(folder);
    let mut file = temporary_file(folder).map_err(failed)?;
    // Not every file system has locks; without one, nothing is removed there.
    file.as_file().try_lock().ok();
    write(file.as_file_mut()).map_err(failed)?;
    if let Ok(existing) = fs::metadata(&target) {
        file.as_file().set_permissions(existing.permissions()).map_err(failed)?;
    }
    file.as_file().sync_all().map_err(failed)?;
    file.persist(&target).map_err(|e| failed(e.error))?;
    // Sync the folder, so that the rename survives a power failure; not every system supports it.
    if let Ok(folder) = File::open(folder) {
        folder.sync_all().ok();
    }
    Ok(())
}

fn temporary_file(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

/// Removes the temporary files of processes that were killed. Errors are ignored: the write itself does not need it.
fn remove_abandoned(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let is_temporary = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        let is_old = || {
            let modified = entry.metadata().and_then(|about| about.modified()).ok();
            modified.and_then(|at| at.elapsed().ok()).is_some_and(|age| age >= MIN_AGE)
        };
        if is_temporary
            && is_old()
            && File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok())
        {
            fs::remove_file(entry.path()).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::time::SystemTime;

    fn save(path: &Path, text: &str) {
        replace(path, |out| out.write_all(text.as_bytes())).unwrap();
    }

    #[test]
    fn temporary_files_of_killed_processes_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let named = |name: &str| folder.path().join(name);
        let hour_ago = SystemTime::now() - Duration::from_secs(3600);
        for name in [".mercer-abandoned", ".mercer-locked", ".mercer-young", "other"] {
            let file = File::create(named(name)).unwrap();
            file.set_modified(if name == ".mercer-young" { SystemTime::now() } else { hour_ago })
                .unwrap();
        }
        let locked = File::open(named(".mercer-locked")).unwrap();
        locked.try_lock().unwrap();

        save(&named("model"), "text");

        let left: Vec<bool> = [".mercer-abandoned", ".mercer-locked", ".mercer-young", "other"]
            .map(|name| named(name).exists())
            .to_vec();
        assert_eq!(left, [false, true, true, true]);
    }

    #[cfg(unix)]
    #[test]
    fn permissions_and_symbolic_links_are_kept() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        save(&file, "old");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        symlink(&file, &link).unwrap();

        save(&link, "new");

        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_failed_write_leaves_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        save(&file, "old");

        let failed = replace(&file, |_| Err(io::Error::other("disk full")));
        let directory = replace(folder.path(), |_| Ok(())).unwrap_err().to_string();

        assert!(failed.is_err());
        assert_eq!(fs::read_to_string(&file).unwrap(), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(directory.contains("is a directory"), "{directory}");
    }
}
