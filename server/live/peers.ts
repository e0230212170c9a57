import type { Presence, TokenId, UserId } from '@parley/contract';

/** Every process sends something at least this often. */
const beatMs = 5_000;

/** A process that sent nothing for this long is gone. */
const goneMs = 3 * beatMs;

/** Users in one message: NATS takes 1 MB, and an id has up to 16 digits. */
const maxUsers = 40_000;

type States = { readonly [P in Presence]?: readonly UserId[] };

/** A message between processes. */
interface PeerMessage {
  readonly from: string;
  /** Counts the messages with states of this sender. A gap means that one was lost. */
  readonly number: number;
  /** The states that have changed. */
  readonly states?: States;
  /** `states` are all users of the sender who are not offline. */
  readonly isWhole?: true;
  /** Asks a process for its whole state, or all processes. */
  readonly ask?: string;
  /** A client has become idle or active. It may have its stream at another process. */
  readonly client?: { readonly userId: UserId; readonly tokenId: TokenId; readonly isAway: boolean };
  /** These users have hidden or shown themselves. */
  readonly recheck?: readonly UserId[];
  readonly bye?: true;
}

interface Peer {
  readonly users: Map<UserId, Presence>;
  number: number;
  heardAt: number;
}

export interface PeersDeps {
  /** The name of this process. */
  readonly node: string;
  readonly monotonic: () => number;
  readonly publish: (text: string) => void;
  /** The users at this process. */
  readonly own: Iterable<[UserId, Presence]>;
  /** Called for users whose presence at another process has changed. */
  readonly changed: (userId: UserId) => void;
  readonly clientChanged: (userId: UserId, tokenId: TokenId, isAway: boolean) => void;
}

const everyone = '*';

/**
 * The presence of users at the other processes on the same database. Each process sends its changes, and its whole state to
 * those that ask, because they have just started or have missed a message.
 */
export class Peers {
  readonly #deps: PeersDeps;
  readonly #peers = new Map<string, Peer>();
  #number = 0;
  #sentAt = Number.NEGATIVE_INFINITY;
  #isAsked = false;

  constructor(deps: PeersDeps) {
    this.#deps = deps;
  }

  /** Returns the presence at the process where the user is most present. */
  presenceOf(userId: UserId): Presence {
    let isAway = false;
    for (const { users } of this.#peers.values()) {
      const presence = users.get(userId);
      if (presence === 'online') return 'online';
      if (presence === 'away') isAway = true;
    }
    return isAway ? 'away' : 'offline';
  }

  /** The bus has connected: messages of both sides may have been lost. */
  connected(): void {
    this.#isAsked = true;
    this.#send({ ask: everyone });
  }

  /** Sends what has changed here since the last call. Must be called every second. */
  beat(changed: ReadonlyMap<UserId, Presence>): void {
    this.#dropGone();
    if (this.#isAsked) {
      this.#isAsked = false;
      this.#sendStates(
        [...this.#deps.own].filter(([, presence]) => presence !== 'offline'),
        true,
      );
    } else if (changed.size > 0) this.#sendStates([...changed], false);
    else if (this.#deps.monotonic() - this.#sentAt >= beatMs) this.#send({});
  }

  clientChanged(userId: UserId, tokenId: TokenId, isAway: boolean): void {
    this.#send({ client: { userId, tokenId, isAway } });
  }

  recheck(userId: UserId): void {
    this.#send({ recheck: [userId] });
  }

  stop(): void {
    this.#send({ bye: true });
  }

  hear(text: string): void {
    const message = JSON.parse(text) as PeerMessage;
    const { from, client, recheck, ask } = message;
    if (ask === everyone || ask === this.#deps.node) this.#isAsked = true;
    if (client) this.#deps.clientChanged(client.userId, client.tokenId, client.isAway);
    for (const userId of recheck ?? []) this.#deps.changed(userId);
    if (message.bye) this.#drop(from);
    else this.#apply(message);
  }

  #apply({ from, number, states, isWhole }: PeerMessage): void {
    const known = this.#peers.get(from);
    const expected = (known?.number ?? 0) + (states ? 1 : 0);
    const heardAt = this.#deps.monotonic();
    if (isWhole) {
      const users = usersOf(states);
      this.#peers.set(from, { users, number, heardAt });
      for (const userId of new Set([...(known?.users.keys() ?? []), ...users.keys()])) this.#deps.changed(userId);
      return;
    }
    const peer = known ?? { users: new Map<UserId, Presence>(), number: 0, heardAt };
    peer.heardAt = heardAt;
    this.#peers.set(from, peer);
    if (number !== expected) {
      // Does not wait for the response: the next message asks again if it is lost.
      if (number > expected) this.#send({ ask: from });
      return;
    }
    peer.number = number;
    for (const [userId, presence] of usersOf(states)) {
      if (presence === 'offline') peer.users.delete(userId);
      else peer.users.set(userId, presence);
      this.#deps.changed(userId);
    }
  }

  #sendStates(users: readonly [UserId, Presence][], isWhole: boolean): void {
    for (let start = 0; start === 0 || start < users.length; start += maxUsers) {
      const part = Map.groupBy(users.slice(start, start + maxUsers), ([, presence]) => presence);
      const states = Object.fromEntries([...part].map(([presence, of]) => [presence, of.map(([userId]) => userId)]));
      this.#number++;
      this.#send({ states, ...(isWhole && start === 0 && { isWhole: true }) });
    }
  }

  #send(message: Omit<PeerMessage, 'from' | 'number'>): void {
    this.#sentAt = this.#deps.monotonic();
    const { node, publish } = this.#deps;
    publish(JSON.stringify({ from: node, number: this.#number, ...message } satisfies PeerMessage));
  }

  #dropGone(): void {
    const now = this.#deps.monotonic();
    for (const [node, { heardAt }] of this.#peers) if (now - heardAt > goneMs) this.#drop(node);
  }

  #drop(node: string): void {
    const users = this.#peers.get(node)?.users;
    this.#peers.delete(node);
    for (const userId of users?.keys() ?? []) this.#deps.changed(userId);
  }
}

const usersOf = (states: States = {}): Map<UserId, Presence> =>
  new Map(Object.entries(states).flatMap(([presence, ids]) => ids.map((id) => [id, presence as Presence] as const)));
