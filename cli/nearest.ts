/** How much of two words must be alike before one is taken for the other. */
const alike = 0.5;

/** The word that was probably meant, where one is near. */
export function nearest<W extends string>(typed: string, known: readonly W[]): W | undefined {
  const scored = known.map((word) => ({ word, score: likeness(typed.toLowerCase(), word) }));
  const best = scored.reduce((a, b) => (b.score > a.score ? b : a));
  return best.score >= alike ? best.word : undefined;
}

/** From 0 to 1: the pairs of neighbouring letters that two words share. A missing ending costs little, as it should. */
function likeness(one: string, other: string): number {
  const [a, b] = [pairs(one), pairs(other)];
  return (2 * a.intersection(b).size) / (a.size + b.size || 1);
}

const pairs = (word: string) => new Set(Array.from({ length: word.length - 1 }, (_, i) => word.slice(i, i + 2)));
