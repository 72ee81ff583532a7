//! What the patterns of one call may take together: work to read them, and memory to hold them.

use super::GlobError;

/// Work to expand braces: characters scanned and alternatives built.
const STEPS: usize = 4_000_000;

/// Memory that the patterns of a call may hold, in bytes.
pub(super) const HELD: usize = 1 << 20;

/// See the module. It is used up by the patterns that are read with it.
#[derive(Debug)]
pub struct GlobBudget {
    steps: usize,
    bytes: usize,
}

impl Default for GlobBudget {
    fn default() -> GlobBudget {
        GlobBudget { steps: STEPS, bytes: HELD }
    }
}

impl GlobBudget {
    pub(super) fn work(&mut self, steps: usize) -> Result<(), GlobError> {
        self.steps = self.steps.checked_sub(steps).ok_or(GlobError::TooComplex)?;
        Ok(())
    }

    /// Takes the memory for `count` values of the type `T`.
    pub(super) fn hold<T>(&mut self, count: usize) -> Result<(), GlobError> {
        let bytes = count.saturating_mul(size_of::<T>());
        if bytes > self.bytes && !switches::is_off("glob-budget") {
            return Err(GlobError::TooLarge);
        }
        self.bytes = self.bytes.saturating_sub(bytes);
        Ok(())
    }
}
