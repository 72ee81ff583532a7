//! The commits that lead to `HEAD`, and those of them that are of the period, children before their parents.

use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;

use super::fault::{Fault, Result};
use super::git::commit::{Author, Commit};
use super::git::id::ObjectId;
use super::git::objects::Objects;
use super::git::pack::Kind;
use folder::Error;

/// Commits before the period that are looked at. A clock that was wrong may have dated a commit before its parents, so the
/// walk goes on behind the first old commit, but not for ever.
pub const MOST_OLDER: usize = 100_000;

/// Commits of the period.
const MOST_IN_PERIOD: usize = 250_000;

/// Parents of all commits together. A made-up commit may name thousands.
const MOST_PARENTS: usize = 4_000_000;

/// Bytes of the names and addresses of all authors.
const MOST_AUTHOR_BYTES: usize = 32 << 20;

/// A commit of the period.
#[derive(Debug, Clone)]
pub struct PeriodCommit {
    /// Its name.
    pub id: ObjectId,
    /// Its files.
    pub tree: ObjectId,
    /// The commit before it with which it is compared; the first one of a merge.
    pub parent: Option<ObjectId>,
    /// It has several parents.
    pub is_merge: bool,
    /// When it was committed, in seconds since 1970.
    pub date: i64,
    /// The number of its author in [`Walked::authors`].
    pub author: usize,
}

/// The commits of the period.
#[derive(Debug)]
pub struct Walked {
    /// Children before parents, and else the newest first.
    pub commits: Vec<PeriodCommit>,
    /// Who wrote them.
    pub authors: Vec<Arc<Author>>,
    /// The walk ended before the first commit: there may be more of the period.
    pub is_cut: bool,
    /// The same, because the time was up.
    pub is_late: bool,
}

/// A commit that the walk has met.
struct Met {
    date: i64,
    /// Parents, by their numbers.
    parents: Vec<u32>,
    /// Children that are not in the result yet.
    children: usize,
    period: Option<PeriodCommit>,
}

/// Walks from `head` to all commits whose date, in seconds since 1970, is at least `since`.
pub fn walk(objects: &mut Objects, head: &ObjectId, since: i64) -> Result<Walked> {
    let mut walk = Walk {
        since,
        met: Vec::new(),
        numbers: HashMap::new(),
        authors: Authors::default(),
        older: 0,
        parents: 0,
        newer: 0,
    };
    let mut queue = Queue::new();
    let first = walk.meet(objects, head)?;
    queue.push((walk.met[first].0.date, std::cmp::Reverse(first)));
    let (is_cut, is_late) = match walk.all(objects, queue) {
        Ok(is_cut) => (is_cut, false),
        // What was met are the newest commits.
        Err(Fault::Engine(Error::TimedOut)) => (false, true),
        Err(fault) => return Err(fault),
    };
    let met = walk.met.into_iter().map(|(met, _)| met).collect();
    Ok(Walked { commits: sorted(met)?, authors: walk.authors.list, is_cut, is_late })
}

/// Commits whose parents are not looked at yet, by their dates and numbers.
type Queue = BinaryHeap<(i64, std::cmp::Reverse<usize>)>;

struct Walk {
    since: i64,
    /// Each commit with the names of parents that are not looked at yet.
    met: Vec<(Met, Vec<ObjectId>)>,
    numbers: HashMap<ObjectId, usize>,
    authors: Authors,
    older: usize,
    newer: usize,
    /// Parents of all commits.
    parents: usize,
}

#[derive(Debug, Default)]
struct Authors {
    list: Vec<Arc<Author>>,
    numbers: HashMap<Arc<Author>, usize>,
    /// Bytes of their texts.
    bytes: usize,
}

impl Authors {
    fn number(&mut self, author: Author) -> Result<usize> {
        if let Some(number) = self.numbers.get(&author) {
            return Ok(*number);
        }
        self.bytes += author.name.len() + author.email.len();
        if self.bytes > MOST_AUTHOR_BYTES {
            let problem =
                "the names of the period's authors are too long together; expected a smaller period_days";
            return Err(Fault::Unsuitable(problem.into()));
        }
        let author = Arc::new(author);
        self.list.push(author.clone());
        self.numbers.insert(author, self.list.len() - 1);
        Ok(self.list.len() - 1)
    }
}

impl Walk {
    /// Meets all commits before those of `queue`. Returns whether it ended before the first one.
    fn all(&mut self, objects: &mut Objects, mut queue: Queue) -> Result<bool> {
        while let Some((_, std::cmp::Reverse(number))) = queue.pop() {
            objects.control().check()?;
            if self.older > MOST_OLDER {
                return Ok(true);
            }
            for parent in std::mem::take(&mut self.met[number].1) {
                let known = self.numbers.get(&parent).copied();
                let other = match known {
                    Some(other) => other,
                    None => {
                        let other = self.meet(objects, &parent)?;
                        queue.push((self.met[other].0.date, std::cmp::Reverse(other)));
                        other
                    }
                };
                self.met[other].0.children += 1;
                self.met[number].0.parents.push(other as u32);
            }
        }
        Ok(false)
    }

    /// Reads a commit. Returns its number.
    fn meet(&mut self, objects: &mut Objects, id: &ObjectId) -> Result<usize> {
        let bytes = objects.read(id, Kind::Commit)?;
        let commit = Commit::read(&bytes, objects.store().kind);
        let commit = commit.ok_or_else(|| Fault::damaged(id, "it is no commit that can be read"))?;
        let is_in_period = commit.date >= self.since;
        let period = match is_in_period {
            true => Some(PeriodCommit {
                id: *id,
                tree: commit.tree,
                parent: commit.parents.first().copied(),
                is_merge: commit.parents.len() > 1,
                date: commit.date,
                author: self.authors.number(commit.author())?,
            }),
            false => None,
        };
        *if is_in_period { &mut self.newer } else { &mut self.older } += 1;
        if self.newer > MOST_IN_PERIOD {
            return Err(Fault::Unsuitable(format!(
                "the period has more than {MOST_IN_PERIOD} commits; expected a smaller period_days"
            )));
        }
        self.parents += commit.parents.len();
        if self.parents > MOST_PARENTS {
            return Err(Fault::damaged(id, "it and those before it have too many parents"));
        }
        let met = Met { date: commit.date, parents: Vec::new(), children: 0, period };
        self.met.push((met, commit.parents));
        self.numbers.insert(*id, self.met.len() - 1);
        Ok(self.met.len() - 1)
    }
}

/// The commits of the period: each when all its children are out, the newest of these first.
fn sorted(mut met: Vec<Met>) -> Result<Vec<PeriodCommit>> {
    let (mut commits, mut out) = (Vec::new(), 0);
    let mut ready: BinaryHeap<(i64, std::cmp::Reverse<usize>)> = BinaryHeap::new();
    let is_first = |(_, met): &(usize, &Met)| met.children == 0;
    ready.extend(met.iter().enumerate().filter(is_first).map(|(at, met)| (met.date, std::cmp::Reverse(at))));
    while let Some((_, std::cmp::Reverse(number))) = ready.pop() {
        out += 1;
        commits.extend(met[number].period.take());
        for parent in std::mem::take(&mut met[number].parents) {
            let parent = parent as usize;
            met[parent].children -= 1;
            if met[parent].children == 0 {
                ready.push((met[parent].date, std::cmp::Reverse(parent)));
            }
        }
    }
    if out < met.len() {
        Err(Fault::damaged("the history", "commits are parents of each other"))
    } else {
        Ok(commits)
    }
}
