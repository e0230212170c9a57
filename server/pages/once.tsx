/** @jsxImportSource hono/jsx */
import { hashToken, newSecret } from '../auth/access-token.ts';
import type { AccessServices } from '../auth/services.ts';
import { clearThrottle, takeAttempt } from '../store/throttles.ts';
import type { Form } from './form.ts';
import { PageRefusal } from './refusal.tsx';

/**
 * A form whose answer shows a secret is good for one time: a browser that loads the answer anew sends the form again, and
 * nobody wants a second secret by that. Who sends one without the mark is a program, and means it. Without `autocomplete`
 * Firefox would put the mark of an earlier form into a new one.
 */
export const Once = ({ by }: { by: Pick<AccessServices, 'random'> }) => (
  <input type="hidden" name="once" value={newSecret('link', by.random)} autocomplete="off" />
);

const oneADay = { burst: 1, everyMs: 24 * 3_600_000 };

/** Does what a form asks for, unless that was done already. What fails may be tried again with the same form. */
export async function once<T>({ engine, now }: AccessServices, form: Form, work: () => Promise<T>): Promise<T> {
  const mark = form.get('once');
  if (mark === '') return work();
  const key = `form ${hashToken(mark)}`;
  if ((await engine.write((tx) => takeAttempt(tx, key, oneADay, now()))) > 0) {
    const message = 'This was done already. What it made was shown once.';
    throw new PageRefusal('conflict', message, { title: 'Done already' });
  }
  try {
    return await work();
  } catch (error) {
    await engine.write((tx) => clearThrottle(tx, key));
    throw error;
  }
}
