//! The nesting that an edit leaves, compared with that of the exact edit.
//!
//! A program is a tree of lines. The file shows it in one unit of indentation, the edit shows a part of it in another one,
//! some levels further in or out, with other blanks at the ends of lines. What is taken must be, byte for byte, what the
//! same edit in the file's own indentation gives. What goes on with a call is aligned below its bracket; where the old text has
//! such a line anywhere else, only the other lines are compared, because no indentation of it changes a program. Lists are those of YAML: what is in an item is indented by its mark.

use proptest::prelude::*;

use super::edited;

/// One line: how it is indented, and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    indents: Vec<Indent>,
    /// So many fewer of them it has in the file: inside a string, what was sent may be indented otherwise than the file.
    fewer: usize,
    /// How much deeper than its call an aligned line was sent, if not as in the file.
    hangs: Option<usize>,
    core: String,
    /// The blanks at its end in the file, and in both texts of the edit.
    tails: [&'static str; 3],
}

impl Row {
    /// Whether it is of a string, or begins or ends one.
    fn is_string(&self) -> bool {
        self.core.starts_with('t') || self.core.contains("\"\"\"")
    }

    /// Whether it goes on with a call.
    fn is_aligned(&self) -> bool {
        matches!(self.indents.last(), Some(Indent::Aligned(_)))
    }

    /// How it was sent to be indented.
    fn sent(&self) -> Vec<Indent> {
        let mut indents = self.indents.clone();
        if let (Some(Indent::Aligned(blanks)), Some(sent)) = (indents.last_mut(), self.hangs) {
            *blanks = sent;
        }
        indents
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Indent {
    Level,
    /// Below the mark of a list item.
    Mark,
    /// Below the character behind an open bracket, so many blanks deeper.
    Aligned(usize),
}

/// Choices, which end in zeros.
struct Tape<'t>(std::slice::Iter<'t, u8>, usize);

impl Tape<'_> {
    fn below(&mut self, most: usize) -> usize {
        self.0.next().map_or(0, |&byte| usize::from(byte) % most)
    }

    fn tail(&mut self) -> &'static str {
        ["", "", "", "  ", " ", "\t"][self.below(6)]
    }

    /// Lines below `indents`: keys, each alone or with lines or a list below it.
    fn rows(&mut self, indents: &[Indent], lists: bool, room: usize, out: &mut Vec<Row>) {
        for nth in 0..1 + self.below(3) {
            let is_item = lists && nth == 0 && indents.last() == Some(&Indent::Mark);
            // The first key of an item stands behind its mark.
            let own = if is_item { &indents[..indents.len() - 1] } else { indents };
            self.1 += 1;
            let core = format!("{}k{}:", if is_item { "- " } else { "" }, self.1);
            let tails = [self.tail(), self.tail(), ""];
            let tails = [tails[0], tails[1], tails[1]];
            if !is_item && self.below(5) == 1 {
                self.texts(indents, lists, out);
            }
            if !lists && self.below(6) == 1 {
                let name = ["", " = f"][self.below(2)];
                let begin = format!("k{}{name}(a,", self.1);
                let aligned = Indent::Aligned(begin.len() - 2);
                let hangs = (self.below(3) == 1).then(|| [4, 2, 8, 3][self.below(4)]);
                let call = |indents, hangs, core| Row { indents, fewer: 0, hangs, core, tails };
                out.push(call(own.to_vec(), None, begin));
                out.push(call([own, &[aligned]].concat(), hangs, format!("b{})", self.1)));
                continue;
            }
            out.push(Row { indents: own.to_vec(), fewer: 0, hangs: None, core, tails });
            if room == 0 {
                continue;
            }
            let deeper = [indents, &[Indent::Level]].concat();
            match self.below(4) {
                0 | 1 => {}
                2 if lists => {
                    for _ in 0..1 + self.below(2) {
                        self.rows(&[&deeper[..], &[Indent::Mark]].concat(), lists, room - 1, out);
                    }
                }
                _ => self.rows(&deeper, lists, room - 1, out),
            }
        }
    }

    /// Comments, or a string of several lines: what tells nothing of nesting.
    fn texts(&mut self, indents: &[Indent], lists: bool, out: &mut Vec<Row>) {
        let (is_string, lines) = (!lists && self.below(2) == 1, 1 + self.below(2));
        self.1 += 1;
        let number = self.1;
        let inner = (0..lines).map(|nth| format!("{}{number}.{nth}", if is_string { "t" } else { "# c" }));
        let mut cores: Vec<String> = inner.collect();
        if is_string {
            cores.insert(0, format!("\"\"\"s{number}"));
            cores.push(format!("e{number}\"\"\""));
        }
        let is_out = is_string && !indents.is_empty() && self.below(3) == 1;
        for core in cores {
            let tails = [self.tail(), self.tail()];
            let fewer = usize::from(is_out && core.starts_with('t'));
            let tails = [tails[0], tails[1], tails[1]];
            out.push(Row { indents: indents.to_vec(), fewer, hangs: None, core, tails });
        }
    }

    /// Another version of a part of a program: lines below one are removed with it, put in beside it, or nested deeper.
    fn changed(&mut self, old: &[Row], lists: bool) -> Vec<Row> {
        let (mut new, mut at) = (Vec::new(), 0);
        // Lines further out in front of it, however many levels.
        if let Some(first) = old.first().filter(|row| {
            !row.indents.is_empty() && !row.is_string() && !row.is_aligned() && self.below(6) == 1
        }) {
            let out = &first.indents[..self.below(first.indents.len())];
            self.rows(out, false, 1, &mut new);
        }
        while at < old.len() {
            let row = &old[at];
            let below =
                old[at + 1..].iter().take_while(|other| row.indents.len() < other.indents.len()).count();
            let (end, key) = (at + 1 + below, &row.indents);
            // A line like the one before it, blanks included.
            if row.core.starts_with('t') && self.below(3) == 1 {
                self.1 += 1;
                new.push(row.clone());
                new.push(Row { core: format!("t{}", self.1), tails: [""; 3], ..row.clone() });
                at += 1;
                continue;
            }
            // Nothing else is put into a string.
            let choice = if row.is_string() && !row.core.ends_with('"') { 6 } else { self.below(7) };
            match choice {
                // Nothing begins between the lines of a call.
                0..3 if row.is_string() || row.is_aligned() => {
                    new.push(row.clone());
                    at += 1;
                }
                0 => at = end,
                1 => {
                    self.rows(key, false, 2, &mut new);
                    new.push(row.clone());
                    at += 1;
                }
                2 if !lists && !row.is_aligned() => {
                    self.1 += 1;
                    let core = format!("if{}:", self.1);
                    new.push(Row {
                        indents: key.clone(),
                        fewer: 0,
                        hangs: None,
                        core,
                        tails: ["", "", self.tail()],
                    });
                    new.extend(old[at..end].iter().cloned().map(|mut row| {
                        row.indents.insert(0, Indent::Level);
                        row
                    }));
                    at = end;
                }
                3 => {
                    new.push(Row { tails: [row.tails[0], row.tails[1], self.tail()], ..row.clone() });
                    at += 1;
                }
                4 if !key.is_empty() => {
                    new.push(row.clone());
                    let out = &key[..self.below(key.len())];
                    // Nothing in it is deeper than a level below the line before it.
                    if at + 1 == old.len() && !row.core.ends_with(',') {
                        self.rows(out, false, 1, &mut new);
                    }
                    at += 1;
                }
                _ => {
                    new.push(row.clone());
                    at += 1;
                }
            }
        }
        // A string that the file has not yet stands as it was sent.
        let is_new = |row: &Row| !old.iter().any(|old| old.core == row.core);
        new.iter_mut().filter(|row| is_new(row)).for_each(|row| row.hangs = None);
        let is_new = |row: &Row| row.core.contains('.') && is_new(row);
        new.iter_mut().filter(|row| is_new(row)).for_each(|row| row.fewer = 0);
        new
    }
}

/// The blanks of a line in a unit, with `more` or fewer levels in front. None if it has too few.
fn blanks(indents: &[Indent], unit: &str, more: isize) -> Option<String> {
    let shift = if more < 0 { -more as usize } else { 0 };
    let rest = indents.get(shift..).filter(|_| indents[..shift].iter().all(|&one| one == Indent::Level))?;
    let own = rest.iter().map(|indent| match indent {
        Indent::Level => unit.to_owned(),
        Indent::Mark => "  ".to_owned(),
        Indent::Aligned(blanks) => " ".repeat(*blanks),
    });
    Some(unit.repeat(more.max(0) as usize) + &own.collect::<String>())
}

/// The text of lines, each with the blanks at its end of one side: 0 of the file, 1 of the old text, 2 of the new one.
fn text(rows: &[Row], unit: &str, more: isize, side: usize) -> Option<String> {
    let line = |row: &Row| {
        let fewer = if side == 0 { row.fewer } else { 0 };
        let indents = if side == 0 { row.indents.clone() } else { row.sent() };
        Some(blanks(&indents[fewer..], unit, more)? + &row.core + row.tails[side])
    };
    rows.iter().map(line).collect::<Option<Vec<String>>>().map(|lines| lines.join("\n"))
}

/// What the exact edit puts into the file: blanks at ends that the edit does not change stay the file's.
fn exact(old: &[Row], new: &[Row], unit: &str) -> String {
    let line = |row: &Row| {
        let was = old.iter().find(|old| old.core == row.core);
        let tail = was.filter(|was| was.tails[1] == row.tails[2]).map_or(row.tails[2], |was| was.tails[0]);
        blanks(&row.indents[row.fewer..], unit, 0).unwrap_or_default() + &row.core + tail
    };
    new.iter().map(line).collect::<Vec<String>>().join("\n")
}

/// A file, an edit of it, and what the exact edit gives.
#[derive(Debug)]
struct Case {
    file: String,
    old: String,
    new: String,
    expected: String,
    /// Whether the old text fits a second place.
    is_twice: bool,
    /// Whether aligned lines were sent otherwise than the file has them.
    hangs: bool,
}

fn case(tape: &[u8], lists: bool) -> Option<Case> {
    let mut tape = Tape(tape.iter(), 0);
    let units = ["    ", "  ", "\t", "   ", " ", "        "];
    let (unit, sent_unit) = (units[tape.below(6)], units[tape.below(6)]);
    let more = [0, 0, 1, -1, 2, -2][tape.below(6)];
    let mut rows = Vec::new();
    tape.rows(&[], lists, 4, &mut rows);
    let start = tape.below(rows.len());
    let end = (start + 1 + tape.below(6)).min(rows.len());
    let new = tape.changed(&rows[start..end], lists);
    let old = &rows[start..end];
    let (sent_old, sent_new) = (text(old, sent_unit, more, 1)?, text(&new, sent_unit, more, 2)?);
    let is_same = old
        .iter()
        .all(|row| blanks(&row.sent(), sent_unit, more) == blanks(&row.indents[row.fewer..], unit, 0));
    let file = text(&rows, unit, 0, 0)?;
    let replaced = match is_same {
        // The exact edit puts in what was sent.
        true => {
            let tail = |row: &Row| exact(old, std::slice::from_ref(row), "").trim_start().len();
            let line = |row: &Row| {
                let blanks = blanks(&row.sent(), sent_unit, more).unwrap_or_default();
                let flat = exact(old, &[Row { indents: Vec::new(), fewer: 0, ..row.clone() }], "");
                assert!(tail(row) <= flat.len());
                blanks + &flat
            };
            new.iter().map(line).collect::<Vec<String>>().join("\n")
        }
        false => exact(old, &new, unit),
    };
    let parts = [text(&rows[..start], unit, 0, 0)?, replaced, text(&rows[end..], unit, 0, 0)?];
    let hangs = old.iter().chain(&new).any(|row| row.hangs.is_some());
    let edges = [tape.below(3) == 1 && start > 0, tape.below(3) == 1 && end < rows.len()];
    let has = [start > 0, !new.is_empty() || edges == [false; 2], end < rows.len()];
    let parts: Vec<String> =
        parts.into_iter().zip(has).filter(|(_, has)| *has).map(|(part, _)| part).collect();
    Some(
        Case { file, old: sent_old, new: sent_new, expected: parts.join("\n"), is_twice: false, hangs }
            .with(edges, &mut tape),
    )
}

impl Case {
    /// The same edit with the breaks around its lines in both texts, and perhaps with a second place in the file.
    fn with(self, [before, behind]: [bool; 2], tape: &mut Tape) -> Case {
        let brk = |has: bool| if has { "\n" } else { "" };
        let text = |text: String| match text.is_empty() {
            true => brk(before && behind).to_owned(),
            false => format!("{}{text}{}", brk(before), brk(behind)),
        };
        let twice = tape.below(8) == 1;
        let again = |text: String| if twice { format!("{text}\nagain:\n{}\n\n", self.old) } else { text };
        let (file, expected) = (again(self.file), again(self.expected));
        Case { file, expected, old: text(self.old.clone()), new: text(self.new), is_twice: twice, ..self }
    }
}

/// Whether a line goes on with a call.
fn is_aligned(line: &str) -> bool {
    line.trim().starts_with('b')
}

/// Whether the edit is taken. Fails if it gives something else than the exact edit.
fn is_taken(case: &Case) -> bool {
    match edited(&case.file, &case.old, &case.new) {
        Some(text) => {
            assert!(!case.is_twice, "one of several places: {case:#?}");
            let told = [&text, &case.expected].map(|text| {
                let aside = |line| if case.hangs && is_aligned(line) { line.trim() } else { line };
                text.split('\n').map(aside).collect::<Vec<&str>>()
            });
            assert_eq!(told[0], told[1], "{case:#?}");
            true
        }
        None => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn an_edit_of_a_program_that_is_taken_nests_as_the_exact_one(
        tape in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        case(&tape, false).iter().for_each(|case| { is_taken(case); });
    }

    #[test]
    fn an_edit_of_a_document_with_lists_that_is_taken_nests_as_the_exact_one(
        tape in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        case(&tape, true).iter().for_each(|case| { is_taken(case); });
    }
}

#[test]
fn most_edits_of_programs_are_taken() {
    let mut seed = 1u64;
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as u8
    };
    let tapes: Vec<Vec<u8>> = (0..4_000).map(|_| (0..200).map(|_| next()).collect()).collect();
    let cases: Vec<Case> = tapes.iter().filter_map(|tape| case(tape, false)).collect();
    let taken = cases.iter().filter(|case| is_taken(case)).count();
    assert!(cases.len() > 2_000 && taken * 10 > cases.len() * 6, "{taken} of {}", cases.len());
}
