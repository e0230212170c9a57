/** @jsxImportSource hono/jsx */
import { signOut } from '../auth/sessions.ts';
import { signIn } from '../auth/sign-in.ts';
import { letIn } from './arrival.ts';
import { deviceOf, dropSession } from './cookies.ts';
import { localPath, withNext } from './next.ts';
import { DoneNotice } from './notices.tsx';
import { Field, Notice } from './parts.tsx';
import { formOf, type PageContext, type Site, type SiteDeps, show, sourceOf } from './site.tsx';
import { inWords } from './waiting.ts';

interface Prompt {
  readonly next: string;
  readonly name?: string;
  readonly refusal?: string;
  readonly status?: number;
}

export function signInPages(site: Site, deps: SiteDeps): void {
  site.get('/sign-in', async (c) => {
    const next = localPath(c.var.origin, c.req.query('next'));
    return c.var.who ? c.redirect(next, 303) : ask(c, deps, { next });
  });

  site.post('/sign-in', async (c) => {
    const form = formOf(c);
    const next = localPath(c.var.origin, form.get('next'));
    const name = form.get('name').trim();
    const result = await signIn(deps.services, {
      name,
      password: form.get('password'),
      device: deviceOf(c, deps),
      ...sourceOf(c),
    });
    switch (result.outcome) {
      case 'signed in':
        return letIn(c, deps, result, next);
      case 'refused':
        return ask(c, deps, { next, name, refusal: 'The name or the password is wrong.', status: 422 });
      case 'throttled':
        c.header('retry-after', String(result.retrySeconds));
        return ask(c, deps, {
          next,
          name,
          refusal: `There were too many attempts. Try again in ${inWords(result.retrySeconds)}.`,
          status: 429,
        });
    }
  });

  site.post('/sign-out', async (c) => {
    const next = localPath(c.var.origin, formOf(c).get('next'));
    const { who } = c.var;
    if (who) await signOut(deps.services, who.actor, who.caller.tokenId);
    dropSession(c, deps);
    return c.redirect(withNext('/sign-in', next), 303);
  });
}

function ask(c: PageContext, deps: SiteDeps, { next, name = '', refusal, status }: Prompt): Promise<Response> {
  const described = refusal && 'refusal';
  return show(
    c,
    { title: 'Sign in', plain: true },
    <>
      <DoneNotice c={c} />
      {refusal && (
        <Notice kind="bad" id="refusal">
          {refusal}
        </Notice>
      )}
      <form method="post" action="/sign-in" class="card">
        <input type="hidden" name="next" value={next} />
        <Field
          name="name"
          label="Name"
          value={name}
          autocomplete="username"
          autofocus={name === ''}
          describedBy={described}
        />
        <Field
          name="password"
          label="Password"
          type="password"
          autocomplete="current-password"
          autofocus={name !== ''}
          describedBy={described}
        />
        <button type="submit">Sign in</button>
      </form>
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
    status,
  );
}
