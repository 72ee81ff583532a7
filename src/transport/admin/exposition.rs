//! The text format of Prometheus, version 0.0.4. Knows no figures.

use std::fmt::{Display, Write};

/// Text that is built family by family.
#[derive(Debug, Default)]
pub(super) struct Exposition(String);

/// Labels of a sample, in this order.
type Labels<'l> = &'l [(&'l str, &'l str)];

impl Exposition {
    /// Begins a family. `kind`: `counter`, `gauge` or `histogram`. The samples follow.
    pub(super) fn family(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a String cannot fail, here and below.
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    /// A family of one sample without labels.
    pub(super) fn single(&mut self, name: &str, kind: &str, help: &str, value: impl Display) {
        self.family(name, kind, help);
        self.sample(name, &[], value);
    }

    pub(super) fn sample(&mut self, name: &str, labels: Labels, value: impl Display) {
        self.0.push_str(name);
        for (place, (label, text)) in labels.iter().enumerate() {
            let separator = if place == 0 { '{' } else { ',' };
            let _ = write!(self.0, "{separator}{label}=\"");
            self.escaped(text);
            self.0.push('"');
        }
        if !labels.is_empty() {
            self.0.push('}');
        }
        let _ = writeln!(self.0, " {value}");
    }

    pub(super) fn into_text(self) -> String {
        self.0
    }

    fn escaped(&mut self, text: &str) {
        for char in text.chars() {
            match char {
                '\\' => self.0.push_str("\\\\"),
                '"' => self.0.push_str("\\\""),
                '\n' => self.0.push_str("\\n"),
                char => self.0.push(char),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sample_is_a_line_and_texts_are_escaped() {
        let mut text = Exposition::default();
        text.single("a_total", "counter", "What it is.", 7);
        text.family("b", "gauge", "Another.");
        text.sample("b", &[("x", "1"), ("y", "a\\b\"c\nd")], 0.5);
        assert_eq!(
            text.into_text(),
            "# HELP a_total What it is.\n# TYPE a_total counter\na_total 7\n\
             # HELP b Another.\n# TYPE b gauge\nb{x=\"1\",y=\"a\\\\b\\\"c\\nd\"} 0.5\n"
        );
    }
}
