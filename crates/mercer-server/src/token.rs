//! The bearer token of a server.

use crate::error::StartError;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::io::{ErrorKind, Write};
use std::path::Path;

/// The bytes of randomness of a new token.
const NEW_TOKEN_BYTES: usize = 32;
/// The fewest characters of a token: 128 bits in hexadecimal digits.
const MIN_CHARACTERS: usize = 32;

/// A secret that requests carry in `Authorization: Bearer`. Only its hash is held.
#[derive(Clone)]
pub struct Token {
    hash: [u8; 32],
}

impl Token {
    /// A token of at least 32 characters.
    ///
    /// # Errors
    /// If it is shorter or contains other characters than letters, digits and `-._~+/=`.
    pub fn new(secret: &str) -> Result<Token, StartError> {
        let allowed = |c: u8| c.is_ascii_alphanumeric() || b"-._~+/=".contains(&c);
        if secret.len() < MIN_CHARACTERS || !secret.bytes().all(allowed) {
            return Err(StartError::Settings(format!(
                "a token has at least {MIN_CHARACTERS} letters, digits or characters of `-._~+/=`; found {} \
                 characters",
                secret.len()
            )));
        }
        Ok(Token { hash: Sha256::digest(secret.as_bytes()).into() })
    }

    /// The token in a file. If there is no such file, a new token is written to it, readable by its owner only.
    ///
    /// # Errors
    /// If the file cannot be read or written, or holds no token.
    pub fn from_file(path: &Path) -> Result<Token, StartError> {
        let refuse = |why: &dyn std::fmt::Display| {
            StartError::Settings(format!("{}: {why}", path.display()))
        };
        match std::fs::read_to_string(path) {
            Ok(secret) => Token::new(secret.trim()).map_err(|e| refuse(&e)),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let secret = random_secret().map_err(|e| refuse(&e))?;
                write_private(path, &secret).map_err(|e| refuse(&e))?;
                Token::new(&secret)
            }
            Err(error) => Err(refuse(&error)),
        }
    }

    /// A new token and its secret.
    ///
    /// # Errors
    /// If the operating system has no randomness.
    pub fn random() -> Result<(Token, String), StartError> {
        let secret = random_secret().map_err(StartError::System)?;
        Ok((Token::new(&secret)?, secret))
    }

    /// Whether an `Authorization` header carries the token. The time does not depend on where two secrets differ,
    /// because their hashes are compared, all bytes of them.
    pub(crate) fn admits(&self, authorization: Option<&[u8]>) -> bool {
        let Some(value) = authorization else { return false };
        let Some((scheme, secret)) = value.split_at_checked(7) else { return false };
        let hash: [u8; 32] = Sha256::digest(secret).into();
        let difference = hash.iter().zip(&self.hash).fold(0, |all, (a, b)| all | (a ^ b));
        scheme.eq_ignore_ascii_case(b"bearer ") && difference == 0
    }
}

fn random_secret() -> Result<String, String> {
    let mut random = [0; NEW_TOKEN_BYTES];
    getrandom::fill(&mut random).map_err(|e| e.to_string())?;
    Ok(hexadecimal(&random))
}

/// Bytes as hexadecimal digits.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a string cannot fail.
        write!(text, "{byte:02x}").ok();
        text
    })
}

fn write_private(path: &Path, secret: &str) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    writeln!(options.open(path)?, "{secret}")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_token_is_admitted() {
        let secret = "0123456789abcdef0123456789abcdef";
        let token = Token::new(secret).unwrap();
        let header = |value: &str| token.admits(Some(value.as_bytes()));

        assert!(header(&format!("Bearer {secret}")));
        assert!(header(&format!("bearer {secret}")));
        assert!(!header(secret));
        assert!(!header(&format!("Basic {secret}x")));
        assert!(!header(&format!("Bearer {secret}0")));
        assert!(!header(&format!("Bearer {}", &secret[1..])));
        assert!(!header("Bearer"));
        assert!(!token.admits(None));
    }

    #[test]
    fn a_short_token_is_refused() {
        assert!(Token::new("secret").is_err());
        assert!(Token::new(&" ".repeat(40)).is_err());
    }

    #[test]
    fn a_new_token_is_written_once_and_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");

        Token::from_file(&path).unwrap();
        let secret = std::fs::read_to_string(&path).unwrap();
        let again = Token::from_file(&path).unwrap();

        assert_eq!(secret.trim().len(), 64);
        assert!(again.admits(Some(format!("Bearer {}", secret.trim()).as_bytes())));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }
}
