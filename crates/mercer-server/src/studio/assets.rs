//! The files of the page, embedded in the binary.

use crate::connection::Reply;
use crate::error::{ApiError, ApiResult};

/// What the page may load: its own files, and pictures that it draws itself.
const POLICY: &str = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; \
                      img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A folder that replaces the embedded files in debug builds, so that the page can be changed without a build.
#[cfg(debug_assertions)]
const FOLDER_VARIABLE: &str = "MERCER_STUDIO_ASSETS";

macro_rules! assets {
    ($($path:literal)*) => {
        /// The files by path below `/assets/`.
        static ASSETS: &[(&str, &str)] =
            &[$(($path, include_str!(concat!("../../studio/", $path))),)*];
    };
}

assets! {
    "index.html"
    "style.css"
    "app.js"
    "icon.svg"
    "lib/charts.js"
    "lib/code_panel.js"
    "lib/engine.js"
    "lib/html.js"
    "lib/parts.js"
    "lib/store.js"
    "screens/data.js"
    "screens/errors.js"
    "screens/leaderboard.js"
    "screens/train.js"
    "screens/why.js"
    "vendor/hooks.js"
    "vendor/htm.js"
    "vendor/preact.js"
    "vendor/signals-core.js"
    "vendor/signals.js"
    "playground.css"
    "lib/candy.js"
    "lib/contour.js"
    "lib/drawing.js"
    "lib/joint_table.js"
    "lib/networks.js"
    "lib/plane.js"
    "lib/playground.js"
    "lib/point_code.js"
    "lib/points.js"
    "lib/refit.js"
    "screens/bayes.js"
    "screens/decisions.js"
    "screens/margin.js"
    "screens/network.js"
}

/// `GET /`.
pub(crate) fn page() -> Reply {
    let mut reply = file("index.html").unwrap_or_else(|error| Reply::error(&error));
    reply.policy = POLICY;
    reply
}

/// `GET /assets/{file}`.
pub(crate) fn file(path: &str) -> ApiResult<Reply> {
    let found = ASSETS.iter().find(|(known, _)| *known == path);
    let (path, text) = found.ok_or_else(|| ApiError::new(404, "there is no such file"))?;
    let content_type = match path.rsplit('.').next() {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "text/html; charset=utf-8",
    };
    Ok(Reply::new(content_type, current(path).unwrap_or_else(|| text.as_bytes().to_vec())))
}

/// The file in the folder of a developer, if there is one.
#[cfg(debug_assertions)]
fn current(path: &str) -> Option<Vec<u8>> {
    let folder = std::env::var_os(FOLDER_VARIABLE)?;
    std::fs::read(std::path::Path::new(&folder).join(path)).ok()
}

#[cfg(not(debug_assertions))]
fn current(_path: &str) -> Option<Vec<u8>> {
    None
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Imports name files that exist, and no file names another host.
    #[test]
    fn the_page_needs_only_its_own_files() {
        for (path, text) in ASSETS {
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            for part in text.split("from \"").skip(1).chain(text.split("from\"").skip(1)) {
                let target = part.split('"').next().unwrap();
                let mut parts: Vec<&str> = folder.split('/').filter(|p| !p.is_empty()).collect();
                for segment in target.split('/') {
                    match segment {
                        "." => {}
                        ".." => drop(parts.pop()),
                        name => parts.push(name),
                    }
                }
                let target = parts.join("/");
                assert!(
                    ASSETS.iter().any(|(known, _)| *known == target),
                    "{path} imports {target}"
                );
            }
            if !path.starts_with("vendor/") {
                let foreign = text.match_indices("://").filter(|(at, _)| {
                    !text[..*at].ends_with("http") || !text[*at..].starts_with("://www.w3.org/")
                });
                assert_eq!(foreign.count(), 0, "{path} names another host");
            }
        }
    }

    #[test]
    fn other_paths_are_refused() {
        for path in ["", "../Cargo.toml", "index.html/", "/index.html", "vendor"] {
            assert!(file(path).is_err(), "{path}");
        }
    }
}
