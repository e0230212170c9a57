import { expect, test } from 'bun:test';
import type { EventName, UserId } from '@parley/contract';
import { readSettings } from '../../config.ts';
import { openAsGuest } from '../../store/engine/open.ts';
import { visibleEvents } from '../../store/log/events.ts';
import { onAnyEngine } from '../support/engines.ts';
import { planning } from '../support/plans.ts';
import { serverFor } from '../support/server.ts';

onAnyEngine('what one user may cost the others', (engine) => {
  const server = serverFor(engine);

  test('who reads rare events does not go through all messages to find them', async () => {
    const guest = await openAsGuest(readSettings(server().env));
    const planFor = async (events: EventName[]) => {
      const { tx, plans } = planning(guest);
      await visibleEvents(tx, { userId: 1 as UserId, after: 0, upTo: 1_000_000, limit: 51, events });
      return plans.join();
    };
    const rare = await planFor(['role_changed', 'user_left']);
    expect(rare).toContain('events_but_messages');
    // Nor further than it is asked to: both bounds end the search.
    expect(rare).toMatch(/event_id>\? AND event_id<\?|event_id > .*\(event_id <= /);
    expect(await planFor(['new_message', 'user_left'])).not.toContain('events_but_messages');
    await guest.close();
  });

  test('a user has at most 100 access tokens, and may make one more after revoking one', async () => {
    const ada = await server().user('ada');
    const create = () => ada.call('tokens.create', { name: 'another' });
    const made = await Promise.all(Array.from({ length: 105 }, create));
    expect(made.filter((answer) => answer.status === 200)).toHaveLength(99);
    expect(new Set(made.map((answer) => answer.error?.code))).toEqual(new Set([undefined, 'conflict']));
    const one = made.find((answer) => answer.status === 200);
    await ada.ok('tokens.revoke', { token_id: one?.body.token.token_id ?? 0 });
    expect((await create()).status).toBe(200);
  });
});
