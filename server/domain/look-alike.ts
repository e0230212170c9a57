/**
 * For each Latin letter, what looks like it: letters of Latin, Greek, Cyrillic, Armenian, Coptic, Cherokee, Lisu and Canadian
 * syllabics as in Unicode's table of confusables (UTS 39), small capitals, digits and symbols. Capitals have lines of their
 * own, because a capital may look like another letter: Ν is N, and ν is v. `l` looks like `i`. The lunate sigmas, which look like
 * c, are ς and Σ after normalization.
 */
const looksLike: Readonly<Record<string, string>> = {
  a: 'ɑαаᴀ@4' + 'ΑАᎪꓮᗅ',
  b: 'ьвβɓƃƀҍѣʙᏏᖯ8' + 'ƄЬΒВᏴꓐƂБҌѢꞴᗷ',
  c: 'ᴄсςⲥȼҫ¢' + 'СΣⲤᏟꓚҪ',
  d: 'ԁɗɖƌđðᴅᏧᑯ' + 'ᎠꓓꓒĐÐƉᗞᗪ',
  e: 'еэєεҽҿꬲɇᴇ3€' + 'ΕЕЭЄᎬꓰɆ',
  f: 'ꬵꞙẝքƒꜰᵮ' + 'ꞘϜꓝƑᖴ',
  g: 'ɡᶃƍցɠǥɢ' + 'ԌᏀᏳꓖǤ',
  h: 'һհнɦꚕħћʜᏂ' + 'ΗНⲎᎻꓧᏲⱧҢĦӉӇᕼ',
  i: 'іιїıɪɩꙇӏꭵɨᵻᵼǀłɭƚɫʟl1|!' + 'ΙІЇⲒӀꓲᎥƖƗⳐᏞꓡŁᒪ',
  j: 'јϳɉᴊ' + 'ЈͿꞲᎫꓙɈᒍ',
  k: 'кκƙᴋ' + 'КΚⲔᏦꓗⱩҚꝀҞ',
  m: 'мᴍ' + 'МΜϺⲘᎷꓟӍᗰ',
  n: 'пиηոռɳƞɴᵰ' + 'ΝⲚꓠƝᏁՈ',
  o: 'оοσөøᴏᴑꬽⲟօꬾɵꝋѳθ0' + 'ОΟⲞՕꓳØӨꝊƟѲΘᎾᏫ',
  p: 'рρⲣƥᵽᴘ' + 'РΡⲢᏢꓑᑭ',
  q: 'ԛգզʠ' + 'Ԛ',
  r: 'гяꭇꭈᴦⲅʀɽɼɍғᵲ' + 'ЯƦᎡᏒꓣᖇ',
  s: 'ѕꜱƽʂᵴ5$' + 'ЅՏᏕᏚꓢ',
  t: 'тτƭŧᵵᴛ7' + 'ТΤⲦᎢꓔȾƮҬŦ',
  u: 'υμսʋꞟᴜꭎꭒᵾ' + 'ՍꓴɄᏌᑌ',
  v: 'νѵᴠ' + 'ѴᏙꓦᐯ',
  w: 'ѡԝωшաɯᴡѽꝡ' + 'ԜᎳᏔꓪШ',
  x: 'хχ×' + 'ХΧⲬꞳꓫҲ᙭',
  y: 'уγүɣᶌʏỿꭚƴɏұ' + 'УΥⲨҮᎩᎽꓬɎҰ',
  z: 'ζᴢʐƶȥᵶ' + 'ΖᏃꓜƵȤ',
};

/** Where A to Z begin in the circles and squares that normalization leaves. */
const enclosed = [0x1f150, 0x1f170] as const;

const alphabet = [...'abcdefghijklmnopqrstuvwxyz'];
const asSeen = (letter: string) => (letter === 'l' ? 'i' : letter);

const latin: ReadonlyMap<string, string> = new Map([
  ...Object.entries(looksLike).flatMap(([letter, others]) => [...others].map((other) => [other, letter] as const)),
  ...enclosed.flatMap((start) =>
    alphabet.map((letter, i) => [String.fromCodePoint(start + i), asSeen(letter)] as const),
  ),
]);

/** More marks on one letter than any script has. Normalizing sorts them in quadratic time. */
const excessMarks = /(\p{M}{16})\p{M}+/gu;
const marks = /[\p{Mn}\p{Me}]/gu;
/** Spaces, punctuation, symbols, emoji and invisible characters. */
const separators = /[\s\p{P}\p{C}\p{S}]/gu;

/** Returns the Latin letter that a character looks like. The small letters of some scripts look like their capitals. */
function seen(character: string): string {
  const letter = character.toLowerCase();
  return latin.get(character) ?? latin.get(letter) ?? latin.get(character.toUpperCase()) ?? letter;
}

/**
 * Returns what the eye sees of a name: names with the same skeleton look alike. It ignores case, accents, spaces,
 * punctuation, symbols and emoji, and takes letters of other scripts and digits for the Latin letters that they look like.
 */
export function skeleton(name: string): string {
  const letters = name.replace(excessMarks, '$1').normalize('NFKD').replace(marks, '');
  return [...letters].map(seen).join('').replace(separators, '').replaceAll('rn', 'm').replaceAll('vv', 'w');
}

/** Returns the skeletons of a name: as it is, and in small letters, which may look like others than their capitals. */
export function skeletons(name: string): readonly string[] {
  const all = new Set([skeleton(name), skeleton(name.toLowerCase())]);
  all.delete('');
  return [...all];
}
