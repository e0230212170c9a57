import { en } from './en.tsx';

/** All texts around the API reference and the guides, which are English themselves. They are loaded with them. */
export type DocsText = typeof en;

export const docsText: DocsText = en;
