//! Random edits, patches, replaces, moves, copies, deletions, undos and writes of other programs, against a model of lines.
//!
//! A short run here. `perf/model` plays a million steps: FILE_EDITOR_STEPS says how many, FILE_EDITOR_SEED with which numbers,
//! FILE_EDITOR_SEEDS how many runs with the next ones, FILE_EDITOR_KINDS (3 or more; 12) how many of the changes are edits.

use std::io::Write;
use std::time::Instant;

use self::lines::{Effect, FileNumber, Files, replace, text, undone};
use self::plans::{Plan, operation, parsed, patch};
use super::undo::{Dirs, change_with, undo};
use super::*;
use text::patch::FilePatch;

mod lines;
mod plans;

const FOLDERS: usize = 4;
const MOST_FILES: usize = 20;
const MOST_LINES: usize = 30;
const WORDS: u64 = 6;
/// Changes that may still be taken back.
const HISTORY: usize = 40;

/// The size of the journal, in bytes, so that old changes go: it has some more than [`HISTORY`].
const JOURNAL: u64 = 64 << 10;

/// A change that is in the journal.
struct Made {
    number: ChangeNumber,
    effects: Vec<Effect>,
    /// The change that it takes back or does again, or itself; and whether it takes that one back.
    of: (ChangeNumber, bool),
    is_undone: bool,
}

struct Model {
    random: u64,
    dirs: Dirs,
    servers: Vec<Workspace>,
    files: Files,
    made: Vec<Made>,
    /// The next number of a file, and of a line.
    next: (FileNumber, u64),
    /// Whether nobody else has written since the last change.
    is_alone: bool,
    /// Of how many kinds a change of a file is: a move, a copy and a deletion are one each, and edits the others.
    kinds: usize,
    /// How many undos were carried out and refused.
    undos: [u64; 2],
}

impl Model {
    fn new(seed: u64, kinds: usize) -> Model {
        let dirs = Dirs::new(&Tree::new());
        let servers = (0..2).map(|_| dirs.open_fast(JOURNAL)).collect();
        let (files, made, next) = (Files::new(), Vec::new(), (0, 0));
        let random = seed.wrapping_mul(2).wrapping_add(1);
        Model { random, dirs, servers, files, made, next, is_alone: true, kinds, undos: [0; 2] }
    }

    /// A number below `end`.
    fn below(&mut self, end: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) as usize % end.max(1)
    }

    fn new_lines(&mut self, most: usize) -> Vec<String> {
        let count = self.below(most + 1);
        let line = |model: &mut Model| {
            model.next.1 += 1;
            format!("w{} l{}", model.below(WORDS as usize), model.next.1)
        };
        (0..count).map(|_| line(self)).collect()
    }

    fn new_path(&mut self) -> String {
        self.next.0 += 1;
        format!("d{}/f{}", self.below(FOLDERS), self.next.0)
    }

    fn any_file(&mut self) -> Option<FileNumber> {
        let nth = self.below(self.files.len());
        self.files.keys().nth(nth).copied()
    }

    fn step(&mut self) {
        match self.below(100) {
            0..45 => self.job(),
            45..52 => self.replace_word(),
            52..68 => self.undo_one(0),
            68..86 => {
                let back = self.below(HISTORY);
                self.undo_one(back);
            }
            86..98 => self.other_program(),
            _ => {
                let server = self.below(2);
                self.servers[server] = self.dirs.open_fast(JOURNAL);
            }
        }
    }

    /// A change of one to four files.
    fn job(&mut self) {
        let (mut plans, mut effects) = (Vec::new(), Vec::<Effect>::new());
        let mut touched = Vec::new();
        for _ in 0..=self.below(4) {
            let Some(file) = self.any_file().filter(|_| self.files.len() > 2 && self.below(8) > 0) else {
                if self.files.len() < MOST_FILES {
                    let (path, lines) = (self.new_path(), self.new_lines(8));
                    plans.push((path.clone(), Plan::Content(text(&lines))));
                    touched.push(self.made_file(path, lines, &mut effects));
                }
                continue;
            };
            if touched.contains(&file) {
                continue;
            }
            touched.push(file);
            let plan = self.plan(file, &mut effects, &mut touched);
            plans.push(plan);
        }
        self.run(plans, effects);
    }

    fn made_file(&mut self, path: String, lines: Vec<String>, effects: &mut Vec<Effect>) -> FileNumber {
        self.next.0 += 1;
        let file = self.next.0;
        self.files.insert(file, (path.clone(), lines.clone()));
        effects.push(Effect::Made { file, lines });
        file
    }

    fn plan(
        &mut self,
        file: FileNumber,
        effects: &mut Vec<Effect>,
        touched: &mut Vec<FileNumber>,
    ) -> (String, Plan) {
        let (path, lines) = self.files[&file].clone();
        match self.below(self.kinds) {
            0 => {
                let to = self.new_path();
                self.files.insert(file, (to.clone(), lines));
                effects.push(Effect::Moved { file, from: path.clone() });
                (path, Plan::Move(to))
            }
            1 if self.files.len() < MOST_FILES => {
                let to = self.new_path();
                touched.push(self.made_file(to.clone(), lines, effects));
                (path, Plan::Copy(to))
            }
            2 => {
                self.files.remove(&file);
                effects.push(Effect::Gone { file, path: path.clone(), lines });
                (path, Plan::Delete)
            }
            kind => {
                let plan = self.edit(file, kind < 5, effects);
                (path, plan)
            }
        }
    }

    /// Replaces one to three ranges of lines that do not touch.
    fn edit(&mut self, file: FileNumber, by_patch: bool, effects: &mut Vec<Effect>) -> Plan {
        let old = self.files[&file].1.clone();
        let (mut at, mut ranges) = (0, Vec::new());
        for _ in 0..=self.below(3) {
            let start = at + self.below(6);
            if start > old.len() {
                break;
            }
            let len = self.below(3).min(old.len() - start);
            let most = if old.len() < MOST_LINES { 3 } else { 0 };
            let new = self.new_lines(most);
            if len + new.len() > 0 {
                ranges.push((start, len, new));
                at = start + len + 1;
            }
        }
        let (mut lines, mut regions) = (old.clone(), Vec::new());
        for (start, len, new) in ranges.iter().rev() {
            regions.push(replace(&mut lines, *start, *len, new.clone()));
        }
        let (path, now) = self.files.get_mut(&file).unwrap();
        let plan = if by_patch && !ranges.is_empty() {
            Plan::Patch(patch(path, &old, &ranges))
        } else {
            let offset = |line: usize| text(&old[..line]).len();
            let splice = |(start, len, new): &(usize, usize, Vec<String>)| Splice {
                at: offset(*start)..offset(start + len),
                text: Cow::Owned(text(new).into_bytes()),
            };
            Plan::Splices(ranges.iter().map(splice).collect())
        };
        *now = lines;
        if !regions.is_empty() {
            effects.push(Effect::Edited { file, regions });
        }
        plan
    }

    /// Replaces a word in all files.
    fn replace_word(&mut self) {
        let (from, to) =
            (format!("w{} ", self.below(WORDS as usize)), format!("w{} ", self.below(WORDS as usize)));
        let (mut plans, mut effects) = (Vec::new(), Vec::new());
        for (file, (path, lines)) in &mut self.files {
            let (mut regions, mut splices, mut at) = (Vec::new(), Vec::new(), 0);
            for number in 0..lines.len() {
                let line = lines[number].clone();
                if from != to
                    && let Some(rest) = line.strip_prefix(&from)
                {
                    let text = Cow::Owned(to.clone().into_bytes());
                    splices.push(Splice { at: at..at + from.len(), text });
                    regions.push(replace(lines, number, 1, vec![format!("{to}{rest}")]));
                }
                at += line.len() + 1;
            }
            if !regions.is_empty() {
                plans.push((path.clone(), Plan::Splices(splices)));
                effects.push(Effect::Edited { file: *file, regions });
            }
        }
        self.run(plans, effects);
    }

    fn run(&mut self, plans: Vec<(String, Plan)>, effects: Vec<Effect>) {
        let server = self.below(2);
        let workspace = &self.servers[server];
        let patches: Vec<Vec<FilePatch>> = plans.iter().map(|(_, plan)| parsed(plan)).collect();
        let mut operations = Vec::new();
        for ((path, plan), patch) in plans.iter().zip(patches) {
            operations.push(operation(workspace, path, plan, patch));
        }
        let done = change_with(workspace, &mut operations);
        let done = done.unwrap_or_else(|error| panic!("{error:?}"));
        match done.recorded {
            Some(Recorded::Change(number)) => {
                self.made.push(Made { number, effects, of: (number, false), is_undone: false });
                self.is_alone = true;
            }
            Some(other) => panic!("{other:?}"),
            None => assert!(effects.is_empty(), "it is not in the journal"),
        }
    }

    /// Takes a change back, `back` before the last.
    fn undo_one(&mut self, back: usize) {
        let Some(at) = self.made.len().checked_sub(1 + back) else { return };
        let must_be_done = back == 0 && self.is_alone;
        let mut files = self.files.clone();
        let effects = undone(&self.made[at].effects, &mut files);
        let server = self.below(2);
        let number = self.made[at].number;
        let done = undo(&self.servers[server], number);
        assert!(done.is_err() || !self.made[at].is_undone, "c{number} was taken back twice");
        let Ok(done) = done else {
            assert!(!must_be_done, "the undo of the last change, c{number}, is refused: {done:?}");
            self.undos[1] += 1;
            return;
        };
        let effects =
            effects.unwrap_or_else(|| panic!("c{number} was taken back: {:?}", self.made[at].effects));
        self.files = files;
        self.undos[0] += 1;
        match done.recorded {
            Some(Recorded::Change(by)) => {
                let (first, is_undo) = self.made[at].of;
                let within_reach = self.made.iter_mut().rev().take(HISTORY);
                for made in within_reach.filter(|made| made.of.0 == first) {
                    made.is_undone = made.of.1 == is_undo;
                }
                self.made.push(Made { number: by, effects, of: (first, !is_undo), is_undone: false });
                self.is_alone = true;
            }
            other => assert!(other.is_none() && effects.is_empty(), "{other:?}"),
        }
    }

    /// Another program writes to a file, deletes one, or makes one.
    fn other_program(&mut self) {
        self.is_alone = false;
        let top = self.dirs.path().to_owned();
        match (self.any_file(), self.below(8)) {
            (Some(file), 0) => {
                let (path, _) = self.files.remove(&file).unwrap();
                std::fs::remove_file(top.join(path)).unwrap();
            }
            (Some(file), 1..7) => {
                _ = self.edit(file, false, &mut Vec::new());
                let (path, lines) = &self.files[&file];
                std::fs::write(top.join(path), text(lines)).unwrap();
            }
            _ if self.files.len() < MOST_FILES => {
                let (path, lines) = (self.new_path(), self.new_lines(8));
                std::fs::create_dir_all(top.join(&path).parent().unwrap()).unwrap();
                std::fs::write(top.join(&path), text(&lines)).unwrap();
                self.made_file(path, lines, &mut Vec::new());
            }
            _ => {}
        }
    }

    /// Compares all files.
    fn check(&self) {
        let expected: BTreeMap<_, _> =
            self.files.values().map(|(path, lines)| (path.clone(), text(lines))).collect();
        let there = self.dirs.tree().into_iter().filter_map(|(path, text)| Some((path, text?)));
        assert_eq!(there.collect::<BTreeMap<_, _>>(), expected);
    }
}

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

fn play(steps: u64, seed: u64, kinds: usize) {
    let (mut model, start) = (Model::new(seed, kinds), Instant::now());
    for step in 1..=steps {
        let played = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            model.step();
            model.check();
        }));
        assert!(played.is_ok(), "step {step} of seed {seed}");
        if step % 10_000 == 0 || step == steps {
            let [done, refused] = model.undos;
            let seconds = start.elapsed().as_secs();
            let told = format!(
                "seed {seed}: {step} steps, {done} undos, {refused} refused, 0 bytes wrong, {seconds} s"
            );
            _ = writeln!(std::io::stderr(), "{told}");
        }
    }
}

#[test]
fn all_files_are_as_the_model_says_after_each_step() {
    let (steps, seed) = (number("FILE_EDITOR_STEPS", 400), number("FILE_EDITOR_SEED", 1));
    let kinds = number("FILE_EDITOR_KINDS", 12) as usize;
    (seed..seed + number("FILE_EDITOR_SEEDS", 1)).for_each(|seed| play(steps, seed, kinds));
}
