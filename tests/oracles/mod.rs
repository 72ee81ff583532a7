//! The server against the naive model of model.rs.

mod corpus; // hundreds of real files over both transports
mod generated; // what random.rs generates
mod random; // random files, edits and ranges
