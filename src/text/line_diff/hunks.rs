//! Writes runs of lines as hunks.
//!
//! Pure; does not compare lines. Changes share a hunk if at most twice as many equal lines are between them as a hunk has around its changes.

use super::bounded::BoundedText;
use super::windows::{CONTEXT, GAP};
use super::{Kind, Run};

struct Hunk {
    old_start: usize,
    new_start: usize,
    old_lines: usize,
    new_lines: usize,
    body: BoundedText,
}

/// Appends the hunks of `runs`, which lead from `old` to `new`, with `context` lines around the changes of each, at most [`CONTEXT`].
/// `gaps` are the numbers of lines of the gaps in both.
pub(super) fn write(
    out: &mut BoundedText,
    (old, new): (&str, &str),
    gaps: &[usize],
    runs: &[Run],
    context: usize,
) {
    let context = context.min(CONTEXT);
    let (mut old_rest, mut new_rest) = (old, new);
    let mut gaps = gaps.iter();
    let (mut old_line, mut new_line) = (1, 1);
    let mut before = "";
    let mut open: Option<Hunk> = None;
    for (nth, run) in runs.iter().enumerate() {
        let mut change = |mark, lines| {
            let room = out.room();
            let new = || Hunk::after(last_lines(before, context), old_line, new_line, room);
            open.get_or_insert_with(new).put(mark, lines);
        };
        match run.kind {
            Kind::Deleted => {
                change("-", take(&mut old_rest, run.bytes));
                old_line += run.lines;
            }
            Kind::Inserted => {
                change("+", take(&mut new_rest, run.bytes));
                new_line += run.lines;
            }
            Kind::Equal => {
                take(&mut new_rest, run.bytes);
                before = take(&mut old_rest, run.bytes);
                // Each gap has a line of its own.
                let passed = gaps.by_ref().take(count_gaps(before)).sum::<usize>();
                let lines = run.lines + passed - count_gaps(before);
                (old_line, new_line) = (old_line + lines, new_line + lines);
                let joins = run.lines <= 2 * context && nth + 1 < runs.len();
                match &mut open {
                    Some(hunk) if joins => hunk.put(" ", before),
                    _ => open.take().into_iter().for_each(|hunk| hunk.close(before, context, out)),
                }
            }
        }
    }
    open.into_iter().for_each(|hunk| hunk.close("", context, out));
}

fn take<'t>(rest: &mut &'t str, bytes: usize) -> &'t str {
    let (taken, left) = rest.split_at(bytes);
    *rest = left;
    taken
}

impl Hunk {
    /// A hunk of at most `room` bytes whose first change is at these lines, after the equal lines `before` that it shows.
    fn after(before: &str, old_line: usize, new_line: usize, room: usize) -> Hunk {
        let body = BoundedText::new(room);
        let mut hunk = Hunk { old_start: 0, new_start: 0, old_lines: 0, new_lines: 0, body };
        hunk.put(" ", before);
        (hunk.old_start, hunk.new_start) = (old_line - hunk.old_lines, new_line - hunk.new_lines);
        hunk
    }

    fn put(&mut self, mark: &str, lines: &str) {
        for line in lines.split_inclusive('\n') {
            self.old_lines += usize::from(mark != "+");
            self.new_lines += usize::from(mark != "-");
            if line.ends_with('\n') {
                self.body.put_line(&[mark, line]);
            } else {
                self.body.put_line(&[mark, line, "\n"]);
                self.body.put_line(&["\\ No newline at end of file\n"]);
            }
        }
    }

    /// Writes the hunk with the first `context` of the equal lines `after` it.
    fn close(mut self, after: &str, context: usize, out: &mut BoundedText) {
        after.split_inclusive('\n').take(context).for_each(|line| self.put(" ", line));
        let Hunk { old_start, new_start, old_lines, new_lines, body } = self;
        // The start of an empty side is the line before it.
        let start = |first: usize, lines: usize| first - usize::from(lines == 0);
        let (old_start, new_start) = (start(old_start, old_lines), start(new_start, new_lines));
        out.put(&format!("@@ -{old_start},{old_lines} +{new_start},{new_lines} @@\n"));
        out.put_all(body);
    }
}

/// Number of gaps in equal lines.
fn count_gaps(lines: &str) -> usize {
    memchr::memchr_iter(GAP, lines.as_bytes()).count()
}

/// Whether the first gap in the equal lines behind a change is too far from it to be context.
pub(super) fn shows_no_gap(lines: &str) -> bool {
    let is_far = |gap| memchr::memchr_iter(b'\n', &lines.as_bytes()[..gap]).count() >= CONTEXT;
    memchr::memchr(GAP, lines.as_bytes()).is_none_or(is_far)
}

/// The last `count` lines of `text`.
fn last_lines(text: &str, count: usize) -> &str {
    let Some(before) = count.checked_sub(1) else { return "" };
    let whole = text.strip_suffix('\n').unwrap_or(text);
    let brk = memchr::memrchr_iter(b'\n', whole.as_bytes()).nth(before);
    &text[brk.map_or(0, |brk| brk + 1)..]
}
