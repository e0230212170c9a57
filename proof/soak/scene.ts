import type { Client } from '../../server/test/support/client.ts';
import type { Change, Message } from '../chaos/evidence.ts';
import { pick, type Random, stream } from '../chaos/random.ts';
import type { People } from '../chaos/stage.ts';

/** A message that something can still be done to. */
export interface Live {
  readonly message: Message;
  readonly author: Client;
}

export interface Reacted extends Live {
  readonly by: Client;
}

/** Somebody and a channel to join and to leave. */
export interface Visit {
  readonly visitor: Client;
  readonly channel: number;
  isThere: boolean;
}

/** Who and what is there, and what came of it. */
export class Scene {
  readonly random: Random;
  readonly people: People;
  readonly groups: readonly [number, ...number[]];
  /** The one that the slow webhook is told of. */
  readonly quiet: number;
  /** Somebody who can sign in with it. */
  readonly person: { readonly name: string; readonly password: string };
  readonly visits: Pool<Visit>;
  readonly messages = new Pool<Live>(2_000);
  readonly reacted = new Pool<Reacted>(500);
  /** What the server answered for, as its last answer said. */
  readonly acknowledged = new Map<number, Message>();
  readonly changes: Change[] = [];
  #sent = 0;

  constructor(parts: {
    readonly seed: number;
    readonly people: People;
    readonly groups: readonly [number, ...number[]];
    readonly quiet: number;
    readonly channels: readonly number[];
    readonly person: { readonly name: string; readonly password: string };
  }) {
    this.random = stream(parts.seed, 'scene');
    this.people = parts.people;
    this.groups = parts.groups;
    this.quiet = parts.quiet;
    this.person = parts.person;
    const visits = parts.channels.flatMap((channel) =>
      parts.people.authors.map((visitor): Visit => ({ visitor, channel, isThere: false })),
    );
    this.visits = new Pool(visits.length);
    for (const visit of visits) this.visits.put(visit);
  }

  anyone(): Client {
    return pick(this.random, this.people.authors);
  }

  anyGroup(): number {
    return pick(this.random, this.groups);
  }

  /** A number that no other message of the run has. */
  next(): number {
    return ++this.#sent;
  }

  /** Notes a message as the server has answered for it. */
  note(message: Message): void {
    this.acknowledged.set(message.message_id, message);
  }
}

/** Things that are done something to, each by one at a time; beyond its size the oldest are left alone for good. */
export class Pool<T> {
  readonly #all: T[] = [];
  readonly #size: number;

  constructor(size: number) {
    this.#size = size;
  }

  put(one: T): void {
    this.#all.push(one);
    if (this.#all.length > this.#size) this.#all.shift();
  }

  take(random: Random): T | undefined {
    const last = this.#all.length - 1;
    const i = Math.floor(random() * this.#all.length);
    const [one, other] = [this.#all[i], this.#all[last]];
    if (one === undefined || other === undefined) return undefined;
    this.#all[i] = other;
    this.#all.length = last;
    return one;
  }
}
