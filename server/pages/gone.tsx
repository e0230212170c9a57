/** @jsxImportSource hono/jsx */
import type { Child } from 'hono/jsx';
import { Notice } from './parts.tsx';
import { type PageContext, show } from './site.tsx';

/**
 * A link that does not work, or no longer. Whoever sends its form twice, as by a double click, sees only the answer to the
 * second: it has to say that the first may have done all.
 */
export function gone(c: PageContext, title: string, why: Child): Promise<Response> {
  const wasSent = c.req.method === 'POST';
  return show(
    c,
    { title, plain: true },
    <>
      {wasSent && <Notice kind="good">If you have just sent this form, it worked: sign in.</Notice>}
      <div class="card">
        {wasSent && <SignIn prominent />}
        {why}
        {!wasSent && <SignIn />}
      </div>
    </>,
    404,
  );
}

const SignIn = ({ prominent }: { prominent?: boolean }) => (
  <p>
    <a href="/sign-in" class={prominent ? 'button' : undefined}>
      Sign in
    </a>
  </p>
);
