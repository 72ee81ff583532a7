//! Ranges of lines, and the parts of a text that a read can want. Pure: knows no file.

use std::ops::Range;

use folder::{Error, Result};

/// A range of lines, 0-based, both ends inclusive; an end may be open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LineRange {
    /// First line.
    pub start: Option<u64>,
    /// Last line; a number past the end means the last line.
    pub end: Option<u64>,
}

impl LineRange {
    /// Whether the range is the whole file.
    pub fn is_whole(&self) -> bool {
        self.start.is_none() && self.end.is_none()
    }

    pub(super) fn check(&self) -> Result<()> {
        match (self.start, self.end) {
            (Some(start), Some(end)) if start > end => Err(Error::InvalidRange { start, end }),
            _ => Ok(()),
        }
    }

    /// The range in a file of `total` lines, end exclusive.
    pub(super) fn within(&self, total: usize) -> Result<Range<usize>> {
        self.check()?;
        let end = self.end.map_or(total, |end| (end.saturating_add(1)).min(total as u64) as usize);
        match self.start {
            None => Ok(0..end),
            Some(start) if start >= total as u64 => Err(Error::StartPastEnd { start, total }),
            Some(start) => Ok(start as usize..end),
        }
    }
}

/// One end of a range of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEnd {
    /// This line, 0-based.
    At(u64),
    /// So many lines before the end; 1 is the last line. More than there are mean the first line at the start of a range, and
    /// are an error at its end.
    FromEnd(u64),
}

/// A range of lines, both ends included. Without an end: from the first line, or to the last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LineSpan {
    /// First line.
    pub start: Option<LineEnd>,
    /// Last line.
    pub end: Option<LineEnd>,
}

impl LineSpan {
    /// The first and the last line in a text of `total` lines, which need not be known if no end is counted from it.
    pub(super) fn lines(&self, total: u64) -> Result<(u64, u64)> {
        let line = |end: LineEnd| match end {
            LineEnd::At(line) => line,
            LineEnd::FromEnd(count) => total.saturating_sub(count),
        };
        if let Some(LineEnd::FromEnd(count)) = self.end
            && (1..count).contains(&total)
        {
            let problem = format!("it is before the first line; expected -{total} or more");
            return Err(Error::InvalidArguments { at: "end_line".into(), problem });
        }
        let (start, end) = (self.start.map_or(0, line), self.end.map_or(u64::MAX, line));
        if start > end { Err(Error::InvalidRange { start, end }) } else { Ok((start, end)) }
    }

    /// The range in a file of `total` lines, at most `most` lines of it, end exclusive.
    pub(super) fn within(&self, total: usize, most: Option<u64>) -> Result<Range<usize>> {
        let (start, end) = self.lines(total as u64)?;
        let start =
            matches!(self.start, Some(LineEnd::At(_))).then_some(start).or((total > 0).then_some(start));
        let lines = LineRange { start, end: Some(end) }.within(total)?;
        let most = usize::try_from(most.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
        Ok(lines.start..lines.end.min(lines.start.saturating_add(most)))
    }
}

/// The part of a file to read.
#[derive(Clone, Copy)]
pub(super) enum Selection {
    Lines(LineRange),
    /// So many lines at the end.
    Last(u64),
    /// Lines whose range may be counted from the end, at most so many.
    Span(LineSpan, Option<u64>),
    Bytes,
}

impl Selection {
    /// The lines in a file of `total` lines, end exclusive.
    pub(super) fn within(&self, total: usize) -> Result<Range<usize>> {
        match self {
            Selection::Lines(range) => range.within(total),
            Selection::Last(count) => Ok(total - (*count).min(total as u64) as usize..total),
            Selection::Span(span, most) => span.within(total, *most),
            Selection::Bytes => Ok(0..total),
        }
    }
}

/// The part of a text that is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextPart {
    /// All of it, breaks as they are.
    Whole,
    /// The first pieces between `\n`, without the last `\n`.
    Head(u64),
    /// The last pieces between `\n`; after a final `\n` there is an empty one.
    Tail(u64),
    /// Lines as contract 3 defines them.
    Lines(LineRange),
    /// So many lines at the end, as contract 3 defines them.
    LastLines(u64),
    /// Lines of a range whose ends may be counted from the end, at most so many.
    Span {
        /// The range.
        span: LineSpan,
        /// Number of lines.
        most: Option<u64>,
    },
    /// From this byte on: so many pieces between `\n`, as of the beginning, or all.
    From {
        /// The first byte. Inside a character: the next character's.
        byte: u64,
        /// Number of pieces.
        pieces: Option<u64>,
    },
    /// Lines, but only from this byte on, which is one of their first line.
    LinesFrom {
        /// The lines.
        range: LineRange,
        /// The first byte.
        byte: u64,
    },
}

impl TextPart {
    /// The same lines counted from the first one, in a text of `total` lines.
    pub fn counted(self, total: usize) -> TextPart {
        match self {
            TextPart::Span { span, most } => match span.within(total, most) {
                Ok(lines) if !lines.is_empty() => TextPart::Lines(LineRange {
                    start: Some(lines.start as u64),
                    end: Some(lines.end as u64 - 1),
                }),
                _ => self,
            },
            part => part,
        }
    }
}
