/** @jsxImportSource hono/jsx */
import { ParleyError } from '@parley/contract';
import { hasRecentPassword } from '../auth/recent-password.ts';
import { signIn } from '../auth/sign-in.ts';
import type { UserRow } from '../store/access/users.ts';
import { PasswordOwner } from './account-fields.tsx';
import { Field, PostForm } from './fields.tsx';
import { RejectedForm, throttled } from './form.ts';
import { show } from './layout.tsx';
import { confirmPath, localPath } from './next.ts';
import { DoneNotice } from './notices.tsx';
import { deviceOf, letIn } from './session.ts';
import { type PageContext, requireSignedIn, type Site, type SiteDeps, sourceOf } from './site.ts';
import { text } from './text/text.ts';

/** Asks a signed-in user for the password again. It is a sign-in: a new session replaces that of the browser. */
export function confirmPages(site: Site, deps: SiteDeps): void {
  site.get(confirmPath, async (c) => {
    const { user, caller } = requireSignedIn(c);
    const next = localPath(c.var.origin, c.req.query('next'));
    return hasRecentPassword(caller, deps.services.now()) ? c.redirect(next, 303) : confirmPage(c, user, next);
  });

  site.post(confirmPath, async (c) => {
    const { user } = requireSignedIn(c);
    const { origin, form } = c.var;
    const next = localPath(origin, form.get('next'));
    const device = deviceOf(c, deps);
    const { name } = user;
    const result = await signIn(deps.services, { name, password: form.get('password'), device, ...sourceOf(c) });
    if (result.outcome === 'signed in') return letIn(c, deps, result, next);
    // Disabled since the request began. The sign-in page says so.
    if (result.outcome === 'disabled') throw new ParleyError('unauthorized', text.errors.disabled);
    const rejected =
      result.outcome === 'refused'
        ? new RejectedForm(form, 422, undefined, { password: text.fields.faults.notYours })
        : throttled(c, text.fields.throttles.attempts, result.retrySeconds);
    return confirmPage(c, user, next, rejected);
  });
}

function confirmPage(c: PageContext, user: UserRow, next: string, rejected?: RejectedForm): Promise<Response> {
  return show(
    c,
    { title: text.confirm.title, plain: true },
    <>
      <DoneNotice c={c} />
      <p class="lead">{text.confirm.about(<bdi class="name">{user.name}</bdi>)}</p>
      <PostForm action={confirmPath} button={text.common.continue} rejected={rejected} class="card">
        <input type="hidden" name="next" value={next} />
        <PasswordOwner name={user.name} />
        <Field
          name="password"
          label={text.common.password}
          type="password"
          rejected={rejected}
          autocomplete="current-password"
          autofocus
        />
      </PostForm>
    </>,
    rejected?.status,
  );
}
