//! The text of an outline: by place with what is around each definition, or as a list by length or name.

use crate::tools::AnswerLimit;
use crate::tools::limited::{LimitedText, cursor_len};
use crate::tools::walking::{kept, path_kept};
use ::toolkit::outlines::{Definition, FileOutline, Kind, Outline, path_of, places};
use folder::{Passed, passed};

/// Which definitions are told.
#[derive(Debug)]
pub(super) struct Filter {
    /// Those of this name, or with a path that ends so.
    pub(super) name: Option<String>,
    pub(super) kind: Option<Kind>,
    pub(super) is_public: bool,
}

impl Filter {
    /// The last part of the name: outlines without this text have nothing of that name.
    pub(super) fn own_name(&self) -> Option<&str> {
        let name = self.name.as_deref()?.trim();
        let own = name.rsplit(['.', ':', '#', '>']).next().unwrap_or(name);
        // Without a name of its own, it may be a part of one.
        (!own.is_empty()).then_some(own)
    }

    /// The numbers of the definitions that are told.
    fn matches(&self, outline: &Outline) -> Vec<usize> {
        let of_kind = |one: &Definition| match self.kind {
            None => true,
            // A method is a function, too.
            Some(Kind::Function) => matches!(one.kind, Kind::Function | Kind::Method),
            Some(kind) => one.kind == kind,
        };
        let is_told = |number: &usize| {
            let one = &outline.definitions[*number];
            of_kind(one) && (one.is_public || !self.is_public)
        };
        match &self.name {
            None => (0..outline.definitions.len()).filter(is_told).collect(),
            Some(name) => named(outline, name).into_iter().filter(is_told).collect(),
        }
    }
}

/// The definitions of a name, also those that are one of several of it.
fn named(outline: &Outline, name: &str) -> Vec<usize> {
    let lines: Vec<(u32, String)> =
        places(outline, name).into_iter().map(|place| (place.line, place.path)).collect();
    let is_one = |number: &usize| {
        let line = outline.definitions[*number].line;
        lines.iter().any(|(of, path)| *of == line && *path == path_of(outline, *number))
    };
    if lines.is_empty() { Vec::new() } else { (0..outline.definitions.len()).filter(is_one).collect() }
}

/// Names that are told beside one that is not found.
const NEAR: usize = 5;

/// Names that hold this one or are held by it, without regard to case.
pub(super) fn near_names(files: &[FileOutline], name: &str) -> Vec<String> {
    let lower = name.to_lowercase();
    let mut near: Vec<String> = Vec::new();
    for outline in files.iter().filter_map(|file| Outline::unpacked(&file.packed)) {
        for one in &outline.definitions {
            let other = one.name.to_lowercase();
            if other.contains(&lower) && !near.contains(&one.name) {
                near.push(one.name.clone());
            }
            if near.len() >= NEAR {
                return near;
            }
        }
    }
    near
}

/// Where a list goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Position {
    /// Behind a definition of a file: the number of its folder, and of the definition; the path.
    Place(usize, usize, Vec<u8>),
    /// Behind so many entries.
    Count(u64),
}

impl Position {
    pub(super) fn text(&self) -> String {
        match self {
            Position::Place(folder, number, path) => format!("{folder} {number} {}", kept(path)),
            Position::Count(count) => count.to_string(),
        }
    }

    pub(super) fn parse(text: &str) -> Option<Position> {
        let mut parts = text.splitn(3, ' ');
        let first = parts.next()?;
        match (parts.next(), parts.next()) {
            (Some(number), Some(path)) => {
                Some(Position::Place(first.parse().ok()?, number.parse().ok()?, path_kept(path).into_owned()))
            }
            (None, None) => first.parse().ok().map(Position::Count),
            _ => None,
        }
    }
}

/// The text of the entries, and where it ends.
pub(super) struct Entries<'e> {
    filter: &'e Filter,
    list: LimitedText,
    most: u64,
    path_line: &'e dyn Fn(&FileOutline) -> String,
    last: Option<Position>,
    is_full: bool,
}

impl<'e> Entries<'e> {
    pub(super) fn new(
        filter: &'e Filter,
        limit: AnswerLimit,
        most: u64,
        path_line: &'e dyn Fn(&FileOutline) -> String,
    ) -> Entries<'e> {
        Entries { filter, list: LimitedText::new(limit), most, path_line, last: None, is_full: false }
    }

    pub(super) fn finish(self) -> (LimitedText, Option<Position>) {
        (self.list, self.last)
    }

    /// Each file's definitions below its path, in their places.
    pub(super) fn by_place(&mut self, files: &[FileOutline], after: Option<&Position>) {
        for file in files {
            let behind = match after.map(|after| reached(file, after)) {
                None | Some(Reached::Not) => None,
                Some(Reached::At(number)) => Some(number),
                Some(Reached::Past) => continue,
            };
            let Some(outline) = Outline::unpacked(&file.packed) else { continue };
            let mut matches = self.filter.matches(&outline);
            matches.retain(|number| behind.is_none_or(|behind| *number > behind));
            self.of_file(file, &outline, &matches);
        }
    }

    fn of_file(&mut self, file: &FileOutline, outline: &Outline, matches: &[usize]) {
        // The definitions whose lines stand in the text.
        let mut told: Vec<usize> = Vec::new();
        let mut has_head = false;
        for (nth, number) in matches.iter().enumerate() {
            let mut lines = Vec::new();
            if !has_head {
                lines.push(self.head(file, outline));
            }
            let around = outline.around(*number);
            // What is told of all needs no repeating but at the start of a page.
            let missing: Vec<usize> = around.iter().copied().filter(|one| !told.contains(one)).collect();
            for (depth, one) in around.iter().enumerate() {
                if missing.contains(one) {
                    lines.push(line(&outline.definitions[*one], depth));
                }
            }
            lines.push(line(&outline.definitions[*number], around.len()));
            if !self.push(&lines.join("\n"), &file.place.path) {
                self.list.count_more((matches.len() - nth) as u64);
                return;
            }
            has_head = true;
            told.extend(missing);
            told.push(*number);
            self.last = Some(Position::Place(
                file.place.folder,
                *number,
                file.place.path[file.place.base..].to_vec(),
            ));
        }
    }

    /// The line above the definitions of a file.
    fn head(&self, file: &FileOutline, outline: &Outline) -> String {
        let path = (self.path_line)(file);
        match outline.error {
            Some(error) => format!("{path} (syntax error in line {})", error.line),
            None => path,
        }
    }

    /// Adds lines of one entry, unless the answer is full. The first one always is, so that each page goes on.
    fn push(&mut self, lines: &str, path: &[u8]) -> bool {
        let needed = lines.len() + 1 + cursor_len(path.len());
        let fits = self.list.shown() == 0 || self.list.has_room(needed);
        if self.is_full || !fits || self.list.shown() >= self.most {
            self.is_full = true;
            return false;
        }
        if self.list.shown() > 0 {
            self.list.text_mut().push('\n');
        }
        self.list.text_mut().push_str(lines);
        self.list.count(true);
        true
    }

    /// All definitions, the longest first.
    pub(super) fn by_length(&mut self, files: &[FileOutline], after: Option<&Position>) {
        let mut all = self.all(files);
        text::order::sort_by_key(&mut all, |one| std::cmp::Reverse(one.length));
        self.list(&all, files, after, true);
    }

    /// All definitions by their names.
    pub(super) fn by_name(&mut self, files: &[FileOutline], after: Option<&Position>) {
        let mut all = self.all(files);
        text::order::sort_by(&mut all, |one, other| one.name.cmp(&other.name));
        self.list(&all, files, after, false);
    }

    fn all(&self, files: &[FileOutline]) -> Vec<One> {
        let mut all = Vec::new();
        for (file, outline) in files.iter().enumerate() {
            let Some(outline) = Outline::unpacked(&outline.packed) else { continue };
            for number in self.filter.matches(&outline) {
                let one = &outline.definitions[number];
                let around = outline.around(number).last().map(|around| path_of(&outline, *around));
                all.push(One {
                    file,
                    length: lines_of(one),
                    name: one.name.clone(),
                    text: text_of(one, around.as_deref()),
                });
            }
        }
        all
    }

    fn list(&mut self, all: &[One], files: &[FileOutline], after: Option<&Position>, with_length: bool) {
        let skip = match after {
            Some(Position::Count(count)) => *count,
            _ => 0,
        };
        let rest = all.get(usize::try_from(skip).unwrap_or(usize::MAX)..).unwrap_or_default();
        for (nth, one) in (1..).zip(rest) {
            let place = format!("{}:{}", (self.path_line)(&files[one.file]), one.text);
            let line = if with_length { format!("{} {place}", one.length) } else { place };
            if !self.push(&line, &[]) {
                self.list.count_more(rest.len() as u64 - (nth - 1));
                return;
            }
            self.last = Some(Position::Count(skip + nth));
        }
    }
}

/// A definition of a list.
struct One {
    file: usize,
    length: u32,
    name: String,
    /// What stands behind the path.
    text: String,
}

fn lines_of(one: &Definition) -> u32 {
    one.last.saturating_sub(one.line) + 1
}

fn text_of(one: &Definition, around: Option<&str>) -> String {
    let around = around.map_or(String::new(), |around| format!(" [in {around}]"));
    format!("{}-{} {}{around}", one.line, one.last, one.signature)
}

/// The line of a definition, so deep in others.
fn line(one: &Definition, depth: usize) -> String {
    format!("{:indent$}{}-{} {}", "", one.line, one.last, one.signature, indent = 2 * depth)
}

/// Where a file is to a place.
enum Reached {
    Not,
    At(usize),
    Past,
}

fn reached(file: &FileOutline, after: &Position) -> Reached {
    let Position::Place(folder, number, path) = after else { return Reached::Not };
    let below = file.place.path.get(file.place.base..).unwrap_or_default();
    match (file.place.folder.cmp(folder), passed(below, false, path)) {
        (std::cmp::Ordering::Less, _) => Reached::Past,
        (std::cmp::Ordering::Equal, _) if below == path => Reached::At(*number),
        (std::cmp::Ordering::Equal, Passed::Yes) => Reached::Past,
        _ => Reached::Not,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_read_back_whatever_the_path() {
        for position in [
            Position::Place(0, 7, b"a b/c.rs".to_vec()),
            Position::Place(3, 0, b"\xff 1".to_vec()),
            Position::Place(0, 0, Vec::new()),
            Position::Count(12),
        ] {
            assert_eq!(Position::parse(&position.text()), Some(position));
        }
        assert!(["", "x", "1 2", "a 2 c", "1 b c"].iter().all(|text| Position::parse(text).is_none()));
    }
}
