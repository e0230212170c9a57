/** The names of the measurements, apart from the code that takes them: readers of figures need no servers. */

const both = (...names: string[]): string[] => names.flatMap((name) => [`${name}-sqlite`, `${name}-postgres`]);

/** Taken if no name is given, in this order. */
export const usualNames: readonly string[] = [
  ...[
    ...both('send'),
    'cpu',
    'stored',
    'token-check',
    ...both('expensive', 'get', 'search'),
    'cliff',
    ...both('drain', 'lag'),
  ],
  ...[
    'lag-floor',
    'idle-webhooks',
    'files',
    ...both('streams', 'presence', 'push'),
    'slow-disk',
    'cluster',
    ...both('start'),
  ],
];

/** Also those that take long, which are taken only by name. */
export const measurementNames: readonly string[] = [
  ...usualNames,
  ...both('growth-messages', 'growth-webhooks', 'growth-chats', 'growth-connections', 'growth-deliveries'),
];
