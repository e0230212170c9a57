import type { Client } from '../../server/test/support/client.ts';
import { streamUrl } from '../../server/test/support/streams.ts';
import { between, pick, stream } from '../harness/random.ts';
import { SseParser } from '../harness/sse.ts';
import { pause } from '../harness/wait.ts';
import type { Scene } from './scene.ts';

const count = 36;
const connectedMs = [2_000, 40_000] as const;
const awayMs = [0, 3_000] as const;

/** People who read the streams of their chats, disconnect, and come back: some resume, others start anew. */
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

  async run(end: AbortSignal): Promise<void> {
    await Promise.all(Array.from({ length: count }, (_, i) => this.#listen(i, end)));
  }

  async #listen(number: number, end: AbortSignal): Promise<void> {
    const random = stream(this.#seed, `listener ${number}`);
    // Half of them look at a single chat.
    const query = number % 2 === 0 ? {} : { chat_id: this.#scene.anyGroup() };
    const user = pick(random, this.#scene.stage.writers);
    let lastId: string | undefined;
    while (!end.aborted) {
      const leave = AbortSignal.timeout(between(random, connectedMs));
      const from = random() < 0.5 ? lastId : undefined;
      lastId = await this.#read(user, query, from, AbortSignal.any([end, leave]));
      await pause(between(random, awayMs), end);
    }
  }

  /** Reads until the signal. Returns the last id. */
  async #read(user: Client, query: object, from: string | undefined, leave: AbortSignal): Promise<string | undefined> {
    let lastId = from;
    const headers = { authorization: `Bearer ${user.token}`, ...(from !== undefined && { 'last-event-id': from }) };
    const parser = new SseParser(({ id, data }) => {
      if (id === undefined) return;
      const isNext = lastId === undefined || Number(id) > Number(lastId) || data === undefined;
      if (!isNext) this.unexpected.push(`a stream sent event ${id} after ${lastId}`);
      lastId = id;
      if (data !== undefined) this.heard++;
    });
    try {
      const response = await fetch(streamUrl(user.url, query), { headers, signal: leave });
      if (response.status !== 200 || !response.body) {
        this.unexpected.push(`a stream was refused: ${response.status} ${await response.text()}`);
        return lastId;
      }
      this.connections++;
      for await (const bytes of response.body) parser.push(bytes);
      this.unexpected.push('the server ended a stream');
    } catch (error) {
      if (!leave.aborted) this.unexpected.push(`a stream broke: ${(error as Error).message}`);
    }
    return lastId;
  }
}
