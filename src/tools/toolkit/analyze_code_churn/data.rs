//! The format `json`: one object, as text and as data.

use serde_json::{Map, Value, json};

use super::shown::{Shown, tenth};
use crate::tools::limited::{MAX_TOKENS, tokens_of};
use crate::tools::{Members, OutputKinds, Reply, timestamp};
use ::toolkit::churn::{AuthorCommits, FileChurn};

/// Room for the call that goes on, in bytes.
const NEXT: usize = 512;

/// Authors of one file that are named.
const MOST_AUTHORS: usize = 10;

/// The reply.
pub(super) fn reply(
    shown: &Shown,
    wanted: OutputKinds,
    next: impl Fn(usize) -> Option<(&'static str, Value)>,
) -> Reply {
    let mut object = Map::new();
    object.insert("summary".into(), summary(shown));
    object.insert("authors".into(), shown.authors().iter().map(author).collect());
    object.insert("hot_spots".into(), hot_spots(shown));
    let fixed = Value::Object(object.clone()).to_string();
    let mut tokens = tokens_of(fixed.as_bytes()) + NEXT;
    let most_tokens = shown.limit.map_or(usize::MAX, |_| MAX_TOKENS);
    let fixed = fixed.len();
    let room = shown.limit.map_or(usize::MAX, |limit| limit.saturating_sub(fixed + NEXT));
    let (mut files, mut bytes) = (Vec::new(), 0);
    for file in shown.files() {
        let entry = file_json(shown, file);
        let text = entry.to_string();
        (bytes, tokens) = (bytes + text.len() + 1, tokens + tokens_of(text.as_bytes()) + 1);
        // The first one always is shown, so that each page goes on.
        if (bytes > room || tokens > most_tokens) && !files.is_empty() {
            break;
        }
        files.push(entry);
    }
    let (count, all) = (files.len(), shown.files().len());
    object.insert("files".into(), files.into());
    let is_late = shown.churn.late.is_some();
    let truncated = (count < all || is_late).then(|| {
        let mut truncated = json!({ "shown": count, "of": all });
        next(count).into_iter().for_each(|(_, arguments)| truncated["next"] = arguments);
        if is_late {
            truncated["partial"] = json!(true);
        }
        truncated
    });
    if let Some(truncated) = &truncated {
        object.insert("truncated".into(), truncated.clone());
    }
    let data = match wanted.data {
        true => object.iter().fold(Members::default(), |members, (name, value)| members.with(name, value)),
        false => Members::default(),
    };
    let meta = Members::default().with_some("file-editor/truncated", truncated.as_ref());
    let text = if wanted.text { Value::Object(object).to_string() } else { String::new() };
    Reply { text, data, meta, ..Reply::default() }
}

fn summary(shown: &Shown) -> Value {
    let churn = shown.churn;
    let mut summary = json!({
        "period_days": shown.days,
        "since": timestamp(churn.since),
        "head": churn.head,
        "commits": churn.commits,
        "merges": churn.merges,
        "authors": churn.authors.len(),
        "files": churn.files.len(),
        "lines_added": churn.added,
        "lines_deleted": churn.deleted,
        "hot_spots": shown.spots.len(),
        "notes": shown.notes(),
    });
    if churn.late.is_some() || shown.unscored.is_some() {
        summary["partial"] = json!(true);
    }
    summary
}

fn author(of: &AuthorCommits) -> Value {
    json!({ "name": of.author.name, "email": of.author.email, "commits": of.commits })
}

fn hot_spots(shown: &Shown) -> Value {
    let spot = |spot: &::toolkit::churn::HotSpot| {
        json!({
            "path": shown.path(spot.file),
            "score": tenth(spot.score),
            "lines_changed": spot.file.lines(),
            "complexity": tenth(spot.complexity),
        })
    };
    shown.spots().iter().map(spot).collect()
}

fn file_json(shown: &Shown, file: &FileChurn) -> Value {
    json!({
        "path": shown.path(file),
        "exists": file.exists,
        "commits": file.commits,
        "author_count": file.authors.len(),
        "authors": file.authors.iter().take(MOST_AUTHORS).map(author).collect::<Vec<_>>(),
        "lines_added": file.added,
        "lines_deleted": file.deleted,
        "binary_changes": file.binary,
        "uncounted_changes": file.too_large,
        "last_commit": timestamp(file.last),
        "complexity": shown.complexity(file).map(tenth),
        "hot_spot": shown.score(file).map(tenth),
    })
}
