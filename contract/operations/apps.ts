import { z } from 'zod';
import { appId, displayName } from '../fields.ts';
import type { Limits } from '../limits.ts';
import { get, post } from '../operation.ts';
import { app } from '../records.ts';

const calendar = {
  app_id: 2,
  client_id: 'app_EXAMPLE',
  name: 'Calendar',
  redirects: ['https://calendar.example/callback'],
  confidential: false,
  bot_id: null,
  created_at: '2026-01-01T12:00:00.000Z',
};
const planner = {
  ...calendar,
  app_id: 3,
  name: 'Planner',
  redirects: ['https://planner.example/callback'],
  confidential: true,
};

export const apps = (_limits: Limits) => ({
  list: get(['apps'], {
    summary: 'List your OAuth apps. Their secrets are never shown again.',
    input: z.strictObject({}),
    output: z.object({ apps: z.array(app) }),
    errors: ['forbidden'],
    example: { input: {}, output: { apps: [calendar] } },
  }),
  register: post(['apps'], {
    summary:
      'Register an OAuth app. It has only the access that people grant to it. A secret is shown only once. The app gets a bot only if you register it in a browser.',
    input: z.strictObject({
      name: displayName.meta({ description: 'people see it when they are asked to authorize the app' }),
      redirects: z
        .array(z.string().meta({ maxLength: 1_000 }))
        .min(1)
        .max(20)
        .meta({
          description:
            'where people return after they decide, exactly as the app sends it: https, loopback, or a scheme',
        }),
      confidential: z.boolean().default(false).meta({
        description: 'whether it can keep a secret: it runs on a server, not in a browser or on the device of its user',
      }),
    }),
    output: z.object({
      app,
      client_secret: z.string().nullable().meta({ description: 'the secret itself; null if the app keeps none' }),
    }),
    errors: ['forbidden', 'conflict'],
    example: {
      input: { name: 'Planner', redirects: ['https://planner.example/callback'], confidential: true },
      output: { app: planner, client_secret: 'acs_EXAMPLE' },
    },
  }),
  delete: post(['apps'], {
    summary: 'Delete one of your OAuth apps. It loses all access at once, for everyone. Its bot stays.',
    input: z.strictObject({ app_id: appId }),
    output: z.object({ app_id: appId }),
    errors: ['not_found', 'forbidden'],
    example: { input: { app_id: 2 }, output: { app_id: 2 } },
  }),
});
