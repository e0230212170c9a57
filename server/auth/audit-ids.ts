import type { AuditDetails } from './audit.ts';

/** The details of audit entries that are ids, and of what. */
const idDetails: Readonly<Record<string, 'users' | 'apps'>> = {
  user_id: 'users',
  bot_id: 'users',
  owner_id: 'users',
  actor_id: 'users',
  invited_by: 'users',
  app_id: 'apps',
};

/** Returns the ids of users or of apps in the details of an entry. */
export const idsIn = (details: AuditDetails, of: 'users' | 'apps'): number[] =>
  Object.entries(details).flatMap(([key, value]) => (idDetails[key] === of && typeof value === 'number' ? value : []));
