//! All templates of a server: the built-in ones and the operator's own. Finds, lists and searches them.

use std::io;
use std::path::Path;
use std::sync::OnceLock;

use super::builtin;
use super::own::{self, Broken};
use super::search::{SearchText, score};
use super::template::Template;
use super::uri::TemplateUri;
use text::order;

/// The characters of a query that count.
const MAX_QUERY: usize = 1_000;

/// The most URIs that an error names.
const MAX_NEAR: usize = 3;

/// Templates in the order of their URIs.
#[derive(Debug)]
pub struct Catalogue {
    templates: Vec<Template>,
    broken: Vec<Broken>,
}

/// Why there is no template for a URI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LookupError {
    /// The URI is malformed. The text says how.
    Malformed(String),
    /// No template has the URI. These are near ones.
    NotFound(Vec<String>),
    /// It is one of the operator's that was left out. The text says why.
    LeftOut(String),
}

/// The templates of this process. They do not change after the start.
static SERVED: OnceLock<Catalogue> = OnceLock::new();

/// The templates that this process serves: the built-in ones, unless [`serve`] has added others.
pub fn served() -> &'static Catalogue {
    SERVED.get_or_init(|| Catalogue::new(own::OwnTemplates::default()))
}

/// Reads the templates in `folder`, which are served together with the built-in ones from now on; of two with one URI, the
/// one in the folder. Returns those that were left out. Must be called before [`served`].
pub fn serve(folder: &Path) -> io::Result<&'static [Broken]> {
    let own = own::load(folder)?;
    Ok(&SERVED.get_or_init(|| Catalogue::new(own)).broken)
}

impl Catalogue {
    /// The built-in templates and these.
    pub fn new(own: own::OwnTemplates) -> Catalogue {
        let mut templates = own.templates;
        let built_in = builtin::templates();
        templates.extend(
            built_in
                .into_iter()
                .filter(|one| !own.broken.iter().any(|broken| broken.uri.as_ref() == Some(&one.uri))),
        );
        // Stable, so that of two with one URI the own one stays.
        order::sort_by(&mut templates, |a, b| a.uri.cmp(&b.uri));
        templates.dedup_by(|b, a| a.uri == b.uri);
        Catalogue { templates, broken: own.broken }
    }

    /// The templates of a toolchain and a category, as far as they are given.
    pub fn list<'c>(
        &'c self,
        toolchain: Option<&'c str>,
        category: Option<&'c str>,
    ) -> impl Iterator<Item = &'c Template> {
        self.templates.iter().filter(move |template| {
            let TemplateUri { category: of, toolchain: by, .. } = &template.uri;
            toolchain.is_none_or(|toolchain| toolchain == by)
                && category.is_none_or(|category| category == of)
        })
    }

    /// The template with the URI `text`.
    pub fn find(&self, text: &str) -> Result<&Template, LookupError> {
        self.get(&TemplateUri::parse(text).map_err(LookupError::Malformed)?)
    }

    /// The template with this URI.
    pub fn get(&self, uri: &TemplateUri) -> Result<&Template, LookupError> {
        if let Some(template) = self.templates.iter().find(|template| template.uri == *uri) {
            return Ok(template);
        }
        let broken = self.broken.iter().find(|broken| broken.uri.as_ref() == Some(uri));
        Err(match broken {
            Some(Broken { problem, .. }) => LookupError::LeftOut(problem.clone()),
            None => LookupError::NotFound(self.near(&uri.to_string())),
        })
    }

    /// URIs like this one, best first.
    fn near(&self, uri: &str) -> Vec<String> {
        let wanted = uri.to_lowercase();
        let mut near: Vec<(f64, String)> = self
            .templates
            .iter()
            .map(|template| template.uri.to_string())
            .map(|known| (strsim::normalized_damerau_levenshtein(&known.to_lowercase(), &wanted), known))
            .filter(|(likeness, _)| *likeness > 0.7)
            .collect();
        order::sort_by(&mut near, |a, b| b.0.total_cmp(&a.0));
        near.truncate(MAX_NEAR);
        near.into_iter().map(|(_, uri)| uri).collect()
    }

    /// The toolchains that there are, each once.
    pub fn toolchains(&self) -> Vec<&str> {
        let mut toolchains: Vec<&str> =
            self.templates.iter().map(|template| &*template.uri.toolchain).collect();
        text::order::sort_by(&mut toolchains, Ord::cmp);
        toolchains.dedup();
        toolchains
    }

    /// The categories that a toolchain has, or any toolchain, each once.
    pub fn categories<'c>(&'c self, toolchain: Option<&'c str>) -> Vec<&'c str> {
        let mut categories: Vec<&str> =
            self.list(toolchain, None).map(|template| &*template.uri.category).collect();
        categories.dedup();
        categories
    }

    /// The templates that answer a query, best first, each with a score from 0 to 1.
    pub fn search<'c>(&'c self, query: &str, toolchain: Option<&'c str>) -> Vec<(f64, &'c Template)> {
        let query: String = query.chars().take(MAX_QUERY).collect();
        let scored = |template: &'c Template| {
            let Template { uri, name, description, .. } = template;
            let text = SearchText { uri: &uri.to_string(), name, description };
            (score(&query, &text), template)
        };
        let mut found: Vec<(f64, &Template)> = self.list(toolchain, None).map(scored).collect();
        found.retain(|(score, _)| *score > 0.0);
        order::sort_by(&mut found, |a, b| b.0.total_cmp(&a.0).then_with(|| a.1.uri.cmp(&b.1.uri)));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::super::value::SentValue;
    use super::*;

    fn built_in() -> Catalogue {
        Catalogue::new(own::OwnTemplates::default())
    }

    fn named(name: &str) -> Vec<(String, SentValue)> {
        vec![("project_name".into(), SentValue::Text(name.into()))]
    }

    #[test]
    fn there_are_nine_categories_for_three_toolchains_in_two_variants() {
        let catalogue = built_in();
        assert_eq!(catalogue.list(None, None).count(), 9 * 3 * 2);
        assert_eq!(catalogue.toolchains(), ["deno", "python-uv", "rust"]);
        for toolchain in catalogue.toolchains() {
            assert_eq!(catalogue.categories(Some(toolchain)).len(), 9);
            assert_eq!(catalogue.list(Some(toolchain), Some("makefile")).count(), 2);
        }
        assert_eq!(catalogue.list(Some("Rust"), None).count(), 0);
    }

    #[test]
    fn every_template_is_made_by_the_name_of_the_project_alone() {
        for template in built_in().list(None, None) {
            assert_eq!(template.check_sources(), Ok(()), "{}", template.uri);
            let mut paths = Vec::new();
            for name in ["x", "My-Long_project-Name2"] {
                let made = template
                    .generate(&named(name), &[])
                    .unwrap_or_else(|error| panic!("{}: {error:?}", template.uri));
                let rough =
                    made.content.lines().find(|line| line.ends_with([' ', '\t']) || line.contains("{%"));
                assert_eq!(rough, None, "{}", template.uri);
                assert!(made.content.ends_with('\n') && !made.content.ends_with("\n\n"), "{}", template.uri);
                assert!(!made.content.contains("\n\n\n") || made.path.ends_with(".py"), "{}", template.uri);
                paths.push(made.path);
            }
            let mut without = named("x");
            without.push(("has_tests".into(), SentValue::Boolean(false)));
            assert!(template.generate(&without, &[]).is_ok(), "{}", template.uri);
            assert_eq!(template.problems(&named("../x")).len(), 1);
            assert_eq!(template.problems(&[]).len(), 1);
        }
    }

    #[test]
    fn a_project_has_each_path_once() {
        let catalogue = built_in();
        for toolchain in catalogue.toolchains() {
            for variant in ["cli", "library"] {
                let of =
                    catalogue.list(Some(toolchain), None).filter(|template| template.uri.variant == variant);
                let mut paths: Vec<String> =
                    of.map(|template| template.generate(&named("x"), &[]).unwrap().path).collect();
                paths.sort();
                let all = paths.len();
                paths.dedup();
                assert_eq!((all, paths.len()), (9, 9), "{paths:?}");
            }
        }
    }

    #[test]
    fn a_missing_template_names_near_ones() {
        let catalogue = built_in();
        assert!(catalogue.find("template://makefile/rust/cli").is_ok());
        assert!(matches!(catalogue.find("makefile"), Err(LookupError::Malformed(_))));
        for uri in
            ["template://Makefile/rust/cli", "template://makefile/RUST/cli", "template://makefil/rust/cli"]
        {
            let Err(LookupError::NotFound(near)) = catalogue.find(uri) else { panic!("{uri}") };
            assert_eq!(near[0], "template://makefile/rust/cli");
        }
        assert_eq!(catalogue.find("template://zzz/qqq/www").err(), Some(LookupError::NotFound(Vec::new())));
    }

    #[test]
    fn own_templates_stand_before_built_in_ones_and_broken_ones_say_why() {
        let mut own = own::OwnTemplates::default();
        let mut makefile = built_in().find("template://makefile/rust/cli").unwrap().clone();
        makefile.source = "mine".into();
        own.templates.push(makefile);
        let uri = TemplateUri::parse("template://ci/rust/cli").unwrap();
        own.broken.push(Broken { folder: "x".into(), uri: Some(uri), problem: "why".into() });
        let catalogue = Catalogue::new(own);
        assert_eq!(catalogue.find("template://makefile/rust/cli").unwrap().source, "mine");
        assert_eq!(catalogue.find("template://ci/rust/cli").err(), Some(LookupError::LeftOut("why".into())));
        assert_eq!(catalogue.list(None, None).count(), 53);
    }

    #[test]
    fn a_search_finds_the_best_first_and_nothing_for_nonsense() {
        let catalogue = built_in();
        let first = |query: &str, toolchain| {
            catalogue.search(query, toolchain).first().map(|(_, one)| one.uri.to_string())
        };
        assert_eq!(first("rust cli makefile", None).as_deref(), Some("template://makefile/rust/cli"));
        assert_eq!(first("dockerfile", Some("deno")).as_deref(), Some("template://dockerfile/deno/cli"));
        assert_eq!(first("github actions", Some("rust")).as_deref(), Some("template://ci/rust/cli"));
        assert_eq!(first("pyproject", None).as_deref(), Some("template://manifest/python-uv/cli"));
        assert_eq!(first("xyzzy", None), None);
    }
}
