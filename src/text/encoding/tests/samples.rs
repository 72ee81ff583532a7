//! The likely encoding of 2,000 samples of text in many languages, each of at least 400 bytes.

use super::*;

/// A language: its encodings, and sentences.
pub(super) const LANGUAGES: [(&[&str], &str); 22] = [
    (
        &["windows-1251", "koi8-r", "ibm866", "iso-8859-5"],
        "Утром мы вышли из дома и направились к реке, где уже собрались рыбаки. Погода стояла тихая, только над лесом \
        медленно плыли облака. Старый лодочник сказал, что вода поднялась за ночь почти на полметра. Дети бегали по \
        берегу и собирали гладкие камни. К обеду стало жарко, и все спрятались в тени высоких деревьев. Учитель \
        рассказывал о том, как раньше жили в этих деревнях люди. Никто не заметил, когда подошёл последний автобус. \
        Вечером хозяйка поставила на стол чай, варенье и свежий хлеб. Программа сохраняет изменения в файле и выводит \
        сообщение об ошибке, если доступ запрещён.",
    ),
    (
        &["windows-1251", "koi8-u"],
        "Вранці ми вийшли з дому і рушили до річки, де вже зібралися рибалки. Погода була тиха, лише над лісом повільно \
        пливли хмари. Старий човняр сказав, що вода піднялася за ніч майже на пів метра. Діти бігали берегом і збирали \
        гладенькі камінці. Увечері господиня поставила на стіл чай, варення і свіжий хліб. Її онука щойно повернулася з \
        Києва й розповідала про їхнє нове життя. Ґанок скрипів під ногами гостей, які приїхали здалеку.",
    ),
    (
        &["windows-1252"],
        "Früh am Morgen verließen wir das Haus und gingen zum Fluss hinunter, wo schon die Fischer standen. Der Himmel war \
        grau, und über den Wäldern hing noch der Nebel. Die Kinder spielten am Ufer und suchten schöne Steine für ihre \
        Sammlung. Später erzählte der alte Lehrer, wie man früher in den Dörfern lebte. Gegen Mittag wurde es heiß, und \
        alle setzten sich in den Schatten der großen Bäume. Natürlich müssen die Änderungen geprüft und anschließend \
        bestätigt werden. Wir würden uns freuen, wenn Sie uns möglichst bald zurückrufen könnten.",
    ),
    (
        &["windows-1252"],
        "Très tôt le matin, nous sommes sortis de la maison pour aller jusqu'à la rivière où les pêcheurs étaient déjà \
        installés. Le ciel était gris et la forêt disparaissait derrière la brume légère. Les élèves ramassaient des \
        pierres près de l'eau pendant que le maître leur racontait l'histoire du village. À midi, la chaleur était \
        devenue trop forte et chacun cherchait l'ombre des chênes. La dernière voiture est arrivée après la fête, \
        mais personne ne l'a remarquée. Où êtes-vous allés cet été, et qu'avez-vous préféré là-bas ?",
    ),
    (
        &["windows-1252"],
        "Por la mañana salimos de casa y caminamos hasta el río, donde ya esperaban los pescadores. El cielo estaba gris y \
        la montaña se perdía entre las nubes. Los niños jugaban en la orilla y buscaban piedras pequeñas. Después, la señora \
        nos contó cómo vivían aquí los campesinos hace más de cien años. ¿Quién habría pensado que el último autobús no \
        llegaría jamás? Según el informe, la población creció rápidamente durante el último siglo. También mañana será un \
        día de mucho calor en toda la región.",
    ),
    (
        &["windows-1252"],
        "Não sabemos ainda quando começará a reunião, mas os participantes já estão à espera no salão. A situação da \
        população não melhorou nos últimos anos, apesar das promessas. As crianças brincavam à beira do rio e apanhavam \
        pedras. Amanhã haverá uma exposição sobre a história da região, com fotografias e documentos. É possível que a \
        solução não seja tão difícil como parece. Depois do almoço, o avô contou histórias da sua juventude no sertão.",
    ),
    (
        &["windows-1252"],
        "Tidigt på morgonen gick vi ut ur huset och ner till sjön, där fiskarna redan väntade på båtarna. Himlen var grå \
        och över skogen låg en tät dimma. Barnen sprang längs stranden och samlade små stenar åt sin mormor. Läraren \
        berättade hur människor förr levde på öarna i skärgården. På kvällen åt vi bröd, ost och färska bär. Många \
        tycker att vintern är för lång, men våren kommer också i år.",
    ),
    (
        &["windows-1252"],
        "Aikaisin aamulla lähdimme kotoa ja kävelimme järven rannalle, missä kalastajat jo odottivat. Sää oli tyyni, ja \
        metsän yllä leijui vielä sumua. Lapset juoksivat pitkin rantaa ja keräsivät sileitä kiviä. Vanha opettaja kertoi, \
        miten näissä kylissä ennen elettiin. Päivällä tuli kuuma, ja kaikki siirtyivät suurten puiden varjoon. Illalla \
        emäntä toi pöytään leipää, hilloa ja tuoretta maitoa. Tänään täytyy vielä käydä kaupassa ennen kuin se sulkeutuu.",
    ),
    (
        &["windows-1250", "iso-8859-2"],
        "Wczesnym rankiem wyszliśmy z domu i poszliśmy nad rzekę, gdzie czekali już rybacy. Niebo było szare, a nad lasem \
        wisiała gęsta mgła. Dzieci biegały po brzegu i zbierały gładkie kamienie dla swojej babci. Później nauczyciel \
        opowiadał, jak dawniej żyło się w tych wsiach. W południe zrobiło się gorąco i wszyscy schowali się w cieniu \
        wysokich drzew. Wieczorem gospodyni postawiła na stole chleb, miód i świeże mleko. Każdy z nas chciałby jeszcze \
        raz zobaczyć tę piękną okolicę. Gdyby ktoś pytał, proszę powiedzieć, że wrócę później.",
    ),
    (
        &["windows-1250", "iso-8859-2"],
        "Brzy ráno jsme vyšli z domu a zamířili k řece, kde už čekali rybáři. Obloha byla šedá a nad lesem se ještě držela \
        mlha. Děti běhaly po břehu a sbíraly hladké kameny pro svou babičku. Později učitel vyprávěl, jak se dříve žilo v \
        těchto vesnicích. V poledne bylo horko a všichni se schovali do stínu vysokých stromů. Večer hospodyně přinesla na \
        stůl chléb, med a čerstvé mléko. Příští týden přijede první skupina žáků ze sousedního města. Můžeme začít až \
        tehdy, když budou všechny údaje ověřené.",
    ),
    (
        &["windows-1250", "iso-8859-2"],
        "Kora reggel elindultunk otthonról a folyó felé, ahol már vártak a halászok. Az ég szürke volt, és az erdő fölött \
        még ott lebegett a köd. A gyerekek a parton szaladgáltak, és sima köveket gyűjtöttek a nagymamának. Később a tanító \
        elmesélte, hogyan éltek régen ezekben a falvakban. Délben meleg lett, ezért mindenki a fák árnyékába húzódott. \
        Este a háziasszony kenyeret, mézet és friss tejet tett az asztalra. Őszintén szólva, nem tudjuk, mikor érkezik meg \
        az utolsó vonat. Küldje el a bővebb tájékoztatót, és később visszahívjuk önöket.",
    ),
    (
        &["windows-1253", "iso-8859-7"],
        "Νωρίς το πρωί βγήκαμε από το σπίτι και πήγαμε προς το ποτάμι, όπου περίμεναν ήδη οι ψαράδες. Ο ουρανός ήταν γκρίζος \
        και πάνω από το δάσος υπήρχε ομίχλη. Τα παιδιά έτρεχαν στην όχθη και μάζευαν λείες πέτρες. Αργότερα ο δάσκαλος μας \
        μίλησε για τη ζωή στα χωριά. Το μεσημέρι έκανε πολλή ζέστη και όλοι κάθισαν στη σκιά των δέντρων. Το βράδυ η \
        νοικοκυρά έφερε στο τραπέζι ψωμί, μέλι και φρέσκο γάλα. Κανείς δεν κατάλαβε πότε έφυγε το τελευταίο λεωφορείο.",
    ),
    (
        &["windows-1254"],
        "Sabah erkenden evden çıktık ve balıkçıların çoktan beklediği ırmağa doğru yürüdük. Gökyüzü griydi, ormanın \
        üzerinde hâlâ sis vardı. Çocuklar kıyıda koşuyor, büyükanneleri için düz taşlar topluyordu. Daha sonra öğretmen \
        eskiden bu köylerde nasıl yaşandığını anlattı. Öğleye doğru hava ısındı ve herkes ağaçların gölgesine çekildi. \
        Akşam ev sahibi masaya ekmek, bal ve taze süt koydu. Şimdi yapılması gereken işlerin başında değişikliklerin \
        doğrulanması geliyor. Kimse son otobüsün ne zaman geldiğini görmemişti.",
    ),
    (
        &["windows-1255"],
        "מוקדם בבוקר יצאנו מהבית והלכנו אל הנהר, שם כבר חיכו הדייגים. השמיים היו אפורים ומעל היער עמד ערפל כבד. הילדים רצו \
        לאורך הגדה ואספו אבנים חלקות עבור סבתא שלהם. אחר כך סיפר המורה איך חיו פעם בכפרים האלה. בצהריים נעשה חם מאוד וכולם \
        ישבו בצל העצים הגבוהים. בערב הגישה בעלת הבית לחם, דבש וחלב טרי. איש לא שם לב מתי הגיע האוטובוס האחרון. נשמח אם \
        תוכלו להתקשר אלינו מחר לפני הצהריים.",
    ),
    (
        &["windows-1256", "iso-8859-6"],
        "خرجنا من البيت في الصباح الباكر وذهبنا إلى النهر حيث كان الصيادون ينتظرون. كانت السماء رمادية وكان الضباب فوق \
        الغابة. كان الأطفال يركضون على الشاطئ ويجمعون الحجارة لجدتهم. بعد ذلك حكى لنا المعلم كيف كان الناس يعيشون في هذه \
        القرى. عند الظهر أصبح الجو حارا وجلس الجميع في ظل الأشجار. في المساء وضعت صاحبة البيت على المائدة الخبز والعسل \
        والحليب. لم يلاحظ أحد متى وصلت الحافلة الأخيرة. نرجو منكم الاتصال بنا غدا قبل الظهر.",
    ),
    (
        &["windows-874"],
        "เช้าตรู่วันนี้เราออกจากบ้านและเดินไปที่แม่น้ำ ซึ่งชาวประมงรออยู่แล้ว ท้องฟ้าเป็นสีเทาและมีหมอกปกคลุมเหนือป่า เด็กๆ \
        วิ่งเล่นริมฝั่งและเก็บก้อนหินให้คุณยาย ต่อมาครูเล่าให้ฟังว่าแต่ก่อนผู้คนในหมู่บ้านเหล่านี้ใช้ชีวิตอย่างไร ตอนเที่ยงอากาศร้อนมาก \
        ทุกคนจึงไปนั่งใต้ร่มไม้ ตอนเย็นเจ้าของบ้านนำขนมปัง น้ำผึ้ง และนมสดมาวางบนโต๊ะ ไม่มีใครสังเกตว่ารถคันสุดท้ายมาถึงเมื่อไร \
        กรุณาโทรกลับหาเราในวันพรุ่งนี้ก่อนเที่ยง",
    ),
    (
        &["shift_jis", "euc-jp", "iso-2022-jp"],
        "朝早く家を出て、漁師たちがもう待っている川まで歩いた。空は灰色で、森の上にはまだ霧がかかっていた。子どもたちは岸を走りまわり、\
        おばあさんのために丸い石を集めていた。そのあと先生が、昔この村の人々がどのように暮らしていたかを話してくれた。昼になると暑くなり、\
        みんな大きな木の陰に座った。夕方、女主人がパンと蜂蜜と新しい牛乳を食卓に並べた。最後のバスがいつ着いたのか、だれも気づかなかった。\
        プログラムはファイルを保存し、エラーがあれば表示する。明日の午前中にもう一度お電話ください。",
    ),
    (
        &["gbk", "gb18030"],
        "清晨我们走出家门，朝河边走去，渔夫们已经在那里等着了。天空灰蒙蒙的，森林上空还笼罩着薄雾。孩子们在岸边跑来跑去，为奶奶收集光滑的石头。\
        后来老师告诉我们，从前这些村子里的人是怎样生活的。中午天气热了起来，大家都坐到大树的阴影里。傍晚，女主人把面包、蜂蜜和新鲜的牛奶放到桌上。\
        谁也没有注意到最后一班车是什么时候到的。程序保存文件，如果没有权限就显示错误信息。请您明天上午再给我们打电话。",
    ),
    (
        &["big5"],
        "清晨我們走出家門，朝河邊走去，漁夫們已經在那裡等著了。天空灰濛濛的，森林上空還籠罩著薄霧。孩子們在岸邊跑來跑去，為奶奶收集光滑的石頭。\
        後來老師告訴我們，從前這些村子裡的人是怎樣生活的。中午天氣熱了起來，大家都坐到大樹的陰影裡。傍晚，女主人把麵包、蜂蜜和新鮮的牛奶放到桌上。\
        誰也沒有注意到最後一班車是什麼時候到的。程式儲存檔案，如果沒有權限就顯示錯誤訊息。請您明天上午再給我們打電話。",
    ),
    (
        &["euc-kr"],
        "이른 아침 우리는 집을 나서서 어부들이 이미 기다리고 있는 강으로 걸어갔다. 하늘은 잿빛이었고 숲 위에는 아직 안개가 끼어 있었다. \
        아이들은 강가를 뛰어다니며 할머니를 위해 매끄러운 돌을 모았다. 나중에 선생님은 옛날 이 마을 사람들이 어떻게 살았는지 이야기해 주었다. \
        한낮이 되자 날이 더워져서 모두 큰 나무 그늘에 앉았다. 저녁에 주인은 빵과 꿀과 신선한 우유를 식탁에 차렸다. 마지막 버스가 언제 왔는지 \
        아무도 알아차리지 못했다. 프로그램은 파일을 저장하고 오류가 있으면 알려 준다. 내일 오전에 다시 전화해 주십시오.",
    ),
    (
        &["windows-1257", "iso-8859-13"],
        "Anksti rytą išėjome iš namų ir patraukėme prie upės, kur jau laukė žvejai. Dangus buvo pilkas, o virš miško dar \
        tvyrojo rūkas. Vaikai bėgiojo pakrante ir rinko lygius akmenis savo močiutei. Vėliau mokytojas pasakojo, kaip \
        anksčiau buvo gyvenama šiuose kaimuose. Vidurdienį pasidarė karšta, ir visi susėdo aukštų medžių pavėsyje. Vakare \
        šeimininkė padėjo ant stalo duonos, medaus ir šviežio pieno. Niekas nepastebėjo, kada atvažiavo paskutinis \
        autobusas. Prašome paskambinti mums rytoj prieš pietus.",
    ),
    (
        &["utf-8"],
        "Früh am Morgen — утром, 朝早く — gingen wir zum Fluss. Ο ουρανός ήταν γκρίζος. Děti běhaly po břehu. 아이들은 강가를 \
        뛰어다녔다. Никто не заметил, когда подошёл последний автобус. Wir würden uns freuen, wenn Sie zurückrufen könnten.",
    ),
];

/// Bytes of a sample.
const LEAST: usize = 400;

/// Random numbers, the same each time.
pub(super) struct Numbers(pub(super) u64);

impl Numbers {
    pub(super) fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }
}

/// Sentences in any order, from any character of the first on, so many that they are enough in the encoding.
fn sample(numbers: &mut Numbers, text: &str, encoding: Encoding) -> (String, Vec<u8>) {
    let sentences: Vec<&str> = text.split_inclusive(['.', '。', '?']).collect();
    let (mut out, mut bytes) = (String::new(), Vec::new());
    let from = numbers.below(12);
    while bytes.len() < LEAST {
        let sentence = sentences[numbers.below(sentences.len())];
        out.extend(sentence.chars().skip(if out.is_empty() { from } else { 0 }));
        if numbers.below(4) == 0 {
            out.push_str("\r\n");
        }
        bytes.clear();
        // What an old encoding lacks is written without it.
        let has = |c: &char| encoding.encode(&c.to_string(), &mut Vec::new()).is_ok();
        out.retain(|c| has(&c));
        encoding.encode(&out, &mut bytes).unwrap();
    }
    (out, bytes)
}

#[test]
fn the_likely_encoding_of_samples_of_400_bytes_is_right_or_said_to_be_unsure() {
    const SAMPLES: usize = 2_000;
    let (mut right, mut sure_and_wrong, mut unsure) = (0, Vec::new(), 0);
    let mut numbers = Numbers(7);
    let pairs: Vec<(&str, &str)> = LANGUAGES
        .iter()
        .flat_map(|(encodings, text)| encodings.iter().map(|encoding| (*encoding, *text)))
        .collect();
    let mut wrong = std::collections::BTreeMap::new();
    for number in 0..SAMPLES {
        let (name, text) = pairs[number % pairs.len()];
        let Some(EncodingChoice::Is(encoding)) = EncodingChoice::parse(name) else { panic!("{name}") };
        let (text, bytes) = sample(&mut numbers, text, encoding);
        let found = EncodingChoice::Auto.of_text(&bytes, || Ok::<_, ()>(())).unwrap();
        let is_right = found.as_ref().is_ok_and(|found| found.encoding.decode(&bytes).as_ref() == Ok(&text));
        let is_unsure = found.as_ref().is_ok_and(|found| found.source == EncodingSource::WeakGuess);
        right += usize::from(is_right);
        unsure += usize::from(is_unsure);
        if !is_right {
            *wrong
                .entry(format!("{name} {:?}", found.map(|found| (found.encoding, found.source))))
                .or_insert(0) += 1;
            if !is_unsure {
                sure_and_wrong.push(name);
            }
        }
    }
    assert!(right * 100 >= SAMPLES * 97, "{right} right: {wrong:#?}");
    assert!(sure_and_wrong.len() * 100 <= SAMPLES, "{unsure} unsure, {sure_and_wrong:?}");
}
