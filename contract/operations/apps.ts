import { z } from 'zod';
import { appId, count, displayName } from '../fields.ts';
import type { Limits } from '../limits.ts';
import { get, post } from '../operation.ts';
import { app, authorizedApp } from '../records.ts';

const calendar = {
  app_id: 2,
  client_id: 'app_EXAMPLE',
  name: 'Calendar',
  redirects: ['https://calendar.example/callback'],
  confidential: false,
  bot_id: null,
  by_token: true,
  created_at: '2026-01-01T12:00:00.000Z',
};
const reminder = {
  ...calendar,
  app_id: 3,
  name: 'Reminder',
  redirects: ['https://reminder.example/callback'],
  confidential: true,
};
const planner = {
  ...calendar,
  app_id: 4,
  name: 'Planner',
  redirects: ['https://planner.example/callback'],
  confidential: true,
};

const appName = displayName.meta({ description: 'people see it when they are asked to authorize the app' });

const redirects = z
  .array(z.string().meta({ maxLength: 1_000 }))
  .min(1)
  .max(20)
  .meta({
    description: 'where people return after they decide, exactly as the app sends it: https, loopback, or a scheme',
  });

export const apps = (_limits: Limits) => ({
  list: get(['apps'], {
    summary: 'List your OAuth apps. Their secrets are never shown again.',
    input: z.strictObject({}),
    output: z.object({ apps: z.array(app) }),
    errors: ['forbidden'],
    example: { input: {}, output: { apps: [calendar, reminder] } },
  }),
  get: get(['apps'], {
    summary: 'Get one of your OAuth apps, and how many people have authorized it.',
    input: z.strictObject({ app_id: appId }),
    output: z.object({ app, people_count: count.meta({ description: 'without its own bot' }) }),
    errors: ['not_found', 'forbidden'],
    example: { input: { app_id: 2 }, output: { app: calendar, people_count: 0 } },
  }),
  register: post(['apps'], {
    summary:
      'Register an OAuth app. It has only the access that people grant to it. A secret is shown only once. The app gets a bot only if you register it in a browser.',
    input: z.strictObject({
      name: appName,
      redirects,
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
  update: post([], {
    summary: 'Change the name and the redirect URLs of an app. This also confirms one that an access token registered.',
    inBrowser: true,
    input: z.strictObject({ app_id: appId, name: appName, redirects }),
    output: z.object({ app }),
    errors: ['not_found', 'forbidden'],
    example: {
      input: { app_id: 2, name: 'Calendar', redirects: calendar.redirects },
      output: { app: { ...calendar, by_token: false } },
    },
  }),
  replace_secret: post([], {
    summary:
      'Replace the secret of an app. The old one stops working at once, and so do the access tokens and webhooks of its bot.',
    inBrowser: true,
    input: z.strictObject({ app_id: appId }),
    output: z.object({ client_secret: z.string().meta({ description: 'the secret itself, shown only once' }) }),
    errors: ['not_found', 'forbidden', 'conflict'],
    example: { input: { app_id: 3 }, output: { client_secret: 'acs_EXAMPLE' } },
  }),
  authorized: get([], {
    summary: 'List the apps that you have authorized to act for you.',
    inBrowser: true,
    input: z.strictObject({}),
    output: z.object({ apps: z.array(authorizedApp) }),
    errors: ['forbidden'],
    example: { input: {}, output: { apps: [] } },
  }),
  revoke_access: post([], {
    summary: 'End the access of an app that you have authorized, if it has any. Its webhooks for you stop.',
    inBrowser: true,
    input: z.strictObject({ app_id: appId }),
    output: z.object({ app_id: appId }),
    errors: ['forbidden'],
    example: { input: { app_id: 2 }, output: { app_id: 2 } },
  }),
  delete: post(['apps'], {
    summary: 'Delete one of your OAuth apps. It loses all access at once, for everyone. Its bot stays.',
    input: z.strictObject({ app_id: appId }),
    output: z.object({ app_id: appId }),
    errors: ['not_found', 'forbidden'],
    example: { input: { app_id: 2 }, output: { app_id: 2 } },
  }),
});
