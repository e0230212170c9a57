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
import { text } from './text/text.ts';

const words = text.signIn;

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

function refusal(c: PageContext, result: Exclude<SignIn, { outcome: 'signed in' }>): RejectedForm {
  if (result.outcome === 'throttled') return throttled(c, text.fields.throttles.attempts, result.retrySeconds);
  return result.outcome === 'disabled'
    ? new RejectedForm(c.var.form, 403, words.disabled)
    : new RejectedForm(c.var.form, 422, words.wrong);
}

/** Says why the person is here: the notice of a redirect, or the end of the browser's session. */
async function reason(c: PageContext, deps: SiteDeps) {
  const end = await sessionEnd(c, deps);
  if (end === 'disabled') return <Notice kind="bad">{words.disabled}</Notice>;
  if (end === undefined || doneIn(c)) return <DoneNotice c={c} />;
  return <Notice kind="good">{words.signedOut}</Notice>;
}

async function signInPage(c: PageContext, deps: SiteDeps, next: string, rejected?: RejectedForm): Promise<Response> {
  return show(
    c,
    { title: words.title, plain: true, script: forgetScriptFor(c) },
    <>
      {!rejected && (await reason(c, deps))}
      <PostForm action="/sign-in" button={text.common.signIn} rejected={rejected} class="card">
        <input type="hidden" name="next" value={next} />
        <Field name="name" label={words.name} rejected={rejected} autocomplete="username" autofocus={!rejected} />
        <Field
          name="password"
          label={text.common.password}
          type="password"
          rejected={rejected}
          autocomplete="current-password"
          isFirst
        />
      </PostForm>
      <div class="aside">
        {deps.signUp === 'open' && (
          <p>
            {words.noAccount((signUp) => (
              <a href={withNext('/sign-up', next)}>{signUp}</a>
            ))}
          </p>
        )}
        {deps.signUp === 'invitation' && <p>{words.noInvitation}</p>}
        <p>{words.forgotten}</p>
      </div>
    </>,
    rejected?.status,
  );
}
