//! Errors: their text, code, status and data on each interface.

mod arguments; // wrong arguments, and which of several errors is reported
mod failure; // one failing call, and the check of its error on each interface
mod hints; // the lines after the first line of an error, in the line numbers of each interface
mod system; // errors by locks, other programs, full disks, a removed folder, and time
mod table; // contract 7 row by row: errors by files and arguments
