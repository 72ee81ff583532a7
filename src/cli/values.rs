//! The values of flags that are neither words, numbers nor paths.

use crate::tools::{LineBase, sets};
use crate::transport::net::rate_limit::Rate;

/// The value of `--tools`.
#[derive(Debug, Clone)]
pub(super) struct Tools(pub(super) Vec<sets::Member>);

/// A port, or 0.
pub(super) fn port(value: &str) -> Result<u16, String> {
    match value.parse() {
        Ok(port) if port == 0 || port >= 1024 => Ok(port),
        _ => Err(format!("{value} is not in 1024-65535 (or 0: the system picks one)")),
    }
}

/// The value of `--tools`.
pub(super) fn tools(value: &str) -> Result<Tools, String> {
    sets::choose(value).map(Tools)
}

/// The value of `--answer-tokens`.
pub(super) fn answer_tokens(value: &str) -> Result<usize, String> {
    match value.parse() {
        Ok(0) => Ok(0),
        Ok(tokens) if (2_000..=1_000_000).contains(&tokens) => Ok(tokens),
        _ => Err("expected a number from 2000 to 1000000, or 0 for no limit".into()),
    }
}

/// The value of `--line-base`.
pub(super) fn line_base(value: &str) -> Result<LineBase, String> {
    match value {
        "0" => Ok(LineBase::Zero),
        "1" => Ok(LineBase::One),
        _ => Err("expected 0 or 1".into()),
    }
}

/// The value of `--rate-limit`.
pub(super) fn rate(value: &str) -> Result<Rate, String> {
    let (per_second, burst) = value.split_once(',').unwrap_or((value, value));
    let number = |text: &str| text.trim().parse::<u32>().ok().filter(|number| *number > 0);
    match (number(per_second), number(burst)) {
        (Some(per_second), Some(burst)) => Ok(Rate { per_second, burst }),
        _ => Err("expected <per second>[,<burst>], two whole numbers above 0, such as 100,1000".into()),
    }
}
