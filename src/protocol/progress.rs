//! Progress of a call for its client: the token in the request, and `notifications/progress` (contract 6.5).
//!
//! Knows no clock: the executor decides when a notification is due.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::rpc::Id;
use folder::Progress;

/// The token of a request whose client asks for its progress. Like an id: a string or an integer, kept as sent.
#[derive(Debug, Clone)]
pub(super) struct ProgressToken(Id);

#[derive(Deserialize)]
struct Meta<'a> {
    #[serde(borrow, rename = "progressToken")]
    token: Option<&'a RawValue>,
}

impl ProgressToken {
    /// The token in the `_meta` of a request. A value that is no token counts as none, because notifications
    /// are optional.
    pub(super) fn in_meta(meta: &RawValue) -> Option<ProgressToken> {
        let meta: Meta = serde_json::from_str(meta.get()).ok()?;
        Id::parse(meta.token?.get()).map(ProgressToken)
    }

    /// The notification of this progress.
    pub(super) fn notification(&self, progress: Progress) -> Vec<u8> {
        let Progress { done, total } = progress;
        let (token, total) = (self.0.as_json(), total.map(|total| format!(r#","total":{total}"#)));
        let total = total.unwrap_or_default();
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":{done}{total}}}}}"#
        )
        .into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(meta: &str) -> Option<ProgressToken> {
        ProgressToken::in_meta(&RawValue::from_string(meta.into()).unwrap())
    }

    #[test]
    fn a_token_is_a_string_or_an_integer_and_is_sent_back_as_it_came() {
        for sent in ["\"a\\u00e4\"", "0", "-7", "12345678901234567890123"] {
            let token = token(&format!(r#"{{"other":[1],"progressToken":{sent}}}"#)).unwrap();
            let written = token.notification(Progress { done: 3, total: Some(9) });
            let params = format!(r#"{{"progressToken":{sent},"progress":3,"total":9}}"#);
            let wanted =
                format!(r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{params}}}"#);
            assert_eq!(String::from_utf8(written).unwrap(), wanted);
        }
        for none in ["{}", "null", "[]", "7", r#"{"progressToken":null}"#, r#"{"progressToken":1.5}"#] {
            assert!(token(none).is_none(), "{none}");
        }
    }

    #[test]
    fn an_unknown_total_is_left_out() {
        let written =
            token(r#"{"progressToken":1}"#).unwrap().notification(Progress { done: 1, total: None });
        assert!(String::from_utf8(written).unwrap().ends_with(r#""progressToken":1,"progress":1}}"#));
    }
}
