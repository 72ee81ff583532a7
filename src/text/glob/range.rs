//! Ranges in braces: `{1..5}`.

/// A set like `1..5`, `a..e` or `01..10..2`.
pub(super) struct Range {
    pub(super) from: i64,
    pub(super) to: i64,
    pub(super) step: u64,
    /// Numbers are padded with zeros to this width; 0: they are not.
    pub(super) width: usize,
    pub(super) letters: bool,
}

impl Range {
    pub(super) fn parse(body: &[u32]) -> Option<Range> {
        let body: String = body.iter().map(|&c| char::from_u32(c)).collect::<Option<_>>()?;
        let ends: Vec<&str> = body.split("..").collect();
        let (&[from, to], step) = match &ends[..] {
            [ends @ .., step] if ends.len() == 2 => (ends.first_chunk::<2>()?, Some(*step)),
            ends => (ends.first_chunk::<2>().filter(|_| ends.len() == 2)?, None),
        };
        let step_by = step.map_or(Some(1), |step| Some(number(step)?.unsigned_abs().max(1)))?;
        if let ([from], [to]) = (from.as_bytes(), to.as_bytes())
            && from.is_ascii_alphabetic()
            && to.is_ascii_alphabetic()
        {
            return Some(Range {
                from: i64::from(*from),
                to: i64::from(*to),
                step: step_by,
                width: 0,
                letters: true,
            });
        }
        let padded = [Some(from), Some(to), step].into_iter().flatten().any(is_padded);
        let width = if padded { from.len().max(to.len()) } else { 0 };
        Some(Range { from: number(from)?, to: number(to)?, step: step_by, width, letters: false })
    }
}

/// Decimal digits, with a minus at most; as far as it fits.
fn number(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let good = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    good.then(|| text.parse().unwrap_or(if digits.len() < text.len() { i64::MIN } else { i64::MAX }))
}

fn is_padded(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
    digits.len() > 1 && digits[0] == b'0'
}
