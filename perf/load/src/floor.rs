//! The floor: a process that gets requests like a server and only moves the same bytes. No server can be
//! faster.
//!
//! - `answer <answer>`: writes the ready bytes, for each line of input;
//! - `range <answer> <file> <from> <len>`: preads the range, then writes the ready bytes;
//! - `list <answer> <folder>`: reads the folder and the status of each file, then writes the ready bytes;
//! - `tree <answer> <folder>`: walks the tree and formats it as the answer tells it, then writes the ready bytes;
//! - `edit <answer> <file> full|none`: writes the file's bytes to a new file, flushes it if `full`, renames
//!   it, then writes the ready bytes.
//!
//! The ready bytes are another server's answer to the same request, read from a file.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, Mode, OFlags};

use crate::Outcome;
use crate::tree;

enum Move {
    Nothing,
    Range(PathBuf, u64, Vec<u8>),
    List(PathBuf),
    Tree(PathBuf),
    Edit { file: PathBuf, bytes: Vec<u8>, flush: bool },
}

pub(crate) fn run(what: &[&str]) -> Outcome<()> {
    let (answer, mut work) = match *what {
        ["answer", answer] => (answer, Move::Nothing),
        ["range", answer, file, from, len] => {
            let number = |text: &str| text.parse::<u64>().map_err(|why| why.to_string());
            (answer, Move::Range(file.into(), number(from)?, vec![0; number(len)? as usize]))
        }
        ["list", answer, folder] => (answer, Move::List(folder.into())),
        ["tree", answer, folder] => (answer, Move::Tree(folder.into())),
        ["edit", answer, file, sync] => {
            let bytes = fs::read(file).map_err(|why| why.to_string())?;
            (answer, Move::Edit { file: file.into(), bytes, flush: sync == "full" })
        }
        _ => return Err("floor answer|range|list|tree|edit <answer> …".into()),
    };
    let answer = fs::read(answer).map_err(|why| why.to_string())?;
    serve(&answer, &mut work).map_err(|why| why.to_string())
}

fn serve(answer: &[u8], work: &mut Move) -> io::Result<()> {
    let (mut input, mut output) = (
        File::from(io::stdin().as_fd().try_clone_to_owned()?),
        io::stdout().as_fd().try_clone_to_owned().map(File::from)?,
    );
    let mut block = vec![0; 64 << 10];
    // Writes short answers to all lines of one block at once.
    let many = if answer.len() <= 4 << 10 { answer.repeat(256) } else { answer.to_vec() };
    loop {
        let count = input.read(&mut block)?;
        if count == 0 {
            return Ok(());
        }
        let mut left = memchr::memchr_iter(b'\n', &block[..count]).count();
        (0..left).try_for_each(|_| carry_out(work))?;
        while left > 0 {
            let now = left.min(many.len() / answer.len());
            output.write_all(&many[..now * answer.len()])?;
            left -= now;
        }
    }
}

fn carry_out(work: &mut Move) -> io::Result<()> {
    match work {
        Move::Nothing => Ok(()),
        Move::Range(file, from, bytes) => File::open(file)?.read_exact_at(bytes, *from),
        Move::List(folder) => list(folder),
        Move::Tree(folder) => tree::format(folder).map(|text| drop(std::hint::black_box(text))),
        Move::Edit { file, bytes, flush } => replace(file, bytes, *flush),
    }
}

fn list(folder: &Path) -> io::Result<()> {
    let folder = rustix::fs::open(folder, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())?;
    for entry in Dir::read_from(&folder)? {
        rustix::fs::statat(&folder, entry?.file_name(), AtFlags::SYMLINK_NOFOLLOW)?;
    }
    Ok(())
}

fn replace(path: &Path, bytes: &[u8], flush: bool) -> io::Result<()> {
    let beside = path.with_extension("new");
    let mut file = File::options().write(true).create_new(true).mode(0o600).open(&beside)?;
    file.write_all(bytes)?;
    if flush {
        file.sync_data()?;
    }
    fs::rename(&beside, path)?;
    if flush {
        File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()?;
    }
    Ok(())
}
