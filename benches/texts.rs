//! Texts for the benches, equal in every run.

/// The sizes of the groups.
pub(crate) const SIZES: [(&str, usize); 3] = [("1KB", 1 << 10), ("1MB", 1 << 20), ("10MB", 10 << 20)];

/// Typical lines of sources and notes: empty, indented, quoted, not ASCII.
const LINES: [&str; 8] = [
    "",
    "}",
    "    let excerpt = workspace.read(&name, range, &control)?;",
    "\tprintln!(\"{name}: {lines} lines\");",
    "The lines of a file are what lies between its breaks, and a break at the end starts no further one.",
    "# Überschrift – größer als 1 €",
    "    if (count > limit) { return count - limit; }",
    "2026-11-21T10:07:15Z info served=/work/notes took=0.8",
];

/// Exactly `size` bytes in lines that end with `brk`, in an order that no branch predictor learns.
pub(crate) fn text(size: usize, brk: &str) -> String {
    let mut text = String::with_capacity(size + 128);
    let mut state = 1u64;
    while text.len() < size {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text.push_str(LINES[(state >> 61) as usize]);
        text.push_str(brk);
    }
    cut(&mut text, size, brk);
    text
}

/// Shortens `text` to `size` bytes, so that it ends with a line break.
fn cut(text: &mut String, size: usize, brk: &str) {
    let mut end = size - brk.len();
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    while text.ends_with(['\r', '\n']) {
        text.pop();
    }
    while text.len() < size - brk.len() {
        text.push('x');
    }
    text.push_str(brk);
}
