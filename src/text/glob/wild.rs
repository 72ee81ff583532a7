//! Components of literal characters, `*` and `?` only.

/// See the module.
#[derive(Debug)]
pub(super) struct Wild {
    glob: Vec<char>,
    /// The characters before the first `*` or `?`.
    prefix: Box<str>,
    /// Those behind the last.
    suffix: Box<str>,
}

impl Wild {
    /// None: the component has other special characters, or none.
    pub(super) fn parse(text: &str) -> Option<Wild> {
        let wild = ['*', '?'];
        let (first, last) = (text.find(wild)?, text.rfind(wild)?);
        // `(` is special only behind some characters; those are rare enough.
        if text.contains(['[', '\\', '(']) {
            return None;
        }
        let mut glob: Vec<char> = text.chars().collect();
        glob.dedup_by(|one, other| *one == '*' && *other == '*');
        Some(Wild { glob, prefix: text[..first].into(), suffix: text[last + 1..].into() })
    }

    pub(super) fn matches(&self, component: &str) -> bool {
        let fits = component.len() >= self.prefix.len() + self.suffix.len()
            && component.starts_with(&*self.prefix)
            && component.ends_with(&*self.suffix)
            && !is_dots(component);
        if !fits {
            return false;
        }
        if component.is_ascii() {
            return self.follow(component.len(), |at| component.as_bytes()[at] as char);
        }
        // `?` is half of a character beyond the basic plane, so each of these counts twice.
        let units: Vec<u16> = component.encode_utf16().collect();
        let unit = |at: usize| char::from_u32(u32::from(units[at])).unwrap_or('\0');
        if units.len() == component.chars().count() {
            return self.follow(units.len(), unit);
        }
        let glob: Vec<u16> = self.glob.iter().collect::<String>().encode_utf16().collect();
        follow(
            glob.len(),
            units.len(),
            |at| glob[at] == u16::from(b'*'),
            |at, of| glob[at] == u16::from(b'?') || glob[at] == units[of],
        )
    }

    fn follow(&self, length: usize, char: impl Fn(usize) -> char) -> bool {
        let is_star = |at: usize| self.glob[at] == '*';
        follow(self.glob.len(), length, is_star, |at, of| self.glob[at] == '?' || self.glob[at] == char(of))
    }
}

/// Takes each star for as little as possible and goes back to the last star only: those before it are right already.
fn follow(
    pattern: usize,
    text: usize,
    is_star: impl Fn(usize) -> bool,
    same: impl Fn(usize, usize) -> bool,
) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut back = None;
    while t < text {
        if p < pattern && is_star(p) {
            back = Some((p + 1, t));
            p += 1;
        } else if p < pattern && same(p, t) {
            (p, t) = (p + 1, t + 1);
        } else if let Some((star, from)) = back {
            back = Some((star, from + 1));
            (p, t) = (star, from + 1);
        } else {
            return false;
        }
    }
    (p..pattern).all(is_star)
}

/// Whether a component is one that no pattern but itself matches.
pub(super) fn is_dots(component: &str) -> bool {
    matches!(component, "." | "..")
}
