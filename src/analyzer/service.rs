//! The program: answers the texts that come over standard input, on standard output, until the input ends.

use std::io::{self, BufReader, BufWriter, stdin, stdout};
use std::process::ExitCode;
use std::thread;

use analyzer_wire::{Hello, read_text, write_answer, write_hello};

use super::analyser::Analyser;
use super::system;

/// Runs the program. It ends when its input ends.
pub fn run() -> ExitCode {
    let mut confined_by = system::close_files();
    let serve = move || {
        confined_by.extend(system::close_process());
        serve(confined_by)
    };
    let thread = thread::Builder::new().stack_size(system::STACK_BYTES).spawn(serve);
    match thread.map(thread::JoinHandle::join) {
        Ok(Ok(Ok(()))) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

fn serve(confined_by: Vec<&'static str>) -> io::Result<()> {
    let (mut input, mut output) = (BufReader::new(stdin().lock()), BufWriter::new(stdout().lock()));
    let confined_by = confined_by.into_iter().map(str::to_owned).collect();
    write_hello(&Hello { version: env!("CARGO_PKG_VERSION").into(), confined_by }, &mut output)?;
    let (mut analyser, mut text) = (Analyser::default(), Vec::new());
    while let Some((wanted, language)) = read_text(&mut text, &mut input)? {
        write_answer(&analyser.analyse(wanted, language, &text), &mut output)?;
    }
    Ok(())
}
