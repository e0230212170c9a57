import { en } from './en.tsx';

/** All texts that people read and hear on the account pages. */
export type Text = typeof en;

/** The texts in the language of the readers. Another language is one more file, as in `web/text/text.ts`. */
export const text: Text = en;
