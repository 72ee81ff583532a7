//! Templates of projects (contract 16).
