import { accessPages } from './access.tsx';
import { adminUserPages } from './admin-users.tsx';
import { appPages } from './apps.tsx';
import { assetPages } from './assets.ts';
import { auditPages } from './audit.tsx';
import { botPages } from './bots.tsx';
import { consentPages } from './consent.tsx';
import { homePages } from './home.tsx';
import { invitationPages } from './invitations.tsx';
import { passwordPages } from './password.tsx';
import { setupPages } from './setup.tsx';
import { signInPages } from './sign-in.tsx';
import { signUpPages } from './sign-up.tsx';
import { buildSite, type Site, type SiteParts } from './site.tsx';

/** Every group of pages. Finding one by its address is Hono's. */
const groups = [
  homePages,
  setupPages,
  signInPages,
  signUpPages,
  passwordPages,
  consentPages,
  accessPages,
  appPages,
  botPages,
  adminUserPages,
  invitationPages,
  auditPages,
];

export const buildPages = (parts: SiteParts): Site =>
  buildSite(parts, (site) => {
    assetPages(site);
    for (const group of groups) group(site, parts);
  });
