import type { NamedOperation } from '../table.ts';

/** Returns `SendMessage` for `send_message`. */
export const pascalCase = (words: string): string =>
  words.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());

/** Returns `SendMessage` for `messages.send_message`, and `ChatsList` for `chats.list`. */
export function schemaName(row: Pick<NamedOperation, 'resource' | 'action'>): string {
  return pascalCase(row.resource === 'messages' ? row.action : `${row.resource}_${row.action}`);
}

/**
 * Returns `sendMessage` for `messages.send_message`, and `chatsList` for `chats.list`. Generators split camelCase into the
 * words of their language: `send_message` in Python, `SendMessage` in Go.
 */
export function operationId(row: Pick<NamedOperation, 'resource' | 'action'>): string {
  const name = schemaName(row);
  return name.charAt(0).toLowerCase() + name.slice(1);
}
