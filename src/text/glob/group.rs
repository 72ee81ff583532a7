//! Groups: where they begin, and which are merged with the group around them.

/// Whether a scan is inside a class, or behind a backslash, where a group cannot begin or end.
#[derive(Default)]
pub(super) struct Scan {
    escaping: bool,
    class: Option<(usize, bool)>,
}

impl Scan {
    /// Of character `c`, which ends at `end`.
    pub(super) fn is_inside(&mut self, c: u16, end: usize) -> bool {
        let is = |other: u8| c == u16::from(other);
        if self.escaping || is(b'\\') {
            self.escaping = !self.escaping;
            return true;
        }
        match &mut self.class {
            Some((start, negated)) if end == *start + 1 => *negated |= is(b'^') || is(b'!'),
            Some((start, negated)) if is(b']') && !(end == *start + 2 && *negated) => self.class = None,
            Some(_) => {}
            None if is(b'[') => self.class = Some((end, false)),
            None => return false,
        }
        true
    }
}

pub(super) fn group_kind(c: u16, next: Option<&u16>) -> Option<u8> {
    let kind = b"!?+*@".iter().find(|&&kind| u16::from(kind) == c)?;
    (next == Some(&u16::from(b'('))).then_some(*kind)
}

/// Whether `+(a|+(b|c))` is `+(a|b|c)`.
pub(super) fn adopts(kind: Option<u8>, inner: u8) -> bool {
    let kinds: &[u8] = match kind {
        Some(b'!' | b'@') => b"@",
        Some(b'?') => b"?@",
        Some(b'*') => b"*+?@",
        Some(b'+') => b"+@",
        _ => b"",
    };
    kinds.contains(&inner)
}

/// Whether `@(a|?(b|c))` is `@(a|b|c|)`.
pub(super) fn adopts_with_empty(kind: Option<u8>, inner: u8) -> bool {
    matches!((kind, inner), (Some(b'!' | b'@'), b'?') | (Some(b'+'), b'?' | b'*'))
}

/// What `?(*(a))` is: `*(a)`.
pub(super) fn replaced(kind: Option<u8>, inner: u8) -> Option<u8> {
    match (kind?, inner) {
        (b'!', b'!') => Some(b'@'),
        (b'?', b'*' | b'+') => Some(b'*'),
        (b'@', b'!' | b'?' | b'@' | b'*' | b'+') => Some(inner),
        (b'+', b'?' | b'*') => Some(b'*'),
        _ => None,
    }
}
