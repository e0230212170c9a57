/** @jsxImportSource hono/jsx */
import { hashToken, newSecret } from '../auth/access-token.ts';
import type { AccessServices } from '../auth/services.ts';
import { clearThrottle, takeAttempt } from '../store/access/throttles.ts';
import { PageError } from './error-page.tsx';
import type { Form } from './form.ts';
import { text } from './text/text.ts';

interface OnceProps {
  readonly by: Pick<AccessServices, 'random'>;
}

/**
 * Makes a form usable once. A browser that reloads the response sends the form again, and would create a second secret. A
 * request without the field is a program's, and is always executed. Without `autocomplete="off"` Firefox would restore an old value.
 */
export const Once = ({ by }: OnceProps) => (
  <input type="hidden" name="once" value={newSecret('link', by.random)} autocomplete="off" />
);

const oneADay = { burst: 1, everyMs: 24 * 3_600_000 };

/** Runs `work` once for each form. After a failure the same form can be sent again. Throws `conflict` otherwise. */
export async function once<T>({ engine, now }: AccessServices, form: Form, work: () => Promise<T>): Promise<T> {
  const mark = form.get('once');
  if (mark === '') return work();
  const key = `form ${hashToken(mark)}`;
  if ((await engine.write((tx) => takeAttempt(tx, key, oneADay, now()))) > 0) {
    const { title, message } = text.errors.sentTwice;
    throw new PageError('conflict', message, { title });
  }
  try {
    return await work();
  } catch (error) {
    await engine.write((tx) => clearThrottle(tx, key));
    throw error;
  }
}
