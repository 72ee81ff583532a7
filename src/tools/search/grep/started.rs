//! Whether the look for what an answer tells must stop: it does its first steps though the time is up. So what was found in time is
//! told, also by a machine that is late.
//!
//! Knows no files and no patterns.

use std::sync::atomic::{AtomicU32, Ordering};

use folder::Control;
use text::{Stop, Stopped};

/// Steps of the look for what an answer tells that are done though the time is up. Each takes a moment.
const FIRST_STEPS: u32 = 8;

/// See the module.
pub(super) struct Started<'c> {
    control: &'c Control,
    steps: AtomicU32,
}

impl<'c> Started<'c> {
    pub(super) fn new(control: &'c Control) -> Started<'c> {
        Started { control, steps: AtomicU32::new(FIRST_STEPS) }
    }
}

impl Stop for Started<'_> {
    fn check(&self) -> Result<(), Stopped> {
        let goes_on =
            || self.steps.fetch_update(Ordering::AcqRel, Ordering::Acquire, |left| left.checked_sub(1));
        match Stop::check(self.control) {
            Err(Stopped::TimedOut) if !switches::is_off("grep-late-steps") && goes_on().is_ok() => Ok(()),
            checked => checked,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_first_steps_are_done_though_the_time_is_up_but_not_for_a_call_that_is_cancelled() {
        let control = Control::new(Duration::ZERO);
        let stop = Started::new(&control);
        assert!((0..FIRST_STEPS).all(|_| stop.check().is_ok()));
        assert_eq!(stop.check(), Err(Stopped::TimedOut));
        control.cancel();
        assert_eq!(Started::new(&control).check(), Err(Stopped::Cancelled));
    }
}
