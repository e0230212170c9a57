import { en } from './en.tsx';

/** All texts of administration. They are loaded with its pages. */
export type AdminText = typeof en;

/** The texts in the language of the reader. Another language is one more file, as in `../../text.ts`. */
export const adminText: AdminText = en;
