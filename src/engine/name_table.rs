//! The names in a folder, sorted. All names share one buffer, so that many files cost few allocations.

use std::ops::Range;

#[derive(Debug, Default)]
pub(crate) struct NameTable {
    text: String,
    names: Vec<Name>,
}

#[derive(Debug)]
struct Name {
    /// The bytes after the prefix that all names share, as far as they fit. Ordered like the names.
    key: u64,
    start: usize,
    len: usize,
}

impl Name {
    fn range(&self) -> Range<usize> {
        self.start..self.start + self.len
    }
}

impl NameTable {
    /// Adds one name.
    pub(crate) fn push(&mut self, name: &str) {
        self.names.push(Name { key: 0, start: self.text.len(), len: name.len() });
        self.text.push_str(name);
    }

    /// Sorts the names by their bytes. Names in a folder often share a long prefix, which makes comparisons
    /// slow; the keys skip that prefix.
    pub(crate) fn sort(&mut self) {
        let NameTable { text, names } = self;
        let text = text.as_bytes();
        let Some(first) = names.first().map(|name| &text[name.range()]) else { return };
        let alike = |name: &Name| first.iter().zip(&text[name.range()]).take_while(|(a, b)| a == b).count();
        let common = names.iter().map(alike).min().unwrap_or(0);
        for name in names.iter_mut() {
            name.key = key(&text[name.range()][common..]);
        }
        names.sort_unstable_by(|one, other| {
            one.key.cmp(&other.key).then_with(|| text[one.range()].cmp(&text[other.range()]))
        });
    }

    /// The ranges in the buffer of the names, in order. Call [`NameTable::sort`] first.
    pub(crate) fn sorted(&self) -> impl ExactSizeIterator<Item = Range<usize>> {
        self.names.iter().map(Name::range)
    }

    /// Number of names.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// The name `nth` in the order.
    pub(crate) fn nth(&self, nth: usize) -> Option<&str> {
        self.names.get(nth).map(|name| &self.text[name.range()])
    }

    /// The buffer.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the buffer and drops the rest.
    pub(crate) fn into_text(self) -> String {
        self.text
    }
}

/// The first eight bytes as a big-endian number. A shorter name sorts first, because no name holds a NUL.
fn key(bytes: &[u8]) -> u64 {
    let mut key = [0; 8];
    let len = bytes.len().min(key.len());
    key[..len].copy_from_slice(&bytes[..len]);
    u64::from_be_bytes(key)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sorted(names: &[String]) -> Vec<String> {
        let mut table = NameTable::default();
        names.iter().for_each(|name| table.push(name));
        table.sort();
        table.sorted().map(|range| table.text()[range].to_owned()).collect()
    }

    proptest! {
        #[test]
        fn names_come_in_the_order_of_their_bytes(
            names in prop::collection::vec("(file-|file-000|)[a-cé]{0,12}", 0..20),
        ) {
            let mut expected = names.clone();
            expected.sort();
            prop_assert_eq!(sorted(&names), expected);
        }
    }
}
