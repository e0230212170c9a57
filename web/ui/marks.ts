/** A part of a text, and whether the search has found it. */
export interface Part {
  readonly text: string;
  readonly isHit: boolean;
}

const word = /[\p{L}\p{N}\p{M}]+/gu;

/** Scripts without spaces between words. */
const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]/u;

/** Without case and accents, as the server compares words. */
const fold = (text: string): string => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();

/** Returns the words of a text, as they are compared. */
export const wordsOf = (text: string): readonly string[] => (text.match(word) ?? []).map(fold);

/** Splits a text at the words of a query. The last word of the query may be the start of a word. */
export function marksIn(text: string, query: string): readonly Part[] {
  const wanted = wordsOf(query);
  const last = wanted.at(-1);
  if (last === undefined) return [{ text, isHit: false }];
  const parts: Part[] = [];
  let end = 0;
  const mark = (from: number, to: number) => {
    if (from > end) parts.push({ text: text.slice(end, from), isHit: false });
    parts.push({ text: text.slice(from, to), isHit: true });
    end = to;
  };
  for (const { 0: found, index } of text.matchAll(word)) {
    const folded = fold(found);
    if (wanted.includes(folded) || folded.startsWith(last)) mark(index, index + found.length);
    else if (unspaced.test(folded) && folded.length === found.length) {
      const inside = wanted.find((one) => folded.includes(one));
      if (inside !== undefined) {
        const at = index + folded.indexOf(inside);
        mark(at, at + inside.length);
      }
    }
  }
  if (end < text.length) parts.push({ text: text.slice(end), isHit: false });
  return parts;
}

const maxLength = 240;
/** What is shown before the first hit of a long text. */
const lead = 60;

/** Returns the part of a text around its first hit. */
export function excerptOf(text: string, query: string): readonly Part[] {
  const parts = marksIn(text, query);
  const before = parts[0]?.isHit === false && parts.length > 1 ? (parts[0]?.text.length ?? 0) : 0;
  const start = before > maxLength / 2 ? before - lead : 0;
  const excerpt = text.slice(start, start + maxLength);
  const shown = `${start > 0 ? '…' : ''}${excerpt}${start + maxLength < text.length ? '…' : ''}`;
  return marksIn(shown, query);
}
