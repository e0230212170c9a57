import type { Token } from '@parley-chat/sdk/operations.ts';
import { consoleText } from '../../../text/console/text.ts';

export type Scope = Token['scopes'][number];

/** In the order of the form. */
export const scopeNames = Object.keys(consoleText.access.scopes) as readonly Scope[];

/** What a bot can never do. */
const forPeople: readonly Scope[] = ['apps', 'admin'];

/** Returns the scopes that a token of this user can have. */
export const scopesFor = (whose: { readonly isBot: boolean; readonly isAdmin: boolean }): readonly Scope[] =>
  scopeNames.filter((scope) => (whose.isBot ? !forPeople.includes(scope) : whose.isAdmin || scope !== 'admin'));

const presets = {
  read: ['messages:read', 'chats:read'],
  bot: ['messages:read', 'messages:write', 'chats:read', 'files', 'webhooks'],
  all: scopeNames.filter((scope) => scope !== 'admin'),
} as const satisfies Record<string, readonly Scope[]>;

export type Preset = keyof typeof presets;
export const presetNames = Object.keys(presets) as readonly Preset[];

/** Returns the scopes of a preset. Administration is never part of one. */
export const scopesOf = (preset: Preset, offered: readonly Scope[]): readonly Scope[] =>
  offered.filter((scope) => (presets[preset] as readonly Scope[]).includes(scope));

/** Returns the preset with exactly these scopes. */
export const presetOf = (scopes: ReadonlySet<Scope>, offered: readonly Scope[]): Preset | undefined =>
  presetNames.find((preset) => {
    const own = scopesOf(preset, offered);
    return own.length === scopes.size && own.every((scope) => scopes.has(scope));
  });
