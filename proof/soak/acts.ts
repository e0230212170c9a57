import { BrowserLike } from '../../server/test/support/browser-like.ts';
import type { Client } from '../../server/test/support/client.ts';
import { text } from '../harness/random.ts';
import type { Live, Scene } from './scene.ts';

/** Something that people do all the time. */
export interface Act {
  /** How often, for each message that is sent. */
  readonly perSend: number;
  /** Returns `idle` if there was nothing to act on. Fails if the response is not what it must be. */
  readonly run: (scene: Scene) => Promise<unknown>;
}

const emoji = '🎉';

async function send(scene: Scene, author: Client, chat_id: number, more: { file_id?: number } = {}, key?: string) {
  const content = `${scene.next()} ${text(scene.random)}`;
  const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
  const call = () => author.ok('messages.send_message', { chat_id, content, ...more }, headers);
  const { message_id } = (await call()).message;
  const message = { message_id, chat_id, content };
  scene.acknowledge(message);
  scene.messages.put({ message, author });
  return { message_id, again: call };
}

const act = (perSend: number, run: Act['run']): Act => ({ perSend, run });

/** Acts on a message that nothing else is done to meanwhile. */
const onMessage = (perSend: number, run: (scene: Scene, live: Live) => Promise<unknown>): Act =>
  act(perSend, async (scene) => {
    const live = scene.messages.take(scene.random);
    return live ? run(scene, live) : 'idle';
  });

/** Everything that people do, and how often: a new operation is a line here. */
export const acts = {
  send: act(0.8, (scene) => send(scene, scene.anyone(), scene.anyGroup())),
  sendWithKey: act(0.18, (scene) => send(scene, scene.anyone(), scene.anyGroup(), {}, crypto.randomUUID())),
  sendTwice: act(0.02, async (scene) => {
    const { message_id, again } = await send(scene, scene.anyone(), scene.anyGroup(), {}, crypto.randomUUID());
    if ((await again()).message.message_id !== message_id) throw new Error('one key gave two messages');
  }),
  sendToQuietChat: act(0.002, (scene) => send(scene, scene.anyone(), scene.quiet)),
  edit: onMessage(0.06, async (scene, { message, author }) => {
    const { message_id } = message;
    const content = `${message.content}, edited`;
    await author.ok('messages.edit_message', { message_id, content });
    // It does not go back into the pool: each edit would make it longer.
    scene.acknowledge({ ...message, content });
    scene.changes.push({ event: 'message_edited', message_id });
  }),
  delete: onMessage(0.03, async (scene, { message, author }) => {
    const { message_id } = message;
    await author.ok('messages.delete_message', { message_id });
    scene.acknowledge({ ...message, content: '' });
    scene.changes.push({ event: 'message_deleted', message_id });
  }),
  react: onMessage(0.06, async (scene, live) => {
    const { message_id } = live.message;
    const by = scene.anyone();
    await by.ok('messages.add_reaction', { message_id, emoji });
    scene.changes.push({ event: 'reaction_added', message_id });
    scene.reacted.put({ ...live, by });
  }),
  takeReactionBack: act(0.05, async (scene) => {
    const reacted = scene.reacted.take(scene.random);
    if (!reacted) return 'idle';
    const { message_id } = reacted.message;
    await reacted.by.ok('messages.remove_reaction', { message_id, emoji });
    scene.changes.push({ event: 'reaction_removed', message_id });
    return undefined;
  }),
  readNewest: act(0.2, (scene) => scene.anyone().ok('messages.get_messages', { chat_id: scene.anyGroup() })),
  readOlder: onMessage(0.05, async (scene, live) => {
    const { chat_id, message_id } = live.message;
    await scene.anyone().ok('messages.get_messages', { chat_id, before_id: message_id, limit: 100 });
    await scene.anyone().ok('messages.get_message', { message_id });
    scene.messages.put(live);
  }),
  markRead: act(0.1, (scene) => scene.anyone().ok('messages.mark_read', { chat_id: scene.anyGroup() })),
  search: act(0.05, (scene) => {
    const query = `${1 + Math.floor(scene.random() * 99)} plai`;
    return scene.anyone().ok('messages.search_messages', { query, chat_id: scene.anyGroup(), limit: 20 });
  }),
  list: act(0.03, async (scene) => {
    await scene.anyone().ok('chats.list', {});
    await scene.anyone().ok('chats.participants', { chat_id: scene.anyGroup() });
  }),
  comeOrGo: act(0.03, async (scene) => {
    const visit = scene.visits.take(scene.random);
    if (!visit) return 'idle';
    const { visitor, channel: chat_id, isMember } = visit;
    await visitor.ok(isMember ? 'chats.leave' : 'chats.join', { chat_id });
    visit.isMember = !isMember;
    scene.changes.push({ event: isMember ? 'user_left' : 'user_joined', chat_id, user_id: visitor.userId });
    scene.visits.put(visit);
    return undefined;
  }),
  sendFile: act(0.01, async (scene) => {
    const author = scene.anyone();
    const { bytes, fileId } = await upload(scene, author);
    await send(scene, author, scene.anyGroup(), { file_id: fileId });
    const found = await download(scene.anyone(), fileId);
    if (!bytes.equals(found)) throw new Error(`file ${fileId} has other bytes than were sent`);
  }),
  uploadAndForget: act(0.01, (scene) => upload(scene, scene.anyone())),
  makeToken: act(0.01, async (scene) => {
    const maker = scene.anyone();
    const { token, access_token } = await maker.ok('tokens.create', { name: 'for a moment' });
    const bearer = { authorization: `Bearer ${access_token}` };
    await maker.ok('users.me', {}, bearer);
    await maker.ok('tokens.revoke', { token_id: token.token_id });
    const { status } = await maker.call('users.me', {}, bearer);
    if (status !== 401) throw new Error(`the response to a revoked token is ${status}`);
  }),
  signIn: act(0.001, async (scene) => {
    const { name, password } = scene.person;
    const browser = new BrowserLike(scene.stage.owner.url);
    await browser.signIn(name, password);
    if ((await browser.signedInAs()) !== name) throw new Error('the right password does not sign in');
    await browser.post('/sign-out');
  }),
} as const;

export type ActName = keyof typeof acts;

/** Attempts at an upload that the server gives up. */
const maxUploads = 10;

/**
 * The server gives up an upload that pauses for a quarter of an hour. A leap of the clock in the midst of one is such a pause
 * if a sweep runs at that moment: then it is repeated.
 */
async function upload(scene: Scene, author: Client): Promise<{ bytes: Buffer; fileId: number }> {
  const bytes = Buffer.alloc(1_024 + Math.floor(scene.random() * 32_768), text(scene.random));
  const input = { file: new File([bytes], 'notes.txt') };
  for (let tries = 1; ; tries++) {
    const { status, body, error } = await author.call('files.upload', input);
    if (status === 200) return { bytes, fileId: body.file.file_id };
    const isGivenUp = error?.code === 'conflict' && tries < maxUploads;
    if (!isGivenUp) throw new Error(`files.upload: ${status} ${JSON.stringify(error)}`);
  }
}

async function download({ url, token }: Client, fileId: number): Promise<Buffer> {
  const file = `${url}/api/files.php?action=download&file_id=${fileId}`;
  const response = await fetch(file, { headers: { authorization: `Bearer ${token}` } });
  if (response.status !== 200) throw new Error(`files.download ${fileId}: ${response.status}`);
  return Buffer.from(await response.arrayBuffer());
}
