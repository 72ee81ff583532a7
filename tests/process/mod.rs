//! The process: flags, log, memory.

mod cli; // flags and their ranges, exit codes, what a start writes
mod doctor; // --doctor, and file systems whose locks keep out no other machine
mod first_process; // a server that is the first process of a container
mod log; // the lines of the log, SIGUSR1, what is never logged, and memory that is given back
mod log_lines; // one record of the log is one line, and JSON with --log-format=json
mod output; // the ready line and the log on stderr, messages on stdout
mod print_config; // --print-config: entries for clients, and the servers that they start
mod token; // --auth-token-file
