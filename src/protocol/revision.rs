//! The revisions of MCP and what sets them apart (SPEC 6.5). The one table that a new revision is added to.

/// A revision of MCP that is spoken after a handshake. Later ones compare greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Revision {
    /// 2024-11-05
    V2024_11_05,
    /// 2025-03-26
    V2025_03_26,
    /// 2025-06-18
    V2025_06_18,
    /// 2025-11-25
    V2025_11_25,
}

const ALL: [(Revision, &str); 4] = [
    (Revision::V2024_11_05, "2024-11-05"),
    (Revision::V2025_03_26, "2025-03-26"),
    (Revision::V2025_06_18, "2025-06-18"),
    (Revision::V2025_11_25, "2025-11-25"),
];

impl Revision {
    /// What a client gets that asks for one we do not know.
    pub const NEWEST: Revision = Revision::V2025_11_25;

    /// What an HTTP client speaks that does not say.
    pub const UNSAID: Revision = Revision::V2025_03_26;

    /// The revision called `name`.
    pub fn parse(name: &str) -> Option<Revision> {
        ALL.iter().find(|(_, known)| *known == name).map(|(revision, _)| *revision)
    }

    /// Its name.
    pub fn as_str(self) -> &'static str {
        ALL.iter().find(|(revision, _)| *revision == self).map_or("", |(_, name)| name)
    }

    /// The names of all, oldest first.
    pub fn names() -> impl Iterator<Item = &'static str> {
        ALL.iter().map(|(_, name)| *name)
    }

    /// Whether an array of messages is a message.
    pub fn has_batches(self) -> bool {
        self == Revision::V2025_03_26
    }

    /// Whether names for people and data beside the text exist.
    pub fn has_structured_content(self) -> bool {
        self >= Revision::V2025_06_18
    }

    /// Whether the server may describe itself.
    pub fn has_description(self) -> bool {
        self >= Revision::V2025_11_25
    }
}
