// The Unicode classes of RE2 in proxies: general categories, scripts of Unicode 13, and `Any`. Proxies since 2021 know
// these. Our RE2 also knows newer scripts and properties such as `Alphabetic`, which proxies refuse.

const CATEGORIES = `C Cc Cf Co Cs L Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z Zl Zp Zs`;

const SCRIPTS = `
  Adlam Ahom Anatolian_Hieroglyphs Arabic Armenian Avestan Balinese Bamum Bassa_Vah Batak Bengali Bhaiksuki Bopomofo
  Brahmi Braille Buginese Buhid Canadian_Aboriginal Carian Caucasian_Albanian Chakma Cham Cherokee Chorasmian Common
  Coptic Cuneiform Cypriot Cyrillic Deseret Devanagari Dives_Akuru Dogra Duployan Egyptian_Hieroglyphs Elbasan Elymaic
  Ethiopic Georgian Glagolitic Gothic Grantha Greek Gujarati Gunjala_Gondi Gurmukhi Han Hangul Hanifi_Rohingya Hanunoo
  Hatran Hebrew Hiragana Imperial_Aramaic Inherited Inscriptional_Pahlavi Inscriptional_Parthian Javanese Kaithi Kannada
  Katakana Kayah_Li Kharoshthi Khitan_Small_Script Khmer Khojki Khudawadi Lao Latin Lepcha Limbu Linear_A Linear_B Lisu
  Lycian Lydian Mahajani Makasar Malayalam Mandaic Manichaean Marchen Masaram_Gondi Medefaidrin Meetei_Mayek
  Mende_Kikakui Meroitic_Cursive Meroitic_Hieroglyphs Miao Modi Mongolian Mro Multani Myanmar Nabataean Nandinagari
  New_Tai_Lue Newa Nko Nushu Nyiakeng_Puachue_Hmong Ogham Ol_Chiki Old_Hungarian Old_Italic Old_North_Arabian Old_Permic
  Old_Persian Old_Sogdian Old_South_Arabian Old_Turkic Oriya Osage Osmanya Pahawh_Hmong Palmyrene Pau_Cin_Hau Phags_Pa
  Phoenician Psalter_Pahlavi Rejang Runic Samaritan Saurashtra Sharada Shavian Siddham SignWriting Sinhala Sogdian
  Sora_Sompeng Soyombo Sundanese Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham Tai_Viet Takri Tamil Tangut Telugu
  Thaana Thai Tibetan Tifinagh Tirhuta Ugaritic Vai Wancho Warang_Citi Yezidi Yi Zanabazar_Square`;

/** The names that every proxy knows. */
export const CLASSES: ReadonlySet<string> = new Set(['Any', ...`${CATEGORIES}${SCRIPTS}`.split(/\s+/)]);

/** What comes close to a property, and to everything else. */
const INSTEAD: Readonly<Record<string, readonly [string, string]>> = {
  ASCII_Hex_Digit: ['[[:xdigit:]]', '[[:^xdigit:]]'],
  Alphabetic: ['\\p{L}', '\\P{L}'],
  Ascii: ['[[:ascii:]]', '[[:^ascii:]]'],
  Dash: ['\\p{Pd}', '\\P{Pd}'],
  Emoji: ['\\p{So}', '\\P{So}'],
  Hex_Digit: ['[[:xdigit:]]', '[[:^xdigit:]]'],
  LC: ['\\p{L}', '\\P{L}'],
  Lc: ['\\p{L}', '\\P{L}'],
  Lowercase: ['\\p{Ll}', '\\P{Ll}'],
  Math: ['\\p{Sm}', '\\P{Sm}'],
  Quotation_Mark: ['\\p{P}', '\\P{P}'],
  Terminal_Punctuation: ['\\p{P}', '\\P{P}'],
  Uppercase: ['\\p{Lu}', '\\P{Lu}'],
  White_Space: ['\\s', '\\S'],
};

/** What to write instead of a Unicode class, such as `\p{Name}` or `\P{^Name}`; undefined if every proxy knows it. */
export function insteadOfClass(name: string, written: string): string | undefined {
  if (CLASSES.has(name)) return undefined;
  const isNegated = written.startsWith('\\P') !== written.includes('^');
  return (
    INSTEAD[name]?.[isNegated ? 1 : 0] ?? 'a general category or a script of Unicode 13, such as \\p{L} or \\p{Greek}'
  );
}
