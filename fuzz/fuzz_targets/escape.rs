//! Compares the escaping of JSON strings with serde_json.
//!
//! Must hold for any bytes, any block of at least `MIN_BLOCK`, any pieces, line breaks kept or converted:
//! - every block holds complete UTF-8 characters, and every call makes progress;
//! - bytes that are not UTF-8 result in `NotUtf8`, and no others do;
//! - serde_json reads back the text, with its line breaks as `\n` if requested.
//!
//! Input: block size above `MIN_BLOCK`, length of a piece (0: all at once), and the bytes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use text::escape::{Breaks, Escaper, MIN_BLOCK, NotUtf8, escape_str};

fuzz_target!(|data: &[u8]| {
    let Some(([over, piece], bytes)) = data.split_first_chunk::<2>() else { return };
    let block = MIN_BLOCK + usize::from(*over % 200);
    let text = std::str::from_utf8(bytes).ok();
    for breaks in [Breaks::Kept, Breaks::AsLf] {
        let escaped = escape(bytes, breaks, block, usize::from(*piece)).map(|json| read_back(&json));
        let expected = text.map(|text| match breaks {
            Breaks::Kept => text.to_owned(),
            Breaks::AsLf => text.replace("\r\n", "\n").replace('\r', "\n"),
        });
        assert_eq!(escaped, expected.ok_or(NotUtf8), "{breaks:?}");
    }
    if let Some(text) = text {
        let mut out = b"before".to_vec();
        escape_str(text, &mut out);
        assert_eq!(read_back(&out), format!("before{text}"));
    }
});

fn escape(bytes: &[u8], breaks: Breaks, block: usize, piece: usize) -> Result<Vec<u8>, NotUtf8> {
    let mut escaper = Escaper::new(breaks);
    // The previous contents of a block must not matter.
    let (mut out, mut block) = (Vec::new(), vec![0xAA; block]);
    let pieces = bytes.chunks(if piece == 0 { bytes.len().max(1) } else { piece });
    for mut rest in pieces {
        while !rest.is_empty() {
            let (taken, ready) = escaper.fill(rest, &mut block)?;
            assert!(taken > 0, "no progress");
            assert!(std::str::from_utf8(&block[..ready]).is_ok(), "half a character left");
            out.extend_from_slice(&block[..ready]);
            rest = &rest[taken..];
        }
    }
    escaper.finish()?;
    Ok(out)
}

fn read_back(json: &[u8]) -> String {
    serde_json::from_slice(&[b"\"", json, b"\""].concat()).expect("a JSON string")
}
