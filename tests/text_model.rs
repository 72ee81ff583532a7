//! The naive reading of contract 5: exact-text edits one after the other on a copy of the text, for tests and fuzzing.

// By its path, because the fuzz targets take this file by its path, too.
#[path = "text_model/breaks.rs"]
mod breaks;

/// A byte, and where it was in the text before the call.
type Origin = (u8, Option<usize>);

/// One edit of a call.
#[derive(Clone, Debug)]
pub(crate) struct Edit {
    pub(crate) old_text: String,
    pub(crate) new_text: String,
    pub(crate) occurrences: u64,
}

/// The text after all edits and how often each replaced its text, or the first edit that finds its text another number
/// of times, and that number.
pub(crate) fn edit(text: &str, edits: &[Edit]) -> Result<(String, Vec<u64>), (usize, u64)> {
    let (bom, body) = match text.strip_prefix('\u{FEFF}') {
        Some(body) => ("\u{FEFF}", body),
        None => ("", text),
    };
    let only = only_break(body);
    let mut now: Vec<Origin> = body.bytes().enumerate().map(|(at, byte)| (byte, Some(at))).collect();
    let mut counts = Vec::new();
    for (number, edit) in edits.iter().enumerate() {
        let bytes: Vec<u8> = now.iter().map(|(byte, _)| *byte).collect();
        let found = matches(&bytes, edit.old_text.as_bytes());
        if found.len() as u64 != edit.occurrences {
            return Err((number, found.len() as u64));
        }
        counts.push(found.len() as u64);
        let new = only.map_or(edit.new_text.clone(), |only| with_breaks(&edit.new_text, only));
        for (start, end) in found.into_iter().rev() {
            now.splice(start..end, new.bytes().map(|byte| (byte, None)));
        }
    }
    let has_several = only.is_none() && body.contains(['\n', '\r']);
    Ok((bom.to_owned() + &written(body, &now, has_several), counts))
}

/// The text `now`. Where the text `body` has several kinds of breaks, new lines get those of their places.
fn written(body: &str, now: &[Origin], has_several: bool) -> String {
    let (mut out, mut at, mut new) = (Vec::new(), 0, Vec::new());
    for (byte, origin) in now.iter().chain([&(0, Some(body.len()))]) {
        let Some(origin) = *origin else {
            new.push(*byte);
            continue;
        };
        let is_joined = at < origin && body[..at].ends_with('\r') && body[origin..].starts_with('\n');
        if has_several && new.is_empty() && is_joined {
            new.push(b'\n');
        } else if has_several && !new.is_empty() {
            let text = String::from_utf8(new).expect("text");
            new = breaks::placed(&body[..at], &body[at..origin], &body[origin..], &text).into_bytes();
        }
        out.append(&mut new);
        out.extend(body.as_bytes().get(origin));
        at = origin + 1;
    }
    String::from_utf8(out).expect("text")
}

/// The one kind of break in `text`, if there is one.
fn only_break(text: &str) -> Option<&'static str> {
    let without_crlf = text.replace("\r\n", "");
    let kinds = [
        ("\n", without_crlf.contains('\n')),
        ("\r\n", text.contains("\r\n")),
        ("\r", without_crlf.contains('\r')),
    ];
    let mut there = kinds.iter().filter(|(_, there)| *there);
    match (there.next(), there.next()) {
        (Some((only, _)), None) => Some(only),
        _ => None,
    }
}

fn with_breaks(text: &str, only: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n").replace('\n', only)
}

fn matches(text: &[u8], old: &[u8]) -> Vec<(usize, usize)> {
    if old.is_empty() {
        return if text.is_empty() { vec![(0, 0)] } else { Vec::new() };
    }
    let as_given = greedy(text, |at| text[at..].starts_with(old).then(|| at + old.len()), old);
    if old.contains(&b'\n') && (as_given.is_empty() || !old.contains(&b'\r')) {
        return greedy(text, |at| any_break(text, at, old), old);
    }
    as_given
}

fn greedy(text: &[u8], end: impl Fn(usize) -> Option<usize>, old: &[u8]) -> Vec<(usize, usize)> {
    let inside = |at: usize| 0 < at && text[at - 1] == b'\r' && text.get(at) == Some(&b'\n');
    let (mut found, mut at) = (Vec::new(), 0);
    while at < text.len() {
        let cut = |end: usize| old[0] == b'\n' && inside(at) || old[old.len() - 1] == b'\r' && inside(end);
        match end(at).filter(|&end| !cut(end)) {
            Some(end) => {
                found.push((at, end));
                at = end;
            }
            None => at += 1,
        }
    }
    found
}

/// Where `old` ends if the text has it at `at`, any break for each of its `\n` or `\r\n`.
fn any_break(text: &[u8], mut at: usize, old: &[u8]) -> Option<usize> {
    let mut old = old;
    while let Some(byte) = old.first() {
        let (is_break, len) = if old.starts_with(b"\r\n") { (true, 2) } else { (*byte == b'\n', 1) };
        at += match (is_break, text.get(at)?, text.get(at + 1)) {
            (true, b'\r', Some(b'\n')) => 2,
            (true, b'\n', _) if 0 < at && text[at - 1] == b'\r' => return None,
            (true, b'\r' | b'\n', _) => 1,
            (false, found, _) if byte == found => 1,
            _ => return None,
        };
        old = &old[len..];
    }
    Some(at)
}
