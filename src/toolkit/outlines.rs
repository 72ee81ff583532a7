//! Outlines of files (contract 22): what each defines, and where.
//!
//! The workspace walks, reads and keeps; the program `file-editor-analyzer` reads the texts. Knows no tools and no forms of answers.

mod symbol;

use std::any::Any;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use analyzer_wire::{MAX_BYTES, Made, Wanted};

use crate::analyzer::Analyzer;
use crate::complexity::{FilePlace, LeftOutFile};
use engine::{
    AnalysedFile, Analysis, AnalysisKind, AnalysisOptions, FileAnalyser, FileOutcome, SearchCounts,
    Unanalysed, Workspace,
};
use folder::{Control, EntryKind, Error, FilePath, LeftOut, Result};

pub use self::symbol::{Place, neighbour, path_of, places};
pub use analyzer_wire::{Definition, Kind, Language, Outline, Refusal};

/// Which files are outlined.
#[derive(Clone, Copy)]
pub struct OutlineOptions<'o> {
    /// A folder, or one file. `None`: all served folders.
    pub path: Option<&'o FilePath>,
    /// Whether a file is wanted, or a folder entered, as in `SearchOptions::wants`.
    pub wants: &'o (dyn Fn(&Path, &Path, bool) -> bool + Sync),
    /// Only outlines in which this text stands are made.
    pub with: Option<&'o str>,
}

/// A file and what it defines.
#[derive(Debug)]
pub struct FileOutline {
    /// Where it is.
    pub place: FilePlace,
    /// Its definitions, as [`Outline::unpacked`] reads them.
    pub packed: Arc<[u8]>,
}

/// What is known of files.
#[derive(Debug, Default)]
pub struct Outlines {
    /// Those that were outlined, in the order of the walk.
    pub files: Vec<FileOutline>,
    /// How many were outlined, also those without the text.
    pub outlined: u64,
    /// Those that were not.
    pub refused: Vec<(FilePlace, LeftOutFile)>,
    /// Files of no known language.
    pub unknown: u64,
    /// Entries that are no files, or not wanted.
    pub counts: SearchCounts,
    /// What the walk left out.
    pub left_out: LeftOut,
    /// If the time was up: what was not outlined.
    pub late: Option<Unanalysed>,
}

/// What is kept of a file.
#[derive(Debug, Clone)]
struct KeptOutline {
    language: Language,
    packed: std::result::Result<Arc<[u8]>, Refusal>,
}

impl Analysis for KeptOutline {
    fn heap_bytes(&self) -> usize {
        // The counters of the `Arc`.
        self.packed.as_ref().map_or(0, |packed| packed.len() + 2 * size_of::<usize>())
    }

    fn copied(&self) -> Arc<dyn Analysis> {
        let packed = self.packed.as_ref().map(|packed| Arc::from(&packed[..])).map_err(|refusal| *refusal);
        Arc::new(KeptOutline { packed, ..*self })
    }

    fn is_certain(&self) -> bool {
        !matches!(self.packed, Err(Refusal::TooSlow | Refusal::Crashed))
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
        let packed = outline_of(&mut self.0, language, text, control)?;
        Ok(Arc::new(KeptOutline { language, packed: packed.map(|outline| outline.packed().into()) }))
    }
}

fn kept(known: &dyn Analysis) -> Option<&KeptOutline> {
    (known as &dyn Any).downcast_ref()
}

fn outline_of(
    analyzer: &mut Analyzer,
    language: Language,
    text: &[u8],
    control: &Control,
) -> Result<std::result::Result<Outline, Refusal>> {
    Ok(match analyzer.analyse(Wanted::Outline, language, text, control)? {
        Ok(Made::Outline(outline)) => Ok(outline),
        Ok(Made::Figures(_)) => Err(Refusal::Crashed),
        Err(refusal) => Err(refusal),
    })
}

/// The error for a file of no known language.
fn unknown_language(path: &str) -> Error {
    let extensions: Vec<String> = Language::ALL
        .iter()
        .flat_map(|language| language.extensions())
        .map(|one| format!(".{one}"))
        .collect();
    let problem =
        format!("{path} is a file of no language that can be outlined; expected {}", extensions.join(" "));
    Error::InvalidArguments { at: "path".into(), problem }
}

/// Outlines files: all that are wanted, or as many as the time allows. One that is named is outlined wherever it is.
///
/// # Errors
///
/// A path that does not exist, or is a file of no known language; those of the analyzer that cannot be used.
pub fn outlines(workspace: &Workspace, options: OutlineOptions, control: &Control) -> Result<Outlines> {
    let unknown = AtomicU64::new(0);
    let is_file = match options.path {
        Some(path) => workspace.info_or_near(path, control)?.kind == EntryKind::File,
        None => false,
    };
    if let Some(path) = options.path
        && is_file
        && Language::of_path(Path::new(path.as_str())).is_none()
    {
        return Err(unknown_language(path.sent()));
    }
    let wants = |path: &Path, from_start: &Path, is_folder: bool| {
        let is_wanted = is_file || (options.wants)(path, from_start, is_folder);
        if !is_wanted || is_folder || Language::of_path(path).is_some() {
            return is_wanted;
        }
        unknown.fetch_add(1, Ordering::Relaxed);
        false
    };
    let analysis = AnalysisOptions {
        kind: AnalysisKind::Outlines,
        path: options.path,
        wants: &wants,
        skip_ignored: !is_file,
        skip_hidden: !is_file,
        max_bytes: MAX_BYTES as u64,
    };
    let new_analyser = || Box::new(Worker::default()) as Box<dyn FileAnalyser>;
    let analysed = workspace.analyse_files(analysis, &new_analyser, control)?;
    let engine::AnalysedFiles { files, counts, left_out, late } = analysed;
    let unknown = unknown.load(Ordering::Relaxed);
    let mut outlines = Outlines { counts, left_out, late, unknown, ..Outlines::default() };
    let finder = options.with.map(memchr::memmem::Finder::new);
    files.into_iter().for_each(|file| outlines.add(file, finder.as_ref()));
    Ok(outlines)
}

impl Outlines {
    fn add(&mut self, file: AnalysedFile, with: Option<&memchr::memmem::Finder>) {
        let AnalysedFile { folder, path, base, outcome } = file;
        let place = FilePlace { folder, path, base };
        let refusal = match outcome {
            FileOutcome::Analysed(made) => match kept(made.as_ref()) {
                Some(KeptOutline { packed: Ok(packed), .. }) => {
                    self.outlined += 1;
                    if with.is_none_or(|with| with.find(packed).is_some()) {
                        self.files.push(FileOutline { place, packed: packed.clone() });
                    }
                    return;
                }
                Some(KeptOutline { packed: Err(refusal), .. }) => LeftOutFile::Refused(*refusal),
                // No other analysis is kept here.
                None => LeftOutFile::Unreadable,
            },
            FileOutcome::TooLarge => LeftOutFile::Refused(Refusal::TooLarge),
            FileOutcome::Unreadable => LeftOutFile::Unreadable,
            FileOutcome::Changing => LeftOutFile::Changing,
        };
        self.refused.push((place, refusal));
    }
}

/// The outline of one file.
///
/// # Errors
///
/// Those of [`outlines`], and a file that cannot be outlined, with the reason.
pub fn outline_of_file(workspace: &Workspace, path: &FilePath, control: &Control) -> Result<Outline> {
    let options = OutlineOptions { path: Some(path), wants: &|_, _, _| true, with: None };
    let outlines = outlines(workspace, options, control)?;
    match (outlines.files.first(), outlines.refused.first()) {
        (Some(file), _) => {
            Outline::unpacked(&file.packed).ok_or_else(|| refused(path.sent(), "its outline is damaged"))
        }
        (None, Some((_, why))) => Err(refused(path.sent(), why.why())),
        (None, None) => Err(refused(path.sent(), "it is no file of text")),
    }
}

fn refused(name: &str, why: &str) -> Error {
    let problem = format!("{name} cannot be outlined: {why}; name lines in place of it");
    Error::InvalidArguments { at: "symbol".into(), problem }
}

/// The outline of a text that stands in no file yet, by the name of its file.
///
/// # Errors
///
/// Those of [`outline_of_file`].
pub fn outline_of_text(name: &str, text: &[u8], control: &Control) -> Result<Outline> {
    let language = Language::of_path(Path::new(name)).ok_or_else(|| unknown_language(name))?;
    let outline = match text.len() > MAX_BYTES {
        true => Err(Refusal::TooLarge),
        false => outline_of(&mut Analyzer::default(), language, text, control)?,
    };
    outline.map_err(|refusal| refused(name, LeftOutFile::Refused(refusal).why()))
}

impl LeftOutFile {
    /// Why a file was not outlined, as words.
    pub fn why(self) -> &'static str {
        match self {
            LeftOutFile::Refused(Refusal::TooLarge) => "it is over 1 MiB",
            LeftOutFile::Refused(Refusal::NotText) => "it is not valid UTF-8",
            LeftOutFile::Refused(Refusal::TooHard) => "it is too hard to parse",
            LeftOutFile::Refused(Refusal::TooSlow) => "its parsing took too long",
            LeftOutFile::Refused(Refusal::Crashed) => "the analyzer died of it",
            LeftOutFile::Unreadable => "it cannot be read",
            LeftOutFile::Changing => "other programs wrote to it all the while",
        }
    }
}
