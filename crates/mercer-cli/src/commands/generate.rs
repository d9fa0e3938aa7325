//! x
pub fn python_files() -> Vec<(String, String)> {
    Vec::new()
}
