/** @jsxImportSource hono/jsx */
import { Notice } from './parts.tsx';
import type { PageContext } from './site.ts';

/** The notices of pages. URLs choose one by its key, and cannot contain other text. */
const notices = {
  'session-ended': 'That browser was signed out.',
  'other-sessions-ended': 'All other browsers were signed out. You stay signed in here.',
  'user-created': 'The user is created.',
  'user-disabled': 'The user is disabled, and all access ended at once.',
  'user-enabled': 'The user is enabled again.',
  'administrator-made': 'The user is an administrator now.',
  'administrator-unmade': 'The user is no longer an administrator.',
  'stepped-down': 'You are no longer an administrator.',
  'signed-out': 'You were signed out, and the form was not sent. Sign in to continue.',
  'password-reset':
    'Your password is set. All other sessions, your access tokens and the access of all apps ended. Apps that were registered with an access token, and that you had not confirmed, were deleted. Tokens of your bots keep working.',
  'not-sent': 'The form was not sent. Enter your password, and send it again.',
} as const;

export type Done = keyof typeof notices;

/** Redirects to a page that shows the notice. */
export const goTo = (c: PageContext, path: string, done: Done): Response => c.redirect(`${path}?done=${done}`, 303);

/** Returns the notice that the URL names. */
export function doneIn(c: PageContext): Done | undefined {
  const done = c.req.query('done') ?? '';
  return c.req.method === 'GET' && Object.hasOwn(notices, done) ? (done as Done) : undefined;
}

/** The notice that the URL names. */
export function DoneNotice({ c }: { c: PageContext }) {
  const done = doneIn(c);
  if (done === undefined) return null;
  return <Notice kind={done === 'signed-out' || done === 'not-sent' ? 'bad' : 'good'}>{notices[done]}</Notice>;
}
