import type { EventName } from '@parley/contract';
import type { Client } from '../../server/test/support/client.ts';
import { streamUrl } from '../../server/test/support/streams.ts';
import { type Random, stream } from '../harness/random.ts';
import type { Server } from '../harness/server.ts';
import { type Block, SseParser } from '../harness/sse.ts';
import { hangMs, pause } from '../harness/wait.ts';
import { brokenBy } from './calls.ts';
import type { Scene } from './scenario.ts';
import type { SlowLine } from './slow-line.ts';

export interface ReaderOptions {
  readonly filter?: { readonly chat_id?: number; readonly events?: EventName[] };
  /** The cursor to start at; the present by default. */
  readonly after?: number;
  readonly line?: SlowLine;
}

/** A block with the time of its arrival. */
export interface Received extends Block {
  readonly at: number;
}

/** A user reads a stream from any server that is up, and resumes at another one when it breaks. */
export class Reader {
  readonly name: string;
  readonly user: Client;
  readonly options: ReaderOptions;
  readonly blocks: Received[] = [];
  readonly counts = { connections: 0, endedByServer: 0 };
  /** The cursor that it started at, once that is known. */
  first: number | undefined;
  readonly #scene: Pick<Scene, 'nodes' | 'calls'>;
  readonly #random: Random;
  #cursor: string | undefined;
  #last: Server | undefined;

  constructor(scene: Pick<Scene, 'nodes' | 'calls' | 'seed'>, name: string, user: Client, options: ReaderOptions = {}) {
    this.#scene = scene;
    this.name = name;
    this.user = user;
    this.options = options;
    this.first = options.after;
    this.#random = stream(scene.seed, `reader ${name}`);
  }

  get cursor(): number {
    return Number(this.#cursor ?? 0);
  }

  get hasEvents(): boolean {
    return this.blocks.some(({ id, data }) => id !== undefined && data !== undefined);
  }

  async run(end: AbortSignal): Promise<void> {
    while (!end.aborted) {
      await this.#read(end).catch((error) => {
        if (!end.aborted) throw error;
      });
      await pause(500 * this.#random(), end);
    }
  }

  async #read(end: AbortSignal): Promise<void> {
    const { nodes, calls } = this.#scene;
    const { line, filter = {}, after } = this.options;
    const server = await nodes.any(this.#random, end, this.#last);
    this.#last = server;
    const operation = `stream ${this.name}`;
    const silence = new AbortController();
    const startTimer = () => setTimeout(() => silence.abort(), hangMs);
    let timer = startTimer();
    try {
      const signal = AbortSignal.any([end, silence.signal]);
      // The URL stays the same and the header has the cursor, as in a browser.
      const url = streamUrl(line?.to(server.url) ?? server.url, { ...filter, ...(after !== undefined && { after }) });
      const resumed = this.#cursor !== undefined && { 'last-event-id': this.#cursor };
      const headers = { authorization: `Bearer ${this.user.token}`, accept: 'text/event-stream', ...resumed };
      const response = await fetch(url, { headers, signal });
      const detail = response.status === 200 ? '' : await response.text();
      calls.answers.push({ operation, outcome: response.status, detail });
      if (response.status !== 200 || !response.body) return;
      this.counts.connections++;
      const parser = new SseParser((block) => this.#take(block));
      for await (const bytes of response.body) {
        clearTimeout(timer);
        timer = startTimer();
        parser.push(bytes);
      }
      if (server.isUp) this.counts.endedByServer++;
    } catch (error) {
      if (end.aborted) return;
      const detail = (error as Error).message;
      if (silence.signal.aborted) calls.answers.push({ operation, outcome: 'silence', detail });
      // Otherwise the slow line broke.
      else if (!line || !server.isUp) calls.answers.push(brokenBy(operation, server, detail));
    } finally {
      clearTimeout(timer);
    }
  }

  #take(block: Block): void {
    this.blocks.push({ ...block, at: performance.now() });
    if (block.id === undefined) return;
    this.first ??= Number(block.id);
    this.#cursor = block.id;
  }
}

/** Returns people who read streams, each in another way. */
export function makeReaders(scene: Pick<Scene, 'nodes' | 'calls' | 'seed' | 'stage'>, line: SlowLine): Reader[] {
  const { owner, writers, visitors, guests, groups } = scene.stage;
  const make = (name: string, user: Client, options?: ReaderOptions) => new Reader(scene, name, user, options);
  return [
    make('owner', owner, { after: 0 }),
    make('writer', writers[0]),
    make('one chat', writers[0], { filter: { chat_id: groups[0] } }),
    make('messages', owner, { filter: { events: ['new_message'] } }),
    make('slow', owner, { line }),
    ...visitors.map((visitor, i) => make(`visitor ${i + 1}`, visitor)),
    ...guests.map((guest, i) => make(`guest ${i + 1}`, guest, { after: 0 })),
  ];
}
