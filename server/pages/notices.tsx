/** @jsxImportSource hono/jsx */
import { Notice } from './parts.tsx';
import type { PageContext } from './site.ts';
import { text } from './text/text.ts';

const { notices } = text;

/** URLs choose a notice by its key, and cannot contain other text. */
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
