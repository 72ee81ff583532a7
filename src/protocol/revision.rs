//! The revisions of MCP and what sets them apart (SPEC 6.5). The one table that a new revision is added to.

/// A revision of MCP. Later ones compare greater.
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
    /// 2026-07-28: no handshake, every request says what it speaks.
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
    /// What a client gets in a handshake that asks for one we do not know.
    pub const NEWEST_BY_HANDSHAKE: Revision = Revision::V2025_11_25;

    /// What an HTTP client speaks that does not say.
    pub const UNSAID: Revision = Revision::V2025_03_26;

    /// The revision called `name`.
    pub fn parse(name: &str) -> Option<Revision> {
        ALL.iter().find(|(_, known)| *known == name).map(|(revision, _)| *revision)
    }

    /// The revision called `name`, if it is spoken after a handshake.
    pub fn by_handshake(name: &str) -> Option<Revision> {
        Revision::parse(name).filter(|revision| !revision.is_stateless())
    }

    /// Its name.
    pub fn as_str(self) -> &'static str {
        ALL.iter().find(|(revision, _)| *revision == self).map_or("", |(_, name)| name)
    }

    /// The names of all that need no handshake, as a JSON array.
    pub(super) fn stateless_names() -> String {
        let names = ALL.iter().filter(|(revision, _)| revision.is_stateless());
        let quoted: Vec<String> = names.map(|(_, name)| format!("\"{name}\"")).collect();
        format!("[{}]", quoted.join(","))
    }

    /// Whether there is no handshake: each request says in its `_meta` what it speaks.
    pub fn is_stateless(self) -> bool {
        self >= Revision::V2026_07_28
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
