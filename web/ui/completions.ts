import type { Participant } from '@parley-chat/sdk';
import { text } from '../text/text.ts';
import type { Emoji } from './emoji-names.ts';

/** A word before the caret that can be completed. */
export interface Query {
  readonly kind: 'mention' | 'emoji';
  /** What was typed after the mark. */
  readonly word: string;
  /** Where the mark is in the text. */
  readonly from: number;
}

/** Something that completes a word. */
export interface Offer {
  readonly key: string;
  /** What the text gets. */
  readonly insert: string;
  readonly label: string;
  readonly note: string;
  readonly userId?: number;
  readonly emoji?: string;
}

const maxOffers = 8;
const mention = /(?:^|[\s([{"'])@([\p{L}\p{N}._-]{0,40})$/u;
const emoji = /(?:^|[\s(])(?::)([a-z\d_+-]{2,30})$/i;

/** Returns the word before the caret, or undefined if it is not one to complete. */
export function queryAt(written: string, caret: number): Query | undefined {
  const before = written.slice(Math.max(0, caret - 50), caret);
  for (const [kind, pattern] of [['mention', mention] as const, ['emoji', emoji] as const]) {
    const word = pattern.exec(before)?.[1];
    if (word !== undefined) return { kind, word: word.toLowerCase(), from: caret - word.length - 1 };
  }
  return undefined;
}

type Person = Pick<Participant, 'user_id' | 'name' | 'display_name'>;

/** Returns the people whose name, or a word of it, begins with the word. Those whose own name does come first. */
export function offerPeople(people: readonly Person[], word: string, { withAll }: { withAll: boolean }): Offer[] {
  const isNamed = ({ name }: Person) => name.toLowerCase().startsWith(word);
  const found = people.filter(
    (person) =>
      isNamed(person) ||
      person.display_name
        .toLowerCase()
        .split(/\s+/)
        .some((part) => part.startsWith(word)),
  );
  const offers = found
    .sort((a, b) => Number(isNamed(b)) - Number(isNamed(a)))
    .slice(0, maxOffers)
    .map(({ user_id, name, display_name }) => ({
      key: String(user_id),
      insert: `@${name} `,
      label: display_name,
      note: `@${name}`,
      userId: user_id,
    }));
  const all = { key: 'all', insert: '@all ', label: text.completion.everyone, note: '@all' };
  return withAll && 'all'.startsWith(word) ? [...offers.slice(0, maxOffers - 1), all] : offers;
}

/** Returns the emoji whose names contain the word, each once. Those that begin with it come first. */
export function findEmoji(emojis: readonly Emoji[], word: string): Emoji[] {
  const starts = emojis.filter(({ name }) => name.startsWith(word));
  const contain = emojis.filter(({ name }) => !name.startsWith(word) && name.includes(word));
  const once = new Map([...starts, ...contain].reverse().map((found) => [found.emoji, found]));
  return [...once.values()].reverse();
}

/** Returns a name of an emoji that can be read out. */
export function nameInWords(emojis: readonly Emoji[], picture: string): string {
  const names = emojis.filter(({ emoji }) => emoji === picture).map(({ name }) => name);
  return (names.find((name) => /^[a-z]/.test(name)) ?? names[0] ?? picture).replaceAll('_', ' ');
}

export function offerEmoji(emojis: readonly Emoji[], word: string): Offer[] {
  return findEmoji(emojis, word)
    .slice(0, maxOffers)
    .map(({ emoji: picture, name }) => ({
      key: picture,
      insert: `${picture} `,
      label: `:${name}:`,
      note: '',
      emoji: picture,
    }));
}
