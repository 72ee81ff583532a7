//! What an outline tells of a file: its definitions.

use serde::{Deserialize, Serialize};

use super::SyntaxError;

/// What a definition is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// A function that belongs to no type.
    Function,
    /// A function of a type.
    Method,
    /// A class, an object, a record.
    Class,
    /// A struct or a union.
    Struct,
    /// An enumeration.
    Enum,
    /// An interface.
    Interface,
    /// A trait.
    Trait,
    /// A block of functions for a type.
    Impl,
    /// A module or a namespace.
    Module,
    /// A constant, or a variable of a file.
    Constant,
    /// A name for a type.
    Type,
    /// A macro.
    Macro,
    /// A heading, with what stands below it.
    Heading,
    /// A key, with its value.
    Key,
}

impl Kind {
    /// All kinds, each with its word.
    pub const WORDS: [(&'static str, Kind); 14] = [
        ("function", Kind::Function),
        ("method", Kind::Method),
        ("class", Kind::Class),
        ("struct", Kind::Struct),
        ("enum", Kind::Enum),
        ("interface", Kind::Interface),
        ("trait", Kind::Trait),
        ("impl", Kind::Impl),
        ("module", Kind::Module),
        ("constant", Kind::Constant),
        ("type", Kind::Type),
        ("macro", Kind::Macro),
        ("heading", Kind::Heading),
        ("key", Kind::Key),
    ];
}

/// One definition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    /// What it is.
    pub kind: Kind,
    /// Its name. One that is defined outside of its type has that before it: `Store.Get`.
    pub name: String,
    /// The place of the definition around it in the list, which is before its own.
    pub parent: Option<u32>,
    /// Its first line with the comments and attributes above it, 1-based.
    pub first: u32,
    /// The line in which its signature begins.
    pub line: u32,
    /// Its last line.
    pub last: u32,
    /// Its signature in one line.
    pub signature: String,
    /// Whether its file shows it to others.
    pub is_public: bool,
    /// It is a signature alone.
    pub is_bare: bool,
}

/// The definitions of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Outline {
    /// In the order in which they begin; what is in a definition stands behind it.
    pub definitions: Vec<Definition>,
    /// Places that are no text of the language. A bound is set to their number.
    pub errors: u32,
    /// The first of them.
    pub error: Option<SyntaxError>,
}

impl Outline {
    /// As bytes, which take less memory. The texts in them stand as they are.
    pub fn packed(&self) -> Box<[u8]> {
        postcard::to_stdvec(self).unwrap_or_default().into()
    }

    /// Of its bytes.
    pub fn unpacked(bytes: &[u8]) -> Option<Outline> {
        postcard::from_bytes(bytes).ok()
    }

    /// The definitions around one, the outermost first.
    pub fn around(&self, number: usize) -> Vec<usize> {
        let parent = |at: &usize| {
            let parent = self.definitions.get(*at)?.parent? as usize;
            // An analyzer that was taken over makes no circles.
            (parent < *at).then_some(parent)
        };
        let mut around: Vec<usize> = std::iter::successors(parent(&number), parent).collect();
        around.reverse();
        around
    }
}
