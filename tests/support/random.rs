//! Random numbers, with a seed that a failure shows.

/// A xorshift generator. Its seed is taken from the clock and printed, so that a failed test shows it.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new() -> Random {
        let now = std::time::UNIX_EPOCH.elapsed().expect("after 1970").as_nanos() as u64 | 1;
        println!("random seed: {now}");
        Random(now)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }
}
