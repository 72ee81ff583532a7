//! Why the history of a repository cannot be analysed.

use folder::Error;

/// See the module.
#[derive(Debug)]
pub enum Fault {
    /// The time is up, the call was cancelled, or the engine refuses.
    Engine(Error),
    /// There is no repository that can be analysed: one sentence for the client that says what to do.
    Unsuitable(String),
    /// An object, or a file of the repository, is damaged.
    Damaged {
        /// Which.
        what: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// An object, or the base of its delta, is larger than 16 MiB.
    TooLarge {
        /// Which.
        what: String,
    },
}

impl Fault {
    /// The fault of a damaged object or file.
    pub fn damaged(what: impl ToString, why: &'static str) -> Fault {
        Fault::Damaged { what: what.to_string(), why }
    }

    /// The error for a client. `at`: the argument that names the repository.
    pub fn into_error(self, at: &str) -> Error {
        let problem = match self {
            Fault::Engine(error) => return error,
            Fault::Unsuitable(problem) => problem,
            Fault::Damaged { what, why } => {
                format!("the repository is damaged, {what}: {why}; 'git fsck' says more")
            }
            Fault::TooLarge { what } => format!(
                "the object {what} of the repository is larger than 16 MiB; such a commit or folder is not analyzed"
            ),
        };
        Error::InvalidArguments { at: at.into(), problem }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        Fault::Engine(error)
    }
}

/// The result of a step of the analysis.
pub type Result<T> = std::result::Result<T, Fault>;
