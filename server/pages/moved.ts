import type { Site } from './site.ts';

/** Pages that the console has replaced. Links to them are in old messages and bookmarks. */
const moved: Readonly<Record<string, string>> = {
  '/admin/audit': '/console/audit',
  '/admin/invitations': '/console/people',
  '/admin/webhooks': '/console/webhooks',
  '/admin/webhooks/new': '/console/webhooks',
};

export function movedPages(site: Site): void {
  for (const [from, to] of Object.entries(moved))
    site.get(from, (c) => c.redirect(`${to}${new URL(c.req.url).search}`, 303));
}
