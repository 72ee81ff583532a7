//! The random moment at which a test kills a server.

use std::time::Duration;

use super::Random;

/// A random moment for the kill. It adapts to the machine, so that kills come neither always before the work nor always
/// after it.
pub(crate) struct Moment {
    /// Microseconds.
    most: u64,
}

impl Moment {
    pub(crate) fn within(microseconds: u64) -> Moment {
        Moment { most: microseconds }
    }

    /// The time is the subject: a random moment has no event.
    pub(crate) fn wait(&self, random: &mut Random) {
        std::thread::sleep(Duration::from_micros(random.below(self.most)));
    }

    pub(crate) fn was_early(&mut self) {
        self.most = self.most * 5 / 4;
    }

    pub(crate) fn was_late(&mut self) {
        self.most = (self.most * 4 / 5).max(100);
    }
}
