//! Plans of edits of one file in any encoding, for a job.

use std::borrow::Cow;

use super::one_edit::Kind;
use super::patched::unplaced;
use engine::Workspace;
use folder::{Control, Error, Result};
use text::encoded_edit::{Rewrite, plan_decoded, rewrite};
use text::encoding::{Encoding, EncodingChoice};
use text::line_edit;
use text::lines::LineIndex;
use text::omission::{omission, omission_problem};
use text::patch;
use text::splice::{EditPlan, Splice};
use text::text_edit::TextLimits;
use text::tolerant::{self, TolerantEdits};

/// What an edit of a file's text is made of.
#[derive(Clone, Copy)]
pub(super) struct TextJob<'j> {
    pub(super) kind: &'j Kind,
    /// The path that was sent.
    pub(super) name: &'j str,
    pub(super) encoding: Option<EncodingChoice>,
    /// The number of the first line.
    pub(super) first_line: u64,
    pub(super) workspace: &'j Workspace,
    pub(super) control: &'j Control,
}

impl<'j> TextJob<'j> {
    /// The plan for a file with these bytes.
    pub(super) fn plan(&self, old: &[u8]) -> Result<Option<EditPlan<'j>>> {
        if let Kind::Content { text, .. } = self.kind {
            return self.whole(text, old);
        }
        let choice = self.encoding.unwrap_or_default();
        if choice == EncodingChoice::default()
            && let Ok(index) = LineIndex::build(old)
        {
            let plan = self.in_text(&index, old, true)?;
            self.check_omission(old, Encoding::Utf8)?;
            return Ok(plan);
        }
        let limits = self.limits();
        let in_text = |index: &LineIndex, text: &[u8]| {
            Ok(self.in_text(index, text, old.ends_with(text))?.map(|plan| (plan, ())))
        };
        let hunks = self.kind.new_lines();
        let texts = [self.kind.texts(), hunks.iter().flat_map(|new| ["", new]).collect()].concat();
        let planned = plan_decoded(choice, (self.name, old), &texts, limits, self.control, in_text)?;
        if let Some(planned) = &planned {
            self.check_omission(old, planned.text.encoding)?;
        }
        Ok(planned.map(|planned| planned.plan.into_encoding(planned.text.encoding)))
    }

    fn limits(&self) -> TextLimits<'j> {
        let max_bytes = self.workspace.options().max_bytes;
        TextLimits { passages: 0, max_bytes, memory: self.workspace.plan_memory() }
    }

    /// The whole content, in the encoding of the file that it replaces.
    fn whole(&self, content: &'j str, old: &[u8]) -> Result<Option<EditPlan<'j>>> {
        let Rewrite { content, was, report } = rewrite(self.encoding, self.name, old, content)?;
        let lacking = match was {
            Some(encoding) => omission(&content, None, old, encoding, self.control)?,
            None => None,
        };
        if let Some(line) = lacking {
            return Err(Error::InvalidArguments { at: "content".into(), problem: omission_problem(line) });
        }
        let encoding = report.encoding.encoding;
        let lacking = |lacking| Error::Unencodable { encoding, lacking, in_part: false };
        let bytes = report.encoding.encode_whole(&content).map_err(lacking)?;
        let plan = EditPlan::new(vec![Splice { at: 0..old.len(), text: Cow::Owned(bytes) }], old);
        Ok(plan.map(|plan| plan.into_encoding(encoding)))
    }

    /// The plan for a text in UTF-8. `is_stored`: its bytes are those of the file.
    fn in_text(
        &self,
        index: &LineIndex,
        old: &[u8],
        is_stored: bool,
    ) -> Result<Option<EditPlan<'j>>, text::Error> {
        match self.kind {
            Kind::Text(edits) => {
                let edits = TolerantEdits { edits, first_line: self.first_line };
                tolerant::plan(&edits, index, (old, is_stored), self.limits(), self.control)
            }
            Kind::Patch { hunks, is_whole } => {
                let placed = patch::place(hunks, index, old, self.control).map_err(unplaced)?;
                let is_left = |plan: &EditPlan| *is_whole && plan.len_after(old.len()) > index.first_byte();
                if placed.as_ref().is_some_and(|placed| is_left(&placed.plan)) {
                    let problem = "it deletes the file, but the file has more lines than the patch removes; delete it by an edit \
                        of its own, or leave it";
                    return Err(text::Error::InvalidArguments {
                        at: "patch".into(),
                        problem: problem.into(),
                    });
                }
                Ok(placed.map(|placed| placed.plan))
            }
            Kind::Lines(edits) => Ok(line_edit::plan(index, old, edits)?.map(|planned| planned.plan)),
            Kind::Content { .. } | Kind::Move(_) | Kind::Copy(_) | Kind::Delete { .. } => Ok(None),
        }
    }

    /// Refuses a new text in which a line stands for text of the file.
    fn check_omission(&self, old: &[u8], encoding: Encoding) -> Result<()> {
        let new = match self.kind {
            Kind::Text(edits) => edits.edits().first().map(|edit| (&*edit.new_text, Some(&*edit.old_text))),
            _ => None,
        };
        let Some((new, replaced)) = new else { return Ok(()) };
        match omission(new, replaced, old, encoding, self.control)? {
            None => Ok(()),
            Some(line) => Err(Error::InvalidArguments { at: "new".into(), problem: omission_problem(line) }),
        }
    }
}
