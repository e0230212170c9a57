import { en } from './en.tsx';

/** All texts about incoming webhooks. They are loaded with their window, and not with the first view. */
export type HooksText = typeof en;

/** The texts in the language of the reader. Another language is one more file, as in `../text.ts`. */
export const hooksText: HooksText = en;
