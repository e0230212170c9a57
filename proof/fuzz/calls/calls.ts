import { isFile, listOperations } from '@parley/contract';
import fc from 'fast-check';
import { subject } from '../subject.ts';
import type { Target } from '../target.ts';
import { type Call, callsOf } from './call.ts';
import { perform } from './perform.ts';

export type Calls = ReturnType<typeof callSubjects>;

/** Every operation by itself, and operations in sequence and concurrently on the same chats. */
export function callSubjects(target: () => Target) {
  const [taken, refused] = [new Set<string>(), new Set<string>()];
  const make = async (call: Call): Promise<void> => {
    const { status } = await perform(target(), call);
    if (call.damage?.wrong === 'address') return;
    if (status < 300) taken.add(call.operation);
    if (status >= 400) refused.add(call.operation);
  };
  const rows = listOperations();
  // A file has more headers and conditions to try, and a test accepts few of the combinations of its fields.
  const runsOf = (row: (typeof rows)[number]) => (isFile(row.output) || row.name === 'webhooks.test' ? 90 : 30);
  // The people and things stay as they are while only reads are tried, so reads come first.
  const readsFirst = ['GET', 'POST'].flatMap((method) => rows.filter((row) => row.method === method));
  const alone = readsFirst.map((row) => subject(row.name, runsOf(row), fc.asyncProperty(callsOf(row), make)));
  const several = fc.array(fc.oneof(...rows.map(callsOf)), { minLength: 2, maxLength: 12 });
  const inOrder = fc.asyncProperty(several, async (calls) => {
    for (const call of calls) await make(call);
  });
  const concurrently = fc.asyncProperty(several, async (calls) => {
    await target().people();
    await Promise.all(calls.map(make));
  });
  const together = [subject('one after the other', 30, inOrder), subject('at the same time', 30, concurrently)];
  /** `taken` has the operations that have succeeded, `refused` those that have refused something. */
  return { taken, refused, subjects: [...alone, ...together] };
}
