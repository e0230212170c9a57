import type { Message } from '@parley/contract';

/** Whom a message mentions. Each field is there only if it says something. A message never mentions its author. */
export type Mentions = Pick<Message, 'mentions' | 'mentions_all'>;

/** The words that a text addresses with `@`. */
export interface Handles {
  /** For each `@`, the names that may be meant, the longest first, in lower case. */
  readonly names: readonly (readonly string[])[];
  /** Whether `@all` is among them. */
  readonly all: boolean;
}

/** People that one message may mention. Later ones are plain text. */
const maxHandles = 50;

/** `@ada.and.so.on` may mean `ada`: so many words are left off at its end, one after the other. */
const maxShortenings = 4;

const maxNameLength = 40;

/** Letters of scripts with spaces between words: another letter beside them belongs to the same word. */
const letter = String.raw`[[\p{L}\p{N}]--[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]]`;

/**
 * Finds URLs, escaped characters and handles. A letter before the `@` makes it an e-mail address, and an `@` after the name
 * makes it an account elsewhere. The name is matched within a look-ahead, so that it is taken as a whole or not at all.
 */
const token = new RegExp(
  String.raw`(?:[a-z][a-z\d+.\-]{0,20}:\/\/|www\.|(?<![@\w.\-])[a-z\d\-]{1,63}\.[a-z\d.\-]{1,100}\/)\S*|\\[!-\/:-@\[-\x60\{-~]|(?<!${letter}[_+%\-]{0,64}|@)@(?=([a-z\d][a-z\d._\-]*))\1(?!${letter}|@)`,
  'giv',
);

const fence = /^(?:[ \t]*>)*[ \t]*(`{3,}(?=[^`]*$)|~{3,})/;

/** Returns the handles in Markdown text outside of code, URLs and e-mail addresses, or undefined if there are none. */
export function handlesIn(markdown: string): Handles | undefined {
  if (!markdown.includes('@')) return undefined;
  const names = new Map<string, readonly string[]>();
  let all = false;
  for (const paragraph of paragraphsOf(markdown)) {
    for (const [, written] of withoutCodeSpans(paragraph).matchAll(token)) {
      if (written === undefined) continue;
      const handle = written.replace(/[._-]+$/, '').toLowerCase();
      if (handle === 'all') all = true;
      else if (names.size < maxHandles) names.set(handle, shortened(handle));
    }
  }
  return all || names.size > 0 ? { names: [...names.values()], all } : undefined;
}

/** Returns the paragraphs that are not fenced code. A code span ends with its paragraph. */
function paragraphsOf(markdown: string): string[] {
  const paragraphs: string[] = [];
  let lines: string[] = [];
  let open: string | undefined;
  const end = () => {
    if (lines.length > 0) paragraphs.push(lines.join('\n'));
    lines = [];
  };
  for (const line of markdown.split(/\r\n?|\n/)) {
    const mark = fence.exec(line)?.[1];
    if (open !== undefined) {
      // Only a fence of the same kind ends the code: at least as long, and with nothing after it.
      if (mark?.startsWith(open) && line.trimEnd().endsWith(mark)) open = undefined;
    } else if (mark !== undefined) {
      end();
      open = mark;
    } else if (line.trim() === '') end();
    else lines.push(line);
  }
  end();
  return paragraphs;
}

/** Replaces each code span by a space. A span ends with as many backticks as it begins with. */
function withoutCodeSpans(text: string): string {
  const runs = [...text.matchAll(/(?<!\\)`+/g)].map(({ index, 0: { length } }) => ({ index, length }));
  const unclosed = new Set<number>();
  let rest = '';
  let from = 0;
  for (let i = 0; i < runs.length; i++) {
    const run = runs[i] as (typeof runs)[number];
    if (unclosed.has(run.length)) continue;
    let closing = i + 1;
    while (closing < runs.length && runs[closing]?.length !== run.length) closing++;
    if (closing === runs.length) {
      unclosed.add(run.length);
      continue;
    }
    rest += `${text.slice(from, run.index)} `;
    from = (runs[closing]?.index ?? 0) + run.length;
    i = closing;
  }
  return rest + text.slice(from);
}

/** Returns the handle and its beginnings that end before a `.`, `-` or `_`, as far as they can be names. */
function shortened(handle: string): readonly string[] {
  const names: string[] = [];
  let name = handle;
  for (let n = 0; name !== '' && n <= maxShortenings; n++) {
    if (name.length <= maxNameLength && name !== 'all') names.push(name);
    const cut = Math.max(name.lastIndexOf('.'), name.lastIndexOf('-'), name.lastIndexOf('_'));
    name = name.slice(0, Math.max(0, cut)).replace(/[._-]+$/, '');
  }
  return names;
}
