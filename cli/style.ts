import type { Environment, Output } from './context.ts';

/** Codes that begin and end a style (ECMA-48). */
const codes = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39] } as const;

export type StyleName = keyof typeof codes;
export type Style = (name: StyleName, text: string) => string;

/** Returns a function that styles text on a terminal, and returns it unchanged elsewhere. NO_COLOR is a convention: no-color.org. */
export function styleFor(output: Output, env: Environment): Style {
  if (!output.isTTY || env.NO_COLOR || env.TERM === 'dumb') return (_, text) => text;
  return (name, text) => (text === '' ? '' : `\x1b[${codes[name][0]}m${text}\x1b[${codes[name][1]}m`);
}

/** The styles of words that say how something is. */
export const stateStyles: Readonly<Record<string, StyleName>> = {
  active: 'green',
  ready: 'green',
  delivered: 'green',
  completed: 'green',
  down: 'red',
  'not ready': 'red',
  disabled: 'red',
  failed: 'red',
  retrying: 'yellow',
  pending: 'yellow',
  waiting: 'yellow',
  paused: 'yellow',
  running: 'yellow',
};
