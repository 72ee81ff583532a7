//! The analyzer of source code: a program that the server starts when it first needs it. See the crate `analyzer`.

use std::process::ExitCode;

fn main() -> ExitCode {
    analyzer::run()
}
