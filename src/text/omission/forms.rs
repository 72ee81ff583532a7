//! The usual short forms of lines that stand for text, as data: `rest of the code`, `existing methods`, `unchanged`.

use self::Dots::{Around, AtOneEnd, Before};

/// Where a comment must have dots to be such a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Dots {
    AtOneEnd,
    Before,
    Around,
}

/// The forms, word by word: `a|b` is one of them, `THING` one of [`THINGS`], `*` any word; one with `?` at its end may be missing. One of
/// [`TAILS`] may follow. An ordinary comment has further words: `# Keep existing tests ...`, `# ... then handle the rest ...`.
const FORMS: [(Dots, &str); 33] = [
    (AtOneEnd, "the|your? existing code"),
    (AtOneEnd, "the? rest of the|this|your? code|file|function|method|class|module|implementation"),
    (AtOneEnd, "unchanged"),
    (Before, "keep? all? the|your|other? existing THING THING? of|in? the|this? THING?"),
    (Before, "the? rest of the|this|your? THING THING?"),
    (Before, "all? the? other|previous|remaining|unchanged THING THING? of|in? the|this? THING?"),
    (Before, "the|this? THING remains|remain|stays|stay|is|are? the? unchanged|same|omitted"),
    (Before, "the? same|code as above|before"),
    (Before, "no changes|change|modifications needed|required|below? in|to? the|this? here|THING?"),
    (Before, "omitted"),
    (Before, "the? rest unchanged|omitted|same|truncated"),
    (Around, "* more? THING omitted|truncated|skipped|unchanged|hidden"),
    (Around, "keep the? existing|rest|others"),
    (Around, "truncated|snip|snipped|elided|shortened"),
    (Around, "the? rest|remainder|remaining|existing|previous|others"),
    (Around, "the? rest of the|this|your? *"),
    (Around, "the|your? existing * THING"),
    (Before, "restlicher|bestehender|vorhandener|existierender|übriger|unveränderter code"),
    (Before, "restliche|bestehende|vorhandene|übrige|andere methoden|funktionen|importe|zeilen"),
    (Before, "der? rest des|der codes|datei|funktion|methode|klasse"),
    (Before, "der? rest|code bleibt unverändert|gleich"),
    (Before, "keine|unverändert|wie änderungen|oben|zuvor|bisher? hier?"),
    (Before, "el? código|codigo existente|restante|anterior"),
    (Before, "el? resto del|de la? código|codigo|archivo|función|método|clase"),
    (Before, "sin cambios aquí?"),
    (Before, "le? code existant|restant|précédent|inchangé"),
    (Before, "le? reste du|de la? code|fichier|fonction|méthode|classe"),
    (Before, "inchangé|sans changement|modification?"),
    (Before, "существующий|остальной|прежний|имеющийся код"),
    (Before, "остальная часть кода|файла|функции|класса"),
    (Before, "без изменений"),
    (
        Before,
        "现有代码|原有代码|已有代码|其余代码|其他代码|剩余代码|其余部分|代码省略|省略|此处省略|保持不变",
    ),
    (Before, "其余代码保持不变|其余代码不变|其余部分保持不变|其余部分不变|其他代码保持不变|其他代码不变"),
];

const THINGS: &str = "code file function functions method methods class classes module implementation import imports content contents body \
    logic definition definitions document text lines list items fields props properties tests cases routes handlers components component \
    styles types constants variables entries section sections elements rows";

/// What may stand behind a form; each may be missing.
const TAILS: [&str; 5] = [
    "remains|remain|stays|stay|is|are|goes|go? exactly? the? unchanged|unmodified|same|omitted|here? as? is|before|above? for? brevity?",
    "bleibt|bleiben? unverändert|gleich?",
    "permanece|queda|sin? igual|cambios?",
    "reste|restent|sans? inchangé|changement?",
    "остаётся|остается? без? изменений?",
];

/// More words than any form and tail have.
const MAX_WORDS: usize = 20;

/// How many dots make these words stand for text, if they are one of the forms.
pub(super) fn needed_dots(words: &[&str]) -> Option<Dots> {
    if words.is_empty() || words.len() > MAX_WORDS {
        return None;
    }
    let has_form = |form: &str| {
        let parts = (1..=words.len()).filter_map(|at| words.split_at_checked(at));
        parts.filter(|(head, _)| fits(form, head)).any(|(_, tail)| TAILS.iter().any(|form| fits(form, tail)))
    };
    FORMS.iter().filter(|(_, form)| has_form(form)).map(|(dots, _)| *dots).min()
}

/// Whether the words are the form.
fn fits(form: &str, words: &[&str]) -> bool {
    let (token, rest) = form.split_once(' ').unwrap_or((form, ""));
    if token.is_empty() {
        return words.is_empty();
    }
    let (token, may_lack) = token.strip_suffix('?').map_or((token, false), |token| (token, true));
    let takes = |word: &str| match token {
        "*" => true,
        "THING" => THINGS.split_whitespace().any(|thing| thing == word),
        _ => token.split('|').any(|known| known == word),
    };
    may_lack && fits(rest, words)
        || words.split_first().is_some_and(|(word, words)| takes(word) && fits(rest, words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_has_all_of_its_words_and_no_others() {
        for (form, is_one) in [
            ("existing code", Some(AtOneEnd)),
            ("rest of the code remains the same", Some(AtOneEnd)),
            ("rest of the class stays as is", Some(AtOneEnd)),
            ("keep existing tests", Some(Before)),
            ("other items of the list", Some(Before)),
            ("no changes here", Some(Before)),
            ("same as above", Some(Before)),
            ("rest of handlesubmit", Some(Around)),
            ("rest", Some(Around)),
            ("der rest bleibt unverändert", Some(Before)),
            ("", None),
            ("then handle the rest", None),
            ("existing users keep their password", None),
            ("rest of the code is not checked", None),
            ("keep the rest", Some(Around)),
            ("keep existing", Some(Around)),
            ("12 lines omitted", Some(Around)),
            ("12 users omitted", None),
            ("truncated", Some(Around)),
            ("rest unchanged", Some(Before)),
        ] {
            let words: Vec<&str> = form.split_whitespace().collect();
            assert_eq!(needed_dots(&words), is_one, "{form}");
        }
        assert_eq!(needed_dots(&["existing"; 10_000]), None);
    }
}
