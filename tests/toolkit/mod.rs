//! The set `toolkit` (contract 16).

mod complexity; // the tool analyze_complexity
