/** For each Latin letter, the letters and digits that look like it. */
const looksLike: Readonly<Record<string, string>> = {
  a: 'аα@4',
  b: 'вβ8',
  c: 'сϲ¢',
  d: 'ԁ',
  e: 'еэєε3€',
  g: 'ɡ',
  h: 'һнη',
  i: 'іιїıl1|!ӏ',
  j: 'јϳ',
  k: 'кκ',
  m: 'мμ',
  n: 'пи',
  o: 'оοσө0',
  p: 'рρ',
  q: 'ԛ',
  r: 'гя',
  s: 'ѕ5$',
  t: 'тτ7',
  u: 'υ',
  v: 'ѵν',
  w: 'ԝωш',
  x: 'хχ',
  y: 'уγү',
  z: 'ζ',
};

const latin: ReadonlyMap<string, string> = new Map(
  Object.entries(looksLike).flatMap(([letter, others]) => [...others].map((other) => [other, letter] as const)),
);

/** More marks on one letter than any script has. Normalizing sorts them in quadratic time. */
const excessMarks = /(\p{M}{16})\p{M}+/gu;
const marks = /\p{Mn}/gu;
const separators = /[\s\p{P}\p{C}\p{Sk}]/gu;

/**
 * Returns what the eye sees of a name: names with the same skeleton look alike. It ignores case, accents, spaces and
 * punctuation, and takes letters of other scripts and digits for the Latin letters that they look like.
 */
export function skeleton(name: string): string {
  const letters = name.replace(excessMarks, '$1').normalize('NFKD').replace(marks, '').toLowerCase();
  const seen = [...letters].map((letter) => latin.get(letter) ?? letter).join('');
  return seen.replace(separators, '').replaceAll('rn', 'm').replaceAll('vv', 'w');
}
