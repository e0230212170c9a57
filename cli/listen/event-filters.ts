import { eventNames } from '@parley/contract';
import { requireKnown } from '../known.ts';
import type { Subscription } from './follow.ts';

/** Returns the filters of a subscription, with each name once. Throws a usage error for an unknown name. */
export function eventFilters(typed: readonly string[] | undefined): Pick<Subscription['filters'], 'events'> {
  const names = typed?.map((name) => requireKnown('event', name, eventNames));
  return { events: names && [...new Set(names)].sort() };
}
