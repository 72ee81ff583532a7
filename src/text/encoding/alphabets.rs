//! How many words of a text one language has the letters for: read in a wrong encoding, a text has letters of several languages.
//!
//! Pure over texts. Knows no words, only the letters that languages have besides those of ASCII.

use std::collections::HashMap;
use std::sync::OnceLock;

/// The small letters of languages, and of scripts that have none.
const ALPHABETS: [&str; 39] = [
    "àâæçèéêëîïôœùûüÿ",                                                   // French
    "äöüß",                                                               // German
    "áéíñóúüª",                                                           // Spanish
    "áâãàçéêíóôõúüª",                                                     // Portuguese
    "àèéìíîòóùú",                                                         // Italian
    "àçèéíïòóúü",                                                         // Catalan
    "åäöéüà",                                                             // Swedish, Finnish
    "æøåéóôòê",                                                           // Danish, Norwegian
    "áæðéíóöúýþ",                                                         // Icelandic
    "áæðíóøúý",                                                           // Faroese
    "áàâäèéêëíïóôöúü",                                                    // Dutch, Afrikaans
    "áéíóú",                                                              // Irish
    "àâäèéêëìîïòôöùûüŵŷÿ",                                                // Welsh
    "áčďéěíňóřšťúůýž",                                                    // Czech
    "áäčďéíľňóôšťúýž",   // Slovak, without ĺ and ŕ, which are rare
    "ąćęłńóśźż",         // Polish
    "áéíóöőúüű",         // Hungarian
    "čćđšž",             // Croatian, Slovenian
    "ăâîșțşţ",           // Romanian
    "çë",                // Albanian
    "âçğıiîöşûü\u{307}", // Turkish; İ is a small letter with a point above
    "äõöüšž",            // Estonian
    "āčēģīķļņšūž",       // Latvian
    "ąčęėįšųūž",         // Lithuanian
    "ċġħż",              // Maltese
    "ĉĝĥĵŝŭ",            // Esperanto
    "áčđŋšŧžâäåöõ",      // Sámi
    "àáâãèéêìíòóôõùúýăđĩũơưăêđôơư\u{300}\u{301}\u{303}\u{309}\u{323}", // Vietnamese
    "абвгдеёжзийклмнопрстуфхцчшщъыьэюя", // Russian, Bulgarian
    "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя", // Ukrainian
    "абвгдеёжзійклмнопрстуўфхцчшыьэюя", // Belarusian
    "абвгдђежзијклљмнњопрстћуфхцчџш", // Serbian
    "абвгдѓежзѕијклљмнњопрстќуфхцчџш", // Macedonian
    "αάβγδεέζηήθιίϊΐκλμνξοόπρσςτυύϋΰφχψωώ", // Greek
    "אבגדהוזחטיךכלםמןנסעףפץצקרשת", // Hebrew
    "ءآأؤإئابةتثجحخدذرزسشصضطظعغفقكلمنهوىيًٌٍَُِّْـ،؟؛", // Arabic
    "ءآأؤئابپتثجچحخدذرزژسشصضطظعغفقکكگلمنهويیىےۀة", // Persian, Urdu
    "กขฃคฅฆงจฉชซฌญฎฏฐฑฒณดตถทธนบปผฝพฟภมยรฤลวศษสหฬอฮฯะัาำิีึืฺุูเแโใไๅๆ็่้๊๋์ํ๐๑๒๓๔๕๖๗๘๙", // Thai
    "ְֱֲֳִֵֶַָֹֻּאבגדהוזחטיךכלםמןנסעףפץצקרשת", // Hebrew with points
];

/// Signs that stand at words in all languages.
const SIGNS: &str = "«»‹›„“”‚‘’–—…·°©®\u{a0}\u{ad}";

/// Counts the words for each alphabet.
pub(super) struct Cover([usize; ALPHABETS.len()]);

impl Cover {
    pub(super) fn new() -> Cover {
        Cover([0; ALPHABETS.len()])
    }

    /// Adds a word.
    pub(super) fn add(&mut self, word: &str) {
        let mut of = u64::MAX;
        for char in word.chars().filter(|char| !char.is_ascii()) {
            of &= char.to_lowercase().map(alphabets_of).fold(u64::MAX, |all, next| all & next);
        }
        for (number, count) in self.0.iter_mut().enumerate() {
            *count += usize::from(of >> number & 1 == 1);
        }
    }

    /// The words of the language with the most.
    pub(super) fn most(&self) -> usize {
        self.0.iter().copied().max().unwrap_or(0)
    }
}

/// The alphabets that have a letter, a bit for each.
fn alphabets_of(char: char) -> u64 {
    static KNOWN: OnceLock<HashMap<char, u64>> = OnceLock::new();
    let known = KNOWN.get_or_init(|| {
        let mut known = HashMap::new();
        for (number, alphabet) in ALPHABETS.iter().enumerate() {
            alphabet.chars().for_each(|char| *known.entry(char).or_default() |= 1 << number);
        }
        SIGNS.chars().for_each(|char| _ = known.insert(char, u64::MAX));
        known
    });
    if char.is_ascii() { u64::MAX } else { known.get(&char).copied().unwrap_or(0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn most(words: &[&str]) -> usize {
        let mut cover = Cover::new();
        words.iter().for_each(|word| cover.add(word));
        cover.most()
    }

    #[test]
    fn words_of_one_language_are_counted_together() {
        assert_eq!(most(&["élève", "Où", "«déjà»", "français"]), 4);
        // The same read as windows-1250.
        assert_eq!(most(&["élčve", "Oů", "«déjŕ»", "français"]), 2);
        assert_eq!(most(&["İstanbul", "ışık", "güneş"]), 3);
        assert_eq!(most(&["слово", "мир", "d´accord", "5€"]), 2);
    }
}
