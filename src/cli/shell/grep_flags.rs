//! The flags of `grep`: ripgrep's usual ones, with its meaning. A flag that is not known here is refused: output that only looks like
//! ripgrep's would be worse.
//!
//! Knows no files.

use clap::Args;

use crate::cli::Stop;
use crate::tools::{Context, LineHead, PrintRequest, Printed};
use search::PatternOptions;
use text::encoding::EncodingChoice;

#[derive(Debug, Args)]
#[command(disable_help_flag = false)]
pub(super) struct GrepFlags {
    /// Regular expression (Rust syntax)
    #[arg(required_unless_present = "regexp")]
    pattern: Option<String>,
    /// Folders and files; the whole folder, if none is given
    paths: Vec<String>,
    /// A pattern; may be given several times
    #[arg(short = 'e', long, value_name = "PATTERN", allow_hyphen_values = true)]
    regexp: Vec<String>,
    /// The pattern is text
    #[arg(short = 'F', long)]
    fixed_strings: bool,
    /// Upper and lower case are the same
    #[arg(short, long, overrides_with_all = ["case_sensitive", "smart_case"])]
    ignore_case: bool,
    /// Upper and lower case differ (as they do without a flag)
    #[arg(short = 's', long, overrides_with_all = ["ignore_case", "smart_case"])]
    case_sensitive: bool,
    /// Upper and lower case are the same if the pattern has no upper case
    #[arg(short = 'S', long, overrides_with_all = ["ignore_case", "case_sensitive"])]
    smart_case: bool,
    /// Whole words
    #[arg(short, long, overrides_with = "line_regexp")]
    word_regexp: bool,
    /// Whole lines
    #[arg(short = 'x', long, overrides_with = "word_regexp")]
    line_regexp: bool,
    /// A match may span lines
    #[arg(short = 'U', long)]
    multiline: bool,
    /// Only files that match; !GLOB leaves out. May be given several times
    #[arg(short, long, value_name = "GLOB")]
    glob: Vec<String>,
    /// Only files of this type, such as rust or py
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    types: Vec<String>,
    /// Also hidden files
    #[arg(short = '.', long)]
    hidden: bool,
    /// Also what git ignores
    #[arg(long)]
    no_ignore: bool,
    /// -u: also what git ignores; -uu: also hidden files
    #[arg(short = 'u', long, action = clap::ArgAction::Count)]
    unrestricted: u8,
    /// Levels of folders
    #[arg(short = 'd', long, visible_alias = "maxdepth", value_name = "N")]
    max_depth: Option<usize>,
    /// The most lines of a file
    #[arg(short = 'm', long, value_name = "N")]
    max_count: Option<usize>,
    /// Lines to show behind each match
    #[arg(short = 'A', long, value_name = "N")]
    after_context: Option<usize>,
    /// Lines to show before each match
    #[arg(short = 'B', long, value_name = "N")]
    before_context: Option<usize>,
    /// Lines to show before and behind each match
    #[arg(short = 'C', long, value_name = "N")]
    context: Option<usize>,
    /// Line numbers
    #[arg(short = 'n', long, overrides_with = "no_line_number")]
    line_number: bool,
    /// No line numbers (as without a flag)
    #[arg(short = 'N', long, overrides_with = "line_number")]
    no_line_number: bool,
    /// Paths before lines, also of a single file
    #[arg(short = 'H', long, overrides_with = "no_filename")]
    with_filename: bool,
    /// No paths before lines
    #[arg(short = 'I', long, overrides_with = "with_filename")]
    no_filename: bool,
    /// Paths on a line of their own
    #[arg(long, overrides_with = "no_heading")]
    heading: bool,
    /// Paths before each line (as without a flag)
    #[arg(long, overrides_with = "heading")]
    no_heading: bool,
    /// Only the matches
    #[arg(short, long)]
    only_matching: bool,
    /// Only the paths of files with matches
    #[arg(short = 'l', long)]
    files_with_matches: bool,
    /// The number of lines of each file
    #[arg(short, long)]
    count: bool,
    /// The number of matches of each file
    #[arg(long)]
    count_matches: bool,
    /// Print nothing
    #[arg(short, long)]
    quiet: bool,
    /// The order of files: path, which it always is
    #[arg(long, value_name = "ORDER", value_parser = ["path"])]
    sort: Option<String>,
    /// Colours: never
    #[arg(long, value_name = "WHEN", value_parser = ["never", "auto"])]
    color: Option<String>,
    /// The encoding of the files
    #[arg(short = 'E', long, value_name = "NAME", default_value = "utf-8")]
    encoding: String,
}

impl GrepFlags {
    /// Whether no line can be printed.
    pub(super) fn wants_nothing(&self) -> bool {
        self.max_count == Some(0)
    }

    /// Whether one match is all that is asked for.
    pub(super) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// The files and folders to search. With `-e`, the first word is one of them.
    pub(super) fn paths(&self) -> Vec<String> {
        let first = self.pattern.iter().filter(|_| !self.regexp.is_empty());
        first.chain(&self.paths).cloned().collect()
    }

    pub(super) fn request(&self, as_json: bool) -> Result<PrintRequest, Stop> {
        let context = Context {
            before: self.before_context.or(self.context).unwrap_or(0),
            after: self.after_context.or(self.context).unwrap_or(0),
        };
        let others = [self.files_with_matches, self.count, self.count_matches];
        if as_json && others.contains(&true) {
            return Err(Stop::Wrong(
                "--json cannot be used with -l, -c or --count-matches; give one of them".into(),
            ));
        }
        let printed = match () {
            () if self.quiet => Printed::Nothing,
            () if as_json => Printed::Events(context),
            () if self.count_matches || self.count && (self.only_matching || self.multiline) => {
                Printed::MatchCounts
            }
            () if self.count => Printed::LineCounts,
            () if self.files_with_matches => Printed::Paths,
            () if self.only_matching => Printed::Matches(context),
            () => Printed::Lines(context),
        };
        let encoding = EncodingChoice::parse(&self.encoding)
            .ok_or_else(|| Stop::Wrong(format!("--encoding: {} is not known", self.encoding)))?;
        let (pattern, fixed) = self.whole_pattern();
        Ok(PrintRequest {
            how: PatternOptions {
                fixed,
                ignore_case: self.ignore_case || self.smart_case && !has_upper_case(&pattern, fixed),
                whole_words: self.word_regexp,
                multiline: self.multiline,
            },
            pattern,
            globs: self.glob.clone(),
            // As ripgrep has it: what a glob names is wanted whatever its type.
            types: if self.glob.iter().all(|glob| glob.starts_with('!')) {
                self.types.clone()
            } else {
                Vec::new()
            },
            hidden: self.hidden || self.unrestricted > 1,
            ignored: self.no_ignore || self.unrestricted > 0,
            depth: self.max_depth,
            most: self.max_count,
            encoding,
            printed,
            head: LineHead {
                path: false,
                number: self.line_number || as_json && !self.no_line_number,
                heading: self.heading,
            },
        })
    }

    /// The patterns as one, and whether it is text.
    fn whole_pattern(&self) -> (String, bool) {
        let patterns: Vec<&String> = match self.regexp.is_empty() {
            true => self.pattern.iter().collect(),
            false => self.regexp.iter().collect(),
        };
        if let ([one], false) = (&patterns[..], self.line_regexp) {
            return ((*one).clone(), self.fixed_strings);
        }
        let one = |pattern: &&String| match self.fixed_strings {
            true => regex_syntax::escape(pattern),
            false => format!("(?:{pattern})"),
        };
        let all = patterns.iter().map(one).collect::<Vec<_>>().join("|");
        (if self.line_regexp { format!("^(?:{all})$") } else { all }, false)
    }

    pub(super) fn shows_paths(&self, names_files: bool) -> bool {
        !self.no_filename && (self.with_filename || names_files)
    }
}

/// Whether a pattern has a letter of upper case, other than in an escape.
fn has_upper_case(pattern: &str, is_text: bool) -> bool {
    let (mut is_escaped, mut has_upper) = (false, false);
    for char in pattern.chars() {
        has_upper |= char.is_uppercase() && !is_escaped;
        is_escaped = !is_text && char == '\\' && !is_escaped;
    }
    has_upper
}
