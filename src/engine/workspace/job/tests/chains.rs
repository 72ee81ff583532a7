//! Chains of changes, undos and undos of undos, against the states of the whole tree.

use super::undo::{Dirs, change, start, undo};
use super::*;

/// A step of a chain.
#[derive(Debug, Clone)]
enum Link {
    Change(Vec<Op>),
    /// Takes the last change back that is not: by the number of the change, or by that of the undo that did it again.
    Undo {
        by_first: bool,
    },
    /// Takes the last undo back.
    Redo,
    /// Another server goes on.
    Restart,
}

fn any_link() -> impl Strategy<Value = Link> {
    prop_oneof![
        5 => proptest::collection::vec(any_op(), 1..4).prop_map(Link::Change),
        5 => any::<bool>().prop_map(|by_first| Link::Undo { by_first }),
        3 => Just(Link::Redo),
        1 => Just(Link::Restart),
    ]
}

/// A change that is done, with the states on both sides.
#[derive(Clone)]
struct Made {
    first: ChangeNumber,
    last: ChangeNumber,
    before: Tree,
    after: Tree,
}

fn number(done: &JobDone<String>) -> Option<ChangeNumber> {
    match done.recorded {
        Some(Recorded::Change(number)) => Some(number),
        _ => None,
    }
}

/// Plays a chain. What was done last and is taken back must leave the tree as it was, however often.
fn play(links: &[Link]) -> Result<(), TestCaseError> {
    let dirs = Dirs::new(&start());
    let open = || dirs.open_fast(1 << 20);
    let mut workspace = open();
    let (mut made, mut undone) = (Vec::<Made>::new(), Vec::<(ChangeNumber, Made)>::new());
    for link in links {
        match link {
            Link::Restart => {
                drop(workspace);
                workspace = open();
            }
            Link::Change(ops) => {
                let before = dirs.tree();
                let Ok(done) = change(&workspace, ops) else {
                    prop_assert_eq!(dirs.tree(), before);
                    continue;
                };
                match number(&done) {
                    Some(number) => {
                        undone.clear();
                        made.push(Made { first: number, last: number, before, after: dirs.tree() });
                    }
                    None if done.recorded.is_some() => (made, undone) = (Vec::new(), Vec::new()),
                    None => {}
                }
            }
            Link::Undo { by_first } => {
                let Some(change) = made.pop() else { continue };
                let by = if *by_first { change.first } else { change.last };
                let done = undo(&workspace, by);
                prop_assert!(done.is_ok(), "undo of c{by}: {done:?}");
                prop_assert_eq!(&dirs.tree(), &change.before, "undo of c{}", by);
                let by = done.ok().as_ref().and_then(number);
                match by {
                    Some(by) => undone.push((by, change)),
                    None => (made, undone) = (Vec::new(), Vec::new()),
                }
            }
            Link::Redo => {
                let Some((by, change)) = undone.pop() else { continue };
                let done = undo(&workspace, by);
                prop_assert!(done.is_ok(), "redo by c{by}: {done:?}");
                prop_assert_eq!(&dirs.tree(), &change.after, "redo by c{}", by);
                match done.ok().as_ref().and_then(number) {
                    Some(last) => made.push(Made { last, ..change }),
                    None => (made, undone) = (Vec::new(), Vec::new()),
                }
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn each_undo_leaves_what_was_there_before_and_each_undo_of_it_what_was_there_after(
        links in proptest::collection::vec(any_link(), 1..14),
    ) {
        play(&links)?;
    }
}
