import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@parley/server/test/support/cleanup.ts';
import type { Client } from '@parley/server/test/support/client.ts';
import { type Environment, freshEnvironment } from '@parley/server/test/support/engines.ts';
import { startServer, type TestServer } from '@parley/server/test/support/server.ts';

/** Two people in a group of their own, and the environment in which the first of them listens. */
export interface Scene {
  readonly ada: Client;
  readonly bob: Client;
  readonly chatId: number;
  readonly env: Environment;
  readonly names: { readonly ada: string; readonly bob: string };
  send(content: string): Promise<number>;
}

let scenes = 0;

export async function sceneOn(server: TestServer): Promise<Scene> {
  const mark = ++scenes;
  const names = { ada: `ada${mark}`, bob: `bob${mark}` };
  const [ada, bob] = [await server.user(names.ada), await server.user(names.bob)];
  const { group } = await bob.ok('messages.create_group', { name: 'Launch 🚀', participants: [ada.userId] });
  return {
    ada,
    bob,
    chatId: group.chat_id,
    names,
    env: {
      PARLEY_URL: server.url,
      PARLEY_TOKEN: ada.token,
      XDG_STATE_HOME: temporaryFolder(),
      TZ: 'Asia/Tokyo',
    },
    send: async (content) => {
      const { message } = await bob.ok('messages.send_message', { chat_id: group.chat_id, content });
      return message.message_id;
    },
  };
}

/** A server that ends with its test. */
export async function ownServer(extra: Environment = {}) {
  const server = await startServer({ ...(await freshEnvironment('sqlite')), ...extra });
  return { server, [Symbol.asyncDispose]: () => server.stop() };
}

/** Bytes of uploads under way that are in a data folder. */
export function incomingBytes({ PARLEY_DATA = '' }: Environment): number {
  const incoming = join(PARLEY_DATA, 'files/incoming');
  return readdirSync(incoming).reduce((sum, name) => sum + statSync(join(incoming, name)).size, 0);
}
