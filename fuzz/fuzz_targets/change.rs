//! Takes changes back out of texts that have changed since.
//!
//! Must hold for any texts:
//! - out of the text that a change made, taking it back makes the text before;
//! - out of any other text it is refused, or the lines of the change are there and nothing else goes; taken back itself, it leaves that text;
//! - a change is read as it was written, and no other bytes make the reader panic.
//!
//! Input: the text before; after a NUL, the text that the change made; after another, the text now.

#![no_main]

use journal::{Change, FileChange, undo_plan};
use libfuzzer_sys::fuzz_target;
use text::splice::{EditPlan, Splice};

fuzz_target!(|data: &[u8]| {
    let _ = Change::from_bytes(data);
    let mut texts = data.splitn(3, |byte| *byte == 0);
    let [old, new, now] = std::array::from_fn(|_| texts.next().unwrap_or_default());
    let change = FileChange::of(&plan(old, new), old);
    assert_eq!(undone(&change, new).as_deref(), Some(old));
    let whole = Change { roots: vec![b"/served".to_vec()], files: vec![change.clone()], ..Change::default() };
    assert_eq!(Change::from_bytes(&whole.to_bytes()), Ok(whole));
    if let Ok(back) = undo_plan(&change, now, &[]) {
        let after = apply(&back, now);
        assert_eq!(after.len() as i64 - now.len() as i64, old.len() as i64 - new.len() as i64);
        let again = FileChange::of(&back, now);
        assert_eq!(undone(&again, &after).as_deref(), Some(now));
    }
});

/// Replaces what is between the lines that both texts begin and end with.
fn plan(old: &[u8], new: &[u8]) -> EditPlan<'static> {
    let lines =
        |text: &[u8]| text.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::len).collect::<Vec<_>>();
    let (mut start, mut end) = (0, 0);
    for len in lines(old) {
        if new.get(start..start + len) != Some(&old[start..start + len]) {
            break;
        }
        start += len;
    }
    for len in lines(old).into_iter().rev() {
        let from = old.len() - end - len;
        if from < start
            || new.len() < start + end + len
            || !new[..new.len() - end].ends_with(&old[from..from + len])
        {
            break;
        }
        end += len;
    }
    let text = new[start..new.len() - end].to_vec().into();
    EditPlan::new(vec![Splice { at: start..old.len() - end, text }], old).expect("one place")
}

fn apply(plan: &EditPlan, old: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    plan.write_to(old, &mut out).expect("a vector takes all");
    out
}

fn undone(change: &FileChange, now: &[u8]) -> Option<Vec<u8>> {
    undo_plan(change, now, &[]).ok().map(|plan| apply(&plan, now))
}
