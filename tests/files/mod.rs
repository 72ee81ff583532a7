//! The tools list_files, read_file and edit_file.

mod edit; // edit_file: which lines change, and what is refused
mod edit_bytes; // edit_file byte by byte: breaks, BOM, the end of the file, modes
mod list; // list_files
mod read; // read_file: ranges, breaks, names
