//! Globs that may be meant where one matches nothing: the slips that are usual in calls, each mended by itself.
//!
//! Knows no files: whether another glob matches more, its caller asks.

use super::glob_list::split;

/// The homes of shells, which no glob names.
const HOMES: [&str; 3] = ["~/", "$HOME/", "${HOME}/"];

/// The longest glob that has near ones, in bytes.
const LONGEST: usize = 4_096;

/// The globs that may be meant by this one.
pub(super) fn near_globs(glob: &str) -> Vec<String> {
    if glob.len() > LONGEST {
        return Vec::new();
    }
    let mut near = Vec::new();
    let bare = glob.trim().trim_matches(['"', '\'', '`']);
    near.push(bare.to_owned());
    near.extend(HOMES.iter().find_map(|home| bare.strip_prefix(home)).map(str::to_owned));
    if bare.contains('\\') {
        let slashed = bare.replace(r"\\", "/").replace('\\', "/");
        // No path of this system begins with a backslash.
        near.push(if bare.starts_with('\\') { slashed.trim_start_matches('/').into() } else { slashed });
    }
    near.extend(one_of(split(bare)));
    if !bare.contains(['(', '{']) {
        near.extend(one_of(bare.split('|').map(str::trim).collect()));
    }
    near.extend(of_expression(bare));
    let below = bare.trim_start_matches('/');
    near.push(below.to_owned());
    if below.trim_end_matches('/').contains('/') && !below.starts_with("**/") && !below.starts_with("./") {
        near.push(format!("**/{below}"));
    }
    let mut different = Vec::new();
    for other in near {
        if other != glob && !other.is_empty() && !different.contains(&other) {
            different.push(other);
        }
    }
    different
}

/// The globs of a list as one.
fn one_of(mut globs: Vec<&str>) -> Option<String> {
    globs.retain(|glob| !glob.is_empty());
    (globs.len() > 1).then(|| format!("{{{}}}", globs.join(",")))
}

/// A regular expression of paths as a glob, if it is one of those that have a glob: `^src/.*\.(c|h)$` as `src/**/*.{c,h}`.
fn of_expression(text: &str) -> Option<String> {
    let is_expression = [".*", ".+", r"\.", "^", "$"].iter().any(|part| text.contains(part));
    if !is_expression {
        return None;
    }
    let (is_whole, text) = (text.starts_with('^'), text.trim_start_matches('^'));
    let text = text.strip_suffix('$').unwrap_or(text).replace(".+", ".*");
    let mut components = Vec::new();
    for component in text.split('/') {
        let (any, rest) = match component.strip_prefix(".*") {
            Some(rest) => (true, rest),
            None => (false, component),
        };
        if any {
            components.push("**".to_owned());
        }
        if !rest.is_empty() {
            let rest = rest.replace(".*", "*").replace(r"\.", ".");
            components.push(format!("{}{}", if any { "*" } else { "" }, alternatives(&rest)));
        }
    }
    if !is_whole && components.first().is_some_and(|first| first != "**") {
        // It may be found anywhere in a name.
        components[0].insert(0, '*');
        components.insert(0, "**".into());
    }
    let glob = components.join("/");
    (!glob.contains(['\\', '^', '$', '+', '|', '('])).then_some(glob)
}

/// Groups of alternatives, such as `(?:c|h)`, as a glob has them.
fn alternatives(mut text: &str) -> String {
    let mut glob = String::new();
    while let Some((before, rest)) = text.split_once('(')
        && let Some((inner, behind)) = rest.split_once(')')
    {
        let inner = inner.trim_start_matches("?:").replace('|', ",");
        let group = if inner.contains(',') { format!("{{{inner}}}") } else { inner };
        glob.extend([before, &group]);
        text = behind;
    }
    glob + text
}

#[cfg(test)]
mod tests {
    use super::{alternatives, near_globs};

    #[test]
    fn a_glob_with_a_slip_has_near_ones() {
        for (glob, near) in [
            (r"src\*.py", "src/*.py"),
            (r"\*.py", "*.py"),
            (r"src\\sub\\*.py", "src/sub/*.py"),
            ("*.rs|*.py", "{*.rs,*.py}"),
            ("a.rs,b.rs", "{a.rs,b.rs}"),
            ("*.rs, *.py", "{*.rs,*.py}"),
            (r".*\.py$", "**/*.py"),
            (r"^src/.*\.(py|rs)$", "src/**/*.{py,rs}"),
            (r"^src/.*$", "src/**"),
            (r"\.py$", "**/*.py"),
            (r"^src/a\.py$", "src/a.py"),
            ("~/src/*.py", "src/*.py"),
            ("$HOME/src/*.py", "src/*.py"),
            ("\"*.py\"", "*.py"),
            (" *.py", "*.py"),
            ("/.github/w.yml", ".github/w.yml"),
            ("/lib/*.py", "**/lib/*.py"),
            ("lib/*.py", "**/lib/*.py"),
        ] {
            let all = near_globs(glob);
            assert!(all.iter().any(|other| other == near), "{glob}: {all:?}");
        }
    }

    #[test]
    fn a_glob_of_any_length_ends_no_server() {
        assert_eq!(alternatives(&"(?:a|b)()".repeat(100_000)), "{a,b}".repeat(100_000));
        assert_eq!(near_globs(&format!("${}", "()".repeat(50_000))), [""; 0]);
    }

    #[test]
    fn a_glob_without_a_slip_has_no_near_ones() {
        for glob in ["", "*.rs", "**/src/**/*.{rs,py}", "@(a|b).rs", "a.py", "./app/[slug]/*"] {
            assert_eq!(near_globs(glob), [""; 0], "{glob}");
        }
    }
}
