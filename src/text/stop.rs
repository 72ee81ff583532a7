//! How a caller ends work that takes long. The work asks now and then; it knows neither a clock nor a client.

/// Why work must stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// Its time is up.
    TimedOut,
    /// Nobody wants its result any more.
    Cancelled,
}

/// What work asks whether it must stop.
pub trait Stop {
    /// An error if the work must stop. Cheap enough for every 64 KB.
    fn check(&self) -> Result<(), Stopped>;
}

/// Work that nobody stops.
#[derive(Debug, Clone, Copy)]
pub struct Unstopped;

impl Stop for Unstopped {
    fn check(&self) -> Result<(), Stopped> {
        Ok(())
    }
}
