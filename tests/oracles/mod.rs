//! The server against the naive model of model.rs.

mod corpus; // hundreds of real files over both transports
mod corpus_files; // the files of corpus.rs
mod generated; // what random.rs generates
mod random; // random files, edits and ranges
