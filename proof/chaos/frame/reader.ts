import type { EventName } from '@parley/contract';
import type { Client } from '../../../server/test/support/client.ts';
import { hangMs } from '../hang.ts';
import { pause } from '../pause.ts';
import type { Random } from '../random.ts';
import { brokenBy, type Calls } from './calls.ts';
import type { NodeLife } from './node.ts';
import type { Nodes } from './nodes.ts';
import type { SlowLine } from './slow-line.ts';
import { type Block, SseParser } from './sse.ts';

export interface Filter {
  readonly chat_id?: number;
  readonly events?: readonly EventName[];
}

export interface ReaderParts {
  readonly name: string;
  readonly user: Client;
  readonly nodes: Nodes;
  readonly calls: Calls;
  readonly random: Random;
  readonly filter?: Filter;
  /** Where to begin; the present where it is not given. */
  readonly after?: number;
  readonly line?: SlowLine;
}

/** A block with the time at which it came. */
export interface Received extends Block {
  readonly at: number;
}

/** Somebody who reads the stream through whichever node is there, and goes on at another one when it breaks. */
export class Reader {
  readonly blocks: Received[] = [];
  readonly parts: ReaderParts;
  readonly counts = { connections: 0, endedByNode: 0 };
  #cursor: string | undefined;
  #began: number | undefined;
  #last: NodeLife | undefined;

  constructor(parts: ReaderParts) {
    this.parts = parts;
    this.#began = parts.after;
  }

  /** The cursor that it began at, once that is known. */
  get began(): number | undefined {
    return this.#began;
  }

  get cursor(): number {
    return Number(this.#cursor ?? 0);
  }

  /** Whether an event of the log has come. */
  get hasHeard(): boolean {
    return this.blocks.some(({ id, data }) => id !== undefined && data !== undefined);
  }

  /** Until the end. */
  async run(end: AbortSignal): Promise<void> {
    while (!end.aborted) {
      await this.#read(end).catch((error) => {
        if (!end.aborted) throw error;
      });
      await pause(500 * this.parts.random(), end);
    }
  }

  async #read(end: AbortSignal): Promise<void> {
    const { name, nodes, calls, random, line } = this.parts;
    const node = await nodes.any(random, end, this.#last);
    this.#last = node;
    const silence = new AbortController();
    const hush = () => setTimeout(() => silence.abort(), hangMs);
    let timer = hush();
    const note = (outcome: number | string, says: string) =>
      calls.answers.push({ operation: `stream ${name}`, outcome, says });
    try {
      const signal = AbortSignal.any([end, silence.signal]);
      const response = await fetch(this.#address(line ? line.to(node.url) : node.url), {
        headers: this.#headers(),
        signal,
      });
      note(response.status, response.status === 200 ? '' : await response.text());
      if (response.status !== 200 || !response.body) return;
      this.counts.connections++;
      const parser = new SseParser((block) => this.#take(block));
      for await (const bytes of response.body) {
        clearTimeout(timer);
        timer = hush();
        parser.push(bytes);
      }
      if (node.state === 'up') this.counts.endedByNode++;
    } catch (error) {
      if (end.aborted) return;
      if (silence.signal.aborted) note('silence', `nothing for ${hangMs / 1_000} s`);
      // Otherwise it was the line that broke.
      else if (!line || node.state !== 'up')
        calls.answers.push(brokenBy(`stream ${name}`, node, (error as Error).message));
    } finally {
      clearTimeout(timer);
    }
  }

  #address(base: string): string {
    const address = new URL(`${base}/api/events.php?action=stream`);
    const { filter = {} } = this.parts;
    if (filter.chat_id !== undefined) address.searchParams.set('chat_id', String(filter.chat_id));
    for (const event of filter.events ?? []) address.searchParams.append('events', event);
    // As a browser does: the address stays the same, and the header says how far it has come.
    if (this.parts.after !== undefined) address.searchParams.set('after', String(this.parts.after));
    return address.href;
  }

  #headers(): Record<string, string> {
    return {
      authorization: `Bearer ${this.parts.user.token}`,
      accept: 'text/event-stream',
      ...(this.#cursor !== undefined && { 'last-event-id': this.#cursor }),
    };
  }

  #take(block: Block): void {
    this.blocks.push({ ...block, at: performance.now() });
    if (block.id === undefined) return;
    this.#began ??= Number(block.id);
    this.#cursor = block.id;
  }
}
