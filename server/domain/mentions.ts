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
 * Finds URLs and handles. A letter before the `@` makes it an e-mail address, and an `@` after the name makes it an account
 * elsewhere. The name is matched within a look-ahead, so that it is taken as a whole or not at all.
 */
const token = new RegExp(
  String.raw`(?:[a-z][a-z\d+.\-]{0,20}:\/\/|www\.|(?<![@\w.\-])[a-z\d\-]{1,63}\.[a-z\d.\-]{1,100}\/)\S*|(?<!${letter}[_+%\-]{0,64}|@)@(?=([a-z\d][a-z\d._\-]*))\1(?!${letter}|@)`,
  'giv',
);

/** Returns the handles in Markdown text outside of code, URLs and e-mail addresses, or undefined if there are none. */
export function handlesIn(markdown: string): Handles | undefined {
  if (!markdown.includes('@')) return undefined;
  const names = new Map<string, readonly string[]>();
  let all = false;
  for (const [, written] of proseOf(markdown).matchAll(token)) {
    if (written === undefined) continue;
    const handle = written.replace(/[._-]+$/, '').toLowerCase();
    if (handle === 'all') all = true;
    else if (names.size < maxHandles) names.set(handle, shortened(handle));
  }
  return all || names.size > 0 ? { names: [...names.values()], all } : undefined;
}

/** HTML in a message is text, and code within it is code. CommonMark has no tables. */
const options: Bun.markdown.Options = { noHtmlBlocks: true, noHtmlSpans: true, tables: false, tasklists: false };

/** The renderer would turn `\@` and `&#64;` into a plain `@`. */
const literal: Readonly<Record<string, string>> = { '\\@': '\\*', '&': '\\&' };

/** The renderer takes 180 ms for 5,000 of `` \`` ``, because it looks for the end of code after each of them. */
const maxEscapedRuns = 100;

/**
 * Returns the text outside of code. A `*` stands for code, for emphasis, and for each border of a block. HTML of the text
 * itself comes back as entities, so every `<` begins a tag of the renderer. The worst texts of 16 KB take 3 ms.
 */
function proseOf(markdown: string): string {
  let escapedRuns = 0;
  const unescaped = markdown.replaceAll(/\\`{2,}|\\.|&/gs, (part) => {
    if (part.length > 2 && ++escapedRuns > maxEscapedRuns) return '';
    return literal[part] ?? part;
  });
  return Bun.markdown.html(unescaped, options).replaceAll(/<pre>.*?<\/pre>|<code>.*?<\/code>|<[^>]*>/gs, '*');
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
