//! The set `toolkit` (contract 16).

mod churn; // analyze_code_churn, on repositories that the git program makes
