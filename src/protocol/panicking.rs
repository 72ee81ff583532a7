//! Calls that panic, for the tests of whoever must catch that.

use std::time::Instant;

use super::pending::{About, Form, Pending};
use super::result::Asked;
use super::{Id, Revision};
use crate::engine::{Control, FileName, NamePolicy, Result, Workspace};
use crate::tools::{Call, Reply, Wanted};

#[derive(Debug)]
struct Panics {
    file: FileName,
    at_once: bool,
}

impl Call for Panics {
    fn file(&self) -> Option<&FileName> {
        Some(&self.file)
    }

    fn run(&self, _: &Workspace, _: Wanted, _: &Control) -> Result<Reply> {
        panic!("in a test")
    }

    fn run_at_once(&self, _: &Workspace, _: Wanted) -> Option<Result<Reply>> {
        assert!(!self.at_once, "in a test");
        None
    }
}

fn pending(form: Form, at_once: bool) -> Pending {
    let file = FileName::parse("f", NamePolicy::Portable).expect("a name");
    let about = About { form, operation: "panics", file: Some("f".into()), timeout: 1 };
    Pending::new(Box::new(Panics { file, at_once }), about)
}

/// A `tools/call` with this id; `at_once`: panics already where no waiting is allowed.
pub(crate) fn tool(id: &str, at_once: bool) -> Pending {
    let id = Id::parse(id).expect("an id");
    let asked =
        Asked { id, revision: Revision::NEWEST_BY_HANDSHAKE, received: Instant::now(), can_cut: false };
    pending(Form::Tool { asked, structured: false }, at_once)
}

/// A REST call.
pub(crate) fn rest(at_once: bool) -> Pending {
    pending(Form::Rest { received: Instant::now() }, at_once)
}
