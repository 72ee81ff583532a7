//! `scaffold_project`: the files of a new project, shown or written (contract 16).

use serde_json::{Value, json};

use super::cut_text::{cut_meta, cut_text};
use super::template_failure;
use super::template_parameters::{TemplateParameters, short_call};
use crate::tools::arguments::{List, Natural, Request, Takes, arguments};
use crate::tools::limited::LimitedText;
use crate::tools::{Call, Members, OutputKinds, ParseOptions, Reply, Tool};
use ::toolkit::templates::{Generated, generate_project, served};
use engine::{NewFile, Workspace};
use folder::{Control, FilePath, FolderPaths, NamePolicy, Result};
use sys::path::{told, with_slashes};

pub(crate) static TOOL: Tool = Tool {
    name: "scaffold_project",
    title: "Scaffold Project",
    description: "Generate several files of a new project from templates. Without write it shows them; with write it creates all \
        of them or none, and never replaces a file that exists. A template is a category (makefile, readme, gitignore, manifest, \
        source, test, ci, dockerfile, license), category/variant such as source/library, or a URI. The parameter variant (cli or \
        library) counts for all categories; cli is the default. Example: {\"toolchain\":\"rust\",\"templates\":[\"manifest\",\
        \"source\",\"test\"],\"parameters\":{\"project_name\":\"my-app\"},\"write\":true,\"directory\":\"my-app\"}",
    instructions: "",
    takes: Takes::of::<ScaffoldArguments>(),
    output_schema: Some(
        r#"{"type":"object","properties":{"files":{"type":"array","items":{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"},"size":{"type":"integer"}},"required":["path","size"]}},"written":{"type":"boolean"}},"required":["files","written"]}"#,
    ),
    writes: true,
    destructive: false,
    idempotent: false,
    direct: true,
};

/// The most templates of a call.
const MAX_TEMPLATES: usize = 100;

arguments! {
    struct ScaffoldArguments {
        /// Toolchain of the project, such as rust, deno or python-uv
        toolchain: String,
        /// Templates: categories, category/variant, or URIs
        templates as "templates" or "template": List<String, 1, MAX_TEMPLATES>,
        /// Parameters of all templates
        parameters as "parameters" or "params": TemplateParameters,
        /// Create the files, all or none
        write: bool = false,
        /// Path of the project's folder, which is created if it is missing; without it, the served folder
        directory as "directory" or "path" or "folder" or "project_path": Option<FilePath>,
        /// Without write: how many files to leave out first
        offset: Option<Natural>,
    }
}

#[derive(Debug)]
struct Scaffold {
    arguments: ScaffoldArguments,
    limit: Option<usize>,
}

impl Request for ScaffoldArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        Ok(Box::new(Scaffold { arguments: self, limit: options.limit.bytes }))
    }
}

impl Call for Scaffold {
    fn file(&self) -> Option<&FilePath> {
        self.arguments.directory.as_ref().filter(|_| self.arguments.write)
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        let ScaffoldArguments { toolchain, templates, parameters, write, .. } = &self.arguments;
        let files = generate_project(served(), toolchain, templates, &parameters.values, control)
            .map_err(template_failure::project)?;
        let folders = workspace.folder_paths();
        let paths = files.iter().map(|file| self.path(&file.path, folders)).collect::<Result<Vec<_>>>()?;
        if *write {
            let new = paths.iter().zip(&files);
            let new =
                new.map(|(path, file)| NewFile { path: path.clone(), content: file.content.as_bytes() });
            workspace.create_files(&new.collect::<Vec<_>>(), control)?;
            return Ok(written(&paths, &files, wanted));
        }
        self.shown(&paths, &files, wanted)
    }
}

impl Scaffold {
    /// The path of a file of the project.
    fn path(&self, file: &str, folders: &FolderPaths) -> Result<FilePath> {
        let folder = self.arguments.directory.as_ref().map(|folder| with_slashes(folder.sent()));
        let path = match folder.as_ref().map(|folder| folder.trim_end_matches('/')) {
            Some(folder) if folder != "." => format!("{folder}/{file}"),
            _ => file.to_owned(),
        };
        FilePath::parse(&told(&path), NamePolicy::Paths, folders)
    }

    /// The files behind the offset as far as the limit allows, and the call that shows the others.
    fn shown(&self, paths: &[FilePath], files: &[Generated], wanted: OutputKinds) -> Result<Reply> {
        let mut list = LimitedText::new(self.limit);
        let offset = self.arguments.offset.as_ref().map_or(0, |offset| offset.0);
        let mut cut = None;
        for (path, file) in paths.iter().zip(files).skip(usize::try_from(offset).unwrap_or(usize::MAX)) {
            let mut entry = entry(path, file);
            // The first one is shown in any case, cut if it must be, so that each call goes on.
            let is_shown = list.total() == 0 || !list.is_full() && list.has_room(entry.len());
            if is_shown {
                if list.total() == 0 {
                    cut = cut_text(&mut entry, self.limit);
                }
                list.text_mut().push_str(&entry);
                if let Some((shown, of)) = cut.filter(|_| list.total() == 0) {
                    list.text_mut().push_str(&format!(
                        "[Shown: {shown} of {of} bytes. With write: true the file gets all]\n\n"
                    ));
                }
            }
            list.count(is_shown);
        }
        let next = self.arguments_from(offset + list.shown());
        let (whole, short) = (next.to_string(), short_call(&next));
        let mut reply = list.reply(wanted, "files", || Ok((TOOL.name, next)), None)?;
        if whole != short {
            reply.text = reply.text.replacen(&whole, &short, 1);
        }
        reply.text.truncate(reply.text.trim_end_matches('\n').len());
        if let Some(cut) = cut.filter(|_| reply.meta.as_str().is_empty()) {
            // No call is named: one that follows it must not write.
            reply.meta = cut_meta(cut, &Value::Null);
        }
        reply.data = Members::default();
        if wanted.data {
            let files = paths.iter().zip(files).map(|(path, file)| {
                json!({ "path": path.sent(), "content": file.content, "size": file.content.len() })
            });
            reply.data = reply.data.with("files", &files.collect::<Vec<_>>()).with("written", &false);
        }
        Ok(reply)
    }

    /// The arguments of the call that goes on behind so many files. All templates are named, because a file may depend on
    /// which others there are.
    fn arguments_from(&self, offset: u64) -> Value {
        let ScaffoldArguments { toolchain, templates, parameters, directory, .. } = &self.arguments;
        let mut again =
            json!({ "toolchain": toolchain, "templates": &**templates, "parameters": parameters.json });
        if let Some(directory) = directory {
            again["directory"] = json!(directory.sent());
        }
        again["offset"] = json!(offset);
        again
    }
}

fn entry(path: &FilePath, file: &Generated) -> String {
    let line_break = if file.content.ends_with('\n') { "" } else { "\n" };
    format!("=== {} ({} bytes)\n{}{line_break}\n", path.sent(), file.content.len(), file.content)
}

fn written(paths: &[FilePath], files: &[Generated], wanted: OutputKinds) -> Reply {
    let lines =
        paths.iter().zip(files).map(|(path, file)| format!("{} ({} bytes)", path.sent(), file.content.len()));
    let text = format!("Created {} files:\n{}", files.len(), lines.collect::<Vec<_>>().join("\n"));
    let mut data = Members::default();
    if wanted.data {
        let files = paths.iter().zip(files);
        let files = files.map(|(path, file)| json!({ "path": path.sent(), "size": file.content.len() }));
        data = data.with("files", &files.collect::<Vec<_>>()).with("written", &true);
    }
    Reply { text, data, ..Reply::default() }
}
