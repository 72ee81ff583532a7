//! Why a command could not be run, and the way out (contract 15).

use std::io::ErrorKind;

use engine::COMMANDS_AT_ONCE;
use folder::CannotRun;

/// Why a command could not be run.
pub(super) fn message(why: &CannotRun) -> String {
    match why {
        CannotRun::NotAllowed => "the server was started without --allow-exec".into(),
        CannotRun::NoShell => "there is neither bash nor sh".into(),
        CannotRun::NoTurn { waited } => {
            format!("{COMMANDS_AT_ONCE} others ran for all of its {} s", waited.as_secs())
        }
        CannotRun::Stopping => "the server stops".into(),
        CannotRun::Overdue => "its time was up, and it was killed, but it did not end".into(),
        CannotRun::Failed { source } => source.to_string(),
    }
}

/// How to get a command to run that could not be.
pub(super) fn hint(why: &CannotRun) -> Option<String> {
    match why {
        CannotRun::NoShell => Some("The server looks for them in its PATH.".into()),
        CannotRun::NoTurn { .. } => Some(
            "Nothing was run. Send it again later, or with a longer \"timeout\": the wait counts.".into(),
        ),
        CannotRun::NotAllowed | CannotRun::Stopping | CannotRun::Overdue => None,
        CannotRun::Failed { source } => (source.kind() == ErrorKind::ArgumentListTooLong)
            .then(|| "Nothing was run. Pass a long script as \"stdin\", with the command \"bash\".".into()),
    }
}
