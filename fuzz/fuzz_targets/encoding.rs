//! Compares the decoder with a naive reading, whatever the borders of blocks.
//!
//! Must hold for any bytes and any encoding:
//! - blocks of any lengths give the same text, or the same error, as the whole;
//! - both are what a table, or the standard library, says;
//! - a text that was decoded is encoded to the same bytes, and `len_of` is their number;
//! - lines that are counted in the bytes are those of the text;
//! - any text is encoded, or the character that the encoding lacks is named with its line and column.
//!
//! Input: the encoding, three lengths of blocks, and the bytes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use text::encoding::{DecodeError, Decoder, Encoding, LineScan, likely as likely_encoding};

const WINDOWS_1251: &str = "\
    ЂЃ‚ѓ„…†‡€‰Љ‹ЊЌЋЏђ‘’“”•–—�™љ›њќћџ\u{a0}ЎўЈ¤Ґ¦§Ё©Є«¬\u{ad}®Ї°±Ііґµ¶·ё№є»јЅѕїАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩ\
    ЪЫЬЭЮЯабвгдежзийклмнопрстуфхцчшщъыьэюя";
const WINDOWS_1252: &str = "\
    €�‚ƒ„…†‡ˆ‰Š‹Œ�Ž��‘’“”•–—˜™š›œ�žŸ\u{a0}¡¢£¤¥¦§¨©ª«¬\u{ad}®¯°±²³´µ¶·¸¹º»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙ\
    ÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ";
const ISO_8859_15: &str = "\
    \u{80}\u{81}\u{82}\u{83}\u{84}\u{85}\u{86}\u{87}\u{88}\u{89}\u{8a}\u{8b}\u{8c}\u{8d}\u{8e}\u{8f}\
    \u{90}\u{91}\u{92}\u{93}\u{94}\u{95}\u{96}\u{97}\u{98}\u{99}\u{9a}\u{9b}\u{9c}\u{9d}\u{9e}\u{9f}\
    \u{a0}¡¢£€¥Š§š©ª«¬\u{ad}®¯°±²³Žµ¶·ž¹º»ŒœŸ¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõö÷øù\
    úûüýþÿ";

fuzz_target!(|data: &[u8]| {
    let Some(([number, cuts @ ..], bytes)) = data.split_first_chunk::<4>() else { return };
    let encoding = Encoding::ALL[usize::from(*number) % Encoding::ALL.len()];
    let Some((text, valid)) = naive(encoding, bytes) else { return others(encoding, bytes, *cuts) };
    let (start, has_nul) = (text.split('\0').next().unwrap_or_default(), text.contains('\0'));
    for cuts in [*cuts, [255; 3]] {
        let (decoded, result) = in_blocks(encoding, bytes, cuts);
        match result {
            Ok(()) => assert!(valid && !has_nul && decoded == text),
            Err(DecodeError::Nul) => assert!(has_nul && decoded == start),
            Err(DecodeError::Undecodable(wrong)) => {
                assert!(!valid && !has_nul && decoded == text, "{wrong:?}");
                assert_eq!(wrong.at, encoding.len_of(text.as_bytes()), "{wrong:?}");
                assert!(!wrong.bytes.is_empty() && bytes[wrong.at as usize..].starts_with(&wrong.bytes));
            }
        }
    }
    let mut again = b"before".to_vec();
    encoding.encode(&text, &mut again).expect("it was decoded");
    assert_eq!(again[6..], bytes[..again.len() - 6]);
    assert_eq!(encoding.len_of(text.as_bytes()), again.len() as u64 - 6);
    lines(encoding, &again[6..], &text);
    if let Ok(text) = std::str::from_utf8(bytes) {
        encode(encoding, text);
    }
    let _ = likely_encoding(bytes, bytes);
});

/// Encodings without a naive reading: blocks say what the whole says, and a text that was decoded is that text once it is encoded.
fn others(encoding: Encoding, bytes: &[u8], cuts: [u8; 3]) {
    let whole = encoding.decode(bytes);
    for cuts in [cuts, [255; 3]] {
        let (text, result) = in_blocks(encoding, bytes, cuts);
        assert_eq!(result.map(|()| text), whole);
    }
    if let Ok(text) = &whole {
        let mut again = Vec::new();
        if encoding.encode(text, &mut again).is_ok() {
            assert_eq!(encoding.decode(&again).as_ref(), Ok(text));
        }
        for len in (0..=text.len()).filter(|len| text.is_char_boundary(*len)) {
            let (taken, kept) = encoding.source_len(bytes, len);
            assert!(kept <= len && taken <= bytes.len());
        }
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        encode(encoding, text);
    }
}

/// The text before the first wrong byte, and whether there is none. `None`: there is no naive reading of the encoding.
fn naive(encoding: Encoding, bytes: &[u8]) -> Option<(String, bool)> {
    let table = |upper: &str| {
        let upper: Vec<char> = upper.chars().collect();
        let character = |byte: &u8| byte.checked_sub(128).map_or(*byte as char, |at| upper[usize::from(at)]);
        let text: String = bytes.iter().map(character).take_while(|c| *c != '\u{fffd}').collect();
        let valid = text.chars().count() == bytes.len();
        (text, valid)
    };
    let units = |order: fn([u8; 2]) -> u16| {
        let (pairs, rest) = bytes.as_chunks::<2>();
        let decoded: Vec<_> = char::decode_utf16(pairs.iter().map(|pair| order(*pair))).collect();
        let text: String = decoded.iter().map_while(|unit| unit.as_ref().ok()).collect();
        let valid = rest.is_empty() && decoded.iter().all(Result::is_ok);
        (text, valid)
    };
    Some(match encoding {
        Encoding::Utf8 => match std::str::from_utf8(bytes) {
            Ok(text) => (text.to_owned(), true),
            Err(error) => (String::from_utf8_lossy(&bytes[..error.valid_up_to()]).into_owned(), false),
        },
        Encoding::Utf16Le => units(u16::from_le_bytes),
        Encoding::Utf16Be => units(u16::from_be_bytes),
        Encoding::Windows1251 => table(WINDOWS_1251),
        Encoding::Windows1252 => table(WINDOWS_1252),
        Encoding::Iso8859_1 => (bytes.iter().map(|byte| *byte as char).collect(), true),
        Encoding::Iso8859_15 => table(ISO_8859_15),
        _ => return None,
    })
}

/// Decodes in blocks whose lengths repeat `cuts`; some may be empty.
fn in_blocks(encoding: Encoding, bytes: &[u8], cuts: [u8; 3]) -> (String, Result<(), DecodeError>) {
    let (mut decoder, mut out, mut rest) = (Decoder::new(encoding), String::new(), bytes);
    let cuts = [cuts[0], cuts[1], cuts[2].max(1)];
    for cut in cuts.iter().cycle() {
        let (block, after) = rest.split_at(usize::from(*cut).min(rest.len()));
        if let Err(error) = decoder.push(block, &mut out) {
            return (out, Err(error));
        }
        rest = after;
        if rest.is_empty() {
            break;
        }
    }
    let ended = decoder.finish(&mut out);
    (out, ended)
}

fn lines(encoding: Encoding, bytes: &[u8], text: &str) {
    let flat = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut scan = LineScan::new(encoding, 0);
    bytes.chunks(2).for_each(|block| scan.push(block));
    assert_eq!(scan.total(), flat.split_terminator('\n').count() as u64);
}

fn encode(encoding: Encoding, text: &str) {
    let mut out = Vec::new();
    match encoding.encode(text, &mut out) {
        // A NUL is a character of every encoding, and no text.
        Ok(()) => assert!(text.contains('\0') || encoding.decode(&out).as_deref() == Ok(text)),
        Err(lacking) => {
            assert!(out.is_empty());
            let flat = text.replace("\r\n", "\n").replace('\r', "\n");
            let line = flat.split('\n').nth(lacking.line as usize).expect("a line");
            assert_eq!(line.chars().nth(lacking.column as usize - 1), Some(lacking.character));
            assert!(encoding.encode(&lacking.character.to_string(), &mut out).is_err());
        }
    }
}
