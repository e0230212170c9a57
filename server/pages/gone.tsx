/** @jsxImportSource hono/jsx */
import type { Child } from 'hono/jsx';
import { Notice } from './parts.tsx';
import { type PageContext, show } from './site.tsx';

/** The page of a link that does not work. After a double click people see only the second response, so a POST says that the first one may have worked. */
export function gone(c: PageContext, title: string, why: Child): Promise<Response> {
  const wasSent = c.req.method === 'POST';
  return show(
    c,
    { title, plain: true },
    <>
      {wasSent && <Notice kind="good">If you just sent this form, it worked. Sign in.</Notice>}
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
