//! How well a template answers a query: a score from 0 to 1.
//!
//! Knows texts only.

/// What a query is searched in, by weight.
pub(super) struct SearchText<'t> {
    pub(super) uri: &'t str,
    pub(super) name: &'t str,
    pub(super) description: &'t str,
}

/// Scores below this are no results.
const LEAST: f64 = 0.3;

/// The most words of a query that count.
const MAX_WORDS: usize = 32;

/// Words that say nothing of a template.
const EMPTY: &[&str] = &[
    "a",
    "an",
    "and",
    "for",
    "in",
    "of",
    "project",
    "projects",
    "template",
    "templates",
    "the",
    "to",
    "with",
];

/// The score of a text, 0 if it is no result.
pub(super) fn score(query: &str, text: &SearchText) -> f64 {
    if query.trim() == text.uri {
        return 1.0;
    }
    let mut wanted = words(query);
    wanted.retain(|word| !EMPTY.contains(&&**word));
    wanted.truncate(MAX_WORDS);
    if wanted.is_empty() {
        return 0.0;
    }
    let places = [
        (1.0, words(text.uri.rsplit("://").next().unwrap_or_default())),
        (0.95, words(text.name)),
        (0.7, words(text.description)),
    ];
    let best = |wanted: &String| {
        let likenesses = places
            .iter()
            .flat_map(|(weight, words)| words.iter().map(move |word| weight * likeness(wanted, word)));
        likenesses.fold(0.0, f64::max)
    };
    let mean = wanted.iter().map(best).sum::<f64>() / wanted.len() as f64;
    if mean < LEAST { 0.0 } else { (mean * 1_000.0).round() / 1_000.0 }
}

/// The words of a text in lower case.
fn words(text: &str) -> Vec<String> {
    let words = text.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(|word| word.chars().take(64).collect::<String>().to_lowercase()).collect()
}

fn likeness(wanted: &str, word: &str) -> f64 {
    if wanted == word {
        return 1.0;
    }
    let (short, long) = if wanted.len() < word.len() { (wanted, word) } else { (word, wanted) };
    if 3 <= short.len() && long.starts_with(short) {
        // The more of the word is there, the better.
        return 0.6 + 0.3 * short.len() as f64 / long.len() as f64;
    }
    let near = strsim::normalized_damerau_levenshtein(wanted, word);
    if 4 <= short.len() && 0.75 <= near { 0.8 * near } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(query: &str) -> f64 {
        let text = SearchText {
            uri: "template://dockerfile/python-uv/cli",
            name: "Python CLI Dockerfile",
            description: "Container image in two stages",
        };
        score(query, &text)
    }

    #[test]
    fn what_is_nearer_scores_higher_and_all_scores_are_from_0_to_1() {
        let queries = [
            "template://dockerfile/python-uv/cli",
            "dockerfile",
            "docker",
            "dokcerfile",
            "container",
            "rust stages",
        ];
        let scores = queries.map(of);
        assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
        assert!(scores[0] == 1.0 && scores.iter().all(|score| (0.3..=1.0).contains(score)), "{scores:?}");
        assert!(of("docker python") > of("docker rust"));
        assert_eq!(of("a template for DOCKERFILE"), 1.0);
    }

    #[test]
    fn nonsense_finds_nothing() {
        for query in [
            "",
            " ",
            "xyzzy qwrt",
            "a template for the project",
            "a a a",
            "the",
            "\u{0}",
            "../..",
            "{{ x }}",
            &"z".repeat(100_000),
        ] {
            assert_eq!(of(query), 0.0, "{query:.20}");
        }
    }
}
