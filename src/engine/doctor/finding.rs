//! What one check found, and how grave it is.

/// How grave a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// As it should be.
    Ok,
    /// A promise may not hold, or something is slow.
    Warning,
    /// The server cannot work so.
    Failed,
}

/// What one check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How grave it is.
    pub level: Level,
    /// What was checked.
    pub what: &'static str,
    /// What was found and, if it is not as it should be, what to do. One line.
    pub text: String,
}

impl Finding {
    /// A check that found what it should.
    pub fn ok(what: &'static str, text: impl Into<String>) -> Finding {
        Finding { level: Level::Ok, what, text: text.into() }
    }

    /// A check that found something doubtful.
    pub fn warning(what: &'static str, text: impl Into<String>) -> Finding {
        Finding { level: Level::Warning, what, text: text.into() }
    }

    /// A check that failed.
    pub fn failed(what: &'static str, text: impl Into<String>) -> Finding {
        Finding { level: Level::Failed, what, text: text.into() }
    }
}
