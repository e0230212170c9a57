import { en } from './en.tsx';

/** All texts of the settings. They are loaded with them, and not with the first view. */
export type SettingsText = typeof en;

/** The texts in the language of the reader. Another language is one more file, as in `../text.ts`. */
export const settingsText: SettingsText = en;
