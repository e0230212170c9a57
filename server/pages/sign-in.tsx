/** @jsxImportSource hono/jsx */
import { signIn } from '../auth/sign-in.ts';
import { Field, PostForm } from './fields.tsx';
import { RejectedForm, throttled } from './form.ts';
import { show } from './layout.tsx';
import { localPath, withNext } from './next.ts';
import { DoneNotice } from './notices.tsx';
import { deviceOf, dropSession, endSession, forgetRecords, forgetScriptFor, letIn } from './session.ts';
import { type PageContext, type Site, type SiteDeps, sourceOf } from './site.ts';

export function signInPages(site: Site, deps: SiteDeps): void {
  site.get('/sign-in', async (c) => {
    const next = localPath(c.var.origin, c.req.query('next'));
    return c.var.who ? c.redirect(next, 303) : signInPage(c, deps, next);
  });

  site.post('/sign-in', async (c) => {
    const { origin, form } = c.var;
    const next = localPath(origin, form.get('next'));
    const name = form.get('name').trim();
    const device = deviceOf(c, deps);
    const result = await signIn(deps.services, { name, password: form.get('password'), device, ...sourceOf(c) });
    if (result.outcome === 'signed in') return letIn(c, deps, result, next);
    const rejected =
      result.outcome === 'refused'
        ? new RejectedForm(form, 422, 'The name or the password is wrong.')
        : throttled(c, 'There were too many attempts.', result.retrySeconds);
    return signInPage(c, deps, next, rejected);
  });

  site.post('/sign-out', async (c) => {
    await endSession(c, deps);
    dropSession(c, deps);
    forgetRecords(c);
    return c.redirect(withNext('/sign-in', localPath(c.var.origin, c.var.form.get('next'))), 303);
  });
}

function signInPage(c: PageContext, deps: SiteDeps, next: string, rejected?: RejectedForm): Promise<Response> {
  return show(
    c,
    { title: 'Sign in', plain: true, script: forgetScriptFor(c) },
    <>
      <DoneNotice c={c} />
      <PostForm action="/sign-in" button="Sign in" rejected={rejected} class="card">
        <input type="hidden" name="next" value={next} />
        <Field name="name" label="Name" rejected={rejected} autocomplete="username" autofocus={!rejected} />
        <Field
          name="password"
          label="Password"
          type="password"
          rejected={rejected}
          autocomplete="current-password"
          isFirst
        />
      </PostForm>
      <div class="aside">
        {deps.signUp === 'open' && (
          <p>
            No account yet? <a href={withNext('/sign-up', next)}>Sign up</a>
          </p>
        )}
        {deps.signUp === 'invitation' && <p>No account yet? Ask an administrator for an invitation.</p>}
        <p>Forgot your password? Ask an administrator for a link to choose a new one.</p>
      </div>
    </>,
    rejected?.status,
  );
}
