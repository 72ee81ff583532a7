//! What an analysis tells of a file.

use serde::{Deserialize, Serialize};

/// The largest text that is analysed, in bytes.
pub const MAX_BYTES: usize = 1 << 20;

/// One function.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FunctionReport {
    /// Its name, with its type or class: `Type::method`, `Class.method`. Of at most 200 characters.
    pub name: String,
    /// First line, 1-based.
    pub first_line: u32,
    /// Last line, 1-based.
    pub last_line: u32,
    /// Cyclomatic complexity: 1 and each branch.
    pub cyclomatic: u32,
    /// Cognitive complexity.
    pub cognitive: u64,
    /// Halstead's effort.
    pub effort: f64,
}

impl FunctionReport {
    /// Number of its lines.
    pub fn lines(&self) -> u32 {
        self.last_line - self.first_line + 1
    }
}

/// Where the first syntax error of a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SyntaxError {
    /// Line, 1-based.
    pub line: u32,
    /// Column, 1-based, in characters.
    pub column: u32,
}

/// One file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct FileReport {
    /// Number of lines. A last line need not end in a break.
    pub lines: u32,
    /// Its functions, in the order in which they begin.
    pub functions: Vec<FunctionReport>,
    /// The first syntax error, if there is one: the figures are those of what was understood.
    pub error: Option<SyntaxError>,
}

impl FileReport {
    /// The sum of a figure over all functions.
    fn sum(&self, figure: impl Fn(&FunctionReport) -> f64) -> f64 {
        // A sum of no floats is -0.
        self.functions.iter().map(figure).fold(0.0, |sum, one| sum + one)
    }

    /// The highest cyclomatic complexity of a function; 0 without functions.
    pub fn max_cyclomatic(&self) -> u32 {
        self.functions.iter().map(|function| function.cyclomatic).max().unwrap_or(0)
    }

    /// The highest cognitive complexity of a function; 0 without functions.
    pub fn max_cognitive(&self) -> u64 {
        self.functions.iter().map(|function| function.cognitive).max().unwrap_or(0)
    }

    /// The sum of all cyclomatic complexities.
    pub fn sum_cyclomatic(&self) -> f64 {
        self.sum(|function| f64::from(function.cyclomatic))
    }

    /// The sum of all cognitive complexities.
    pub fn sum_cognitive(&self) -> f64 {
        self.sum(|function| function.cognitive as f64)
    }

    /// The mean cognitive complexity of its functions; 0 without functions.
    pub fn avg_cognitive(&self) -> f64 {
        self.sum_cognitive() / (self.functions.len().max(1) as f64)
    }

    /// The sum of Halstead's effort.
    pub fn effort(&self) -> f64 {
        self.sum(|function| function.effort)
    }

    /// The figure by which files are ranked: 0.8 × highest cyclomatic + 0.4 × mean cognitive complexity + 0.1 × functions.
    pub fn total_score(&self) -> f64 {
        0.8 * f64::from(self.max_cyclomatic())
            + 0.4 * self.avg_cognitive()
            + 0.1 * self.functions.len() as f64
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        let names: usize = self.functions.iter().map(|function| function.name.capacity()).sum();
        self.functions.capacity() * size_of::<FunctionReport>() + names
    }
}

/// Why a file was not analysed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Refusal {
    /// It has more than [`MAX_BYTES`] bytes.
    TooLarge,
    /// It is not UTF-8, or has a NUL.
    NotText,
    /// Its parsing takes more steps than a text of its size needs.
    TooHard,
    /// Its parsing took more than 3 s of a processor, or 384 MiB of memory. At another time it may take less.
    TooSlow,
    /// The analyzer died of it.
    Crashed,
}
