import type { EventLog } from '../log/event-log.ts';
import type { Engine } from '../store/engine/engine.ts';
import { readCursor } from '../store/log/events.ts';
import { idsBetween } from '../store/log/log-cursor.ts';
import { indexEvents } from '../store/search/index-events.ts';

/** Indexes the next events of the log. Returns whether there are more. If several processes follow the log, one does it. */
export async function indexNextEvents(
  engine: Engine,
  log: EventLog,
  reportLag: (events: number) => void,
): Promise<boolean> {
  const position = await readCursor(engine, 'search');
  const [last] = position < log.tip ? await engine.call(indexEvents, null, noClock) : [position];
  if (last === undefined) return false;
  reportLag(last <= position ? 0 : await idsBetween(engine, position, log.tip));
  return last > position && last < log.tip;
}

/** The index stores no times. */
const noClock = () => 0;
