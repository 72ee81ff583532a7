//! The complexity of the files of a project: which are analysed, and what is kept of them.
//!
//! The workspace walks, reads and keeps; [`Analyzer`] has the texts analysed. Knows no formats of reports.

use std::any::Any;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use analyzer_wire::{FileReport, Language, MAX_BYTES, Made, Refusal, Wanted};

use crate::analyzer::Analyzer;
use engine::{
    AnalysedFile, AnalysedFiles, Analysis, AnalysisKind, AnalysisOptions, FileAnalyser, FileOutcome,
    SearchCounts, Unanalysed, Workspace,
};
use folder::{Control, Error, FilePath, LeftOut, Result};

/// A file that was analysed.
#[derive(Debug, Clone)]
pub struct ProjectFile {
    /// Where it is.
    pub place: FilePlace,
    /// Its language.
    pub language: Language,
    /// Its figures.
    pub report: Arc<FileReport>,
}

/// Where a file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePlace {
    /// The number of its served folder, 0-based.
    pub folder: usize,
    /// Its path below the served folder.
    pub path: Vec<u8>,
    /// Bytes of the path of the folder in which the walk began, with its slash.
    pub base: usize,
}

/// Why a file of the languages was not analysed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftOutFile {
    /// Its text was refused.
    Refused(Refusal),
    /// It cannot be read.
    Unreadable,
    /// Other programs wrote to it all the while.
    Changing,
}

/// What is known of a project.
#[derive(Debug, Default)]
pub struct ProjectReport {
    /// The files that were analysed, in the order of the walk.
    pub files: Vec<ProjectFile>,
    /// The files that were not.
    pub refused: Vec<(FilePlace, LeftOutFile)>,
    /// Entries that are no files, or of other languages.
    pub counts: SearchCounts,
    /// What the walk left out.
    pub left_out: LeftOut,
    /// If the time was up: what was not analysed.
    pub late: Option<Unanalysed>,
}

/// What is kept of a file.
#[derive(Debug, Clone)]
struct KeptReport {
    language: Language,
    report: std::result::Result<Arc<FileReport>, Refusal>,
}

impl Analysis for KeptReport {
    fn heap_bytes(&self) -> usize {
        self.report.as_ref().map_or(0, |report| size_of::<FileReport>() + report.heap_bytes())
    }

    fn copied(&self) -> Arc<dyn Analysis> {
        let report = self
            .report
            .as_ref()
            .map(|report| Arc::new(FileReport::clone(report)))
            .map_err(|refusal| *refusal);
        Arc::new(KeptReport { report, ..*self })
    }

    fn is_certain(&self) -> bool {
        !matches!(self.report, Err(Refusal::TooSlow | Refusal::Crashed))
    }
}

/// The analyzer of one thread.
#[derive(Default)]
struct Worker(Analyzer);

impl FileAnalyser for Worker {
    fn makes(&self, path: &Path, known: &dyn Analysis) -> bool {
        // A file may have two names in different languages.
        kept(known).is_some_and(|known| Language::of_path(path) == Some(known.language))
    }

    fn analyse(&mut self, path: &Path, text: &[u8], control: &Control) -> Result<Arc<dyn Analysis>> {
        let language = Language::of_path(path).ok_or_else(|| unknown_language(&path.to_string_lossy()))?;
        let report = match self.0.analyse(Wanted::Figures, language, text, control)? {
            Ok(Made::Figures(report)) => Ok(Arc::new(report)),
            Ok(Made::Outline(_)) => Err(Refusal::Crashed),
            Err(refusal) => Err(refusal),
        };
        Ok(Arc::new(KeptReport { language, report }))
    }
}

fn kept(known: &dyn Analysis) -> Option<&KeptReport> {
    (known as &dyn Any).downcast_ref()
}

fn unknown_language(path: &str) -> Error {
    let problem = format!(
        "{path} is a file of no language that can be analysed; expected {}",
        extensions(&Language::MEASURED)
    );
    Error::InvalidArguments { at: "project_path".into(), problem }
}

/// The extensions of languages, as words.
fn extensions(languages: &[Language]) -> String {
    let all: Vec<String> =
        languages.iter().flat_map(|language| language.extensions()).map(|one| format!(".{one}")).collect();
    all.join(" ")
}

/// Analyses the files of these languages in the folder at `path`, or the file there: all, or as many as the time allows.
///
/// # Errors
///
/// A path that does not exist, or is a file of another language.
pub fn analyse_project(
    workspace: &Workspace,
    path: Option<&FilePath>,
    languages: &[Language],
    control: &Control,
) -> Result<ProjectReport> {
    let is_wanted =
        |path: &Path| Language::of_path(path).is_some_and(|language| languages.contains(&language));
    let options = AnalysisOptions {
        kind: AnalysisKind::Figures,
        path,
        wants: &|path, _, is_folder| is_folder || is_wanted(path),
        skip_ignored: true,
        skip_hidden: true,
        max_bytes: MAX_BYTES as u64,
    };
    if let Some(path) = path
        && !is_wanted(Path::new(path.as_str()))
        && workspace.info_or_near(path, control)?.kind == folder::EntryKind::File
    {
        let problem = format!(
            "{} is no file of the toolchain's languages; expected a folder, or a file with one of {}",
            path.sent(),
            extensions(languages)
        );
        return Err(Error::InvalidArguments { at: "project_path".into(), problem });
    }
    let new_analyser = || Box::new(Worker::default()) as Box<dyn FileAnalyser>;
    let AnalysedFiles { files, counts, left_out, late } =
        workspace.analyse_files(options, &new_analyser, control)?;
    let mut project = ProjectReport { counts, left_out, late, ..ProjectReport::default() };
    files.into_iter().for_each(|file| project.add(file));
    Ok(project)
}

/// The total score of each file of all languages below the folder at `path`, by its path below that folder, and what was not
/// analysed if the time was up. Files that cannot be analysed are left out.
///
/// # Errors
///
/// Those of [`analyse_project`].
pub fn scores(
    workspace: &Workspace,
    path: &FilePath,
    control: &Control,
) -> Result<(HashMap<String, f64>, Option<Unanalysed>)> {
    let project = analyse_project(workspace, Some(path), &Language::MEASURED, control)?;
    let score = |file: &ProjectFile| {
        (String::from_utf8_lossy(file.place.path_from_start()).into_owned(), file.report.total_score())
    };
    Ok((project.files.iter().map(score).collect(), project.late))
}

impl FilePlace {
    /// Its path below the folder in which the walk began.
    fn path_from_start(&self) -> &[u8] {
        self.path.get(self.base..).unwrap_or(&self.path)
    }
}

impl ProjectReport {
    fn add(&mut self, file: AnalysedFile) {
        let AnalysedFile { folder, path, base, outcome } = file;
        let place = FilePlace { folder, path, base };
        let refusal = match outcome {
            FileOutcome::Analysed(made) => match kept(made.as_ref()) {
                Some(KeptReport { language, report: Ok(report) }) => {
                    let file = ProjectFile { place, language: *language, report: report.clone() };
                    self.files.push(file);
                    return;
                }
                Some(KeptReport { report: Err(refusal), .. }) => LeftOutFile::Refused(*refusal),
                // No other analysis is kept of files.
                None => LeftOutFile::Unreadable,
            },
            FileOutcome::TooLarge => LeftOutFile::Refused(Refusal::TooLarge),
            FileOutcome::Unreadable => LeftOutFile::Unreadable,
            FileOutcome::Changing => LeftOutFile::Changing,
        };
        self.refused.push((place, refusal));
    }

    /// Number of functions.
    pub fn functions(&self) -> usize {
        self.files.iter().map(|file| file.report.functions.len()).sum()
    }
}
