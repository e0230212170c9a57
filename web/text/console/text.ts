import { en } from './en.ts';

/** All texts of the console. They are loaded with it, and not with the first view. */
export type ConsoleText = typeof en;

/** The texts in the language of the reader. Another language is one more file, as in `../text.ts`. */
export const consoleText: ConsoleText = en;
