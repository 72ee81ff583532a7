//! Braces: `a{b,c{1..3}}` becomes `ab`, `ac1`, `ac2`, `ac3`.
//!
//! Follows `brace-expansion` 5.0, odd cases included: a set of one member keeps its braces, `${` opens no set, empty
//! alternatives are dropped where a pattern begins with a comma set, and one level of escapes is taken off. Where the
//! reference cuts the result short, this fails instead.

use super::range::Range;
use super::{GlobBudget, GlobError};

/// Text while it is expanded: code points, and the marks below.
type Text = Vec<u32>;

/// Characters that an escape made literal, as code points that no text has.
const ESCAPED: [(u32, char); 5] =
    [(0x11_0000, '\\'), (0x11_0001, '{'), (0x11_0002, '}'), (0x11_0003, ','), (0x11_0004, '.')];
const ESCAPED_CLOSE: u32 = 0x11_0002;
/// Stands for an opening brace that has no partner, in the copy of a text that is searched for pairs.
const UNMATCHED: u32 = 0x11_0005;

const OPEN: u32 = '{' as u32;
const CLOSE: u32 = '}' as u32;
const COMMA: u32 = ',' as u32;
const DOLLAR: u32 = '$' as u32;

/// Most alternatives that a pattern may have.
pub(super) const MAX_ALTERNATIVES: usize = 1_000;
/// Most characters that its alternatives may have together.
pub(super) const MAX_TEXT: usize = 1 << 18;
/// Deepest nesting of sets.
const MAX_DEPTH: usize = 100;

/// The alternatives of `pattern`, in order. There may be none.
pub(super) fn expand(pattern: &str, budget: &mut GlobBudget) -> Result<Vec<String>, GlobError> {
    if !has_pair(pattern) {
        return Ok(vec![pattern.to_owned()]);
    }
    let escaped = match pattern.strip_prefix("{}") {
        Some(rest) => escape(&format!("\\{{\\}}{rest}")),
        None => escape(pattern),
    };
    let expanded = Expander { budget }.expand(escaped, 0, true)?;
    Ok(expanded.iter().map(|text| unescape(text)).collect())
}

/// Whether a pair of braces stands on one line; without one nothing is expanded, and escapes stay.
fn has_pair(pattern: &str) -> bool {
    let mut open = false;
    for c in pattern.chars() {
        match c {
            '{' => open = true,
            '}' if open => return true,
            c if ends_line(c as u32) => open = false,
            _ => {}
        }
    }
    false
}

fn ends_line(c: u32) -> bool {
    matches!(c, 0x0A | 0x0D | 0x2028 | 0x2029)
}

fn escape(pattern: &str) -> Text {
    let mut text = Text::with_capacity(pattern.len());
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        let escaped = chars.peek().and_then(|next| ESCAPED.iter().find(|(_, of)| c == '\\' && of == next));
        text.push(match escaped {
            Some(&(mark, _)) => {
                chars.next();
                mark
            }
            None => c as u32,
        });
    }
    text
}

fn unescape(text: &[u32]) -> String {
    let plain = |&c: &u32| match ESCAPED.iter().find(|(mark, _)| *mark == c) {
        Some(&(_, of)) => of,
        None => char::from_u32(c).unwrap_or(char::REPLACEMENT_CHARACTER),
    };
    text.iter().map(plain).collect()
}

struct Expander<'b> {
    budget: &'b mut GlobBudget,
}

/// A text split at its first set.
struct Split<'t> {
    before: &'t [u32],
    body: &'t [u32],
    after: &'t [u32],
    close: usize,
}

impl Expander<'_> {
    fn spend(&mut self, steps: usize) -> Result<(), GlobError> {
        self.budget.work(steps)
    }

    fn expand(&mut self, mut text: Text, depth: usize, mut top: bool) -> Result<Vec<Text>, GlobError> {
        if depth > MAX_DEPTH {
            return Err(GlobError::TooDeep);
        }
        self.spend(16)?;
        let mut all = vec![Text::new()];
        let (mut drop_empty, mut first) = (false, true);
        let mut searched = mask_unmatched(&text);
        self.spend(text.len())?;
        loop {
            let Some(split) = self.split(&text, &searched)? else {
                return self.combine(&all, &text, &[Text::new()], drop_empty);
            };
            let last = split.after.is_empty();
            let values = if split.before.last() == Some(&DOLLAR) {
                first = false;
                vec![[&[OPEN], split.body, &[CLOSE]].concat()]
            } else {
                let sequence = Range::parse(split.body);
                if sequence.is_none() && !split.body.contains(&COMMA) {
                    self.spend(split.after.len())?;
                    if !set_follows(split.after) {
                        return self.combine(&all, &text, &[Text::new()], drop_empty);
                    }
                    // `{a},b}`: the brace is literal, and the set ends at a later one.
                    let close = split.close;
                    (text[close], searched[close], top) = (ESCAPED_CLOSE, ESCAPED_CLOSE, true);
                    searched = mask_unmatched(&searched);
                    continue;
                }
                if std::mem::take(&mut first) {
                    drop_empty = top && sequence.is_none();
                }
                match sequence {
                    Some(sequence) => self.sequence(&sequence)?,
                    None => self.members(split.body, depth)?,
                }
            };
            all = self.combine(&all, split.before, &values, drop_empty && last)?;
            if last {
                return Ok(all);
            }
            let rest = split.close + 1;
            (text, searched) = (text.split_off(rest), searched.split_off(rest));
        }
    }

    fn split<'t>(&mut self, text: &'t [u32], searched: &[u32]) -> Result<Option<Split<'t>>, GlobError> {
        let found = pair(searched);
        self.spend(found.map_or(text.len(), |(_, close)| close + 1))?;
        Ok(found.map(|(open, close)| Split {
            before: &text[..open],
            body: &text[open + 1..close],
            after: &text[close + 1..],
            close,
        }))
    }

    /// What a comma set stands for.
    fn members(&mut self, body: &[u32], depth: usize) -> Result<Vec<Text>, GlobError> {
        self.spend(body.len())?;
        let mut parts = comma_parts(body);
        if parts.len() == 1 {
            // `{{a,b}}` becomes `{a}` and `{b}`.
            let inner = self.expand(parts.remove(0), depth + 1, false)?;
            parts = inner.iter().map(|part| [&[OPEN], &part[..], &[CLOSE]].concat()).collect();
            if parts.len() == 1 {
                return Ok(parts);
            }
        }
        let mut values = Vec::new();
        let mut length = 0;
        for part in parts {
            for value in self.expand(part, depth + 1, false)? {
                length += value.len();
                values.push(value);
                within(values.len(), length)?;
            }
        }
        Ok(values)
    }

    /// Each of `all` followed by `before` and each of `values`.
    fn combine(
        &mut self,
        all: &[Text],
        before: &[u32],
        values: &[Text],
        drop_empty: bool,
    ) -> Result<Vec<Text>, GlobError> {
        let (mut combined, mut length) = (Vec::new(), 0);
        for start in all {
            for value in values {
                self.spend(1)?;
                let size = start.len() + before.len() + value.len();
                if drop_empty && size == 0 {
                    continue;
                }
                length += size;
                within(combined.len() + 1, length)?;
                combined.push([start, before, value].concat());
            }
        }
        Ok(combined)
    }

    /// The values of `1..5` or `a..e..2`.
    fn sequence(&mut self, sequence: &Range) -> Result<Vec<Text>, GlobError> {
        let &Range { from, to, step, width, letters } = sequence;
        let count = usize::try_from(from.abs_diff(to) / step).unwrap_or(usize::MAX);
        within(count.saturating_add(1), count.saturating_mul(width))?;
        let step = i64::try_from(step).unwrap_or(i64::MAX);
        let mut values = Vec::with_capacity(count + 1);
        let mut at = from;
        for _ in 0..=count {
            self.spend(width.max(1))?;
            values.push(match letters {
                true if at == i64::from(b'\\') => Text::new(),
                true => vec![at as u32],
                false if at < 0 => format!("-{:0>1$}", at.unsigned_abs(), width.saturating_sub(1))
                    .chars()
                    .map(u32::from)
                    .collect(),
                false => format!("{at:0>width$}").chars().map(u32::from).collect(),
            });
            at = if to < from { at.saturating_sub(step) } else { at.saturating_add(step) };
        }
        Ok(values)
    }
}

fn within(alternatives: usize, text: usize) -> Result<(), GlobError> {
    match (alternatives > MAX_ALTERNATIVES, text > MAX_TEXT) {
        (true, _) => Err(GlobError::TooManyAlternatives),
        (_, true) => Err(GlobError::TooLongExpanded),
        _ => Ok(()),
    }
}

/// Whether a comma that no other follows stands before a brace on the same line.
fn set_follows(text: &[u32]) -> bool {
    let mut closed = false;
    for (at, &c) in text.iter().enumerate().rev() {
        match c {
            CLOSE => closed = true,
            COMMA if closed && text.get(at + 1) != Some(&COMMA) => return true,
            c if ends_line(c) => closed = false,
            _ => {}
        }
    }
    false
}

/// The members of a set; commas inside inner sets do not part them.
fn comma_parts(body: &[u32]) -> Vec<Text> {
    let (mut parts, mut depth) = (vec![Text::new()], 0usize);
    for &c in &mask_unmatched(body) {
        match c {
            OPEN => depth += 1,
            CLOSE => depth = depth.saturating_sub(1),
            _ => {}
        }
        match parts.last_mut() {
            Some(part) if c != COMMA || depth > 0 => part.push(if c == UNMATCHED { OPEN } else { c }),
            _ => parts.push(Text::new()),
        }
    }
    parts
}

/// The first outermost pair of braces in a text whose unmatched braces are masked.
fn pair(searched: &[u32]) -> Option<(usize, usize)> {
    let open = searched.iter().position(|&c| c == OPEN)?;
    let mut depth = 0usize;
    let close = searched[open..].iter().position(|&c| {
        depth = match c {
            OPEN => depth + 1,
            CLOSE => depth - 1,
            _ => depth,
        };
        depth == 0
    })?;
    Some((open, open + close))
}

fn mask_unmatched(text: &[u32]) -> Text {
    let (mut masked, mut open) = (text.to_vec(), Vec::new());
    for (at, &c) in text.iter().enumerate() {
        match c {
            OPEN => open.push(at),
            CLOSE => drop(open.pop()),
            _ => {}
        }
    }
    for at in open {
        masked[at] = UNMATCHED;
    }
    masked
}
