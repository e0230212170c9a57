import { stream } from '../random.ts';
import type { Calls } from './calls.ts';
import type { Nodes } from './nodes.ts';
import { Reader, type ReaderParts } from './reader.ts';
import type { SlowLine } from './slow-line.ts';
import type { Stage } from './stage.ts';

export interface ReadersParts {
  readonly seed: number;
  readonly stage: Stage;
  readonly nodes: Nodes;
  readonly calls: Calls;
  readonly slowLine: SlowLine;
}

/** People who read streams, each in another way. */
export function makeReaders({ seed, stage, nodes, calls, slowLine }: ReadersParts): Reader[] {
  const { owner, writers, visitors, guests, groups } = stage;
  const make = (name: string, user: ReaderParts['user'], how: Partial<ReaderParts> = {}) =>
    new Reader({ name, user, nodes, calls, random: stream(seed, `reader ${name}`), ...how });
  return [
    make('owner', owner, { after: 0 }),
    make('writer', writers[0]),
    make('one chat', writers[0], { filter: { chat_id: groups[0] } }),
    make('messages', owner, { filter: { events: ['new_message'] } }),
    make('slow', owner, { line: slowLine }),
    ...visitors.map((visitor, i) => make(`visitor ${i + 1}`, visitor)),
    ...guests.map((guest, i) => make(`guest ${i + 1}`, guest, { after: 0 })),
  ];
}
