import type { Client } from '../../server/test/support/client.ts';
import { streamUrl } from '../../server/test/support/streams.ts';
import { SseParser } from '../chaos/frame/sse.ts';
import { pause } from '../chaos/pause.ts';
import { pick, type Random, stream } from '../chaos/random.ts';
import type { Scene } from './scene.ts';

/** How many there are, how long one stays, and how long it is away. */
const count = 36;
const stayMs = { least: 2_000, most: 40_000 };
const awayMs = { least: 0, most: 3_000 };

/** People who follow the streams of their chats, leave, and come back: some where they were, others anew. */
export class Listeners {
  readonly unexpected: string[] = [];
  connections = 0;
  heard = 0;
  readonly #scene: Scene;
  readonly #seed: number;

  constructor(scene: Scene, seed: number) {
    this.#scene = scene;
    this.#seed = seed;
  }

  /** Until the end. */
  async run(end: AbortSignal): Promise<void> {
    await Promise.all(Array.from({ length: count }, (_, i) => this.#listen(i, end)));
  }

  async #listen(number: number, end: AbortSignal): Promise<void> {
    const random = stream(this.#seed, `listener ${number}`);
    const { authors } = this.#scene.people;
    // Half of them look at a single chat.
    const query = number % 2 === 0 ? {} : { chat_id: this.#scene.anyGroup() };
    const who = pick(random, authors);
    let lastId: string | undefined;
    while (!end.aborted) {
      const leave = AbortSignal.timeout(between(random, stayMs));
      const from = random() < 0.5 ? lastId : undefined;
      lastId = await this.#stay(who, query, from, AbortSignal.any([end, leave]));
      await pause(between(random, awayMs), end);
    }
  }

  /** Reads until the signal; answers the last id that came. */
  async #stay(who: Client, query: object, from: string | undefined, leave: AbortSignal): Promise<string | undefined> {
    let lastId = from;
    const headers = { authorization: `Bearer ${who.token}`, ...(from !== undefined && { 'last-event-id': from }) };
    const parser = new SseParser(({ id, data }) => {
      if (id === undefined) return;
      const isNext = lastId === undefined || Number(id) > Number(lastId) || data === undefined;
      if (!isNext) this.unexpected.push(`a stream told event ${id} after ${lastId}`);
      lastId = id;
      if (data !== undefined) this.heard++;
    });
    try {
      const response = await fetch(streamUrl(who.url, query), { headers, signal: leave });
      if (response.status !== 200 || !response.body) {
        this.unexpected.push(`a stream was refused: ${response.status} ${await response.text()}`);
        return lastId;
      }
      this.connections++;
      for await (const bytes of response.body) parser.push(bytes);
      this.unexpected.push('a stream was ended by the server');
    } catch (error) {
      if (!leave.aborted) this.unexpected.push(`a stream broke: ${(error as Error).message}`);
    }
    return lastId;
  }
}

const between = (random: Random, { least, most }: { least: number; most: number }) =>
  Math.round(least + (most - least) * random());
