//! How much runs at once where the address space is limited (`ulimit -v`). Each thread takes some for its stack and its heap, and
//! a process that has none left is ended. Knows no calls.

use sys::process::address_space_limit;

/// Of one thread: its stack, and the first piece of its heap, which the allocator aligns.
const OF_THREAD: u64 = 40 << 20;

/// Of everything else: the heap, maps of files and of requests, threads that are not for calls.
const OF_PROCESS: u64 = 1 << 30;

/// Threads for calls with which a server is of use.
const FEWEST: u64 = 8;

/// Memory for one search, one search of a small file and one walk at a time, in MB.
const ONE_SEARCH: usize = 40;

/// The address space of this process.
#[derive(Debug, Clone, Copy)]
pub struct Space {
    /// In bytes.
    limit: u64,
    needed: u64,
}

impl Space {
    /// The limit of the system.
    pub fn here() -> Space {
        Space { limit: address_space_limit(), needed: OF_PROCESS + FEWEST * OF_THREAD }
    }

    /// The error tells that there is too little, in words that follow "cannot start".
    pub fn check(self) -> Result<(), String> {
        if self.limit >= self.needed {
            return Ok(());
        }
        let [limit, needed] = [self.limit >> 20, self.needed >> 20];
        Err(format!("the address space is limited to {limit} MB, and {needed} MB are needed"))
    }

    /// Threads for which there is room. A quarter of what is left is for more of everything else.
    pub(super) fn threads(self) -> usize {
        let threads = FEWEST + self.limit.saturating_sub(self.needed) / 4 * 3 / OF_THREAD;
        usize::try_from(threads).unwrap_or(usize::MAX)
    }

    /// How many of `wanted` calls may run at once, so that each has a thread for its answer.
    pub fn calls(self, wanted: usize) -> usize {
        wanted.min(self.threads() / 2)
    }

    /// How many of `wanted` MB searches and walks may hold: with a limit, one of each kind runs at a time.
    pub fn search_memory(self, wanted: usize) -> usize {
        if self.limit == u64::MAX { wanted } else { wanted.min(ONE_SEARCH) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_runs_at_once_the_less_space_there_is() {
        let space = |limit| Space { limit, needed: 2 << 30 };
        assert!(space((2 << 30) - 1).check().is_err() && space(2 << 30).check().is_ok());
        assert_eq!((space(2 << 30).threads(), space(2 << 30).calls(128)), (8, 4));
        assert_eq!(space(u64::MAX).calls(4_096), 4_096);
        assert_eq!((space(3 << 30).search_memory(400), space(u64::MAX).search_memory(400)), (40, 400));
        assert_eq!(
            space(800 << 20).check().unwrap_err(),
            "the address space is limited to 800 MB, and 2048 MB are needed"
        );
    }
}
