/**
 * How text is cut into words for search, the same for both engines and for what is searched and what is sought.
 * Accents and vowel points are dropped; scripts that write no spaces are cut into single characters.
 */
const marks = /[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670]/g;
const unspaced = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}`;
const word = new RegExp(
  String.raw`[${unspaced}]\p{M}*|(?:(?![${unspaced}])[\p{L}\p{N}\p{M}_])+|\p{Extended_Pictographic}`,
  'gu',
);

/** Characters of a word that count: enough for any real one, and far below what an index takes. */
const wordLength = 64;

/** Text made comparable: `Ärger` and `arger` are the same. */
export function fold(text: string): string {
  return text.normalize('NFKD').replace(marks, '').normalize('NFKC').toLowerCase();
}

export function words(text: string): string[] {
  return (fold(text).match(word) ?? []).map((w) => (w.length > wordLength ? [...w].slice(0, wordLength).join('') : w));
}
