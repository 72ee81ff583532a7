//! The name that git gives to the content of a file, kept by the state of the file.

use std::any::Any;
use std::path::Path;
use std::sync::Arc;

use sha1::{Digest, Sha1};
use sha2::Sha256;

use crate::churn::git::id::{HashKind, ObjectId};
use engine::{Analysis, FileAnalyser};
use folder::{Control, Result};

/// The names of a content.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlobIds {
    kind: HashKind,
    /// That of its bytes.
    pub(super) id: ObjectId,
    /// That with line feeds in the place of CR LF, if it has any.
    with_feeds: Option<ObjectId>,
}

impl BlobIds {
    pub(super) fn of(bytes: &[u8], kind: HashKind) -> BlobIds {
        let has_breaks = memchr::memmem::find(bytes, b"\r\n").is_some();
        let with_feeds = has_breaks.then(|| id(&with_feeds(bytes), kind));
        BlobIds { kind, id: id(bytes, kind), with_feeds }
    }

    /// Whether the commit has this content by the name `id`.
    pub(super) fn has(&self, id: &ObjectId) -> bool {
        self.id == *id || self.with_feeds == Some(*id)
    }
}

/// The name of a blob.
fn id(bytes: &[u8], kind: HashKind) -> ObjectId {
    let head = format!("blob {}\0", bytes.len());
    let name = match kind {
        HashKind::Sha1 => Sha1::new().chain_update(head).chain_update(bytes).finalize().to_vec(),
        HashKind::Sha256 => Sha256::new().chain_update(head).chain_update(bytes).finalize().to_vec(),
    };
    ObjectId::read(&name, kind).unwrap_or_else(|| unreachable!("a hash is as long as its kind says"))
}

fn with_feeds(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = memchr::memmem::find(rest, b"\r\n") {
        text.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
    }
    text.extend_from_slice(rest);
    text
}

impl Analysis for BlobIds {
    fn heap_bytes(&self) -> usize {
        size_of::<BlobIds>()
    }

    fn copied(&self) -> Arc<dyn Analysis> {
        Arc::new(*self)
    }

    fn is_certain(&self) -> bool {
        true
    }
}

/// What a kept analysis says, if it is one of these.
pub(super) fn known(known: &dyn Analysis) -> Option<BlobIds> {
    (known as &dyn Any).downcast_ref().copied()
}

/// Names the contents of files.
pub(super) struct Namer(pub(super) HashKind);

impl FileAnalyser for Namer {
    fn makes(&self, _: &Path, made: &dyn Analysis) -> bool {
        known(made).is_some_and(|ids| ids.kind == self.0)
    }

    fn analyse(&mut self, _: &Path, text: &[u8], _: &Control) -> Result<Arc<dyn Analysis>> {
        Ok(Arc::new(BlobIds::of(text, self.0)))
    }
}
