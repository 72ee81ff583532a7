//! The flags of ripgrep that `grep` refuses, and what to use instead. Knows no flag that it takes.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Flags, and what is said of them behind "is not taken".
const OTHERS: [(&[&str], &str); 24] = [
    (&["-v", "--invert-match", "--files-without-match"], "only lines and files that match are told"),
    (
        &["-a", "--text", "--binary", "-z", "--search-zip", "--null-data", "--pre", "--pre-glob"],
        "only text is searched",
    ),
    (&["-L", "--follow"], "links out of the folder are not followed; name the file that one leads to"),
    (
        &["-P", "--pcre2", "--engine", "--auto-hybrid-regex"],
        "patterns have no look-around and no \\1; search for what they have in common",
    ),
    (
        &["-r", "--replace"],
        "folders are searched with all in them without it; to change files use 'file-editor replace PATTERN REPLACEMENT', with \
         --dry-run to see it only",
    ),
    (
        &["-R", "--recursive", "--dereference-recursive"],
        "leave it out: folders are searched with all in them",
    ),
    (&["--include"], "use -g GLOB, such as -g '*.py'"),
    (&["--exclude-dir", "--exclude-from"], "use -g with '!', such as -g '!target/**'"),
    (&["--files"], "use 'file-editor files --path PATH', or with a glob 'file-editor files GLOB'"),
    (&["--column", "--vimgrep", "-b", "--byte-offset"], "use --json, which has the bytes of each match"),
    (&["-0", "--null"], "use --json, in which any path is unmistakable"),
    (&["--stats"], "leave it out: what was searched is told on standard error"),
    (&["-T", "--type-not"], "use -g with '!', such as -g '!*.md'"),
    (&["--type-list", "--type-add", "--type-clear"], "-t takes the types of ripgrep; for others use -g"),
    (&["--iglob", "--glob-case-insensitive"], "use -g with both cases, such as -g '*.[tT][xX][tT]'"),
    (&["-p", "--pretty"], "use --heading and -n"),
    (&["--passthru", "--passthrough"], "use 'file-editor read PATH'"),
    (&["-f", "--file"], "use -e for each pattern"),
    (&["--multiline-dotall"], "use -U, and (?s) in the pattern"),
    (&["--no-unicode"], "use (?-u) in the pattern"),
    (
        &["-M", "--max-columns", "--max-columns-preview", "--trim"],
        "lines are printed whole; cut them behind a pipe",
    ),
    (
        &[
            "--no-ignore-vcs",
            "--no-ignore-dot",
            "--no-ignore-global",
            "--no-ignore-parent",
            "--no-ignore-exclude",
            "--no-ignore-files",
            "--ignore-file",
        ],
        "use --no-ignore, or --exclude for more that is to be left out",
    ),
    (&["--sortr", "--sort-files"], "files always come in the order of their paths"),
    (
        &[
            "-j",
            "--threads",
            "--mmap",
            "--no-mmap",
            "--line-buffered",
            "--block-buffered",
            "--no-config",
            "--no-messages",
            "--no-require-git",
            "--one-file-system",
            "--crlf",
            "--colors",
            "--regex-size-limit",
            "--dfa-size-limit",
        ],
        "leave it out: what is printed does not depend on it",
    ),
];

/// What is said where `error` is about such a flag.
pub(super) fn refusal(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else { return None };
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let (_, instead) = OTHERS.iter().find(|(flags, _)| flags.contains(&flag.as_str()))?;
    Some(format!("{flag} of ripgrep is not taken: {instead}; see file-editor grep --help"))
}
