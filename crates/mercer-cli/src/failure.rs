//! The failures of a command and their exit codes.

use mercer::Error;
use std::fmt;
use std::io;

/// Why a command failed.
#[derive(Debug)]
pub enum Failure {
    /// The command line is invalid: exit code 2.
    Usage(String),
    /// The data is invalid: exit code 3.
    Data(String),
    /// No hyperplane separates two classes, with the witness as JSON: exit code 3.
    NotSeparable(String, serde_json::Value),
    /// The model file is invalid: exit code 4.
    Model(String),
    /// Memory, time or disk: exit code 5.
    Resources(String),
    /// The fit did not converge, with `--strict`: exit code 6.
    NotConverged(String),
    /// Ctrl-C: exit code 130.
    Interrupted {
        /// Whether the current model was saved.
        saved: bool,
    },
    /// The reader of the output has closed the pipe.
    ClosedPipe,
}

pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Usage(_) => 2,
            Failure::Data(_) | Failure::NotSeparable(..) => 3,
            Failure::Model(_) => 4,
            Failure::Resources(_) => 5,
            Failure::NotConverged(_) => 6,
            Failure::Interrupted { .. } => 130,
            Failure::ClosedPipe => 0,
        }
    }

    /// The failure of reading or writing a model file.
    pub fn model(path: &str) -> impl Fn(Error) -> Failure + '_ {
        move |error| match error {
            Error::System { .. } => Failure::Model(error.to_string()),
            Error::Memory { .. } => Failure::Resources(error.to_string()),
            other => Failure::Model(format!("{path}: {other}")),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Usage(why)
            | Failure::Data(why)
            | Failure::NotSeparable(why, _)
            | Failure::Model(why)
            | Failure::Resources(why)
            | Failure::NotConverged(why) => f.write_str(why),
            Failure::Interrupted { saved: true } => {
                f.write_str("interrupted; the current model was saved")
            }
            Failure::Interrupted { saved: false } => {
                f.write_str("interrupted; no file was written")
            }
            Failure::ClosedPipe => f.write_str("the output was closed"),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let why = error.to_string();
        match error {
            Error::Parameter { .. }
            | Error::UnknownParameter { .. }
            | Error::UnknownEstimator { .. }
            | Error::Unable { .. } => Failure::Usage(why),
            Error::File(_) => Failure::Model(why),
            Error::NotSeparable { first, second, witness, distance, spread } => {
                let combination = |class: &str, rows: &[(usize, f64)]| {
                    let (rows, weights): (Vec<usize>, Vec<f64>) = rows.iter().copied().unzip();
                    serde_json::json!({"class": class, "rows": rows, "weights": weights})
                };
                let witness = serde_json::json!({
                    "combinations": [combination(&first, &witness[0]), combination(&second, &witness[1])],
                    "distance": distance, "spread": spread,
                });
                Failure::NotSeparable(why, witness)
            }
            Error::Memory { .. } | Error::System { .. } => Failure::Resources(why),
            Error::Stopped => Failure::Resources(format!("{why}; raise --time-limit")),
            _ => Failure::Data(why),
        }
    }
}

impl From<mercer_io::Error> for Failure {
    fn from(error: mercer_io::Error) -> Self {
        match error {
            mercer_io::Error::Core(error) => error.into(),
            error if error.is_resource() => Failure::Resources(error.to_string()),
            error => Failure::Data(error.to_string()),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
            _ => Failure::Resources(error.to_string()),
        }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        io::Error::from(error).into()
    }
}
