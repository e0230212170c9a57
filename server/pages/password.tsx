/** @jsxImportSource hono/jsx */
import { ParleyError } from '@parley/contract';
import { checkLink } from '../auth/links.ts';
import { changePassword, resetPassword } from '../auth/password-change.ts';
import { findUser, type UserRow } from '../store/access/users.ts';
import { letIn } from './arrival.ts';
import { keepSession } from './cookies.ts';
import type { Faults } from './form.ts';
import { gone } from './gone.tsx';
import { NewPassword, readNewPassword, WhosePassword } from './new-password.tsx';
import { Field, Notice } from './parts.tsx';
import { formOf, type PageContext, requireSignedIn, type Site, type SiteDeps, show } from './site.tsx';
import { inWords } from './waiting.ts';

const section = '/password';

export function passwordPages(site: Site, deps: SiteDeps): void {
  site.get('/password', (c) => {
    const { user } = requireSignedIn(c);
    return askForChange(c, user);
  });

  site.post('/password', async (c) => {
    const { user, actor, caller } = requireSignedIn(c);
    const form = formOf(c);
    const chosen = readNewPassword(form);
    const current = form.get('current');
    if (!chosen.ok || current === '') {
      const faults = { ...(current === '' && { current: 'is required' }), ...(!chosen.ok && chosen.faults) };
      return askForChange(c, user, { faults, status: 422 });
    }
    const result = await changePassword(deps.services, actor, caller.tokenId, { current, next: chosen.value });
    switch (result.outcome) {
      case 'changed':
        keepSession(c, deps, result.session);
        return changed(c);
      case 'wrong password':
        return askForChange(c, user, { faults: { current: 'is not your password' }, status: 422 });
      case 'throttled':
        c.header('retry-after', String(result.retrySeconds));
        return askForChange(c, user, {
          refusal: `There were too many attempts. Try again in ${inWords(result.retrySeconds)}.`,
          status: 429,
        });
    }
  });

  site.get('/password-link/:secret', async (c) => {
    const user = await userOfLink(deps, c.req.param('secret'));
    return user ? askWithLink(c, user) : unusable(c);
  });

  site.post('/password-link/:secret', async (c) => {
    const secret = c.req.param('secret');
    const user = await userOfLink(deps, secret);
    if (!user) return unusable(c);
    const chosen = readNewPassword(formOf(c));
    if (!chosen.ok) return askWithLink(c, user, chosen.faults);
    try {
      return await letIn(c, deps, await resetPassword(deps.services, secret, chosen.value, c.env.context.clientIp()));
    } catch (error) {
      if (error instanceof ParleyError && error.code === 'not_found') return unusable(c);
      throw error;
    }
  });
}

/** Returns the user of a password link, or undefined if the link does not work. */
async function userOfLink({ services }: SiteDeps, secret: string): Promise<UserRow | undefined> {
  const link = await checkLink(services, 'password', secret);
  const user = link?.user_id ? await findUser(services.engine, link.user_id) : undefined;
  return user?.disabled_at === null ? user : undefined;
}

function askForChange(
  c: PageContext,
  user: UserRow,
  { faults, refusal, status }: { faults?: Faults; refusal?: string; status?: number } = {},
): Promise<Response> {
  return show(
    c,
    { title: 'Change your password', section },
    <div class="column">
      {refusal && <Notice kind="bad">{refusal}</Notice>}
      <p class="lead">This signs you out of all other browsers.</p>
      <form method="post" action="/password" class="card">
        <WhosePassword name={user.name} />
        <Field
          name="current"
          label="Current password"
          type="password"
          faults={faults}
          autocomplete="current-password"
          autofocus
        />
        <NewPassword label="New password" faults={faults} />
        <button type="submit">Change the password</button>
      </form>
    </div>,
    status,
  );
}

function changed(c: PageContext): Promise<Response> {
  return show(
    c,
    { title: 'Your password is changed', section },
    <div class="column">
      <Notice kind="good">You stay signed in here. Every other browser was signed out.</Notice>
      <p>
        Apps and access tokens keep working. If one may have leaked, revoke it under <a href="/access">Access</a>.
      </p>
    </div>,
  );
}

function askWithLink(c: PageContext, user: UserRow, faults?: Faults): Promise<Response> {
  return show(
    c,
    { title: 'Choose a new password', plain: true },
    <>
      <p class="lead">
        For the account <bdi class="name">{user.name}</bdi>. This signs out all browsers.
      </p>
      <form method="post" action={c.req.path} class="card">
        <WhosePassword name={user.name} />
        <NewPassword label="New password" faults={faults} autofocus />
        <button type="submit">Set the password</button>
      </form>
    </>,
    faults ? 422 : 200,
  );
}

const unusable = (c: PageContext): Promise<Response> =>
  gone(
    c,
    'This link does not work',
    <p>It was used, has expired, or was replaced by a newer one. Ask an administrator for another.</p>,
  );
