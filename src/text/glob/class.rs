//! Classes: `[a-c]`, `[!x]`, `[[:alpha:]_]`.

use std::ops::RangeInclusive;

/// Names of classes, what they stand for, and whether that is what they do *not* contain.
const NAMED: [(&str, &str, bool, bool); 14] = [
    ("[:alnum:]", r"\p{L}\p{Nl}\p{Nd}", true, false),
    ("[:alpha:]", r"\p{L}\p{Nl}", true, false),
    ("[:ascii:]", r"\x00-\x7f", false, false),
    ("[:blank:]", r"\p{Zs}\t", true, false),
    ("[:cntrl:]", r"\p{Cc}", true, false),
    ("[:digit:]", r"\p{Nd}", true, false),
    ("[:graph:]", r"\p{Z}\p{C}", true, true),
    ("[:lower:]", r"\p{Ll}", true, false),
    ("[:print:]", r"\p{C}", true, false), // sic
    ("[:punct:]", r"\p{P}", true, false),
    ("[:space:]", r"\p{Z}\t\r\n\x0B\x0C", true, false),
    ("[:upper:]", r"\p{Lu}", true, false),
    ("[:word:]", r"\p{L}\p{Nl}\p{Nd}\p{Pc}", true, false),
    ("[:xdigit:]", r"A-Fa-f0-9", false, false),
];

/// A set of characters, by code point or by UTF-16 unit.
#[derive(Debug, Clone, Default)]
struct Set(Vec<RangeInclusive<u32>>);

impl Set {
    fn contains(&self, c: u32) -> bool {
        self.0.iter().any(|range| range.contains(&c))
    }
}

/// What a class contains.
#[derive(Debug, Clone, Default)]
pub(super) struct Class {
    /// Characters and ranges as written, in UTF-16 units.
    listed: Set,
    /// Named classes.
    named: Set,
    /// What it does not contain, from named classes.
    outside: Set,
    negated: bool,
    has_inside: bool,
    has_outside: bool,
}

/// What stands at an opening bracket.
pub(super) enum Parsed {
    /// No class: the bracket is literal.
    Literal,
    /// A class that contains nothing; the rest of the pattern does not count.
    Nothing,
    /// A class of one character, which is literal, and the units it takes.
    One(u16, usize),
    /// A class, whether it is compared by code points, and the units it takes.
    Class(Class, bool, usize),
}

impl Class {
    pub(super) fn contains(&self, c: u32) -> bool {
        let inside = self.has_inside && (self.listed.contains(c) || self.named.contains(c)) != self.negated;
        let outside = self.has_outside && self.outside.contains(c) == self.negated;
        inside || outside
    }

    /// The number of its ranges.
    pub(super) fn len(&self) -> usize {
        self.listed.0.len() + self.named.0.len() + self.outside.0.len()
    }

    /// Whether the regular expression of the reference begins with a bracket, on which its guard against `.` and
    /// `..` depends.
    pub(super) fn is_single(&self) -> bool {
        !(self.has_inside && self.has_outside)
    }

    /// Reads UTF-16 units as code points.
    pub(super) fn join_surrogates(&mut self) {
        let mut joined: Vec<RangeInclusive<u32>> = Vec::new();
        for range in self.listed.0.drain(..) {
            let (low, high) = range.into_inner();
            match joined.last().cloned().map(RangeInclusive::into_inner) {
                Some((from, to)) if is_high(to) && is_low(low) => {
                    let c = join(to, low);
                    joined.pop();
                    joined.push(if from == to { c } else { from }..=if low == high { c } else { high });
                }
                _ => joined.push(low..=high),
            }
        }
        self.listed.0 = joined;
    }
}

pub(super) fn is_high(unit: u32) -> bool {
    (0xD800..0xDC00).contains(&unit)
}

pub(super) fn is_low(unit: u32) -> bool {
    (0xDC00..0xE000).contains(&unit)
}

pub(super) fn join(high: u32, low: u32) -> u32 {
    0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00)
}

/// Reads the class that begins at `glob[start]`, which is `[`.
pub(super) fn parse(glob: &[u16], start: usize) -> Parsed {
    let unit = |at: usize| glob.get(at).copied();
    let is = |at: usize, c: char| unit(at) == Some(c as u16);
    let mut class = Class::default();
    let (mut at, mut begun, mut escaping, mut unicode) = (start + 1, false, false, false);
    let mut seen: Vec<&[u16]> = Vec::new();
    let (mut range, mut entries) = (None, 0);
    if is(at, '!') || is(at, '^') {
        class.negated = true;
        at += 1;
    }
    let end = loop {
        let Some(c) = unit(at) else { return Parsed::Literal };
        if is(at, ']') && begun && !escaping {
            break at + 1;
        }
        begun = true;
        if is(at, '\\') && !escaping {
            escaping = true;
            at += 1;
            continue;
        }
        if is(at, '[')
            && !escaping
            && let Some((name, set, by_char, outside)) = named(&glob[at..])
        {
            if range.is_some() {
                return Parsed::Nothing;
            }
            unicode |= by_char;
            let text = &glob[at..at + name];
            at += name;
            if seen.contains(&text) {
                entries += usize::from(!outside);
                continue;
            }
            seen.push(text);
            if outside {
                class.outside.0.extend(set);
                class.has_outside = true;
            } else {
                class.named.0.extend(set);
                class.has_inside = true;
                entries += 1;
            }
            continue;
        }
        escaping = false;
        let c = u32::from(c);
        if let Some(low) = range.take() {
            at += 1;
            if c < low {
                continue; // an empty range
            }
            class.listed.0.push(low..=c);
        } else if is(at + 1, '-') && is(at + 2, ']') {
            class.listed.0.extend([c..=c, u32::from(b'-')..=u32::from(b'-')]);
            at += 2;
        } else if is(at + 1, '-') {
            range = Some(c);
            at += 2;
            continue;
        } else {
            class.listed.0.push(c..=c);
            at += 1;
        }
        class.has_inside = true;
        entries += 1;
    };
    match &class.listed.0[..] {
        _ if !class.has_inside && !class.has_outside => Parsed::Nothing,
        [only] if !class.negated && !class.has_outside && entries == 1 && only.start() == only.end() => {
            u16::try_from(*only.start()).map_or(Parsed::Nothing, |unit| Parsed::One(unit, end - start))
        }
        _ => Parsed::Class(class, unicode, end - start),
    }
}

/// The named class at the start of `glob`: its length, its characters, whether it is compared by code points, and
/// whether it contains all others.
fn named(glob: &[u16]) -> Option<(usize, Vec<RangeInclusive<u32>>, bool, bool)> {
    let starts =
        |name: &str| glob.len() >= name.len() && name.bytes().zip(glob).all(|(a, &b)| u16::from(a) == b);
    let (name, set, by_char, outside) = NAMED.iter().find(|(name, ..)| starts(name))?;
    Some((name.len(), ranges(set), *by_char, *outside))
}

fn ranges(set: &str) -> Vec<RangeInclusive<u32>> {
    let class = regex_syntax::parse(&format!("[{set}]")).map(regex_syntax::hir::Hir::into_kind);
    match class {
        Ok(regex_syntax::hir::HirKind::Class(regex_syntax::hir::Class::Unicode(class))) => {
            class.iter().map(|range| u32::from(range.start())..=u32::from(range.end())).collect()
        }
        _ => Vec::new(),
    }
}
