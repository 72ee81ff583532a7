//! The sets of tools, and which of them a server offers (contract 2: `--tools`, `--line-base`).
//!
//! A tool is one file in the folder of its set and one line here.

use super::{AnswerLimit, LineBase, Tool, agent, exact, filesystem, lines, search, text};

/// Tools that are offered together.
#[derive(Debug)]
pub struct Set {
    /// Its name in `--tools`.
    pub name: &'static str,
    /// The number of its first line. `None`: that of the other sets offered.
    pub base: Option<LineBase>,
    /// Whether its tools take paths; if not, they take names.
    pub paths: bool,
    /// Whether it serves exactly one folder.
    pub one_folder: bool,
    /// What limits its answers.
    pub limited: Limited,
    /// The codes of its failures.
    pub codes: Codes,
    /// What a client should know of the set. `{first}` stands for the number of the first line.
    pub instructions: &'static str,
    /// Its tools, in the order in which they are listed.
    pub tools: &'static [&'static Tool],
}

/// Which codes the failures of a set have, other than those of the arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Codes {
    /// Those of contract 7.
    Files,
    /// That of S4 (contract 15), which a posted call tells beside the content.
    Text,
    /// Those of S2 (contract 16), told in the same way. Failures of files have those of contract 7.
    Toolkit,
}

/// The longest text of an answer in bytes, where `--answer-limit` does not say (contract 11): clients refuse longer ones.
const ANSWER_LIMIT: usize = 60 << 10;

/// Bytes that an estimated token stands for at most where tokens limit an answer: blanks cost next to nothing.
const BYTES_OF_TOKEN: usize = 10;

/// What limits the answers of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limited {
    /// Nothing, unless `--answer-limit` is given.
    ByFlag,
    /// Bytes, by `--answer-limit` (contract 11).
    Bytes,
    /// Tokens, by `--answer-tokens` (contract 19).
    Tokens,
}

impl Set {
    /// The longest text of an answer. `flag` is `--answer-limit` in bytes, `tokens` is `--answer-tokens`; 0 means no limit.
    pub fn answer_limit(&self, flag: Option<usize>, tokens: usize) -> AnswerLimit {
        let given = flag.filter(|bytes| *bytes > 0);
        match (self.limited, flag) {
            (Limited::Tokens, _) if tokens > 0 => {
                let bytes = tokens.saturating_mul(BYTES_OF_TOKEN);
                AnswerLimit { bytes: Some(given.map_or(bytes, |given| given.min(bytes))), tokens }
            }
            (Limited::Bytes, None) => Some(ANSWER_LIMIT).into(),
            _ => given.into(),
        }
    }
}

/// What a client should know where files have names.
const FLAT: &str = "One folder of text files. Names are relative to it, lines count from {first}.";

/// All sets, in the order in which their tools are listed.
pub static SETS: &[Set] = &[
    Set {
        name: "lines",
        base: Some(LineBase::Zero),
        paths: false,
        one_folder: true,
        limited: Limited::ByFlag,
        codes: Codes::Files,
        instructions: FLAT,
        tools: &[&lines::list_files::TOOL, &lines::read_file::TOOL, &lines::edit_file::TOOL],
    },
    Set {
        name: "exact",
        base: None,
        paths: false,
        one_folder: true,
        limited: Limited::ByFlag,
        codes: Codes::Files,
        instructions: FLAT,
        tools: &[&exact::TOOL],
    },
    Set {
        name: "filesystem",
        base: Some(LineBase::One),
        paths: true,
        one_folder: false,
        limited: Limited::Bytes,
        codes: Codes::Files,
        instructions: "Trees of text files. Paths are relative to a served folder, or absolute and in one.",
        tools: &[
            &filesystem::read_text_file::DEPRECATED,
            &filesystem::read_text_file::TOOL,
            &filesystem::read_media_file::TOOL,
            &filesystem::read_multiple_files::TOOL,
            &filesystem::write_file::TOOL,
            &filesystem::edit_file::TOOL,
            &filesystem::create_directory::TOOL,
            &filesystem::list_directory::TOOL,
            &filesystem::list_directory_with_sizes::TOOL,
            &filesystem::directory_tree::TOOL,
            &filesystem::move_file::TOOL,
            &filesystem::search_files::TOOL,
            &filesystem::get_file_info::TOOL,
            &filesystem::list_allowed_directories::TOOL,
            &filesystem::delete_file::TOOL,
            &filesystem::copy_file::TOOL,
        ],
    },
    Set {
        name: "search",
        base: Some(LineBase::One),
        paths: true,
        one_folder: false,
        limited: Limited::Bytes,
        codes: Codes::Files,
        instructions: "Search tells what it left out: git's ignored files and hidden ones, unless asked for.",
        tools: &[&search::grep::TOOL, &search::glob::TOOL],
    },
    Set {
        name: "text",
        base: Some(LineBase::One),
        paths: true,
        one_folder: false,
        limited: Limited::Bytes,
        codes: Codes::Text,
        instructions: "Text files in many encodings. Paths are relative to a served folder, or absolute and in one.",
        tools: text::TOOLS,
    },
    Set {
        name: "agent",
        base: Some(LineBase::One),
        paths: true,
        one_folder: false,
        limited: Limited::Tokens,
        codes: Codes::Files,
        instructions: "Jobs over many files. Paths are relative to a served folder, or absolute and in one.",
        tools: &[
            &agent::files::TOOL,
            &agent::grep::TOOL,
            &agent::read::TOOL,
            &agent::edit::TOOL,
            &agent::replace::TOOL,
            #[cfg(feature = "toolkit")]
            &agent::outline::TOOL,
            &agent::changes::TOOL,
            &agent::undo::TOOL,
        ],
    },
    #[cfg(feature = "toolkit")]
    Set {
        name: "toolkit",
        base: Some(LineBase::One),
        paths: true,
        one_folder: false,
        limited: Limited::Bytes,
        codes: Codes::Toolkit,
        instructions: "Templates for new projects, and which functions and files of a project need work.",
        tools: super::toolkit::TOOLS,
    },
];

/// The set that is offered unless `--tools` says otherwise. With sets of several line bases, its base counts.
pub const DEFAULT: &str = "lines";

/// The set that is offered for folders that are given without a flag.
pub const FOR_FOLDERS: &str = "agent";

/// One tool of a set.
#[derive(Debug, Clone, Copy)]
pub struct Member {
    /// The tool's set.
    pub set: &'static Set,
    /// The tool.
    pub tool: &'static Tool,
}

impl Member {
    /// Whether the tool runs commands, and so is offered only with `--allow-exec`.
    pub fn runs_commands(&self) -> bool {
        runs_commands(self.tool)
    }
}

/// A tool that a server offers over MCP.
#[derive(Debug, Clone, Copy)]
pub struct Offered {
    /// The tool's set.
    pub set: &'static Set,
    /// The tool.
    pub tool: &'static Tool,
    /// The number of its first line.
    pub base: LineBase,
}

impl Offered {
    /// Whether it matters for the tool what the session did before.
    pub fn knows_sessions(&self) -> bool {
        self.set.name == FOR_FOLDERS
    }

    /// Whether the tool runs commands.
    pub fn runs_commands(&self) -> bool {
        runs_commands(self.tool)
    }
}

fn runs_commands(tool: &'static Tool) -> bool {
    std::ptr::eq(tool, &raw const text::exec::TOOL)
}

/// Tools by their places in the table: small, so that every call can have it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToolNames(u64);

impl ToolNames {
    /// The names of these tools.
    pub fn of<'t>(tools: impl Iterator<Item = &'t Tool>) -> ToolNames {
        let bit = |tool: &Tool| members(SETS).position(|member| member.tool.name == tool.name);
        ToolNames(tools.filter_map(bit).fold(0, |names, at| names | 1 << at))
    }

    /// Whether a tool of this name is one of them.
    pub fn has(self, name: &str) -> bool {
        members(SETS).position(|member| member.tool.name == name).is_some_and(|at| self.0 >> at & 1 == 1)
    }
}

/// The tools that `--tools` names, in the order of the table. An error is one line.
pub fn choose(names: &str) -> Result<Vec<Member>, String> {
    choose_from(SETS, names)
}

/// The same for any table.
fn choose_from(sets: &'static [Set], names: &str) -> Result<Vec<Member>, String> {
    let mut chosen = Vec::new();
    for name in names.split(',').map(str::trim) {
        chosen.extend(named(sets, name)?);
    }
    let is_chosen = |member: &Member| chosen.iter().any(|one: &Member| std::ptr::eq(one.tool, member.tool));
    let members: Vec<Member> = members(sets).filter(is_chosen).collect();
    for (number, member) in members.iter().enumerate() {
        let name = member.tool.name;
        if !switches::is_off("sets-collision")
            && let Some(other) = members[..number].iter().find(|other| other.tool.name == name)
        {
            let (one, two) = (other.set.name, member.set.name);
            return Err(format!(
                "the sets {one} and {two} both have a tool {name} and cannot be offered together with it; \
                 name the tools that you want, such as {one}.{name}"
            ));
        }
    }
    Ok(members)
}

fn members(sets: &'static [Set]) -> impl Iterator<Item = Member> {
    sets.iter().flat_map(|set| set.tools.iter().map(move |tool| Member { set, tool }))
}

/// The tools of the set `name`, or the tool `set.tool` or `tool`.
fn named(sets: &'static [Set], name: &str) -> Result<Vec<Member>, String> {
    let in_set = |set: &str| members(sets).filter(|member| member.set.name == set).collect::<Vec<_>>();
    let found: Vec<Member> = match name.split_once('.') {
        Some((set, tool)) => in_set(set).into_iter().filter(|member| member.tool.name == tool).collect(),
        None if sets.iter().any(|set| set.name == name) => return Ok(in_set(name)),
        None => members(sets).filter(|member| member.tool.name == name).collect(),
    };
    match found[..] {
        [] => Err(unknown(sets, name)),
        [_] => Ok(found),
        _ => {
            let sets: Vec<&str> = found.iter().map(|member| member.set.name).collect();
            let names: Vec<String> = sets.iter().map(|set| format!("{set}.{name}")).collect();
            let (sets, names) = (sets.join(" and "), names.join(" or "));
            Err(format!("the tool {name} is in the sets {sets}; say {names}"))
        }
    }
}

fn unknown(sets: &'static [Set], name: &str) -> String {
    let names: Vec<&str> = sets.iter().map(|set| set.name).collect();
    let tools: Vec<&str> = members(sets).map(|member| member.tool.name).collect();
    let (names, tools) = (names.join(", "), tools.join(", "));
    format!("there is no set or tool {name:?}; choose from the sets {names} and the tools {tools}")
}

/// The tools with the numbers of their first lines. `flag` is `--line-base`, which counts for all tools.
pub fn offer(chosen: &[Member], flag: Option<LineBase>) -> Vec<Offered> {
    let default = chosen.iter().find(|member| member.set.name == DEFAULT).and_then(|member| member.set.base);
    let any = chosen.iter().find_map(|member| member.set.base);
    let base = |set: &Set| flag.or(default).or(set.base).or(any).unwrap_or(LineBase::Zero);
    chosen.iter().map(|&Member { set, tool }| Offered { set, tool, base: base(set) }).collect()
}

/// The tool of any set with the name `name`.
pub fn known(name: &str) -> Option<&'static Tool> {
    members(SETS).map(|member| member.tool).find(|tool| tool.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn set(name: &'static str, base: Option<LineBase>, tools: &'static [&'static Tool]) -> Set {
        Set {
            name,
            base,
            paths: false,
            one_folder: false,
            limited: Limited::ByFlag,
            codes: Codes::Files,
            instructions: FLAT,
            tools,
        }
    }

    static OTHERS: [Set; 4] = [
        set("lines", Some(LineBase::Zero), SETS[0].tools),
        set("exact", None, SETS[1].tools),
        set("trees", Some(LineBase::One), &[&READ, &FIND]),
        set("text", Some(LineBase::One), &[&VIEW]),
    ];
    static READ: Tool = lines::read_file::TOOL;
    static FIND: Tool = Tool { name: "find", ..lines::list_files::TOOL };
    static VIEW: Tool = Tool { name: "view", ..lines::read_file::TOOL };

    fn chosen(names: &str) -> Result<Vec<String>, String> {
        let members = choose_from(&OTHERS, names)?;
        Ok(members.iter().map(|member| format!("{}.{}", member.set.name, member.tool.name)).collect())
    }

    #[test]
    fn sets_and_tools_are_chosen_in_the_order_of_the_table() {
        let lines = ["lines.list_files", "lines.read_file", "lines.edit_file"];
        assert_eq!(chosen("lines").unwrap(), lines);
        assert_eq!(chosen("edit_file, list_files,lines.read_file").unwrap(), lines);
        assert_eq!(chosen("lines,lines.edit_file,edit_file").unwrap(), lines);
        assert_eq!(chosen("view,exact").unwrap(), ["exact.file_edit", "text.view"]);
        assert_eq!(
            chosen("lines.edit_file,trees").unwrap(),
            ["lines.edit_file", "trees.read_file", "trees.find"]
        );
    }

    #[test]
    fn the_names_of_tools_are_those_that_were_given() {
        let all: Vec<&Tool> = members(SETS).map(|member| member.tool).collect();
        assert!(all.len() <= 64, "more than there are bits");
        for tool in &all {
            let names = ToolNames::of([*tool].into_iter());
            assert!(all.iter().all(|other| names.has(other.name) == (other.name == tool.name)));
        }
        assert!(!ToolNames::default().has("list_files") && !ToolNames::of(all.into_iter()).has("no_tool"));
    }

    #[test]
    fn what_is_unknown_or_meant_twice_is_refused_in_one_line() {
        for (names, parts) in [
            ("all", &["\"all\"", "lines, exact", "view"][..]),
            ("", &["\"\""]),
            ("lines,", &["\"\""]),
            ("lines.view", &["\"lines.view\""]),
            ("read_file", &["read_file", "lines", "trees", "lines.read_file"]),
            ("lines,trees", &["read_file", "lines", "trees", "cannot be offered together"]),
            ("trees.read_file,lines.read_file", &["read_file", "lines", "trees"]),
        ] {
            let line = chosen(names).unwrap_err();
            assert!(parts.iter().all(|part| line.contains(part)) && !line.contains('\n'), "{names}: {line}");
        }
    }

    #[test]
    fn lines_count_by_flag_else_as_in_the_default_set_else_as_in_each_set() {
        let bases = |names: &str, flag| {
            let offered = offer(&choose_from(&OTHERS, names).unwrap(), flag);
            offered.iter().map(|offered| offered.base.first()).collect::<Vec<_>>()
        };
        assert_eq!(bases("lines", None), [0, 0, 0]);
        assert_eq!(bases("list_files,exact,text", None), [0, 0, 0]);
        assert_eq!(bases("text,exact", None), [1, 1]);
        assert_eq!(bases("exact", None), [0]);
        assert_eq!(bases("exact,text,trees", Some(LineBase::Zero)), [0, 0, 0, 0]);
        assert_eq!(bases("lines,exact", Some(LineBase::One)), [1, 1, 1, 1]);
    }
}
