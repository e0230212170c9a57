import { hidesPresence, setHidesPresence, visibleAmong } from '../store/access/presence.ts';
import type { Handlers, Services } from './operation.ts';

export const presenceHandlers = ({ engine, presence }: Services) =>
  ({
    'users.presence': async ({ caller: { userId }, input: { user_ids } }) => {
      const present = user_ids.filter((id) => presence.of(id) !== 'offline');
      const visible = present.length > 0 ? await visibleAmong(engine, userId, present) : new Set();
      const isVisible = (id: number) => id === userId || visible.has(id);
      return {
        presence: user_ids.map((user_id) => ({
          user_id,
          presence: isVisible(user_id) ? presence.of(user_id) : 'offline',
        })),
      };
    },

    'users.set_presence': async ({ caller: { userId, tokenId }, input }) => {
      const isHidden = await hidesPresence(engine, userId);
      const hidden = input.hidden ?? isHidden;
      if (hidden !== isHidden) {
        await engine.write((tx) => setHidesPresence(tx, userId, hidden));
        presence.recheck(userId);
      }
      if (input.presence !== undefined) presence.setAway(userId, tokenId, input.presence === 'away');
      return { hidden };
    },
  }) satisfies Partial<Handlers>;
