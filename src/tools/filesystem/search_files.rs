//! `search_files`: files and folders whose paths match a glob.

use serde_json::json;

use super::CONTENT;
use crate::tools::arguments::{Request, Takes, arguments};
use crate::tools::cursor::Cursor;
use crate::tools::limited::LimitedText;
use crate::tools::near::{Advised, AdvisedPath, GlobInPath, Near};
use crate::tools::near_globs::near_globs;
use crate::tools::walking::{Listed, Patterns, absolute_line, exclude_globs, shown_line, starts};
use crate::tools::{Call, OutputKinds, ParseOptions, Reply, Tool, memory, wrong_pattern};
use engine::Workspace;
use folder::{Control, EntryKind, Error, FilePath, Result, WalkOptions};
use sys::path::{told, with_slashes};
use text::glob::{Glob, GlobBudget, with_literal_brackets};

pub(crate) static TOOL: Tool = Tool {
    name: "search_files",
    title: "Search Files",
    description: "Find files and folders by a glob of their path below `path`: *.ts matches there only, **/*.ts at any depth. \
        It looks at names, not at contents. Answers with absolute paths. Example: {\"path\":\"src\",\"pattern\":\"**/*.test.ts\"}",
    instructions: "",
    takes: Takes::of::<SearchArguments>(),
    output_schema: Some(CONTENT),
    writes: false,
    destructive: false,
    idempotent: true,
    direct: false,
};

arguments! {
    struct SearchArguments {
        /// Path of the folder to search
        path: FilePath,
        /// Glob of paths below it
        pattern: String,
        /// Globs of paths to leave out
        exclude_patterns as "excludePatterns": Option<Patterns>,
        /// Where an earlier answer says that the list goes on
        cursor: Option<Cursor>,
    }
}

#[derive(Debug)]
struct SearchFiles {
    arguments: SearchArguments,
    /// The arguments that a cursor of this list belongs to.
    key: String,
    limit: Option<usize>,
    /// Whether the client is offered the tool.
    has_grep: bool,
}

impl Request for SearchArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        let patterns = self.exclude_patterns.as_ref().map(|list| list.0.as_slice()).unwrap_or_default();
        let key = format!("{:?} {patterns:?}", self.pattern);
        let has_grep = options.offered.has("grep");
        Ok(Box::new(SearchFiles { arguments: self, key, limit: options.limit.bytes, has_grep }))
    }
}

impl Call for SearchFiles {
    fn file(&self) -> Option<&FilePath> {
        None
    }

    fn looked_at(&self) -> Option<&FilePath> {
        Some(&self.arguments.path)
    }

    fn memory(&self) -> usize {
        memory::WALK
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        let SearchArguments { path, pattern, exclude_patterns, cursor } = &self.arguments;
        let mut budget = GlobBudget::default();
        let wanted_paths =
            Glob::within(pattern, &mut budget).map_err(|error| wrong_pattern("pattern", &error))?;
        let excludes =
            exclude_globs(exclude_patterns.as_ref(), |pattern| Glob::within(pattern, &mut budget))?;
        let listed = Listed { workspace, tool: TOOL.name, folder: path, arguments: &self.key };
        let after = listed.behind(cursor.as_ref())?;
        let mut line = absolute_line(workspace, path)?;
        line.push('/');
        let base_len = line.len();
        let (mut list, mut links) = (LimitedText::new(self.limit), 0);
        let is_excluded = |path: &str| excludes.iter().any(|exclude| exclude.matches(path));
        let options = WalkOptions::default();
        let reached = listed.walk(options, after.as_deref(), &is_excluded, control, |walk, met| {
            let is_match = !met.is_above && wanted_paths.matches(met.path);
            if met.kind == EntryKind::Link {
                // The page of the entries that do not fit counts what is behind them.
                let hides_matches = !list.is_full() && wanted_paths.may_match_below(met.path);
                match (is_match || hides_matches).then(|| walk.stat_of_target()).flatten() {
                    Some(target) => {
                        let is_folder = EntryKind::of_mode(target.st_mode) == EntryKind::Folder;
                        links += u64::from(hides_matches && is_folder);
                    }
                    // A link that leads out of the folder, or nowhere, is no file.
                    None => return false,
                }
            }
            if !is_match {
                return false;
            }
            line.truncate(base_len);
            line.push_str(&shown_line(walk.path_from_start()));
            list.push_line(&told(&line))
        });
        let reached = match reached {
            Err(error @ Error::NotFound { .. }) => {
                return Err(self.glob_in_path(workspace, control)?.unwrap_or(error));
            }
            reached => reached?,
        };
        let mut note: Vec<String> = listed.note(&reached, cursor.as_ref()).into_iter().collect();
        note.extend((links > 0).then(|| {
            let links =
                if links == 1 { "1 link to a folder".into() } else { format!("{links} links to folders") };
            format!("[Not entered: {links}]")
        }));
        let go_on = listed.end(&mut list, &reached, cursor.as_ref())?;
        if list.total() == 0 {
            list.text_mut().push_str("No matches found");
            if cursor.is_none() && !reached.is_late {
                let is_left_out = |path: &str| is_left_out(path, &is_excluded);
                note.extend(self.hints(workspace, &line[..base_len], &is_left_out, control)?);
            }
        }
        let next = || {
            let mut next = json!({ "path": path.sent(), "pattern": pattern });
            go_on.iter().for_each(|cursor| next["cursor"] = json!(cursor));
            if let Some(patterns) = exclude_patterns {
                next["excludePatterns"] = json!(patterns.0);
            }
            Ok((TOOL.name, next))
        };
        let note = note.join("\n");
        list.reply(wanted, "matches", next, Some(&*note).filter(|note| !note.is_empty()))
    }
}

/// Whether `path` or a folder above it is excluded.
fn is_left_out(path: &str, is_excluded: &dyn Fn(&str) -> bool) -> bool {
    let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
    ends.map(|end| &path[..end]).any(is_excluded)
}

impl SearchFiles {
    /// The error for a path that does not exist, if it is a glob and files match.
    fn glob_in_path(&self, workspace: &Workspace, control: &Control) -> Result<Option<Error>> {
        let SearchArguments { path, pattern, exclude_patterns, .. } = &self.arguments;
        let mut budget = GlobBudget::default();
        let excludes =
            exclude_globs(exclude_patterns.as_ref(), |pattern| Glob::within(pattern, &mut budget))?;
        let is_excluded = |path: &str| excludes.iter().any(|exclude| exclude.matches(path));
        let takes = |path: &AdvisedPath| !is_left_out(path.below, &is_excluded);
        let advised = Advised { takes: &takes, ..Advised::OF_NAMES };
        let behind = format!("/{pattern}");
        let found = GlobInPath::find(path, &[&behind, "", "/**"], &advised, workspace, control)?;
        Ok(found.map(|found| found.error(json!({ "path": found.folder, "pattern": found.glob }))))
    }

    /// Lines for a pattern that matches nothing below `base`, which ends in a slash: patterns that match something.
    fn hints(
        &self,
        workspace: &Workspace,
        base: &str,
        is_left_out: &dyn Fn(&str) -> bool,
        control: &Control,
    ) -> Result<Vec<String>> {
        let SearchArguments { path, pattern, .. } = &self.arguments;
        let starts = starts(workspace, Some(path), path)?;
        let near = Near::new(workspace, &starts, control).with_folders();
        let count = |glob: &Glob, change: fn(&str) -> String| {
            near.count(WalkOptions::default(), |path| glob.matches(&change(path)) && !is_left_out(path))
        };
        let mut lines = Vec::new();
        for other in near_patterns(pattern, base) {
            if let Ok(glob) = Glob::parse(&other) {
                let with = format!("with {}", json!({ "pattern": told(&other) }));
                lines.extend(count(&glob, str::to_owned)?.line(&with));
            }
        }
        if pattern.contains(char::is_alphabetic)
            && let Ok(glob) = Glob::parse(&pattern.to_lowercase())
        {
            lines.extend(count(&glob, str::to_lowercase)?.line("if upper and lower case are the same"));
        }
        let instead = if self.has_grep { "; grep searches what is in files" } else { "" };
        lines.push(format!("[search_files looks at names only, not at what is in files{instead}]"));
        Ok(lines)
    }
}

/// What may be meant by a pattern that matches no path below `base`.
fn near_patterns(pattern: &str, base: &str) -> Vec<String> {
    let slashed = with_slashes(pattern);
    let below = slashed.strip_prefix(base).map_or(pattern, |below| below);
    let below = below.trim_start_matches("./").trim_start_matches('/');
    let mut near = Vec::new();
    let names = [Some(below.to_owned()), with_literal_brackets(below)].into_iter().flatten();
    for name in names.chain(near_globs(below)) {
        let folder = name.trim_end_matches('/');
        near.push(name.clone());
        if !folder.is_empty() && folder.len() < name.len() {
            near.push(format!("{folder}/**"));
        }
        if !folder.is_empty() && !folder.contains('/') {
            near.push(format!("**/{folder}"));
        }
    }
    near.retain(|other| other != pattern && !other.is_empty());
    near.dedup();
    near
}

#[cfg(test)]
mod tests {
    use super::near_patterns;

    #[test]
    fn what_may_be_meant_is_a_path_below_the_folder_at_any_depth_or_with_literal_brackets() {
        for (pattern, near) in [
            ("*.tsx", &["**/*.tsx"][..]),
            ("./src/**", &["src/**", "**/src/**"]),
            ("/srv/a/src/*", &["src/*", "**/src/*"]),
            ("src/", &["src/**", "**/src"]),
            ("app/[slug]/*", &["app/\\[slug\\]/*", "**/app/[slug]/*"]),
            ("**/*.rs", &[]),
            ("/", &[]),
        ] {
            assert_eq!(near_patterns(pattern, "/srv/a/"), near, "{pattern}");
        }
    }
}
