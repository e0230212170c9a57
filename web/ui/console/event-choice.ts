import type { EventName } from '@parley-chat/sdk';
import { eventExamples } from '@parley-chat/sdk/event-examples.ts';
import { consoleText } from '../../text/console/text.ts';

export type Noun = keyof typeof consoleText.nouns;

const nounOf: Readonly<Record<EventName, Noun>> = {
  new_message: 'messages',
  message_edited: 'messages',
  message_deleted: 'messages',
  message_pinned: 'messages',
  message_unpinned: 'messages',
  reaction_added: 'reactions',
  reaction_removed: 'reactions',
  user_joined: 'people',
  user_left: 'people',
  role_changed: 'people',
  user_updated: 'people',
  group_created: 'chats',
  channel_created: 'chats',
  direct_created: 'chats',
  chat_updated: 'chats',
  preferences_changed: 'you',
  webhook_disabled: 'you',
};

export const eventNames = Object.keys(nounOf) as EventName[];

export const nouns = Object.keys(consoleText.nouns) as Noun[];

export const eventsOf = (noun: Noun): readonly EventName[] => eventNames.filter((name) => nounOf[name] === noun);

const everything = '*';

/** The events that a webhook receives. */
export class EventChoice {
  /** Names, or `*`. Names that this version does not know stay. */
  readonly names: ReadonlySet<string>;

  constructor(names: Iterable<string>) {
    this.names = new Set(names);
  }

  get isAll(): boolean {
    return this.names.has(everything);
  }

  get isEmpty(): boolean {
    return this.names.size === 0;
  }

  get unknown(): readonly string[] {
    return [...this.names].filter((name) => name !== everything && !Object.hasOwn(nounOf, name));
  }

  has(name: string): boolean {
    return this.isAll || this.names.has(name);
  }

  count(names: readonly string[]): number {
    return names.filter((name) => this.has(name)).length;
  }

  /** Returns the choice with all events, of later versions too, or without any that is known. */
  setAll(isChosen: boolean): EventChoice {
    return new EventChoice(isChosen ? [everything] : this.unknown);
  }

  /** Returns the choice with or without these. */
  set(names: readonly string[], isChosen: boolean): EventChoice {
    const chosen = new Set(this.isAll ? [...eventNames, ...this.unknown] : this.names);
    for (const name of names) {
      if (isChosen) chosen.add(name);
      else chosen.delete(name);
    }
    return new EventChoice(chosen);
  }
}

const bodyOf = (event: string, data: object): string =>
  JSON.stringify({ event, timestamp: '2026-01-01T12:00:00.000Z', data }, null, 2);

/** Returns an example of the body of a delivery. */
export const exampleOf = (event: EventName): string => bodyOf(event, eventExamples[event]);

/** Returns the body of an event that is only a test. */
export const testExample = (webhook_id: number): string =>
  bodyOf('test', { webhook_id, message: consoleText.test.message });
