//! The id of a change, as answers name it: `c17`.

use crate::tools::arguments::{Argument, Value};
use folder::Result;

/// See the module. The number alone is taken, too.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChangeId(pub(super) u64);

impl ChangeId {
    /// Reads `c17` or `17`.
    pub(super) fn parse(text: &str) -> Option<ChangeId> {
        text.trim().trim_start_matches(['c', 'C']).parse().ok().map(ChangeId)
    }
}

impl Argument for ChangeId {
    fn expected() -> String {
        "the id of a change, such as c17; without it, your last change".into()
    }

    fn schema(out: &mut String) {
        String::schema(out);
    }

    fn read(value: &Value) -> Result<ChangeId> {
        let text = value.json().trim_matches('"');
        ChangeId::parse(text).ok_or_else(|| value.wrong(&ChangeId::expected()))
    }
}
