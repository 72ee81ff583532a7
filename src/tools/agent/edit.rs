//! `edit`: changes of any kind in any number of files, all or none (contract 19).

use self::call::Edit;
use super::failed::FailedEdits;
use super::one_edit::OneEdit;
use super::patched;
use super::planned::{MAX_EDITS, Planned};
use super::shapes::as_list;
use super::unread::{Slot, slots};
use crate::tools::arguments::{Argument, List, Request, Takes, Text, Value, arguments, is_object};
use crate::tools::{Call, ParseOptions, Tool};
use folder::{Error, Result};
use serde_json::{Map, Value as Json, from_str};
use text::encoding::EncodingChoice;

mod call;

pub(crate) static TOOL: Tool = Tool {
    name: "edit",
    title: "Edit Files",
    description: "Change any number of files, all or none. Edits apply in order, each to the result of those before it. Example: {\"edits\":[{\"path\":\"a.rs\",\"old\":\"foo()\",\"new\":\"bar()\"},{\"lines\":\"12-14\",\"new\":\"\"},{\"path\":\"b\",\"move_to\":\"c/b\"}]}",
    instructions: "",
    takes: Takes::of::<EditArguments>(),
    output_schema: None,
    writes: true,
    destructive: true,
    idempotent: false,
    direct: false,
};

arguments! {
    struct EditArguments {
        /// Changes, each of one kind
        edits: Option<Edits>,
        /// A unified diff, or *** Begin Patch
        patch: Option<Text>,
        /// Only tell
        dry_run as "dry_run" or "dryRun": bool = false,
        /// -
        diff: bool = false,
        /// -
        encoding: Option<EncodingChoice>,
        /// What for
        message: Option<Text>,
        /// Of a failed call: edits has only corrected ones
        retry: Option<String>,
    }
}

/// The edits of a call: a list, or a single one in its place.
#[derive(Debug)]
struct Edits(Vec<OneEdit>);

type EditList = List<OneEdit, 1, MAX_EDITS>;

impl Argument for Edits {
    fn expected() -> String {
        EditList::expected()
    }

    fn schema(out: &mut String) {
        EditList::schema(out);
    }

    fn is_empty(value: &Value) -> bool {
        EditList::is_empty(value)
    }

    fn read(value: &Value) -> Result<Edits> {
        if is_object(value.json()) {
            return Ok(Edits(vec![OneEdit::read(value)?]));
        }
        if value.string().is_ok_and(|text| is_patch(&text)) {
            let problem = "it is a patch; give it as patch, in place of edits".into();
            return Err(Error::InvalidArguments { at: "edits".into(), problem });
        }
        EditList::read(value).map(|list| Edits(list.0))
    }
}

/// Whether a text looks like a patch.
fn is_patch(text: &str) -> bool {
    let text = text.trim_start().trim_start_matches("```diff").trim_start();
    ["--- ", "diff --git ", "*** Begin Patch", "@@ "].iter().any(|start| text.starts_with(start))
}

impl Request for EditArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        self.call(None, options)
    }

    /// Edits may be given in other shapes than a list; and where one of several cannot be read, the others are looked at all the same.
    fn refused(arguments: &Value, mut error: Error) -> Result<Box<dyn Call>> {
        if let Some(error) = patch_beside_path(arguments.json()) {
            return Err(error);
        }
        let options = arguments.options();
        // What could be read has the right shape.
        let as_list = if EditArguments::read(arguments).is_ok() { None } else { as_list(arguments.json()) };
        let json = as_list.as_deref().unwrap_or(arguments.json());
        let arguments = Value::arguments(json, options)?;
        if as_list.is_some() {
            match EditArguments::read(&arguments).and_then(|request| request.into_call(options)) {
                Ok(call) => return Ok(call),
                Err(of_list) => error = of_list,
            }
        }
        let Some((slots, beside)) = slots(&arguments).zip(without_edits(json)) else { return Err(error) };
        match EditArguments::read(&Value::arguments(&beside, options)?) {
            Ok(request) if request.retry.is_none() && request.patch.is_none() => {
                request.call(Some(slots), options)
            }
            _ => Err(error),
        }
    }
}

impl EditArguments {
    /// The call. `slots`: its edits, some of which cannot be read.
    fn call(self, slots: Option<Vec<Slot>>, options: ParseOptions) -> Result<Box<dyn Call>> {
        let EditArguments { edits, patch, dry_run, diff: with_diff, message, encoding, retry } = self;
        let patch = patch.filter(|patch| !patch.0.is_empty());
        let failed = match &retry {
            None => None,
            Some(name) => {
                let failed = options.handles.look::<FailedEdits>(name, &options.author.session);
                Some(failed.ok_or_else(|| unknown_retry(name))?)
            }
        };
        let is_patch = failed.as_ref().map_or(patch.is_some(), |failed| failed.is_patch);
        let mut edits = match slots {
            Some(slots) => slots,
            None => {
                let edits = in_order((edits, patch), failed.as_deref(), encoding, options)?;
                edits.into_iter().map(Slot::Edit).collect()
            }
        };
        // With retry, it is for what failed.
        for slot in edits.iter_mut().filter(|_| failed.is_none()) {
            if let Slot::Edit(edit) = slot {
                edit.encoding = edit.encoding.or(encoding);
            }
        }
        let kept = failed.map(|failed| failed.message.clone()).unwrap_or_default();
        Ok(Box::new(Edit {
            edits,
            is_patch,
            dry_run,
            with_diff,
            message: message.map_or(kept, |message| message.0),
            retry,
            author: options.author.clone(),
            handles: options.handles.clone(),
            guide: options.guide(),
            limit: options.limit,
        }))
    }
}

/// The edits of a call, and those of the call that failed which it goes on with. What is corrected may be the encoding alone.
fn in_order(
    given: (Option<Edits>, Option<Text>),
    failed: Option<&FailedEdits>,
    encoding: Option<EncodingChoice>,
    options: ParseOptions,
) -> Result<Vec<Planned>> {
    let refuse =
        |at: &str, problem: &str| Err(Error::InvalidArguments { at: at.into(), problem: problem.into() });
    let planned = |patch: Text| patched::edits(&patch.0, options);
    match (given, failed) {
        ((Some(_), Some(_)), _) => refuse("patch", "it is beside edits; give one of them"),
        ((None, None), None) => refuse("edits", "it is missing; expected edits, or a patch"),
        ((None, None), Some(failed)) if encoding.is_some() => failed.corrected(Vec::new(), encoding, options),
        ((None, None), Some(_)) => {
            refuse("edits", "it is missing; expected the corrected edits, each with its n")
        }
        ((Some(Edits(given)), None), None) => {
            let mut last = None;
            given.into_iter().enumerate().map(|(at, edit)| Planned::of(edit, at, &mut last)).collect()
        }
        ((Some(Edits(given)), None), Some(failed)) => failed.corrected(given, encoding, options),
        ((None, Some(patch)), None) => Ok(planned(patch)?.into_iter().map(Planned::from).collect()),
        ((None, Some(patch)), Some(failed)) => {
            let patch: Vec<Planned> = planned(patch)?.into_iter().map(Planned::from).collect();
            failed.patched(&patch, encoding)
        }
    }
}

/// The error for a patch beside a path, which is no argument there.
fn patch_beside_path(json: &str) -> Option<Error> {
    let call: Json = from_str(json).ok()?;
    let mut edits = [&call, &call["edits"]].into_iter().chain(call["edits"].as_array().into_iter().flatten());
    let edit = edits.find(|edit| edit["patch"].as_str().is_some_and(|patch| !patch.is_empty()))?;
    let (patch, path) = (edit["patch"].as_str()?, edit["path"].as_str().filter(|path| !path.is_empty())?);
    let problem = match patch.trim_start().starts_with("@@") {
        true => format!(
            "the path belongs into it: give it without path and edits, with the lines `--- a/{path}` and `+++ b/{path}` above the hunk"
        ),
        false => "it names its files itself; give it without path and edits".into(),
    };
    Some(Error::InvalidArguments { at: "patch".into(), problem })
}

/// The arguments beside the edits.
fn without_edits(json: &str) -> Option<String> {
    let mut call: Map<String, Json> = from_str(json).ok()?;
    call.remove("edits");
    Some(Json::from(call).to_string())
}

fn unknown_retry(name: &str) -> Error {
    let problem = format!(
        "there is no failed call {name} (any more): it is of this session, lives ten minutes, is used up by success, and goes when too many are kept; send all edits"
    );
    Error::InvalidArguments { at: "retry".into(), problem }
}
