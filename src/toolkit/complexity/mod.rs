//! How complex the functions of a source file are (contract 16).
