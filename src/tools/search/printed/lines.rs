//! Prints lines, matches, paths and counts of the files of a search.

use std::io::{self, Write};
use std::ops::Range;

use super::passages::{Passage, Passages};
use super::{Context, PrintRequest, Printed};
use crate::tools::numbered::count_breaks;
use engine::FoundFile;
use search::{LineMatcher, behind_break, line_end};

/// See the module.
pub(super) struct LinePrinter<'p> {
    scan: LineMatcher<'p>,
    request: &'p PrintRequest,
    out: &'p mut (dyn Write + Send),
    /// Lines were printed.
    has_lines: bool,
}

impl<'p> LinePrinter<'p> {
    pub(super) fn new(
        scan: LineMatcher<'p>,
        request: &'p PrintRequest,
        out: &'p mut (dyn Write + Send),
    ) -> LinePrinter<'p> {
        LinePrinter { scan, request, out, has_lines: false }
    }

    pub(super) fn file(&mut self, file: &FoundFile, path: &[u8]) -> io::Result<()> {
        let most = self.request.most.unwrap_or(usize::MAX) as u64;
        match self.request.printed {
            Printed::Nothing | Printed::Events(_) => Ok(()),
            Printed::Paths => self.line(&[path]),
            Printed::LineCounts => self.count(path, file.count.min(most)),
            Printed::MatchCounts => {
                let count = self.matches(file)?;
                self.count(path, count)
            }
            Printed::Lines(context) | Printed::Matches(context) => self.passages(file, path, context),
        }
    }

    pub(super) fn end(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn line(&mut self, parts: &[&[u8]]) -> io::Result<()> {
        parts.iter().try_for_each(|part| self.out.write_all(part))?;
        self.out.write_all(b"\n")
    }

    fn count(&mut self, path: &[u8], count: u64) -> io::Result<()> {
        let count = count.to_string();
        match self.request.head.path {
            true => self.line(&[path, b":", count.as_bytes()]),
            false => self.line(&[count.as_bytes()]),
        }
    }

    fn passages(&mut self, file: &FoundFile, path: &[u8], context: Context) -> io::Result<()> {
        let has_context = context != Context::default();
        let only_matches = matches!(self.request.printed, Printed::Matches(_));
        self.begin_file(path, has_context)?;
        let mut passages = Passages::new(file, context, self.request.most);
        while let Some(passage) = passages.next(&mut self.scan)? {
            if has_context && passage.is_behind_gap {
                self.out.write_all(b"--\n")?;
            }
            match only_matches && passage.is_match {
                true => self.each_match(file.text(), path, &passage)?,
                false => self.each_line(file.text(), path, &passage)?,
            }
        }
        Ok(())
    }

    fn each_line(&mut self, text: &[u8], path: &[u8], passage: &Passage) -> io::Result<()> {
        let Passage { bytes, line, is_match, .. } = passage;
        let (mut at, mut number) = (bytes.start, *line);
        while at < bytes.end {
            let end = behind_break(text, line_end(text, at..bytes.end));
            self.head(path, number, if *is_match { b":" } else { b"-" })?;
            self.text(&text[at..end])?;
            (at, number) = (end, number + 1);
        }
        Ok(())
    }

    fn each_match(&mut self, text: &[u8], path: &[u8], passage: &Passage) -> io::Result<()> {
        let lines = &text[passage.bytes.clone()];
        for found in matches_in(&mut self.scan, lines)? {
            let line = passage.line + count_breaks(&lines[..found.start]) as u64;
            self.head(path, line, b":")?;
            self.text(&lines[found])?;
        }
        Ok(())
    }

    /// What stands between files: a separator where lines around matches are told, or a heading.
    fn begin_file(&mut self, path: &[u8], has_context: bool) -> io::Result<()> {
        let is_first = !std::mem::replace(&mut self.has_lines, true);
        match self.request.head {
            head if head.heading => {
                if !is_first {
                    self.out.write_all(b"\n")?;
                }
                if head.path { self.line(&[path]) } else { Ok(()) }
            }
            _ if has_context && !is_first => self.out.write_all(b"--\n"),
            _ => Ok(()),
        }
    }

    fn head(&mut self, path: &[u8], number: u64, mark: &[u8]) -> io::Result<()> {
        let head = self.request.head;
        if head.path && !head.heading {
            self.out.write_all(path)?;
            self.out.write_all(mark)?;
        }
        if head.number {
            write!(self.out, "{number}")?;
            self.out.write_all(mark)?;
        }
        Ok(())
    }

    /// A line with its own break, or with one of its own if it is the last one and has none.
    fn text(&mut self, line: &[u8]) -> io::Result<()> {
        self.out.write_all(line)?;
        if line.ends_with(b"\n") { Ok(()) } else { self.out.write_all(b"\n") }
    }

    /// The number of matches in the lines that count.
    fn matches(&mut self, file: &FoundFile) -> io::Result<u64> {
        let mut count = 0;
        let mut passages = Passages::new(file, Context::default(), self.request.most);
        while let Some(passage) = passages.next(&mut self.scan)? {
            count += matches_in(&mut self.scan, &file.text()[passage.bytes])?.len() as u64;
        }
        Ok(count)
    }
}

/// The matches in the lines of a hit: those of nothing only where there are no others.
pub(super) fn matches_in(scan: &mut LineMatcher, lines: &[u8]) -> io::Result<Vec<Range<usize>>> {
    let mut all = Vec::new();
    let searched = scan.matches(lines, |found| {
        if !found.is_empty() {
            all.push(found);
        }
        true
    });
    searched.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?;
    if all.is_empty() {
        all.push(0..0);
    }
    Ok(all)
}
