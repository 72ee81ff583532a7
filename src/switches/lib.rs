//! Mechanisms that can be switched off by name, to hold that a test notices: `tests/switches` does that.
//!
//! Knows no mechanism. Without the feature `on` nothing is ever off, and the compiler leaves the question out.

/// Whether the mechanism `name` is switched off: by `FILE_EDITOR_SWITCH_OFF`, in a build with the feature `on`.
#[cfg(not(feature = "on"))]
#[inline(always)]
pub const fn is_off(_name: &str) -> bool {
    false
}

/// Whether the mechanism `name` is switched off: by `FILE_EDITOR_SWITCH_OFF`, in a build with the feature `on`.
#[cfg(feature = "on")]
pub fn is_off(name: &str) -> bool {
    static OFF: std::sync::LazyLock<Option<String>> =
        std::sync::LazyLock::new(|| std::env::var("FILE_EDITOR_SWITCH_OFF").ok());
    OFF.as_deref() == Some(name)
}
