import { type ChatId, type FileId, invalidField, ParleyError } from '@parley/contract';
import { type Caller, requireScopes } from '../auth/caller.ts';
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
import { askedBy, type Call, type Handler, keyOf, type Services } from './operation.ts';
import { PreparedJson } from './prepared-json.ts';
import * as present from './present.ts';

type Send = Call<'messages.send_message'>;
type Sent = PreparedJson<'messages.send_message'>;

/** Sends in one transaction at most. 64 and more share the cost of one fsync so far that a larger batch gains nothing. */
const largestBatch = 256;

/** A send whose key another send of the batch holds with another input: to be tried once that one is settled. */
const again = Symbol('again');

/** `send_message`: sends that arrive together commit together, each with a verdict of its own. */
export function sender(services: Services): Handler<'messages.send_message'> {
  const batches = new Batcher<Send, Sent | typeof again>(
    (sends) => services.engine.write((tx) => sendAll(tx, sends, services)),
    { maxItems: largestBatch, concurrentBatches: services.engine.writers },
  );
  return async (call) => {
    // Whoever may not fetch a file may not show it to somebody else either.
    if (call.input.file_id !== undefined) requireScopes(call.caller, ['files']);
    for (;;) {
      const outcome = await batches.submit(call);
      if (outcome !== again) return outcome;
    }
  };
}

type Verdict = Sent | Error | typeof again;

async function sendAll(tx: Tx, sends: readonly Send[], services: Services): Promise<Verdict[]> {
  const verdicts = new Map<Send, Verdict>();
  const leaders = await settleRepeats(tx, sends, verdicts);
  const fresh = sends.filter((s) => !verdicts.has(s) && (leaders.get(s) ?? s) === s);
  if (fresh.length > 0) await write(tx, fresh, verdicts, services);
  return sends.map((send) => verdicts.get(send) ?? follow(send, leaders.get(send), verdicts));
}

/** Answers sends whose key was used before, and finds for each other keyed send the first of the batch with its key. */
async function settleRepeats(tx: Tx, sends: readonly Send[], verdicts: Map<Send, Verdict>): Promise<Map<Send, Send>> {
  const leaders = new Map<Send, Send>();
  const keyed = sends.flatMap((send) =>
    send.idempotencyKey === undefined ? [] : [{ send, key: keyOf(send, send.idempotencyKey) }],
  );
  if (keyed.length === 0) return leaders;
  const kept = await claimKeys(
    tx,
    keyed.map((k) => k.key),
  );
  const firsts = new Map<string, Send>();
  for (const { send, key } of keyed) {
    const name = keyName(key);
    const answer = kept.get(name);
    if (answer)
      verdicts.set(
        send,
        attempt(() => new PreparedJson(storedResponse(answer, askedBy(send)).slice(1, -1))),
      );
    else if (!firsts.has(name)) firsts.set(name, send);
    leaders.set(send, firsts.get(name) ?? send);
  }
  return leaders;
}

/** The verdict of a send whose key an earlier one of the batch holds: the same answer for the same input. */
function follow(send: Send, leader: Send | undefined, verdicts: ReadonlyMap<Send, Verdict>): Verdict {
  const verdict = leader && verdicts.get(leader);
  if (!leader || verdict === undefined) throw new Error('a send was left without a verdict');
  return askedBy(send) === askedBy(leader) ? verdict : again;
}

/**
 * Takes the event lock, judges, and writes what may be written. Nobody can join, leave or change roles between the verdict
 * and the commit: that would take the lock too.
 */
async function write(
  tx: Tx,
  sends: readonly Send[],
  verdicts: Map<Send, Verdict>,
  { now, files: { url } }: Services,
): Promise<void> {
  const named = sends.flatMap(({ input }) => input.file_id ?? []);
  const [ids, standings, files] = await Promise.all([
    tx.takeIds({ messages: sends.length, events: sends.length }),
    findSendPermissions(tx, sends.map(placeOf)),
    named.length > 0 ? findCompleteFiles(tx, named, now()) : noFiles,
  ]);
  // Read under the lock, so that times rise with ids.
  const at = now();
  const messages: NewMessage[] = [];
  const answers: (KeyScope & StoredResponse)[] = [];
  for (const [i, send] of sends.entries()) {
    const [message_id, event_id, standing] = [ids.messages[i], ids.events[i], standings[i]];
    if (message_id === undefined || event_id === undefined || !standing) throw new Error('too few ids were taken');
    const file = fileOf(send, files);
    if (!mayWrite(send, standing, file)) {
      verdicts.set(send, await refusal(tx, send, file));
      continue;
    }
    // What came with the message becomes a file in the same instant; it may have taken too long to come.
    if (send.file && !(await completeFile(tx, send.file.file_id, send.file, null))) {
      verdicts.set(send, tookTooLong());
      continue;
    }
    const { chat_id, content = '', reply_to } = send.input;
    const { userId: user_id } = send.caller;
    const said = { message_id, chat_id, user_id, content };
    const message = newMessage({ ...said, reply_to: reply_to ?? null, file: file ? keptFile(file) : null }, at);
    const json = JSON.stringify(message);
    const shown = file && present.file(file, url);
    const data = { ...said, ...(shown && { file: shown }), ...(reply_to !== undefined && { reply_to }) };
    const body = freeze({ event: 'new_message', data }, at);
    const file_id = file?.file_id ?? null;
    messages.push({ message_id, event_id, chat_id, user_id, file_id, json, body });
    const fields = `"message":${shown ? JSON.stringify(present.message(message, url)) : json}`;
    verdicts.set(send, new PreparedJson(fields));
    if (send.idempotencyKey !== undefined) {
      const key = keyOf(send, send.idempotencyKey);
      answers.push({ ...key, fingerprint: askedBy(send), answer: `{${fields}}` });
    }
  }
  const kept = messages.flatMap(({ file_id }) => file_id ?? []);
  tx.defer(() => insertMessages(tx, messages, at));
  if (kept.length > 0) tx.defer(() => keepFiles(tx, kept));
  if (answers.length > 0) tx.defer(() => storeResponses(tx, answers, at));
}

const noFiles: ReadonlyMap<FileId, CompleteFile> = new Map();

/** The file of a send: what came with it, or one that its sender has uploaded before. */
function fileOf({ caller, input, file }: Send, files: ReadonlyMap<FileId, CompleteFile>): KeptFile | undefined {
  if (file || input.file_id === undefined) return file;
  const named = files.get(input.file_id);
  return named?.user_id === caller.userId ? named : undefined;
}

const keptFile = ({ file_id, name, mime_type, size, sha256 }: KeptFile): KeptFile => ({
  file_id,
  name,
  mime_type,
  size,
  sha256,
});

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

/** Why a send was not written. Asked only once that is certain, so the common path pays nothing for it. */
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

function attempt<T>(get: () => T): T | Error {
  try {
    return get();
  } catch (error) {
    return error as Error;
  }
}

/** Asked before a file is taken in that is to be sent: whoever may not post in the chat need not send it. */
export const mayPost =
  ({ engine }: Services) =>
  async (caller: Caller, given: Readonly<Record<string, unknown>>): Promise<void> => {
    const { chat_id } = given;
    if (typeof chat_id === 'number') await accessChatTo(engine, 'send', caller.userId, chat_id as ChatId);
  };
