//! Bytes changed, cut and repeated at random: an answer or an error, never a panic.

use crate::columnar::{arrow_bytes, batch, parquet_bytes, stream_bytes};
use crate::file;
use mercer_io::{Format, Options};
use std::io::Write;

/// Pseudo-random numbers (SplitMix64, Steele et al., 2014): the same damage in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n.max(1) as u64) as usize
    }
}

fn damage(bytes: &[u8], dice: &mut Dice) -> Vec<u8> {
    const TROUBLE: &[u8] = b"\"\n\r,;:{}[]\\\x00\xff\x7f\x80-.e0#?u";
    let mut bytes = bytes.to_vec();
    for _ in 0..1 + dice.roll(4) {
        let at = dice.roll(bytes.len());
        match dice.roll(6) {
            0 => bytes.truncate(at),
            1 if !bytes.is_empty() => bytes[at] ^= 1 << dice.roll(8),
            2 if !bytes.is_empty() => bytes[at] = TROUBLE[dice.roll(TROUBLE.len())],
            3 => bytes.insert(at, TROUBLE[dice.roll(TROUBLE.len())]),
            4 if !bytes.is_empty() => drop(bytes.remove(at)),
            _ => {
                let end = (at + dice.roll(20)).min(bytes.len());
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
        }
    }
    bytes
}

/// The factor by which `make fuzz` raises the number of damaged files; it also changes the damage.
fn repetitions() -> usize {
    std::env::var("MERCER_FUZZ").ok().and_then(|n| n.parse().ok()).unwrap_or(1)
}

/// Opens, profiles and reads damaged bytes; a table or an error is fine, and the table has the profiled rows.
fn survive(format: Format, bytes: &[u8], times: usize, seed: u64) {
    let times = times * repetitions();
    let mut dice = Dice(seed + 1000 * repetitions() as u64);
    let options = Options { format: Some(format), ..Options::default() };
    let mut n_read = 0;
    for _ in 0..times {
        let damaged = damage(bytes, &mut dice);
        let file = file("", &damaged);
        let path = file.path().to_str().unwrap();
        let options = Options { cache_bytes: 1000 * (dice.roll(3) as u64), ..options.clone() };
        let Ok(source) = mercer_io::Source::open(path, &options) else { continue };
        let source = source.with_block_size(1 + dice.roll(300));
        let Ok(profile) = source.profile(&|_, _| true) else { continue };
        if let Ok(table) = source.read(&profile.schema()) {
            assert_eq!(table.n_rows() as u64, profile.n_rows);
            n_read += 1;
        }
    }
    println!("promise 1: {times} damaged {format:?} files, 0 failures");
    // Some damage leaves a readable file, or else nothing behind the first check was reached.
    assert!(n_read > times / 100, "{n_read} of {times} were read");
}

#[test]
fn damaged_csv_never_panics() {
    let text = b"a,b,\"c\"\n1,\"x\n\"\"y\",true\n2.5e3,z,false\r\n,NA,\n-4,\"w\",TRUE\n";
    survive(Format::Csv, text, 2000, 1);
}

#[test]
fn damaged_json_never_panics() {
    let text = "{\"a\":1,\"b\":\"x\\u00e9\\ud83d\\ude00\"}\n{\"a\":-2.5e3,\"c\":null,\"b\":\"é\"}\n{}\n{\"c\":true}\n";
    survive(Format::JsonLines, text.as_bytes(), 2000, 2);
}

#[test]
fn damaged_svmlight_never_panics() {
    survive(Format::Svmlight, b"+1 1:0.5 3:2 # c\n-1 qid:4 2:1e3 7:-1\n3 1:1\n", 2000, 3);
}

#[test]
fn damaged_parquet_never_panics() {
    survive(Format::Parquet, &parquet_bytes(&batch()), 1000, 4);
}

#[test]
fn damaged_arrow_files_never_panic() {
    survive(Format::Arrow, &arrow_bytes(&batch()), 1000, 5);
}

#[test]
fn damaged_arrow_streams_never_panic() {
    survive(Format::Arrow, &stream_bytes(&batch()), 1000, 6);
}

#[test]
fn damaged_mails_never_panic() {
    let mail = b"Subject: =?utf-8?B?R3LDvMOfZQ==?=\nFrom: a <a@b>\nContent-Type: multipart/mixed; boundary=x\n\n\
        --x\nContent-Type: multipart/alternative; boundary=\"y\"\n\n--y\nContent-Transfer-Encoding: base64\n\n\
        aGkgdGhlcmU=\n--y\nContent-Type: text/html; charset=koi8-r\n\n<p>a &amp; b<!-- c --></p>\n--y--\n\
        --x\nContent-Type: message/rfc822\n\nSubject: in\n\nner=\n--x\n\
        Content-Transfer-Encoding: quoted-printable\n\n=41=\n\xff\n--x--\n";
    survive(Format::Mail, mail, 3000, 9);
    let mailbox = [b"From a\n".as_slice(), mail, b"\nFrom b\n", mail].concat();
    survive(Format::Mailbox, &mailbox, 1000, 10);
}

#[test]
fn damaged_compression_never_panics() {
    let text = "a,b\n".to_owned() + &"1,x\n".repeat(50);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    survive(Format::Csv, &encoder.finish().unwrap(), 500, 7);
    survive(Format::Csv, &zstd::encode_all(text.as_bytes(), 1).unwrap(), 500, 8);
}
