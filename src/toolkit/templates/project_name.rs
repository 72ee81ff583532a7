//! Which names of projects make projects that build: the form, and the words that a toolchain keeps for itself.
//!
//! Knows no templates.

/// The longest name, in characters, which are all ASCII.
pub(super) const MAX_CHARS: usize = 64;

/// Names that Windows keeps for devices.
const DEVICES: &str = "aux con nul prn";

/// Keywords of Rust, crates of the toolchain, and folders in `target/` that a binary of this name would hide.
const RUST: &str = "abstract alloc as async await become box break build const continue core crate deps do dyn else enum \
    examples extern false final fn for gen if impl in incremental let loop macro match mod move mut \
    override priv proc_macro pub ref return self static std struct super test trait true try type typeof \
    union unsafe unsized use virtual where while yield";

/// Keywords of Python and modules that come with it, and the packages that a project of ours needs.
const PYTHON: &str = "abc and antigravity argparse array as assert ast async asyncio atexit await base64 bdb binascii \
    bisect break builtins bz2 calendar case class cmath cmd code codecs codeop collections colorsys \
    compileall concurrent configparser contextlib contextvars continue copy copyreg csv ctypes curses \
    dataclasses datetime dbm decimal def del difflib dis doctest elif else email encodings ensurepip \
    enum errno except false faulthandler fcntl filecmp fileinput finally fnmatch for fractions from \
    ftplib functools gc genericpath getopt getpass gettext glob global graphlib grp gzip hashlib heapq \
    hmac html http idlelib if imaplib import importlib in inspect io ipaddress is itertools json keyword \
    lambda linecache locale logging lzma mailbox main marshal match math mimetypes mmap modulefinder \
    multiprocessing netrc none nonlocal not ntpath numbers opcode operator optparse or os pass pathlib \
    pdb pickle pickletools pip pkgutil platform plistlib poplib posix posixpath pprint profile pstats \
    pty pwd py_compile pyclbr pydoc pydoc_data pyexpat pytest queue quopri raise random re readline \
    reprlib resource return rlcompleter ruff runpy sched secrets select selectors shelve shlex shutil \
    signal site smtplib socket socketserver sqlite3 src ssl stat statistics string stringprep struct \
    subprocess symtable sys sysconfig syslog tabnanny tarfile tempfile termios test tests textwrap this \
    threading time timeit tkinter token tokenize tomllib trace traceback tracemalloc true try tty turtle \
    turtledemo type types typing unicodedata unittest urllib uuid uv_build venv warnings wave weakref \
    webbrowser while with wsgiref xml xmlrpc yield zipapp zipfile zipimport zlib zoneinfo";

/// The name of the module of a project: lower case, with `_` for `-`.
pub(super) fn module_name(project: &str) -> String {
    project.to_ascii_lowercase().replace('-', "_")
}

/// Whether a name has the form of one: letters and digits, with single `-` or `_` between them, a letter first.
pub(super) fn is_well_formed(name: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    name.len() <= MAX_CHARS
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.split(['-', '_']).all(is_part)
}

/// Why no project of this toolchain can have the name `name`, if it has the form. `None`: it can.
pub(super) fn reserved(name: &str, toolchain: &str) -> Option<String> {
    let module = module_name(name);
    let is_device = |module: &str| {
        let port = module.strip_prefix("com").or_else(|| module.strip_prefix("lpt"));
        has(DEVICES, module)
            || port.is_some_and(|port| port.len() == 1 && port != "0" && port.parse::<u8>().is_ok())
    };
    let (words, of) = match toolchain {
        "rust" => (RUST, "cargo and Rust keep this name for themselves"),
        "python-uv" => {
            (PYTHON, "Python or one of the tools of the project has a module or a keyword of this name")
        }
        _ => ("", ""),
    };
    if is_device(&module) {
        return Some(format!("is {name:?}, which is the name of a device on Windows"));
    }
    has(words, &module).then(|| format!("is {name:?}, but {of}"))
}

/// Whether `word` is one of the words, which blanks divide.
fn has(words: &str, word: &str) -> bool {
    words.split(' ').any(|one| one == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_toolchain_are_reserved_in_every_case_and_only_there() {
        for (name, toolchain) in [
            ("test", "rust"),
            ("fn", "rust"),
            ("Self", "rust"),
            ("proc-macro", "rust"),
            ("class", "python-uv"),
            ("JSON", "python-uv"),
            ("py-compile", "python-uv"),
            ("nul", "rust"),
            ("COM1", "deno"),
        ] {
            assert!(reserved(name, toolchain).is_some_and(|why| why.contains(name)), "{name} {toolchain}");
        }
        for (name, toolchain) in
            [("class", "rust"), ("fn", "python-uv"), ("fn", "deno"), ("com10", "rust"), ("tester", "rust")]
        {
            assert_eq!(reserved(name, toolchain), None);
        }
    }

    #[test]
    fn the_lists_of_words_are_in_order_and_lower_case() {
        for words in [RUST, PYTHON, DEVICES] {
            assert!(words.split(' ').is_sorted(), "{words}");
            assert_eq!(module_name(words), words);
        }
    }

    #[test]
    fn a_module_is_named_as_both_toolchains_take_it() {
        assert_eq!(module_name("My-App_2"), "my_app_2");
    }
}
