/**
 * How text is cut into words for search, the same for both engines and for what is searched and what is sought.
 * Accents, vowel points and invisible marks are dropped; scripts that write no spaces are cut into single
 * characters. The two voicing marks of kana stay: they make other letters.
 */
const marks =
  /(?!\u3099|\u309a)(?=[\p{Script=Inherited}\p{Script=Hebrew}\p{Script=Arabic}])\p{Mn}|[\u00ad\u200e\u200f\u2060\ufeff]/gu;
const unspaced = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}`;
const word = new RegExp(
  String.raw`[${unspaced}]\p{M}*|(?:(?![${unspaced}])[\p{L}\p{N}\p{M}])+|\p{Extended_Pictographic}|\p{Regional_Indicator}{2}`,
  'gu',
);

/** Characters of a word that count: enough for any real one, and far below what an index takes. */
const wordLength = 64;

/** More marks on one letter than any script has. Normalizing sorts them, in time that grows with the square of their number. */
const pile = /(\p{M}{16})\p{M}+/gu;

/** Text made comparable: `Ärger` and `arger` are the same. */
export function fold(text: string): string {
  const bare = text.replace(pile, '$1').normalize('NFKD').replace(marks, '').normalize('NFKC');
  return bare.toLowerCase().replaceAll('ς', 'σ').replaceAll('ß', 'ss');
}

export function words(text: string): string[] {
  return (fold(text).match(word) ?? []).map((w) => (w.length > wordLength ? [...w].slice(0, wordLength).join('') : w));
}
