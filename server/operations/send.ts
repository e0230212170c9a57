import { type ChatId, type FileId, type FileInfo, invalidField, ParleyError } from '@parley/contract';
import { requireScopes } from '../auth/caller.ts';
import { freeze } from '../domain/event.ts';
import { type StoredResponse, storedResponse } from '../domain/idempotency.ts';
import { type KeptFile, newMessage } from '../domain/message.ts';
import { may } from '../domain/policy.ts';
import { tookTooLong } from '../files/uploads.ts';
import { Batcher } from '../lib/batcher.ts';
import { claimKeys, type KeyScope, keyName, storeResponses } from '../store/access/idempotency.ts';
import { findSendPermissions, insertMessages, type NewMessage, type SendPermission } from '../store/chat/messages.ts';
import type { Tx } from '../store/engine/engine.ts';
import { type CompleteFile, completeFile, findCompleteFiles, keepFiles } from '../store/files/files.ts';
import { accessChatTo } from './access.ts';
import { type Call, fingerprintOf, type Gate, type Handler, keyOf, type Services } from './operation.ts';
import * as present from './present.ts';
import { PreparedJson } from './results.ts';

type Send = Call<'messages.send_message'>;
type Sent = PreparedJson<'messages.send_message'>;

/** From 64 sends on, each pays so little of the one fsync that a larger batch gains nothing. */
const maxBatch = 256;

/** Another send of the batch has the same key with another input. This one runs again once that one is settled. */
const again = Symbol('again');

type Verdict = Sent | Error | typeof again;

/** Sends that arrive together commit together, each with its own verdict. */
export function sendMessage(services: Services): Handler<'messages.send_message'> {
  const batches = new Batcher<Send, Sent | typeof again>(
    (sends) => services.engine.write((tx) => sendAll(tx, sends, services)),
    { maxItems: maxBatch, concurrentBatches: services.engine.writers },
  );
  return async (call) => {
    // A token that cannot fetch a file cannot show it to others either.
    if (call.input.file_id !== undefined) requireScopes(call.caller, ['files']);
    for (;;) {
      const outcome = await batches.submit(call);
      if (outcome !== again) return outcome;
    }
  };
}

async function sendAll(tx: Tx, sends: readonly Send[], services: Services): Promise<Verdict[]> {
  const verdicts = new Map<Send, Verdict>();
  const leaders = await settleRepeats(tx, sends, verdicts);
  const fresh = sends.filter((s) => !verdicts.has(s) && (leaders.get(s) ?? s) === s);
  if (fresh.length > 0) await write(tx, fresh, verdicts, services);
  return sends.map((send) => verdicts.get(send) ?? follow(send, leaders.get(send), verdicts));
}

/** Settles sends whose key was used before. Returns the first send of the batch with the same key for each other one. */
async function settleRepeats(tx: Tx, sends: readonly Send[], verdicts: Map<Send, Verdict>): Promise<Map<Send, Send>> {
  const leaders = new Map<Send, Send>();
  const keyed = sends.flatMap((send) =>
    send.idempotencyKey === undefined ? [] : [{ send, key: keyOf(send, send.idempotencyKey) }],
  );
  if (keyed.length === 0) return leaders;
  const keys = keyed.map(({ key }) => key);
  const responses = await claimKeys(tx, keys);
  const firsts = new Map<string, Send>();
  for (const { send, key } of keyed) {
    const name = keyName(key);
    const stored = responses.get(name);
    if (stored) verdicts.set(send, repeated(send, stored));
    else if (!firsts.has(name)) firsts.set(name, send);
    leaders.set(send, firsts.get(name) ?? send);
  }
  return leaders;
}

function repeated(send: Send, stored: StoredResponse): Sent | Error {
  try {
    return new PreparedJson(storedResponse(stored, fingerprintOf(send)).slice(1, -1));
  } catch (error) {
    return error as Error;
  }
}

/** Returns the verdict of the first send with the same key, if it has the same input. */
function follow(send: Send, leader: Send | undefined, verdicts: ReadonlyMap<Send, Verdict>): Verdict {
  const verdict = leader && verdicts.get(leader);
  if (!leader || verdict === undefined) throw new Error('a send was left without a verdict');
  return fingerprintOf(send) === fingerprintOf(leader) ? verdict : again;
}

/**
 * Takes the event lock, checks the sends, and writes those that are allowed. Joining, leaving and changing roles take the same
 * lock, so a verdict still holds at the commit.
 */
async function write(
  tx: Tx,
  sends: readonly Send[],
  verdicts: Map<Send, Verdict>,
  { now, files: { url } }: Services,
): Promise<void> {
  const named = sends.flatMap(({ input }) => input.file_id ?? []);
  const [ids, permissions, files] = await Promise.all([
    tx.takeIds({ messages: sends.length, events: sends.length }),
    findSendPermissions(tx, sends.map(placeOf)),
    named.length > 0 ? findCompleteFiles(tx, named, now()) : noFiles,
  ]);
  // Read under the lock, so that times rise with ids.
  const at = now();
  const messages: NewMessage[] = [];
  const responses: (KeyScope & StoredResponse)[] = [];
  for (const [i, send] of sends.entries()) {
    const [message_id, event_id, permission] = [ids.messages[i], ids.events[i], permissions[i]];
    if (message_id === undefined || event_id === undefined || !permission) throw new Error('too few ids were taken');
    const file = fileOf(send, files);
    if (!mayWrite(send, permission, file)) {
      verdicts.set(send, await refusal(tx, send, file));
      continue;
    }
    // The uploaded file is completed in the transaction of its message. The upload may have expired.
    if (send.file && !(await completeFile(tx, send.file.file_id, send.file, null))) {
      verdicts.set(send, tookTooLong());
      continue;
    }
    const { chat_id, content = '', reply_to } = send.input;
    const { userId: user_id } = send.caller;
    const said = { message_id, chat_id, user_id, content };
    const shown = file && present.file(file, url);
    const message = newMessage({ ...said, reply_to: reply_to ?? null, file: shown ? withoutUrl(shown) : null }, at);
    const json = JSON.stringify(message);
    const data = { ...said, ...(shown && { file: shown }), ...(reply_to !== undefined && { reply_to }) };
    const body = freeze({ event: 'new_message', data }, at);
    const file_id = file?.file_id ?? null;
    messages.push({ message_id, event_id, chat_id, user_id, file_id, json, body });
    const fields = `"message":${shown ? JSON.stringify(present.message(message, url)) : json}`;
    verdicts.set(send, new PreparedJson(fields));
    if (send.idempotencyKey !== undefined) {
      const key = keyOf(send, send.idempotencyKey);
      responses.push({ ...key, fingerprint: fingerprintOf(send), answer: `{${fields}}` });
    }
  }
  const kept = messages.flatMap(({ file_id }) => file_id ?? []);
  tx.defer(() => insertMessages(tx, messages, at));
  if (kept.length > 0) tx.defer(() => keepFiles(tx, kept));
  if (responses.length > 0) tx.defer(() => storeResponses(tx, responses, at));
}

const noFiles: ReadonlyMap<FileId, CompleteFile> = new Map();

/** Returns the file of a send: the one in the request, or one that the sender uploaded before. */
function fileOf({ caller, input, file }: Send, files: ReadonlyMap<FileId, CompleteFile>): KeptFile | undefined {
  if (file || input.file_id === undefined) return file;
  const named = files.get(input.file_id);
  return named?.user_id === caller.userId ? named : undefined;
}

const withoutUrl = ({ url: _, ...file }: FileInfo): KeptFile => file;

const placeOf = ({ caller, input }: Send) => ({
  chat_id: input.chat_id,
  user_id: caller.userId,
  reply_to: input.reply_to ?? null,
});

function mayWrite({ input }: Send, { type, role, reply_chat }: SendPermission, file: KeptFile | undefined): boolean {
  if (type === null || role === null || !may('send', type, role)) return false;
  if (input.file_id !== undefined && !file) return false;
  return input.reply_to === undefined || reply_chat === input.chat_id;
}

/** Returns the reason why a send is not allowed. The common path does not pay for finding it. */
async function refusal(tx: Tx, { caller, input }: Send, file: KeptFile | undefined): Promise<Error> {
  try {
    await accessChatTo(tx, 'send', caller.userId, input.chat_id);
    if (input.file_id !== undefined && !file) return invalidField('file_id', 'is not a file that you have uploaded');
    return invalidField('reply_to', 'is not a message of this chat');
  } catch (error) {
    if (error instanceof ParleyError && error.code !== 'unavailable') return error;
    throw error;
  }
}

/** Refuses a caller who may not post in the chat before the file of the message is received. */
export const requireMayPost =
  ({ engine }: Services): Gate =>
  async (caller, { chat_id }) => {
    if (typeof chat_id === 'number') await accessChatTo(engine, 'send', caller.userId, chat_id as ChatId);
  };
