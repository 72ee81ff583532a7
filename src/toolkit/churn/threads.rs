//! Counts the changes of many commits with several threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::fault::Result;
use super::file_counts::{CommitCounts, commit_counts};
use super::git::objects::Objects;
use super::walk::PeriodCommit;

/// Commits that a thread takes at a time: neighbours, because they have most objects in common.
const BATCH: usize = 16;

/// Files of all commits of one call together; the counts of more would take too much memory.
const MOST_FILES: usize = 600_000;

/// The counts of each of `commits`, in their order. `None` for a merge. Each thread has one of `readers`.
pub fn count_all(readers: &mut [Objects], commits: &[PeriodCommit]) -> Result<Vec<Option<CommitCounts>>> {
    let mut counts: Vec<Option<CommitCounts>> = commits.iter().map(|_| None).collect();
    let (failed, files) = (AtomicBool::new(false), AtomicUsize::new(0));
    let batches = commits.chunks(BATCH).zip(counts.chunks_mut(BATCH));
    let queue = Mutex::new((batches, None));
    let work = |objects: &mut Objects| {
        while !failed.load(Ordering::Relaxed) {
            let next = queue.lock().ok().and_then(|mut queue| queue.0.next());
            let Some((commits, counts)) = next else { return };
            if let Err(fault) = count_batch(objects, commits, counts, &files) {
                failed.store(true, Ordering::Relaxed);
                if let Ok(mut queue) = queue.lock() {
                    queue.1.get_or_insert(fault);
                }
            }
        }
    };
    if let Some((first, others)) = readers.split_first_mut() {
        std::thread::scope(|scope| {
            for reader in others {
                scope.spawn(|| work(reader));
            }
            work(first);
        });
    }
    let fault = queue.into_inner().ok().and_then(|(_, fault)| fault);
    fault.map_or(Ok(counts), Err)
}

fn count_batch(
    objects: &mut Objects,
    commits: &[PeriodCommit],
    counts: &mut [Option<CommitCounts>],
    files: &AtomicUsize,
) -> Result<()> {
    for (commit, counts) in commits.iter().zip(counts) {
        objects.control().check()?;
        if commit.is_merge {
            continue;
        }
        let old = commit.parent.map(|parent| objects.tree_of(&parent)).transpose()?;
        let mut counted = commit_counts(objects, old.as_ref(), &commit.tree)?;
        if let CommitCounts::Files(list) = &counted
            && files.fetch_add(list.len(), Ordering::Relaxed) + list.len() > MOST_FILES
        {
            counted = CommitCounts::TooMany;
        }
        *counts = Some(counted);
    }
    Ok(())
}
