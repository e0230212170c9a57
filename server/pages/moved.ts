import type { Site } from './site.ts';

/** Pages that the console has replaced. Old messages and bookmarks lead to them. */
const moved: Readonly<Record<string, string>> = {
  '/access': '/console/tokens',
  '/bots': '/console/bots',
  '/bots/:id': '/console/bots/:id',
  '/apps': '/console/apps',
  '/apps/new': '/console/apps',
  '/apps/:id': '/console/apps/:id',
  '/admin': '/console/overview',
  '/admin/use': '/console/storage',
  '/admin/audit': '/console/audit',
  '/admin/invitations': '/console/people',
  '/admin/webhooks': '/console/webhooks',
  '/admin/webhooks/new': '/console/webhooks',
};

export function movedPages(site: Site): void {
  for (const [from, to] of Object.entries(moved)) {
    site.get(from, (c) => {
      const path = to.replace(':id', () => encodeURIComponent(c.req.param('id') ?? ''));
      return c.redirect(`${path}${new URL(c.req.url).search}`, 303);
    });
  }
}
