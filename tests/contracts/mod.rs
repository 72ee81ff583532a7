//! The lists of requirements in S0 and S3, one test for each entry.

mod acceptance; // the acceptance criteria of S0 and S3
mod rest; // S3's interface: results whose lines count from 1
mod workflow; // S0's integration test and its list of test cases
