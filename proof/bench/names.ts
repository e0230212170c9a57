/** The names of the measurements, apart from the code that takes them: readers of figures need no servers. */

/** Measurements that are taken on each engine, and those that are taken once. */
export const engineMeasurements = ['send', 'get', 'search', 'drain', 'lag', 'streams', 'start'] as const;
export const growthMeasurements = ['growth-messages', 'growth-webhooks', 'growth-chats', 'growth-connections'] as const;
export const singleMeasurements = ['token-check', 'cliff', 'idle-webhooks', 'files', 'slow-disk', 'cluster'] as const;

const both = (name: string): string[] => [`${name}-sqlite`, `${name}-postgres`];

/** Taken if no name is given, in this order. */
export const usualNames: readonly string[] = [
  ...[...both('send'), 'token-check', ...both('get'), ...both('search'), 'cliff', ...both('drain'), ...both('lag')],
  ...['idle-webhooks', 'files', ...both('streams'), 'slow-disk', 'cluster', ...both('start')],
];

/** Taken only by name: they take long. */
export const longNames: readonly string[] = growthMeasurements.flatMap(both);

export const measurementNames: readonly string[] = [...usualNames, ...longNames];
