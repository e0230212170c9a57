import { BrowserLike } from '../../server/test/support/browser-like.ts';
import type { Client } from '../../server/test/support/client.ts';
import { text } from '../chaos/words.ts';
import type { Scene } from './scene.ts';

/** Something that people do all the time. */
export interface Act {
  /** How often, for each message that is sent. */
  readonly perSend: number;
  /** Throws where the server answers anything but what it must. */
  readonly run: (scene: Scene) => Promise<Outcome>;
}

/** `idle`: there was nothing to do it to. */
type Outcome = 'done' | 'idle';

const emoji = '🎉';

const done = (work: Promise<unknown>): Promise<Outcome> => work.then(() => 'done');

async function send(scene: Scene, author: Client, chat_id: number, more: { file_id?: number } = {}, key?: string) {
  const content = `${scene.next()} ${text(scene.random)}`;
  const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
  const call = () => author.ok('messages.send_message', { chat_id, content, ...more }, headers);
  const { message } = await call();
  scene.note({ message_id: message.message_id, chat_id, content });
  scene.messages.put({ message: { message_id: message.message_id, chat_id, content }, author });
  return { message, again: call };
}

/** Everything that goes on, and how much of each: a table, so that a new operation is a line. */
export const acts = {
  send: { perSend: 0.8, run: (scene) => done(send(scene, scene.anyone(), scene.anyGroup())) },
  sendWithKey: {
    perSend: 0.18,
    run: (scene) => done(send(scene, scene.anyone(), scene.anyGroup(), {}, crypto.randomUUID())),
  },
  sendTwice: {
    perSend: 0.02,
    run: async (scene) => {
      const { message, again } = await send(scene, scene.anyone(), scene.anyGroup(), {}, crypto.randomUUID());
      const second = await again();
      if (second.message.message_id !== message.message_id) throw new Error('one key gave two messages');
      return 'done';
    },
  },
  sendToQuietChat: {
    perSend: 0.002,
    run: (scene) => done(send(scene, scene.anyone(), scene.quiet)),
  },
  edit: {
    perSend: 0.06,
    run: async (scene) => {
      const live = scene.messages.take(scene.random);
      if (!live) return 'idle';
      const { message, author } = live;
      const edited = { ...message, content: `${message.content}, edited` };
      await author.ok('messages.edit_message', { message_id: message.message_id, content: edited.content });
      // It does not go back: each edit would make it longer.
      scene.note(edited);
      scene.changes.push({ event: 'message_edited', message_id: message.message_id });
      return 'done';
    },
  },
  delete: {
    perSend: 0.03,
    run: async (scene) => {
      const live = scene.messages.take(scene.random);
      if (!live) return 'idle';
      const { message, author } = live;
      await author.ok('messages.delete_message', { message_id: message.message_id });
      scene.note({ ...message, content: '' });
      scene.changes.push({ event: 'message_deleted', message_id: message.message_id });
      return 'done';
    },
  },
  react: {
    perSend: 0.06,
    run: async (scene) => {
      const live = scene.messages.take(scene.random);
      if (!live) return 'idle';
      const { message_id } = live.message;
      const by = scene.anyone();
      await by.ok('messages.add_reaction', { message_id, emoji });
      scene.changes.push({ event: 'reaction_added', message_id });
      scene.reacted.put({ ...live, by });
      return 'done';
    },
  },
  takeReactionBack: {
    perSend: 0.05,
    run: async (scene) => {
      const reacted = scene.reacted.take(scene.random);
      if (!reacted) return 'idle';
      const { message_id } = reacted.message;
      await reacted.by.ok('messages.remove_reaction', { message_id, emoji });
      scene.changes.push({ event: 'reaction_removed', message_id });
      return 'done';
    },
  },
  readNewest: {
    perSend: 0.2,
    run: (scene) => done(scene.anyone().ok('messages.get_messages', { chat_id: scene.anyGroup() })),
  },
  readOlder: {
    perSend: 0.05,
    run: async (scene) => {
      const live = scene.messages.take(scene.random);
      if (!live) return 'idle';
      const { chat_id, message_id } = live.message;
      await scene.anyone().ok('messages.get_messages', { chat_id, before_id: message_id, limit: 100 });
      await scene.anyone().ok('messages.get_message', { message_id });
      scene.messages.put(live);
      return 'done';
    },
  },
  markRead: {
    perSend: 0.1,
    run: (scene) => done(scene.anyone().ok('messages.mark_read', { chat_id: scene.anyGroup() })),
  },
  search: {
    perSend: 0.05,
    run: async (scene) => {
      const query = `${1 + Math.floor(scene.random() * 99)} plai`;
      await scene.anyone().ok('messages.search_messages', { query, chat_id: scene.anyGroup(), limit: 20 });
      return 'done';
    },
  },
  list: {
    perSend: 0.03,
    run: async (scene) => {
      await scene.anyone().ok('chats.list', {});
      await scene.anyone().ok('chats.participants', { chat_id: scene.anyGroup() });
      return 'done';
    },
  },
  comeOrGo: {
    perSend: 0.03,
    run: async (scene) => {
      const visit = scene.visits.take(scene.random);
      if (!visit) return 'idle';
      const { visitor, channel: chat_id, isThere } = visit;
      await visitor.ok(isThere ? 'chats.leave' : 'chats.join', { chat_id });
      visit.isThere = !isThere;
      scene.changes.push({ event: isThere ? 'user_left' : 'user_joined', chat_id, user_id: visitor.userId });
      scene.visits.put(visit);
      return 'done';
    },
  },
  sendFile: {
    perSend: 0.01,
    run: async (scene) => {
      const author = scene.anyone();
      const { bytes, fileId } = await upload(scene, author);
      await send(scene, author, scene.anyGroup(), { file_id: fileId });
      const there = await download(scene.anyone(), fileId);
      if (!bytes.equals(there)) throw new Error(`file ${fileId} has other bytes than were sent`);
      return 'done';
    },
  },
  uploadAndForget: {
    perSend: 0.01,
    run: (scene) => done(upload(scene, scene.anyone())),
  },
  makeToken: {
    perSend: 0.01,
    run: async (scene) => {
      const maker = scene.anyone();
      const { token, access_token } = await maker.ok('tokens.create', { name: 'for a moment' });
      const bearer = { authorization: `Bearer ${access_token}` };
      await maker.ok('users.me', {}, bearer);
      await maker.ok('tokens.revoke', { token_id: token.token_id });
      const { status } = await maker.call('users.me', {}, bearer);
      if (status !== 401) throw new Error(`a revoked token is answered with ${status}`);
      return 'done';
    },
  },
  signIn: {
    perSend: 0.001,
    run: async (scene) => {
      const { name, password } = scene.person;
      const browser = new BrowserLike(scene.people.owner.url);
      await browser.signIn(name, password);
      if ((await browser.signedInAs()) !== name) throw new Error('the right password does not sign in');
      await browser.post('/sign-out');
      return 'done';
    },
  },
} as const satisfies Readonly<Record<string, Act>>;

export type ActName = keyof typeof acts;

/** How often an upload is made that was given up. */
const mostUploads = 10;

/**
 * An upload that says nothing for a quarter of an hour is given up. A leap of the clock in its midst is such a silence where
 * a sweep comes at that moment: then it is made again.
 */
async function upload(scene: Scene, author: Client): Promise<{ bytes: Buffer; fileId: number }> {
  const bytes = Buffer.alloc(1_024 + Math.floor(scene.random() * 32_768), text(scene.random));
  const input = { file: new File([bytes], 'notes.txt') };
  for (let tries = 1; ; tries++) {
    const { status, body, error } = await author.call('files.upload', input);
    if (status === 200) return { bytes, fileId: body.file.file_id };
    const isGivenUp = error?.code === 'conflict' && tries < mostUploads;
    if (!isGivenUp) throw new Error(`files.upload: ${status} ${JSON.stringify(error)}`);
  }
}

/** The client of the tests leaves the bytes of a file alone. */
async function download({ url, token }: Client, fileId: number): Promise<Buffer> {
  const address = `${url}/api/files.php?action=download&file_id=${fileId}`;
  const response = await fetch(address, { headers: { authorization: `Bearer ${token}` } });
  if (response.status !== 200) throw new Error(`files.download ${fileId}: ${response.status}`);
  return Buffer.from(await response.arrayBuffer());
}
