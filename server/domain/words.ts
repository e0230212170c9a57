/**
 * Splits text into words, for both engines, for messages and for queries. Drops accents, vowel points and invisible marks.
 * Splits scripts without spaces into single characters. Keeps the two voicing marks of kana, which make other letters.
 */
const marks =
  /(?!\u3099|\u309a)(?=[\p{Script=Inherited}\p{Script=Hebrew}\p{Script=Arabic}])\p{Mn}|[\u00ad\u200e\u200f\u2060\ufeff]/gu;
const unspaced = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}`;
const word = new RegExp(
  String.raw`[${unspaced}]\p{M}*|(?:(?![${unspaced}])[\p{L}\p{N}\p{M}])+|\p{Extended_Pictographic}|\p{Regional_Indicator}{2}`,
  'gu',
);

/** Longer words are truncated. Enough for any real word, and far below the limits of an index. */
const maxWordLength = 64;

/** More marks on one letter than any script has. Normalizing sorts them in quadratic time. */
const excessMarks = /(\p{M}{16})\p{M}+/gu;

/** Normalizes text for comparison: `Ärger` equals `arger`. */
export function fold(text: string): string {
  const bare = text.replace(excessMarks, '$1').normalize('NFKD').replace(marks, '').normalize('NFKC');
  return bare.toLowerCase().replaceAll('ς', 'σ').replaceAll('ß', 'ss');
}

const isAscii = /^[\0-\x7f]*$/;
const asciiWord = /[a-z\d]+/g;

export function words(text: string): string[] {
  const found = isAscii.test(text) ? text.toLowerCase().match(asciiWord) : fold(text).match(word);
  return (found ?? []).map((w) => (w.length > maxWordLength ? [...w].slice(0, maxWordLength).join('') : w));
}
