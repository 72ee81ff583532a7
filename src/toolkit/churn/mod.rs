//! How often files change in the history of a git repository (contract 16).
