import { ParleyError } from '@parley/contract';
import { addApp, deleteApp } from '../auth/apps.ts';
import type { Caller } from '../auth/caller.ts';
import { isBuiltIn, listApps } from '../store/access/apps.ts';
import { lockTokensOf } from '../store/access/tokens.ts';
import { requireValidToken } from './access.ts';
import { actorOf, type Handlers, type Services } from './operation.ts';
import * as present from './present.ts';

export const appHandlers = (services: Services) =>
  ({
    'apps.list': async ({ caller }) => {
      requirePerson(caller);
      return { apps: (await listApps(services.engine, caller.userId)).map(present.app) };
    },

    'apps.register': async (call) => {
      const { caller, input } = call;
      requirePerson(caller);
      await requireNoApp(services, caller);
      const { app, clientSecret } = await services.engine.write(async (tx) => {
        await lockTokensOf(tx, caller.userId);
        await requireValidToken(tx, caller);
        return addApp(tx, services, actorOf(call), { ...input, byToken: caller.kind !== 'session' });
      });
      return { app: present.app(app), client_secret: clientSecret ?? null };
    },

    'apps.delete': async (call) => {
      const { caller, input } = call;
      requirePerson(caller);
      await requireNoApp(services, caller);
      await deleteApp(services, actorOf(call), input.app_id);
      return { app_id: input.app_id };
    },
  }) satisfies Partial<Handlers>;

function requirePerson({ userId, ownerId }: Caller): void {
  if (userId !== ownerId) throw new ParleyError('forbidden', 'A bot has no apps. Use an access token of its owner.');
}

/** An app has only what it was granted. An app that it registers would outlive the grant. The command line is no such app. */
async function requireNoApp({ engine }: Services, { kind, appId }: Caller): Promise<void> {
  if (kind === 'oauth' && !(await isBuiltIn(engine, appId)))
    throw new ParleyError('forbidden', 'An app can neither register nor delete apps. Use a personal access token.');
}
