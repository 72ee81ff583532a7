//! What a search finds, and how much. Knows no patterns.

/// The lines of one match: one line, unless matches span lines. Bytes of the text, without the last break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// Where the first line begins.
    pub start: usize,
    /// Where the last line ends, before its break.
    pub end: usize,
    /// Matches that begin in these lines, without those of nothing beside others. 1, unless matches span lines.
    pub matches: u64,
}

/// How much was found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counted {
    /// Number of hits.
    pub hits: u64,
    /// Number of their matches.
    pub matches: u64,
}

impl Counted {
    /// One more hit.
    pub fn add(&mut self, hit: Hit) {
        (self.hits, self.matches) = (self.hits + 1, self.matches + hit.matches);
    }
}

impl std::ops::AddAssign for Counted {
    fn add_assign(&mut self, other: Counted) {
        (self.hits, self.matches) = (self.hits + other.hits, self.matches + other.matches);
    }
}
