//! The checks of the layers find what they look for in every form, and nothing else.

use super::{Source, UNKNOWN};

#[test]
fn a_wrong_use_is_found_in_every_form() {
    for (file, text) in [
        ("tools/error.rs", "use crate::protocol::Answer;"),
        ("tools/error.rs", "use crate::{protocol::Answer};"),
        ("tools/error.rs", "use crate::{engine::{Error, name}, protocol::{self, Answer}};"),
        (
            "tools/error.rs",
            "use crate::{\n    folder::Error, // the engine's\n    transport::{http::{self}},\n};",
        ),
        ("tools/error.rs", "pub(crate) use crate::protocol as p;"),
        ("tools/error.rs", "use crate as all;"),
        ("tools/error.rs", "use crate::*;"),
        ("tools/error.rs", "use crate::{self as all};"),
        ("tools/error.rs", "extern crate self as all;"),
        ("tools/error.rs", "use super::super::exec::Call;"),
        ("tools/error.rs", "use super::{super::exec::Call, Error};"),
        ("tools/error.rs", "use super::super as all;"),
        ("tools/mod.rs", "use super::exec;"),
        ("tools/text/edit.rs", "fn f() { super::super::super::exec::run() }"),
        ("tools/error.rs", "mod inner { use super::super::super::exec; }"),
        ("tools/error.rs", "mod inner { mod more { fn f() {} } } use super::super::exec;"),
        ("tools/error.rs", "fn f() { let x = crate::exec::run(); }"),
        ("tools/error.rs", "fn f(x: &crate::protocol::Answer) {}"),
        ("tools/error.rs", "fn f<'a>(x: &'a crate::protocol::Answer) {}"),
        ("tools/error.rs", "fn f() { let c = '\"'; crate::exec::run(); let d = '\"'; }"),
        ("tools/error.rs", "macro_rules! m { () => { $crate::protocol::code::X } }"),
        ("tools/error.rs", "fn f() { tracing::info!(x = crate::cli::VERSION, \"text\"); }"),
        ("tools/error.rs", "fn f() { crate :: exec\n::run() }"),
        ("tools/error.rs", "use r#crate::x; use crate::r#exec::Call;"),
        ("tools/error.rs", "include!(\"../exec/mod.rs\");"),
        ("tools/error.rs", "#[path = \"../exec/mod.rs\"]\nmod exec;"),
        ("tools/mod.rs", "use crate::{folder::Error, protocol::X};"),
        ("protocol/mod.rs", "use crate::transport::Shared;"),
        ("transport/mod.rs", "use crate::cli;"),
    ] {
        assert_ne!(Source::new(file, text).wrong_arrows(), [""; 0], "{file}: {text}");
    }
}

#[test]
fn what_only_looks_like_a_wrong_use_is_accepted() {
    for (file, text) in [
        (
            "tools/error.rs",
            "// use crate::protocol::Answer;\n/* use crate::exec; /* crate::exec::x */ crate::exec */",
        ),
        ("tools/error.rs", "const X: &str = \"use crate::{protocol::Answer};\";"),
        (
            "tools/error.rs",
            "const X: &str = r#\"a \" crate::protocol::Answer \"#; const Y: &[u8] = br\"crate::exec::x\";",
        ),
        (
            "tools/error.rs",
            "const X: &str = \"\\\"\"; use crate::engine::name; const Y: &str = \"crate::exec::x\";",
        ),
        ("tools/error.rs", "use crate::engine::{protocol, exec::X}; use super::exec; fn f() { exec::run() }"),
        ("tools/error.rs", "fn f() -> impl Iterator<Item = u8> + use<> { std::iter::empty() }"),
        ("tools/text/edit.rs", "use super::super::exec::X;"),
        ("tools/error.rs", "fn f() {}\n#[cfg(test)]\nmod tests { use crate::protocol::Answer; }"),
        ("transport/http/mod.rs", "use crate::{engine::{Control, Error}, protocol::Answer, exec};"),
        ("main.rs", "use crate::transport::Shared;"),
    ] {
        assert_eq!(Source::new(file, text).wrong_arrows(), [""; 0], "{file}: {text}");
    }
}

#[test]
fn what_must_not_be_known_is_found_in_every_form() {
    let seen = |layer: &str, text: &str| {
        let (_, unknown) = UNKNOWN.into_iter().find(|(name, _)| *name == layer).expect("a layer");
        !Source::new(&format!("{layer}/x.rs"), text).knows(unknown).is_empty()
    };
    assert!(seen("tools", "use http::Method;") && seen("tools", "fn f() { hyper::body::to_bytes(x); }"));
    for text in
        ["use std::io;", "use std::{fmt, io::Read};", "use std::{io as i};", "fn f() { std::fs::read(x) }"]
    {
        assert!(seen("protocol", text), "{text}");
    }
    for text in ["async fn f() {}", "fn f() { x.await }", "use ::tokio as t;"] {
        assert!(seen("protocol", text), "{text}");
    }
    assert!(!seen("protocol", "// std::io\nuse std::{fmt, iter};"));
}

#[test]
fn errors_that_are_named_are_found_in_every_form() {
    let seen = |text: &str| !Source::new("transport/x.rs", text).errors().is_empty();
    for text in [
        "fn f() { match e { Error::NotFound { .. } => {} } }",
        "fn f() { match e { Err(folder::Error::NotFound { .. }) => {} } }",
        "fn f() { matches!(e, crate::folder::Error::Locked { .. }) }",
        "use crate::folder::Error::{self, Locked};",
        "use crate::folder::Error::*;",
        "use crate::folder::Error as E;",
    ] {
        assert!(seen(text), "{text}");
    }
    assert!(!seen(
        "use crate::folder::Error; fn f() { matches!(e, Err(Error::TimedOut)); io::Error::other(x); }"
    ));
}
