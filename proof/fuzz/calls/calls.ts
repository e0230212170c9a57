import { isFile, listOperations } from '@parley/contract';
import fc from 'fast-check';
import { type Subject, subject } from '../subject.ts';
import type { Target } from '../target.ts';
import { type Call, callsOf } from './call.ts';
import { perform } from './perform.ts';

/** Every operation by itself, and operations one after the other and at the same time on the same chats. */
export class Calls {
  readonly #target: () => Target;
  /** The operations that have succeeded, and those that have refused something. */
  readonly taken = new Set<string>();
  readonly refused = new Set<string>();

  constructor(target: () => Target) {
    this.#target = target;
  }

  get subjects(): readonly Subject[] {
    const rows = listOperations();
    const alone = rows.map((row) =>
      subject(
        row.name,
        // So much can be asked of a file that it takes more to ask it all.
        isFile(row.output) ? 90 : 30,
        fc.asyncProperty(callsOf(row), async (call) => this.#perform(call)),
      ),
    );
    const any = fc.oneof(...rows.map(callsOf));
    const inOrder = fc.asyncProperty(fc.array(any, { minLength: 2, maxLength: 12 }), async (calls) => {
      for (const call of calls) await this.#perform(call);
    });
    const atOnce = fc.asyncProperty(fc.array(any, { minLength: 2, maxLength: 12 }), async (calls) => {
      await this.#target().people();
      await Promise.all(calls.map((call) => this.#perform(call)));
    });
    return [...alone, subject('one after the other', 30, inOrder), subject('at the same time', 30, atOnce)];
  }

  async #perform(call: Call): Promise<void> {
    const { status } = await perform(this.#target(), call);
    if (call.damage?.wrong === 'address') return;
    if (status < 300) this.taken.add(call.operation);
    if (status >= 400) this.refused.add(call.operation);
  }
}
