//! Texts of few words in encodings of single bytes: a guess may be wrong, but not sure and wrong.
//!
//! FEW_WORDS says how many texts of each kind are guessed, SHOW_WRONG shows the wrong ones.

// The figures are shown when the test fails, or with --nocapture.
#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;

use super::samples::{LANGUAGES, Numbers};
use super::*;

/// More languages: their encodings, and words.
const MORE: [(&[&str], &str); 11] = [
    (
        &["windows-1250", "iso-8859-2", "iso-8859-16"],
        "Dimineața devreme am ieșit din casă și am pornit spre râu, unde îi așteptau deja pescarii. Cerul era cenușiu și \
        deasupra pădurii plutea încă ceața. Copiii alergau pe mal și strângeau pietre netede pentru bunică. Mai târziu \
        învățătorul ne-a povestit cum trăiau oamenii în satele acestea. Nimeni n-a observat când a plecat ultimul autobuz.",
    ),
    (
        &["windows-1250", "iso-8859-2"],
        "Skoro ráno sme vyšli z domu a vybrali sa k rieke, kde už čakali rybári. Obloha bola sivá a nad lesom sa ešte \
        držala hmla. Deti behali po brehu a zbierali hladké kamene pre svoju babičku. Neskôr učiteľ rozprával, ako sa \
        kedysi žilo v týchto dedinách. Večer gazdiná priniesla na stôl chlieb, med a čerstvé mlieko. Môžeme začať.",
    ),
    (
        &["windows-1250", "iso-8859-2"],
        "Rano ujutro izašli smo iz kuće i krenuli prema rijeci, gdje su već čekali ribari. Nebo je bilo sivo, a nad šumom \
        je još ležala magla. Djeca su trčala obalom i skupljala glatko kamenje. Poslije je učitelj pričao kako se nekoć \
        živjelo u ovim selima. Nitko nije primijetio kad je došao posljednji autobus. Možemo početi sljedeći tjedan.",
    ),
    (
        &["windows-1250", "iso-8859-2"],
        "Zgodaj zjutraj smo odšli od doma in se napotili k reki, kjer so že čakali ribiči. Nebo je bilo sivo, nad gozdom \
        pa je še visela megla. Otroci so tekali po bregu in nabirali gladke kamne. Pozneje je učitelj pripovedoval, kako \
        so včasih živeli v teh vaseh. Zvečer je gospodinja prinesla na mizo kruh, med in sveže mleko. Začnemo že jutri.",
    ),
    (
        &["windows-1254"],
        "değişiklik yapılması için şifre giriniz. Lütfen bağlantı ayarlarını kontrol edin, sonra yeniden başlatın. Işıklar \
        söndüğünde ağaçların altında çocuklar gülüşüyordu. İstanbul'un eski çarşısında yağmurlu bir öğleden sonra. \
        Güneş doğarken dağların ardında bulutlar açıldı. Dosya açılamadı: geçersiz biçim. Kullanıcı adı boş olamaz.",
    ),
    (
        &["windows-1252"],
        "Snemma um morguninn gengum við út úr húsinu og niður að ánni, þar sem sjómennirnir biðu þegar. Himinninn var \
        grár og yfir skóginum lá þoka. Börnin hlupu eftir bakkanum og söfnuðu sléttum steinum. Síðar sagði kennarinn frá \
        því hvernig fólk lifði áður í þessum þorpum. Enginn tók eftir því hvenær síðasti vagninn kom.",
    ),
    (
        &["windows-1252", "iso-8859-15"],
        "Tidligt om morgenen gik vi ud af huset og ned til åen, hvor fiskerne allerede ventede. Himlen var grå, og over \
        skoven lå der stadig tåge. Børnene løb langs bredden og samlede glatte sten til deres bedstemor. Læreren fortalte, \
        hvordan folk levede før i tiden. Om aftenen spiste vi brød, ost og friske bær på øen.",
    ),
    (
        &["windows-1252", "iso-8859-15", "windows-1257"],
        "Varahommikul läksime kodust välja ja kõndisime jõe äärde, kus kalamehed juba ootasid. Taevas oli hall ja metsa \
        kohal hõljus veel udu. Lapsed jooksid mööda kallast ja korjasid siledaid kive. Hiljem rääkis õpetaja, kuidas \
        vanasti neis külades elati. Õhtul tõi perenaine lauale leiba, mett ja värsket piima. Küsimus on lihtne.",
    ),
    (
        &["windows-1257", "iso-8859-13"],
        "Agri no rīta mēs izgājām no mājas un devāmies uz upi, kur jau gaidīja zvejnieki. Debesis bija pelēkas, un virs \
        meža vēl klājās migla. Bērni skraidīja gar krastu un vāca gludus akmeņus savai vecmāmiņai. Vēlāk skolotājs \
        stāstīja, kā agrāk dzīvoja šajos ciemos. Neviens nepamanīja, kad pienāca pēdējais autobuss. Lūdzu, piezvaniet.",
    ),
    (
        &["iso-8859-15"],
        "L'œuvre du maître coûte 15 €. Mon cœur bat, ma sœur dort. Le bœuf et les œufs : 20 €. Un clin d'œil au chœur. \
        Œuvrons ensemble, œil pour œil. Le prix était de 100 € environ, frais de manœuvre compris. Šárka et Žofia ont \
        mangé. L'Haÿ-les-Roses, le nœud, la mœlle et le fœtus. Voilà déjà vingt euros pour le vœu.",
    ),
    (
        &["macintosh"],
        "Très tôt, nous sommes sortis de la maison où les élèves étaient déjà réunis. Für die Kinder war es natürlich schön, \
        über die Brücke zu gehen. El niño pequeño comió una manzana mañana. Não sei se a solução está próxima.",
    ),
];

/// The numbers of words of the texts.
const WORDS: [usize; 8] = [1, 2, 3, 5, 8, 12, 20, 30];

/// What stands between the words.
const BETWEEN: [&str; 3] = [" ", "\n", ", x = "];

/// How many guesses were sure, how many of these were wrong, and the wrong ones.
#[derive(Debug, Default)]
struct Counted {
    all: usize,
    sure: usize,
    wrong: BTreeMap<String, usize>,
}

/// Guesses so many texts of each number of words, in each language and encoding.
fn counted(each: usize) -> Counted {
    let (mut numbers, mut counted) = (Numbers(11), Counted::default());
    for (names, text) in LANGUAGES.iter().chain(&MORE) {
        let words: Vec<&str> = text.split([' ', ',', '.']).filter(|word| !word.is_empty()).collect();
        for name in *names {
            let Some(EncodingChoice::Is(encoding)) = EncodingChoice::parse(name) else { panic!("{name}") };
            for count in WORDS {
                for _ in 0..each {
                    let between = BETWEEN[numbers.below(BETWEEN.len())];
                    let from = numbers.below(words.len());
                    let is_list = numbers.below(2) == 0;
                    let mut next = |nth: usize| match is_list {
                        true => words[numbers.below(words.len())],
                        false => words[(from + nth) % words.len()],
                    };
                    let text = (0..count).map(|nth| next(nth).to_owned() + between).collect::<String>();
                    counted.add(encoding, &text);
                }
            }
        }
    }
    counted
}

impl Counted {
    fn add(&mut self, encoding: Encoding, text: &str) {
        let has = |c: &char| encoding.encode(&c.to_string(), &mut Vec::new()).is_ok();
        let text: String = text.chars().filter(has).collect();
        let mut bytes = Vec::new();
        encoding.encode(&text, &mut bytes).unwrap();
        self.all += 1;
        if let Some((found, EncodingSource::Guess)) = likely(&bytes, &bytes).and_then(Likely::encoding) {
            self.sure += 1;
            if found.decode(&bytes).as_ref() != Ok(&text) {
                *self.wrong.entry(format!("{encoding:?} as {found:?}")).or_default() += 1;
                if std::env::var_os("SHOW_WRONG").is_some() {
                    println!("{encoding:?} as {found:?}: {text:?}");
                }
            }
        }
    }
}

#[test]
fn texts_of_few_words_are_hardly_ever_sure_and_wrong() {
    let each = std::env::var("FEW_WORDS").ok().and_then(|each| each.parse().ok()).unwrap_or(6);
    let Counted { all, sure, wrong } = counted(each);
    let number: usize = wrong.values().sum();
    println!("{all} texts, {sure} sure, {number} of these wrong: {wrong:#?}");
    assert!(number * 2_000 <= all, "{number} of {all} are sure and wrong: {wrong:#?}");
}
