import { ParleyError } from '@parley/contract';
import { accessApp, addApp, deleteApp, replaceSecret, updateApp } from '../auth/apps.ts';
import type { Caller } from '../auth/caller.ts';
import { endGrants } from '../auth/grants.ts';
import { isBuiltIn, listApps } from '../store/access/apps.ts';
import { countPeopleOf, listAuthorizedApps } from '../store/access/grants.ts';
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

    'apps.get': async (call) => {
      requirePerson(call.caller);
      const app = await accessApp(services, actorOf(call), call.input.app_id);
      return { app: present.app(app), people_count: await countPeopleOf(services.engine, app, services.now()) };
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

    'apps.update': async (call) => {
      const { app_id, name, redirects } = call.input;
      await updateApp(services, actorOf(call), app_id, { name, redirects });
      return { app: present.app(await accessApp(services, actorOf(call), app_id)) };
    },

    'apps.replace_secret': async (call) => ({
      client_secret: await replaceSecret(services, actorOf(call), call.input.app_id),
    }),

    'apps.authorized': async ({ caller }) => ({
      apps: (await listAuthorizedApps(services.engine, caller.userId, services.now())).map(present.authorizedApp),
    }),

    'apps.revoke_access': async (call) => {
      const { userId } = call.caller;
      const { app_id } = call.input;
      const apps = await listAuthorizedApps(services.engine, userId, services.now());
      const name = apps.find((app) => app.app_id === app_id)?.name;
      const which = { userId, appId: app_id };
      await endGrants(services, {
        userId,
        which,
        actor: actorOf(call),
        act: 'access_revoked',
        details: { app_id, name },
      });
      return { app_id };
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
