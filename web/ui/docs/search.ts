import { wordsOf } from '../marks.ts';
import type { Operation } from './api-document.ts';
import { anchorOf, type Guide, guidePath } from './guides.ts';

/** A place that the search can find. */
export interface Entry {
  readonly path: string;
  readonly title: string;
  /** The guide that it is a part of. Undefined for an operation. */
  readonly guide: string | undefined;
  readonly text: string;
}

interface IndexedEntry extends Entry {
  readonly titleWords: readonly string[];
  readonly textWords: ReadonlySet<string>;
}

export type SearchIndex = readonly IndexedEntry[];

const indexed = (entry: Entry): IndexedEntry => ({
  ...entry,
  titleWords: wordsOf(`${entry.title} ${entry.guide ?? ''}`),
  textWords: new Set(wordsOf(entry.text)),
});

/** Returns all operations, and the parts of all guides. */
export const searchIndex = (operations: readonly Operation[], guides: readonly Guide[]): SearchIndex => [
  ...operations.map((operation) =>
    indexed({
      path: `/docs/${operation.name}`,
      title: operation.name,
      guide: undefined,
      text: [plainWords(operation.description), ...Object.keys(operation.input.properties ?? {})].join(' '),
    }),
  ),
  ...guides.flatMap((guide) => sectionsOf(guide).map(indexed)),
];

/** Returns the text without most marks of Markdown. */
const plainWords = (markdown: string): string =>
  markdown
    .replace(/\]\([^)]*\)|^```\w*$/gm, '')
    .replace(/[`*|[\]#]|^[-:| ]+$|<!--.*?-->/gm, '')
    .replace(/\s+/g, ' ')
    .trim();

/** A guide is split at its headings. Lines that look like one may be a comment in code. */
function sectionsOf({ name, title, text }: Guide): readonly Entry[] {
  const sections: { title: string; lines: string[] }[] = [];
  let isCode = false;
  for (const line of text.split('\n')) {
    if (line.startsWith('```')) isCode = !isCode;
    const heading = isCode ? undefined : /^#{1,3} (.*)$/.exec(line)?.[1];
    if (heading !== undefined) sections.push({ title: plainWords(heading), lines: [] });
    else sections.at(-1)?.lines.push(line);
  }
  return sections.map((section, place) => ({
    path: `${guidePath(name)}${place === 0 ? '' : `#${anchorOf(section.title)}`}`,
    title: section.title,
    guide: title,
    text: plainWords(section.lines.join('\n')),
  }));
}

const maxFound = 20;

/** How much it counts that a word is found: in the title as it is, in the title at its start, in the text. */
const weights = { whole: 12, start: 8, text: 2, startInText: 1 } as const;

/** Returns the entries that have all words of a query, or words that begin with them, the best ones first. */
export function find(index: SearchIndex, query: string): readonly Entry[] {
  const wanted = wordsOf(query);
  if (wanted.length === 0) return [];
  return index
    .map((entry) => ({ entry, score: scoreOf(entry, wanted) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, maxFound)
    .map(({ entry }) => entry);
}

function scoreOf({ titleWords, textWords, guide }: IndexedEntry, wanted: readonly string[]): number {
  let score = 0;
  for (const word of wanted) {
    const isStart = (one: string) => one.startsWith(word);
    if (titleWords.includes(word)) score += weights.whole;
    else if (titleWords.some(isStart)) score += weights.start;
    else if (textWords.has(word)) score += weights.text;
    else if ([...textWords].some(isStart)) score += weights.startInText;
    else return 0;
  }
  // Of two that match as well, the operation comes first, and of these the one with the shorter name.
  return score + (guide === undefined ? 0.5 : 0) - titleWords.length / 100;
}
