//! The revisions of MCP and their differences (contract 6.5). A new revision is added here only.

/// A revision of MCP. Later revisions compare greater.
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
    /// 2026-07-28: no handshake, every request states its revision.
    V2026_07_28,
}

const ALL: [(Revision, &str); 5] = [
    (Revision::V2024_11_05, "2024-11-05"),
    (Revision::V2025_03_26, "2025-03-26"),
    (Revision::V2025_06_18, "2025-06-18"),
    (Revision::V2025_11_25, "2025-11-25"),
    (Revision::V2026_07_28, "2026-07-28"),
];

impl Revision {
    /// The answer to a handshake that requests an unknown revision.
    pub const NEWEST_BY_HANDSHAKE: Revision = Revision::V2025_11_25;

    /// The revision of an HTTP client that states none.
    pub const UNSAID: Revision = Revision::V2025_03_26;

    /// The revision called `name`.
    pub fn parse(name: &str) -> Option<Revision> {
        ALL.iter().find(|(_, known)| *known == name).map(|(revision, _)| *revision)
    }

    /// The revision called `name`, if it has a handshake.
    pub fn by_handshake(name: &str) -> Option<Revision> {
        Revision::parse(name).filter(|revision| !revision.is_stateless())
    }

    /// The revision's name.
    pub fn as_str(self) -> &'static str {
        ALL.iter().find(|(revision, _)| *revision == self).map_or("", |(_, name)| name)
    }

    /// The names of all revisions.
    pub(super) fn names() -> impl Iterator<Item = &'static str> {
        ALL.iter().map(|(_, name)| *name)
    }

    /// The names of all revisions without a handshake, as a JSON array.
    pub(super) fn stateless_names() -> String {
        let names = ALL.iter().filter(|(revision, _)| revision.is_stateless());
        let quoted: Vec<String> = names.map(|(_, name)| format!("\"{name}\"")).collect();
        format!("[{}]", quoted.join(","))
    }

    /// Whether there is no handshake: each request states its revision in its `_meta`.
    pub fn is_stateless(self) -> bool {
        self >= Revision::V2026_07_28
    }

    /// Whether a message may be an array of messages.
    pub fn has_batches(self) -> bool {
        self == Revision::V2025_03_26
    }

    /// Whether there are titles and structured results.
    pub fn has_structured_content(self) -> bool {
        self >= Revision::V2025_06_18
    }

    /// Whether the server's information has a description.
    pub fn has_description(self) -> bool {
        self >= Revision::V2025_11_25
    }
}
