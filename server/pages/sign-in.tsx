/** @jsxImportSource hono/jsx */
import { type SignIn, signIn } from '../auth/sign-in.ts';
import { Field, PostForm } from './fields.tsx';
import { attempt, RejectedForm, throttled } from './form.ts';
import { show } from './layout.tsx';
import { localPath, withNext } from './next.ts';
import { DoneNotice, doneIn } from './notices.tsx';
import { Notice } from './parts.tsx';
import { deviceOf, forgetScriptFor, leave, letIn, sessionEnd } from './session.ts';
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
    const result = await attempt(c, () =>
      signIn(deps.services, { name, password: form.get('password'), device, ...sourceOf(c) }),
    );
    if (result instanceof RejectedForm) return signInPage(c, deps, next, result);
    if (result.outcome === 'signed in') return letIn(c, deps, result, next);
    return signInPage(c, deps, next, refusal(c, result));
  });

  site.post('/sign-out', (c) => leave(c, deps, localPath(c.var.origin, c.var.form.get('next'))));
}

const disabledWords = 'Your account is disabled, so you cannot sign in. Ask an administrator to enable it again.';

function refusal(c: PageContext, result: Exclude<SignIn, { outcome: 'signed in' }>): RejectedForm {
  if (result.outcome === 'throttled') return throttled(c, 'There were too many attempts.', result.retrySeconds);
  return result.outcome === 'disabled'
    ? new RejectedForm(c.var.form, 403, disabledWords)
    : new RejectedForm(c.var.form, 422, 'The name or the password is wrong.');
}

/** Says why the person is here: the notice of a redirect, or the end of the browser's session. */
async function reason(c: PageContext, deps: SiteDeps) {
  const end = await sessionEnd(c, deps);
  if (end === 'disabled') return <Notice kind="bad">{disabledWords}</Notice>;
  if (end === undefined || doneIn(c)) return <DoneNotice c={c} />;
  return <Notice kind="good">You were signed out in this browser. Sign in to continue.</Notice>;
}

async function signInPage(c: PageContext, deps: SiteDeps, next: string, rejected?: RejectedForm): Promise<Response> {
  return show(
    c,
    { title: 'Sign in', plain: true, script: forgetScriptFor(c) },
    <>
      {!rejected && (await reason(c, deps))}
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
