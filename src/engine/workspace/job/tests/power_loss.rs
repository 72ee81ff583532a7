//! A loss of power after any step of a job with its journal: after the next start all of it is there or none, and the journal says which.

use std::cell::RefCell;
use std::rc::Rc;

use super::disk::Disk;
use super::recover::{is_left_open, trees};
use super::undo::{Dirs, change, start, undo};
use super::*;
use folder::fs::atomic::Durability;

/// States that are looked at after each step.
const STATES: u64 = 6;

const JOBS: [&[Op]; 5] = [
    &[
        Op::Append("a", "more\n"),
        Op::Append("d/x", "more\n"),
        Op::Content("new/f", "new\n"),
        Op::Move("d", "moved"),
        Op::Delete("moved/e", true),
    ],
    &[Op::Append("a", "more\n"), Op::Append("d/x", "more\n"), Op::Append("d/e/z", "more\n")],
    &[Op::Delete("d", true), Op::Content("d", "a file\n"), Op::Delete("a", false)],
    &[Op::Move("d/x", "d/e/x"), Op::Move("a", "d/x")],
    &[Op::Move("d", "moved"), Op::Delete("moved/e/z", false), Op::Move("moved/x", "moved/e/x")],
];

/// Numbers by chance, the same ones for the same seed.
fn chance(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move |end| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as usize % end
    }
}

/// Cuts the power after this step of a job. Returns whether it was reached, or what is wrong then.
fn cut(ops: &[Op], whole: &Tree, step: usize, state: u64, durability: Durability) -> Result<bool, String> {
    let dirs = Dirs::new(&start());
    let disk = Rc::new(RefCell::new(Disk::new(&[dirs.path(), dirs.journal_parent()])));
    let (watched, mut done) = (disk.clone(), None);
    let workspace = dirs.open_with(durability);
    let work = || done = Some(change(&workspace, ops));
    let was_cut =
        failpoint::crash_at(step, || failpoint::watch(move |event| watched.borrow_mut().hear(event), work));
    let number = done.unwrap().ok().filter(|_| !was_cut).map(super::undo::recorded);
    drop(workspace);
    disk.borrow_mut().lose_power(&mut chance(step as u64 * 1000 + state));
    let lost = dirs.tree();
    let next = dirs.open();
    let (tree, mut left) = trees(&dirs);
    // Of temporary files, the next change in their folder removes what is left.
    left.retain(|path| path.ends_with("-kept"));
    let numbers = next.change_log().unwrap().numbers().unwrap();
    let says = |problem: &str| {
        Err(format!(
            "step {step}, state {state} of {ops:?}: {problem}: {tree:?} {left:?} {numbers:?} after {lost:?}"
        ))
    };
    if tree != start() && tree != *whole {
        return says("a part");
    }
    if is_left_open(&next) {
        return says("it is left open");
    }
    if !left.is_empty() {
        return says("hidden files are left");
    }
    if number.is_some() && (tree != *whole || number != numbers.last().copied()) {
        return says("what was answered is lost");
    }
    if (tree == *whole) != (numbers.len() == 1) {
        return says("the journal says something else");
    }
    if let Some(number) = numbers.last() {
        let undone = undo(&next, *number).map_err(|error| format!("{:?}", error.first()));
        if undone.is_err() || trees(&dirs).0 != start() {
            return says(&format!("it cannot be taken back: {:?}", undone.err()));
        }
    }
    Ok(was_cut)
}

/// Cuts the power after each step of each job. Returns how many steps there are, or the first problem.
fn cut_everywhere(durability: Durability) -> Result<usize, String> {
    let mut steps = 0;
    for ops in JOBS {
        let whole = {
            let dirs = Dirs::new(&start());
            change(&dirs.open(), ops).unwrap();
            dirs.tree()
        };
        // In the first step, the journal itself fails.
        for step in 2.. {
            let mut was_cut = false;
            for state in 0..STATES {
                was_cut = cut(ops, &whole, step, state, durability)?;
            }
            steps += 1;
            if !was_cut {
                break;
            }
        }
    }
    Ok(steps)
}

#[test]
fn a_loss_of_power_after_any_step_leaves_all_of_a_job_or_none_and_the_journal_says_which() {
    let steps = cut_everywhere(Durability::Full).unwrap_or_else(|problem| panic!("{problem}"));
    assert!(steps > 60, "{steps}");
}

#[test]
fn without_flushes_a_loss_of_power_leaves_parts_of_jobs() {
    let problem = cut_everywhere(Durability::None).expect_err("nothing was flushed");
    assert!(!problem.is_empty());
}
