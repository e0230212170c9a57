/** @jsxImportSource hono/jsx */
import { invalidField, ParleyError } from '@parley/contract';
import { changePassword, resetPassword } from '../auth/password-change.ts';
import type { LinkRow } from '../store/access/links.ts';
import { findUser, type UserRow } from '../store/access/users.ts';
import { NewPassword, PasswordOwner, readNewPassword } from './account-fields.tsx';
import { Field, PostForm } from './fields.tsx';
import { attempt, RejectedForm, throttled } from './form.ts';
import { show } from './layout.tsx';
import { type LinkPages, withLink } from './links.tsx';
import { Notice } from './parts.tsx';
import { forgetRecords, keepSession, letIn } from './session.ts';
import { type PageContext, requireSignedIn, type Site, type SiteDeps, sourceOf } from './site.ts';

const section = '/password';

const passwordLink: LinkPages = {
  kind: 'password',
  title: 'This link does not work',
  why: <p>It was used, has expired, or was replaced by a newer one. Ask an administrator for another.</p>,
};

export function passwordPages(site: Site, deps: SiteDeps): void {
  const { services } = deps;

  site.get('/password', (c) => changePage(c, requireSignedIn(c).user));

  site.post('/password', async (c) => {
    const { user, actor, caller } = requireSignedIn(c);
    const { form } = c.var;
    const result = await attempt(c, async () => {
      const current = form.get('current');
      if (current === '') throw invalidField('current', 'is required');
      const passwords = { current, next: readNewPassword(form) };
      const changed = await changePassword(services, actor, caller.tokenId, passwords, sourceOf(c));
      if (changed.outcome === 'wrong password') throw invalidField('current', 'is not your password');
      return changed;
    });
    if (result instanceof RejectedForm) return changePage(c, user, result);
    if (result.outcome === 'throttled') {
      return changePage(c, user, throttled(c, 'There were too many attempts.', result.retrySeconds));
    }
    keepSession(c, deps, result);
    forgetRecords(c);
    return changedPage(c);
  });

  /** Returns the user of a link. Throws `not_found` if the user cannot sign in. */
  const userOf = async (link: LinkRow): Promise<UserRow> => {
    const user = link.user_id ? await findUser(services.engine, link.user_id) : undefined;
    if (user?.disabled_at !== null) throw new ParleyError('not_found', 'There is no such user.');
    return user;
  };

  site.get('/password-link/:secret', (c) =>
    withLink(c, deps, passwordLink, async (_, link) => linkPage(c, await userOf(link))),
  );

  site.post('/password-link/:secret', (c) =>
    withLink(c, deps, passwordLink, async (secret, link) => {
      const user = await userOf(link);
      const arrival = await attempt(c, () => resetPassword(services, secret, readNewPassword(c.var.form), sourceOf(c)));
      return arrival instanceof RejectedForm
        ? linkPage(c, user, arrival)
        : letIn(c, deps, arrival, '/settings?done=password-reset');
    }),
  );
}

function changePage(c: PageContext, user: UserRow, rejected?: RejectedForm): Promise<Response> {
  return show(
    c,
    { title: 'Change your password', section },
    <div class="room">
      <p class="lead">This signs you out of all other browsers.</p>
      <PostForm action="/password" button="Change the password" rejected={rejected} class="card">
        <PasswordOwner name={user.name} />
        <Field
          name="current"
          label="Current password"
          type="password"
          rejected={rejected}
          autocomplete="current-password"
          autofocus
        />
        <NewPassword label="New password" rejected={rejected} />
      </PostForm>
    </div>,
    rejected?.status,
  );
}

function changedPage(c: PageContext): Promise<Response> {
  return show(
    c,
    { title: 'Your password is changed', section },
    <div class="room">
      <Notice kind="good">You stay signed in here. Every other browser was signed out.</Notice>
      <p>
        Apps and access tokens keep working. If one may have leaked, revoke it under{' '}
        <a href="/console/tokens">Access tokens</a>.
      </p>
      <p>
        If notifications were on in this browser, turn them on again under{' '}
        <a href="/settings/notifications">Notifications</a>.
      </p>
    </div>,
  );
}

function linkPage(c: PageContext, user: UserRow, rejected?: RejectedForm): Promise<Response> {
  return show(
    c,
    { title: 'Choose a new password', plain: true },
    <>
      <p class="lead">
        For the account <bdi class="name">{user.name}</bdi>. This signs out all browsers, and ends your access tokens
        and the access of all apps. Access tokens of your bots keep working.
      </p>
      <PostForm action={c.req.path} button="Set the password" rejected={rejected} class="card">
        <PasswordOwner name={user.name} />
        <NewPassword label="New password" rejected={rejected} autofocus />
      </PostForm>
    </>,
    rejected?.status,
  );
}
