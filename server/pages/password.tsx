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
import { text } from './text/text.ts';

const words = text.password;

const section = '/password';

const passwordLink: LinkPages = {
  kind: 'password',
  title: text.links.password.title,
  why: <p>{text.links.password.why}</p>,
};

export function passwordPages(site: Site, deps: SiteDeps): void {
  const { services } = deps;

  site.get('/password', (c) => changePage(c, requireSignedIn(c).user));

  site.post('/password', async (c) => {
    const { user, actor, caller } = requireSignedIn(c);
    const { form } = c.var;
    const result = await attempt(c, async () => {
      const current = form.get('current');
      if (current === '') throw invalidField('current', text.fields.faults.required);
      const passwords = { current, next: readNewPassword(form) };
      const changed = await changePassword(services, actor, caller.tokenId, passwords, sourceOf(c));
      if (changed.outcome === 'wrong password') throw invalidField('current', text.fields.faults.notYours);
      return changed;
    });
    if (result instanceof RejectedForm) return changePage(c, user, result);
    if (result.outcome === 'throttled') {
      return changePage(c, user, throttled(c, text.fields.throttles.attempts, result.retrySeconds));
    }
    keepSession(c, deps, result);
    forgetRecords(c);
    return changedPage(c);
  });

  /** Returns the user of a link. Throws `not_found` if the user cannot sign in. */
  const userOf = async (link: LinkRow): Promise<UserRow> => {
    const user = link.user_id ? await findUser(services.engine, link.user_id) : undefined;
    if (user?.disabled_at !== null) throw new ParleyError('not_found', text.errors.noUser);
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
    { title: words.title, section },
    <div class="room">
      <p class="lead">{words.about}</p>
      <PostForm action="/password" button={words.change} rejected={rejected} class="card">
        <PasswordOwner name={user.name} />
        <Field
          name="current"
          label={words.current}
          type="password"
          rejected={rejected}
          autocomplete="current-password"
          autofocus
        />
        <NewPassword label={words.new} rejected={rejected} />
      </PostForm>
    </div>,
    rejected?.status,
  );
}

function changedPage(c: PageContext): Promise<Response> {
  const { title, notice, tokens, notifications } = words.changed;
  return show(
    c,
    { title, section },
    <div class="room">
      <Notice kind="good">{notice}</Notice>
      <p>
        {tokens((place) => (
          <a href="/console/tokens">{place}</a>
        ))}
      </p>
      <p>
        {notifications((place) => (
          <a href="/settings/notifications">{place}</a>
        ))}
      </p>
    </div>,
  );
}

function linkPage(c: PageContext, user: UserRow, rejected?: RejectedForm): Promise<Response> {
  const { title, about, set } = words.reset;
  return show(
    c,
    { title, plain: true },
    <>
      <p class="lead">{about(<bdi class="name">{user.name}</bdi>)}</p>
      <PostForm action={c.req.path} button={set} rejected={rejected} class="card">
        <PasswordOwner name={user.name} />
        <NewPassword label={words.new} rejected={rejected} autofocus />
      </PostForm>
    </>,
    rejected?.status,
  );
}
