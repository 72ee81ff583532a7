//! An answer that begins before its call has ended: its head, parts of its text, and the rest.
//!
//! Only a result of a tool that consists of one text can begin early. What fails later ends as a failed result behind the
//! text that was sent.

use super::answer::Answer;
use super::call_context::{CallContext, Form, end_content};
use super::result_frame;
use crate::tools::Reply;
use folder::Result;
use text::escape::escape_str;

impl CallContext {
    /// The bytes before the text; `None` if the answer cannot begin early.
    pub(super) fn early_head(&self) -> Option<Vec<u8>> {
        let mut head = match &self.form {
            Form::Tool { asked, .. } => result_frame::begin(asked),
            Form::Posted { .. } => b"{".to_vec(),
            Form::Resource { .. } | Form::Direct { .. } | Form::Rest => return None,
        };
        head.extend_from_slice(br#""content":[{"type":"text","text":""#);
        Some(head)
    }

    /// The rest of an answer of whose text `sent` bytes were sent.
    pub(super) fn rest(&self, result: Result<Reply>, sent: usize) -> Answer {
        match result {
            Ok(reply) => {
                let text = reply.text.get(sent..).unwrap_or_default();
                self.rest_of(&reply, text, reply.failure.is_some())
            }
            Err(error) => {
                let text = format!("\n{}", self.words(&error).text());
                self.rest_of(&Reply::default(), &text, true).reported(self.report(&error))
            }
        }
    }

    /// The rest of an answer to a call that the server could not end, for the reason `why`.
    pub(super) fn refused_rest(&self, why: &str) -> Answer {
        let mut rest = self.rest_of(&Reply::default(), &format!("\nError: {why}"), true);
        rest.report = self.refused(why).report;
        rest
    }

    fn rest_of(&self, reply: &Reply, text: &str, is_error: bool) -> Answer {
        let mut out = Vec::with_capacity(text.len() + text.len() / 8 + 64);
        escape_str(text, &mut out);
        out.extend_from_slice(br#""}"#);
        end_content(reply, &mut out);
        self.write_members(reply, is_error, &mut out);
        let (meta, close) = match &self.form {
            Form::Tool { asked, .. } => (result_frame::meta(asked, reply.meta.as_str()), result_frame::CLOSE),
            _ => (result_frame::plain_meta(reply.meta.as_str()), &b"}"[..]),
        };
        if !meta.is_empty() {
            out.push(b',');
            out.extend_from_slice(meta.as_bytes());
        }
        out.extend_from_slice(close);
        Answer::ready(200, out)
    }
}
