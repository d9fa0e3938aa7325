//! A schema prepared for decoding: fields by name, levels by hash.

use crate::error::{Error, Result};
use crate::missing::Missing;
use crate::options::{Limits, Options};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use mercer::data::{Field, Schema};
use mercer::data::{Kind, UNSEEN};
use std::sync::Arc;

/// The fields to decode from a file.
#[derive(Debug)]
pub(crate) struct Decoder<'a> {
    pub file: &'a str,
    pub missing: Missing,
    pub limits: Limits,
    pub fields: Vec<FieldDecoder>,
    positions: HashMap<String, usize, RandomState>,
}

/// A field with the codes of its levels.
#[derive(Debug)]
pub(crate) struct FieldDecoder {
    pub field: Field,
    codes: HashMap<Box<[u8]>, u32, RandomState>,
}

impl<'a> Decoder<'a> {
    pub fn new(file: &'a str, options: &Options, schema: &Schema) -> Decoder<'a> {
        let fields: Vec<FieldDecoder> =
            schema.fields.iter().cloned().map(FieldDecoder::new).collect();
        let positions = fields.iter().enumerate().map(|(k, f)| (f.field.name.clone(), k)).collect();
        let missing = Missing::new(&options.missing);
        Decoder { file, missing, limits: options.limits, fields, positions }
    }

    /// The index of a field.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.positions.get(name).copied()
    }

    /// Refuses a schema with columns that the file does not have.
    pub fn check_names(&self, names: &[String]) -> Result<()> {
        let present: hashbrown::HashSet<&str, RandomState> =
            names.iter().map(String::as_str).collect();
        let absent = self.fields.iter().map(|f| f.field.name.as_str());
        let absent: Vec<&str> = absent.filter(|name| !present.contains(name)).collect();
        match absent.is_empty() {
            true => Ok(()),
            false => {
                Err(Error::missing_columns(self.file, &absent, names.iter().map(String::as_str)))
            }
        }
    }
}

impl FieldDecoder {
    fn new(field: Field) -> FieldDecoder {
        let levels = Arc::clone(&field.levels);
        let words = levels.names().iter().enumerate();
        let codes = match field.kind {
            Kind::Categorical => words.map(|(i, w)| (w.as_bytes().into(), i as u32)).collect(),
            _ => HashMap::default(),
        };
        FieldDecoder { field, codes }
    }

    /// The value of a cell of a numeric column that is not written plainly.
    pub fn parse(&self, text: &[u8]) -> Option<f64> {
        std::str::from_utf8(text).ok().and_then(|text| self.field.notation.parse(text))
    }

    /// The code of a level.
    #[inline]
    pub fn code(&self, word: &[u8]) -> u32 {
        self.codes.get(word).copied().unwrap_or(UNSEEN)
    }
}
