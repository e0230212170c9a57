import { en } from './en.tsx';

/** All texts that people read and hear in the client. */
export type Text = typeof en;

/**
 * The texts in the language of the reader. Another language is a file beside `en.tsx` with one constant of type `Text`, and
 * the choice between the two in this line. The compiler then names every text that is missing.
 */
export const text: Text = en;
