/** The names of what is measured, apart from what measures it: whoever only reads figures needs no servers. */

/** What is measured when nothing is named. */
export const usualNames = [
  'send-sqlite',
  'send-postgres',
  'token-check',
  'get-sqlite',
  'get-postgres',
  'search-sqlite',
  'search-postgres',
  'cliff',
  'drain-sqlite',
  'drain-postgres',
  'lag-sqlite',
  'lag-postgres',
  'idle-webhooks',
  'files',
  'streams-sqlite',
  'streams-postgres',
  'slow-disk',
  'cluster',
  'start-sqlite',
  'start-postgres',
] as const;

/** What takes long, and is measured when it is named. */
export const longNames = [
  'growth-messages-sqlite',
  'growth-messages-postgres',
  'growth-webhooks-sqlite',
  'growth-webhooks-postgres',
  'growth-chats-sqlite',
  'growth-chats-postgres',
  'growth-connections-sqlite',
  'growth-connections-postgres',
] as const;

export const measurementNames = [...usualNames, ...longNames] as const;

export type MeasurementName = (typeof measurementNames)[number];
