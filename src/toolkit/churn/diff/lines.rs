//! The lines of two texts as numbers: equal lines have equal numbers. A line ends behind `\n`, which belongs to it.

use xxhash_rust::xxh3::xxh3_64;

/// Lines of one text between its equal ends. More would take too much memory.
const MAX_LINES: usize = 1 << 20;

/// A text has more lines than are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooManyLines;

/// The lines of one side.
#[derive(Debug, Default)]
pub(super) struct Side {
    /// The numbers of the lines between the equal ends.
    pub(super) lines: Vec<u32>,
    /// All lines of the text.
    pub(super) total: usize,
    /// How often the whole text has each numbered line.
    pub(super) occurrences: Vec<u32>,
}

/// Two texts without the lines that are equal at both ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trimmed<'t> {
    before: &'t [u8],
    pub(super) middles: [&'t [u8]; 2],
    behind: &'t [u8],
}

impl Trimmed<'_> {
    /// Takes the equal lines off both ends.
    pub(super) fn new<'t>(old: &'t [u8], new: &'t [u8]) -> Trimmed<'t> {
        let same = old.iter().zip(new).take_while(|(one, other)| one == other).count();
        let start = memchr::memrchr(b'\n', &old[..same]).map_or(0, |at| at + 1);
        let (old_rest, new_rest) = (&old[start..], &new[start..]);
        let same =
            old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(one, other)| one == other).count();
        let (old_end, new_end) = (old_rest.len() - same, new_rest.len() - same);
        let begins_line = |rest: &[u8], at: usize| at == 0 || rest[at - 1] == b'\n';
        let skipped = match begins_line(old_rest, old_end) && begins_line(new_rest, new_end) {
            true => 0,
            false => memchr::memchr(b'\n', &old_rest[old_end..]).map_or(same, |at| at + 1),
        };
        Trimmed {
            before: &old[..start],
            middles: [&old_rest[..old_end + skipped], &new_rest[..new_end + skipped]],
            behind: &old_rest[old_end + skipped..],
        }
    }

    /// Numbers the lines of both middles.
    pub(super) fn number(&self) -> Result<[Side; 2], TooManyLines> {
        let mut table = Table::default();
        let mut sides = [Side::default(), Side::default()];
        for (side, middle) in sides.iter_mut().zip(self.middles) {
            for line in lines(middle) {
                if side.lines.len() == MAX_LINES {
                    return Err(TooManyLines);
                }
                side.lines.push(table.number(line));
            }
        }
        let mut ends = vec![0; table.known.len()];
        let mut outside = 0;
        for line in lines(self.before).chain(lines(self.behind)) {
            outside += 1;
            if let Some(number) = table.find(line) {
                ends[number as usize] += 1;
            }
        }
        for side in &mut sides {
            side.total = side.lines.len() + outside;
            side.occurrences = ends.clone();
            for &number in &side.lines {
                side.occurrences[number as usize] += 1;
            }
        }
        Ok(sides)
    }
}

/// The lines of a text.
pub(super) fn lines(mut text: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let end = memchr::memchr(b'\n', text).map_or(text.len(), |at| at + 1);
        let (line, rest) = text.split_at(end);
        text = rest;
        (!line.is_empty()).then_some(line)
    })
}

/// Numbers for lines: a hash table with open addresses, at most half full.
#[derive(Debug, Default)]
struct Table<'t> {
    /// 1 more than the number; 0: free.
    places: Vec<u32>,
    known: Vec<(u64, &'t [u8])>,
}

impl<'t> Table<'t> {
    /// The number of a line, a new one if it is not known.
    fn number(&mut self, line: &'t [u8]) -> u32 {
        if 2 * self.known.len() >= self.places.len() {
            self.grow();
        }
        let hash = xxh3_64(line);
        let (place, found) = self.look(hash, line);
        found.unwrap_or_else(|| {
            self.known.push((hash, line));
            self.places[place] = self.known.len() as u32;
            self.known.len() as u32 - 1
        })
    }

    fn find(&self, line: &[u8]) -> Option<u32> {
        if self.places.is_empty() { None } else { self.look(xxh3_64(line), line).1 }
    }

    /// The number of the line, or the place for it.
    fn look(&self, hash: u64, line: &[u8]) -> (usize, Option<u32>) {
        let mask = self.places.len() - 1;
        let mut place = hash as usize & mask;
        while let Some(number) = self.places[place].checked_sub(1) {
            let (other_hash, other) = self.known[number as usize];
            if other_hash == hash && other == line {
                return (place, Some(number));
            }
            place = (place + 1) & mask;
        }
        (place, None)
    }

    fn grow(&mut self) {
        let len = (2 * self.places.len()).max(256);
        self.places.clear();
        self.places.resize(len, 0);
        for (number, (hash, _)) in self.known.iter().enumerate() {
            let mut place = *hash as usize & (len - 1);
            while self.places[place] != 0 {
                place = (place + 1) & (len - 1);
            }
            self.places[place] = number as u32 + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_ends_are_whole_lines() {
        for (old, new, middles) in [
            ("a\nb\nc\n", "a\nx\nc\n", ["b\n", "x\n"]),
            ("a\n", "a\nb\n", ["", "b\n"]),
            ("a", "a\n", ["a", "a\n"]),
            ("xa\n", "ya\n", ["xa\n", "ya\n"]),
            ("a\na\n", "a\na\na\n", ["", "a\n"]),
            ("b\nxc\nd\n", "b\nyc\nd\n", ["xc\n", "yc\n"]),
            ("a\nxb", "a\nb", ["xb", "b"]),
            ("", "a\n", ["", "a\n"]),
            ("same\n", "same\n", ["", ""]),
        ] {
            let trimmed = Trimmed::new(old.as_bytes(), new.as_bytes());
            assert_eq!(trimmed.middles, middles.map(str::as_bytes), "{old:?} {new:?}");
            let total = [trimmed.before, trimmed.middles[0], trimmed.behind].concat();
            assert_eq!(total, old.as_bytes());
        }
    }

    #[test]
    fn equal_lines_have_equal_numbers_and_are_counted_in_the_whole_texts() {
        let [old, new] = Trimmed::new(b"a\nb\nc\nb\nz", b"a\nb\nq\nb\nx\nz").number().unwrap();
        assert_eq!((&old.lines, &new.lines), (&vec![0, 1], &vec![2, 1, 3]));
        assert_eq!((old.total, new.total), (5, 6));
        assert_eq!((old.occurrences, new.occurrences), (vec![1, 2, 0, 0], vec![0, 2, 1, 1]));
    }

    #[test]
    fn many_lines_are_told_apart_and_too_many_refused() {
        let text: String = (0..5_000).map(|n| format!("{}\n", n % 3_000)).collect();
        let [old, _] = Trimmed::new(text.as_bytes(), b"").number().unwrap();
        assert!(old.lines.iter().enumerate().all(|(at, &number)| number as usize == at % 3_000));
        assert!(Trimmed::new(&vec![b'\n'; MAX_LINES + 1], b"").number().is_err());
    }
}
