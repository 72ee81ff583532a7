//! The tool file_edit.

mod answers; // what it answers: dry runs, errors, a retry from the error alone
mod bench; // a folder with one file; each call is made as a dry run and for real
mod cases; // S1's list of tests by name, and its fixtures
mod diagnosis; // what the error of a missing text says: the mistakes that models make
mod diff; // the diff, applied by GNU patch
mod earlier_edits; // edits that do not fit behind others of the same call
mod everywhere; // replace_all, and line breaks at the ends of old_text
mod memory; // the memory of edits with very many replacements
mod model; // exact-text edits against the naive model
mod readers; // which tools its errors name
