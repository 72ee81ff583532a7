//! Numbers of places as one argument: `"1-4,7"`, `"41-"` or 7.

use std::ops::RangeInclusive;

use crate::tools::arguments::{Argument, Value};
use folder::Result;
use text::order;

/// Maximum number of ranges.
const MOST: usize = 10_000;

const EXPECTED: &str = "numbers of places such as \"1-4,7\"";

/// See the module. The ranges are sorted, and none touches another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Numbers(Vec<RangeInclusive<u64>>);

impl Numbers {
    pub(super) fn has(&self, number: u64) -> bool {
        self.has_one_of(number..=number)
    }

    /// Whether one of these places is among them.
    pub(super) fn has_one_of(&self, numbers: RangeInclusive<u64>) -> bool {
        let behind = self.0.partition_point(|range| range.end() < numbers.start());
        self.0.get(behind).is_some_and(|range| range.start() <= numbers.end())
    }

    /// A number that is given and greater than `last`.
    pub(super) fn beyond(&self, last: u64) -> Option<u64> {
        let given = self.0.iter().flat_map(|range| [*range.start(), *range.end()]);
        given.filter(|number| *number != u64::MAX).find(|number| *number > last)
    }

    fn parse(text: &str) -> Option<Numbers> {
        let mut ranges = Vec::new();
        for part in text.split([',', ' ']).filter(|part| !part.is_empty()) {
            let number = |text: &str| text.trim().parse::<u64>().ok().filter(|number| *number > 0);
            let (first, last) = match part.split_once('-') {
                None => (number(part)?, number(part)?),
                Some((first, "")) => (number(first)?, u64::MAX),
                Some((first, last)) => (number(first)?, number(last)?),
            };
            if first > last || ranges.len() == MOST {
                return None;
            }
            ranges.push(first..=last);
        }
        order::sort_by_key(&mut ranges, |range| *range.start());
        let mut apart: Vec<RangeInclusive<u64>> = Vec::new();
        for range in ranges {
            match apart.last_mut().filter(|before| before.end().saturating_add(1) >= *range.start()) {
                Some(before) => *before = *before.start()..=*before.end().max(range.end()),
                None => apart.push(range),
            }
        }
        (!apart.is_empty()).then_some(Numbers(apart))
    }
}

impl Argument for Numbers {
    fn expected() -> String {
        EXPECTED.into()
    }

    fn schema(out: &mut String) {
        String::schema(out);
    }

    fn read(value: &Value) -> Result<Numbers> {
        let json = value.json();
        let text = match json.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Some(items) => items.replace('"', ""),
            None if json.starts_with('"') => value.string()?.trim_matches(['[', ']']).to_owned(),
            None => json.to_owned(),
        };
        Numbers::parse(&text).ok_or_else(|| value.wrong(EXPECTED))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::LineBase;
    use crate::tools::arguments::tests::read;

    #[test]
    fn numbers_are_taken_in_the_usual_forms_and_nothing_else() {
        let read = |json: &str| read::<Numbers>(json, LineBase::One);
        for (json, ranges) in [
            ("\"1-4,7\"", vec![1..=4, 7..=7]),
            ("7", vec![7..=7]),
            ("[1, \"3-4\"]", vec![1..=1, 3..=4]),
            ("\"7,1-4,3-5,6\"", vec![1..=7]),
            ("\" 2, 5- \"", vec![2..=2, 5..=u64::MAX]),
        ] {
            assert_eq!(read(json).unwrap(), Numbers(ranges), "{json}");
        }
        for json in ["\"0\"", "\"4-1\"", "\"a\"", "\"-3\"", "true", "[]", "\"1-2-3\"", "{}"] {
            assert!(read(json).is_err(), "{json}");
        }
        let numbers = Numbers(vec![2..=3, 9..=u64::MAX]);
        assert!(numbers.has(3) && !numbers.has(4) && numbers.has_one_of(4..=9) && !numbers.has_one_of(4..=8));
        assert_eq!((numbers.beyond(8), numbers.beyond(9)), (Some(9), None));
    }
}
