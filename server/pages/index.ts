import { type Fetch, pipeline } from '../http/pipeline.ts';
import { asParleyError, failure } from '../http/responses.ts';
import { adminUserPages } from './admin-users.tsx';
import { assetPages } from './assets.ts';
import { confirmPages } from './confirm.tsx';
import { consentPages } from './consent.tsx';
import { devicePages } from './device.tsx';
import { homePages } from './home.tsx';
import { movedPages } from './moved.ts';
import { passwordPages } from './password.tsx';
import { sessionPages } from './sessions.tsx';
import { setupPages } from './setup.tsx';
import { signInPages } from './sign-in.tsx';
import { signUpPages } from './sign-up.tsx';
import { buildSite, type Site, type SiteDeps, wantsHtml } from './site.ts';

const groups = [
  homePages,
  setupPages,
  signInPages,
  signUpPages,
  passwordPages,
  confirmPages,
  consentPages,
  devicePages,
  sessionPages,
  adminUserPages,
  movedPages,
];

export const buildPages = (deps: SiteDeps): Site =>
  buildSite(deps, (site) => {
    assetPages(site);
    for (const group of groups) group(site, deps);
  });

/** Serves the pages for people. */
export function servePages(deps: SiteDeps): Fetch {
  const site = buildPages(deps);
  return pipeline(deps, {
    respond: (context) => site.fetch(context.request, { context }),
    // The site has an error page of its own. This is for a request that does not get there, such as one for another host.
    fail: (thrown, context) => {
      const error = asParleyError(thrown);
      const response = failure(error, context);
      if (!wantsHtml(context.request)) return response;
      response.headers.set('content-type', 'text/plain; charset=utf-8');
      return new Response(`${error.message}\n`, { status: response.status, headers: response.headers });
    },
  });
}
