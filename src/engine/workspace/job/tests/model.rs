//! Random edits, patches, replaces, moves, copies, deletions, undos of all that and of parts of it, and what other programs do, against a
//! model of files and folders. Servers die in the middle: all or none, and the next one knows which.
//!
//! A short run here. `perf/model` plays a million steps: FILE_EDITOR_STEPS says how many, FILE_EDITOR_SEED with which numbers,
//! FILE_EDITOR_SEEDS how many runs with the next ones, FILE_EDITOR_KINDS (3 or more; 12) how many of the changes are edits.

use std::io::Write;
use std::time::Instant;

use self::lines::{replace, text};
use self::pieces::{Effect, History, Made, Undo, What};
use self::plans::{Plan, operation, parsed, patch};
use self::tree::{Id, Nodes, TOP, joined};
use super::undo::{Dirs, change_with, undo_at};
use super::*;
use text::patch::FilePatch;

mod crashes;
mod lines;
mod pieces;
mod plans;
mod steps;
mod tree;

const MOST_FOLDERS: usize = 8;
const MOST_FILES: usize = 20;
const MOST_LINES: usize = 30;
const WORDS: u64 = 6;
/// Changes that may still be taken back.
const HISTORY: usize = 40;

/// The size of the journal, in bytes, so that old changes go: it has some more than [`HISTORY`].
const JOURNAL: u64 = 64 << 10;

/// How many undos were carried out, and refused, and how many calls of servers that died were done and not.
#[derive(Debug, Default)]
struct Counts {
    done: [u64; 2],
    refused: u64,
    died: [u64; 2],
}

struct Model {
    random: u64,
    dirs: Dirs,
    servers: Vec<Workspace>,
    nodes: Nodes,
    history: History,
    /// The last number of a name, and of a line.
    last: [u64; 2],
    /// Whether nobody else has written since the last change.
    is_alone: bool,
    /// Of how many kinds a change of an entry is: a move, a copy and a deletion are one each, and edits the others.
    kinds: usize,
    /// Paths that something had once.
    former: Vec<String>,
    counts: Counts,
}

impl Model {
    fn new(seed: u64, kinds: usize) -> Model {
        let dirs = Dirs::new(&Tree::new());
        let servers = (0..2).map(|_| dirs.open_fast(JOURNAL)).collect();
        Model {
            random: seed.wrapping_mul(2).wrapping_add(1),
            dirs,
            servers,
            nodes: Nodes::default(),
            history: History::default(),
            last: [0; 2],
            is_alone: true,
            kinds,
            former: Vec::new(),
            counts: Counts::default(),
        }
    }

    /// A number below `end`.
    fn below(&mut self, end: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) as usize % end.max(1)
    }

    fn one_of<T: Clone>(&mut self, all: &[T]) -> Option<T> {
        let nth = self.below(all.len());
        all.get(nth).cloned()
    }

    fn new_lines(&mut self, most: usize) -> Vec<String> {
        let count = self.below(most + 1);
        let line = |model: &mut Model| {
            model.last[1] += 1;
            format!("w{} l{}", model.below(WORDS as usize), model.last[1])
        };
        (0..count).map(|_| line(self)).collect()
    }

    fn step(&mut self) {
        match self.below(100) {
            0..45 => self.job(),
            45..50 => self.replace_word(),
            50..62 => self.undo_one(0),
            62..84 => {
                let back = self.below(HISTORY);
                self.undo_one(back);
            }
            84..98 => self.other_program(),
            _ => {
                let server = self.below(2);
                self.servers[server] = self.dirs.open_fast(JOURNAL);
            }
        }
    }

    /// Carries out what the model has done already. `before`: the tree before that.
    fn run(&mut self, before: Nodes, plans: Vec<(String, Plan)>, effects: Vec<Effect>) {
        let (server, crash) = (self.below(2), self.crash());
        let workspace = &self.servers[server];
        let patches: Vec<Vec<FilePatch>> = plans.iter().map(|(_, plan)| parsed(plan)).collect();
        let mut operations = Vec::new();
        for ((path, plan), patch) in plans.iter().zip(patches) {
            operations.push(operation(workspace, path, plan, patch));
        }
        let Some(done) = crash.run(|| change_with(workspace, &mut operations)) else {
            match self.number_of_dead(server, crash) {
                Some(number) => self.history.push(Made { number, undoes: None, effects }),
                None => self.nodes = before,
            }
            return;
        };
        let done = done.unwrap_or_else(|error| panic!("{error:?}"));
        match done.recorded {
            Some(Recorded::Change(number)) => {
                self.history.push(Made { number, undoes: None, effects });
                self.is_alone = true;
            }
            Some(other) => panic!("{other:?}"),
            None => assert!(effects.is_empty(), "it is not in the journal"),
        }
    }

    /// Takes a change back, `back` before the last, or a part of it.
    fn undo_one(&mut self, back: usize) {
        let Some(at) = self.history.made.len().checked_sub(1 + back) else { return };
        let named: Vec<String> =
            self.history.made[at].effects.iter().flat_map(|effect| effect.named.clone()).collect();
        let within = if self.below(2) == 0 { None } else { self.one_of(&named) };
        let within = within.map(|path| match (self.below(4), path.rfind('/')) {
            (0, Some(slash)) => path[..slash].to_owned(),
            _ => path,
        });
        let number = self.history.made[at].number;
        let planned = self.history.undo(at, within.as_deref(), &self.nodes);
        let (server, crash) = (self.below(2), self.crash());
        let Some(done) = crash.run(|| undo_at(&self.servers[server], number, within.as_deref())) else {
            match (self.number_of_dead(server, crash), planned) {
                (None, _) => {}
                (Some(new), Undo::Done(nodes, effects)) => {
                    self.nodes = nodes;
                    self.history.push(Made { number: new, undoes: Some(number), effects });
                }
                (Some(new), planned) => panic!("c{number} at {within:?}: c{new} {planned:?}"),
            }
            return;
        };
        let undoes = Some(number);
        let (number, done) = match (done.map(|done| done.recorded), planned) {
            (Ok(Some(Recorded::Change(number))), Undo::Done(nodes, effects)) => {
                self.nodes = nodes;
                (number, effects)
            }
            (Ok(None), Undo::Done(_, effects)) => {
                let is_nothing = |effect: &Effect| matches!(effect.what, What::Nothing);
                return assert!(effects.iter().all(is_nothing), "c{number} at {within:?}: nothing is done");
            }
            (Err(error), Undo::Done(_, effects)) => {
                assert!(
                    back > 0 || !self.is_alone,
                    "c{number} at {within:?} is refused: {error:?} {effects:?}"
                );
                return self.counts.refused += 1;
            }
            (Ok(None) | Err(_), _) => return self.counts.refused += 1,
            (Ok(done), planned) => panic!("c{number} at {within:?}: {done:?} {planned:?}"),
        };
        self.counts.done[usize::from(within.is_some())] += 1;
        self.history.push(Made { number, undoes, effects: done });
        self.is_alone = true;
    }

    /// Compares all files and folders.
    fn check(&self) {
        let entry = |id: Id| {
            let lines = &self.nodes.get(id).unwrap().lines;
            (self.nodes.path(id), lines.as_ref().map(|lines| text(lines)))
        };
        let expected: Tree = self.nodes.there(|_| true).into_iter().map(entry).collect();
        let mut tree = self.dirs.tree();
        tree.retain(|path, _| !crashes::is_leftover(path));
        assert_eq!(tree, expected);
        let last = self.history.last_left();
        let is_near = |number: &ChangeNumber| {
            self.history.made.iter().rev().take(HISTORY).any(|made| made.number == *number)
        };
        if let Some(number) = last.filter(is_near) {
            let log = self.servers[0].change_log().unwrap();
            assert_eq!(log.last_of("s", ChangeNumber::MAX).unwrap(), Some(number));
        }
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
        if played.is_err() {
            let made: String =
                model.history.made.iter().rev().take(HISTORY).rev().map(Made::to_string).collect();
            panic!("step {step} of seed {seed}, behind these changes:\n{made}");
        }
        if step % 10_000 == 0 || step == steps {
            let Counts { done: [whole, parts], refused, died: [after, before] } = model.counts;
            let seconds = start.elapsed().as_secs();
            let told = format!(
                "seed {seed}: {step} steps, {whole} undos, {parts} of parts, {refused} refused, died in {after} done and {before} not done, 0 bytes wrong, {seconds} s"
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
