//! The tools list_files, read_file and edit_file.

mod edit; // edit_file: which lines change, and what is refused
mod edit_bytes; // edit_file byte by byte: breaks, BOM, the end of the file, modes
mod large; // files of more than one part, long lines
mod limited; // list_files and read_file under --answer-limit
mod list; // list_files
mod parts; // list_files and read_file: a part of a list, the last lines, line numbers
mod ranges; // edit_file: ranges of lines, expected lines, diffs
mod read;
mod tree; // list_files under --names=paths // read_file: ranges, breaks, names
