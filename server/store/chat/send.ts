import type { ChatId, ChatType, EventId, FileId, MessageId, Role, UserId } from '@parley/contract';
import { freeze, messageEventFormat } from '../../domain/event.ts';
import type { StoredResponse } from '../../domain/idempotency.ts';
import type { Mentions } from '../../domain/mentions.ts';
import { type KeptFile, keptFile, messageJson, withUrls } from '../../domain/message.ts';
import { may } from '../../domain/policy.ts';
import { claimKeys, type KeyScope, keyName, storeResponses } from '../access/idempotency.ts';
import { bulkStatement, type Lines, type Procedure, type Tx } from '../engine/engine.ts';
import { type CompleteFile, completeFile, findCompleteFiles, keepFiles } from '../files/files.ts';
import { insertMoreFiles, type MoreFile } from '../files/message-files.ts';
import type { EventRow } from '../log/entry.ts';
import { findMentions, insertMentions } from './mentions.ts';
import { findThreads, insertReplies, type ThreadPlace } from './threads.ts';

/** A message to be sent. Its caller and its fields are valid; whether it may be sent is not known yet. */
export interface NewMessage {
  readonly chat_id: ChatId;
  readonly user_id: UserId;
  /** The user whose rights count, if it is not the author. */
  readonly permitted_by?: UserId | undefined;
  readonly content: string;
  readonly reply_to: MessageId | null;
  /** The id of a file that was uploaded before. */
  readonly file_id: FileId | null;
  /** Further files that were uploaded before. */
  readonly more_files: readonly FileId[];
  /** The file that came with the message. It becomes complete in this transaction. */
  readonly file: KeptFile | null;
  readonly key: (KeyScope & { readonly fingerprint: string }) | null;
}

export interface SendInput<M extends NewMessage = NewMessage> {
  readonly messages: readonly M[];
  /** The URL of a file is this text followed by its id. */
  readonly fileUrl: string;
}

/**
 * `json`: the message as its sender gets it. `stored`: the response to an earlier call with the same Idempotency-Key.
 * `again`: another message of the batch has the key, so the call is made again. Everything else is a refusal.
 */
export type SendOutcome =
  | { readonly json: string }
  | { readonly stored: StoredResponse }
  | { readonly refused: 'again' | 'access' | 'file' | 'reply' | 'expired' };

/** The line of a message is its JSON. That of any other outcome is an array of one. */
export const outcomeLines: Lines<SendOutcome> = {
  write: (outcome) => ('json' in outcome ? outcome.json : JSON.stringify([outcome])),
  read: (line) => (line.startsWith('{') ? { json: line } : (JSON.parse(line) as [SendOutcome])[0]),
};

/** Sends messages that arrived together in one transaction. Each has an outcome of its own. */
export const sendMessages: Procedure<SendInput, SendOutcome> = { name: 'sendMessages', run: send, lines: outcomeLines };

async function send(tx: Tx, { messages, fileUrl }: SendInput, now: () => number): Promise<SendOutcome[]> {
  const repeats = await findRepeats(tx, messages);
  const fresh = messages.filter((message) => !repeats.has(message));
  const outcomes = fresh.length > 0 ? await write(tx, fresh, fileUrl, now) : [];
  return messages.map((message) => repeats.get(message) ?? (outcomes.shift() as SendOutcome));
}

/** Returns the outcome of each message whose key was used before, or is used by an earlier message of the batch. */
async function findRepeats(tx: Tx, messages: readonly NewMessage[]): Promise<Map<NewMessage, SendOutcome>> {
  const repeats = new Map<NewMessage, SendOutcome>();
  const keys = messages.flatMap(({ key }) => key ?? []);
  if (keys.length === 0) return repeats;
  const stored = await claimKeys(tx, keys);
  const seen = new Set<string>();
  for (const message of messages) {
    if (!message.key) continue;
    const name = keyName(message.key);
    const response = stored.get(name);
    if (response) repeats.set(message, { stored: response });
    else if (seen.has(name)) repeats.set(message, { refused: 'again' });
    seen.add(name);
  }
  return repeats;
}

/** Joining, leaving and changing roles take the event lock too, so a verdict still holds at the commit. */
async function write(
  tx: Tx,
  messages: readonly NewMessage[],
  fileUrl: string,
  now: () => number,
): Promise<SendOutcome[]> {
  const named = messages.flatMap(({ file_id, more_files }) => (file_id === null ? [] : [file_id, ...more_files]));
  const [ids, permissions, files, mentioned, threads] = await Promise.all([
    tx.takeIds({ messages: messages.length, events: messages.length }),
    findPermissions(tx, messages),
    named.length > 0 ? findCompleteFiles(tx, named, now()) : noFiles,
    findMentions(tx, messages),
    findThreads(tx, messages),
  ]);
  const at = now();
  const rows: Row[] = [];
  const more: MoreFile[] = [];
  const responses: (KeyScope & StoredResponse)[] = [];
  const outcomes: SendOutcome[] = [];
  for (const [i, message] of messages.entries()) {
    const sent = sentFiles(message, files);
    const file = sent?.[0] ?? null;
    const refused = refusalOf(message, permissions[i], sent !== undefined);
    if (refused) {
      outcomes.push({ refused });
      continue;
    }
    if (message.file && !(await completeFile(tx, message.file.file_id, message.file, null))) {
      outcomes.push({ refused: 'expired' });
      continue;
    }
    const { chat_id, user_id, content, reply_to, key } = message;
    const thread = threads.get(message);
    const said = {
      message_id: ids.messages[i] as MessageId,
      chat_id,
      user_id,
      content,
      ...mentioned.get(message),
      ...(thread && { thread_id: thread.thread_id }),
    };
    const several = sent && sent.length > 1 ? sent : undefined;
    const json = messageJson({ ...said, reply_to, file, files: several }, at);
    const shownFile = (one: KeptFile) => withUrls(one, `${fileUrl}${one.file_id}`);
    const shown = file && { file: shownFile(file), ...(several && { files: several.map(shownFile) }) };
    const data = shown && { ...said, ...shown, ...(reply_to !== null && { reply_to }) };
    const body = data ? freeze({ event: 'new_message', data }, at) : '';
    rows.push({ ...said, event_id: ids.events[i] as EventId, file_id: file?.file_id ?? null, json, body, thread });
    for (const { file_id } of several?.slice(1) ?? []) more.push({ message_id: said.message_id, file_id, chat_id });
    const response = shown ? messageJson({ ...said, reply_to, ...shown }, at) : json;
    outcomes.push({ json: response });
    if (key) responses.push({ ...key, response: `{"message":${response}}` });
  }
  const used = [...rows, ...more].flatMap(({ file_id }) => file_id ?? []);
  const stored = Promise.all([
    insert(tx, rows, at),
    used.length > 0 && keepFiles(tx, used),
    mentioned.size > 0 && insertMentions(tx, rows),
    threads.size > 0 && insertReplies(tx, rows.filter(isReply), at),
    more.length > 0 && insertMoreFiles(tx, more),
    responses.length > 0 && storeResponses(tx, responses, at),
  ]);
  // Not waited for, so that the commit goes out with these statements. If one of them fails, the transaction does.
  void stored.catch(() => {});
  return outcomes;
}

const noFiles: ReadonlyMap<FileId, CompleteFile> = new Map();

/**
 * Returns the file that came with the message, or those that its sender has uploaded before. Returns undefined if one of
 * them is missing.
 */
function sentFiles(
  { user_id, file, file_id, more_files }: NewMessage,
  files: ReadonlyMap<FileId, CompleteFile>,
): KeptFile[] | undefined {
  if (file) return [file];
  if (file_id === null) return [];
  const found = [file_id, ...more_files].flatMap((id) => files.get(id) ?? []);
  const isOwn = found.length === 1 + more_files.length && found.every((one) => one.user_id === user_id);
  return isOwn ? found.map(keptFile) : undefined;
}

/** The facts that decide whether a message may be sent. */
interface Permission {
  readonly type: ChatType | null;
  readonly role: Role | null;
  /** The chat of the message replied to. */
  readonly reply_chat: ChatId | null;
}

function refusalOf(
  { chat_id, reply_to }: NewMessage,
  { type, role, reply_chat }: Permission = { type: null, role: null, reply_chat: null },
  hasFiles: boolean,
): 'access' | 'file' | 'reply' | undefined {
  if (type === null || role === null || !may('send', type, role)) return 'access';
  if (!hasFiles) return 'file';
  return reply_to === null || reply_chat === chat_id ? undefined : 'reply';
}

/** Subqueries instead of joins, which PostgreSQL would plan for tables of another size. */
const permissionQuery = bulkStatement(
  { n: 'int', chat_id: 'int', user_id: 'int', reply_to: 'int' },
  (source) => `SELECT s.n, (SELECT c.type FROM chats c WHERE c.chat_id = s.chat_id) AS type,
       (SELECT m.role FROM members m WHERE m.chat_id = s.chat_id AND m.user_id = s.user_id AND m.left_event IS NULL) AS role,
       (SELECT r.chat_id FROM messages r WHERE r.message_id = s.reply_to) AS reply_chat
     FROM ${source} AS s`,
);

/** Returns one permission for each message, in the same order. */
async function findPermissions(tx: Tx, messages: readonly NewMessage[]): Promise<Permission[]> {
  const rows = await tx.bulk<Permission & { n: number }>(
    permissionQuery,
    messages.map((m, n) => [n, m.chat_id, m.permitted_by ?? m.user_id, m.reply_to]),
  );
  return rows.sort((a, b) => a.n - b.n);
}

interface Row extends Mentions {
  readonly message_id: MessageId;
  readonly event_id: EventId;
  readonly chat_id: ChatId;
  readonly user_id: UserId;
  readonly file_id: FileId | null;
  readonly json: string;
  readonly thread: ThreadPlace | undefined;
  /** The body of the event. It is empty if the event is rendered from the message. */
  readonly body: string;
}

const isReply = (row: Row): row is Row & { readonly thread: ThreadPlace } => row.thread !== undefined;

const insertion = bulkStatement(
  {
    message_id: 'int',
    event_id: 'int',
    chat_id: 'int',
    user_id: 'int',
    file_id: 'int',
    json: 'text',
    body: 'text',
  },
  (source) => `INSERT INTO messages (message_id, chat_id, user_id, file_id, json, event_id)
     SELECT message_id, chat_id, user_id, file_id, json, CASE WHEN file_id IS NULL THEN event_id END FROM ${source} AS m`,
  (source) => `INSERT INTO events (event_id, chat_id, event, created_at, body, message_id, format)
     SELECT event_id, chat_id, 'new_message', $1, body, CASE WHEN file_id IS NULL THEN message_id END,
       CASE WHEN file_id IS NULL THEN ${messageEventFormat} END FROM ${source} AS e`,
);

/** Inserts messages, and the event of each. The event of a message with a file has a body: the URL of the file is in it. */
async function insert(tx: Tx, rows: readonly Row[], at: number): Promise<void> {
  const events = rows.map(({ event_id, chat_id, file_id, json, body }): EventRow => {
    const source = file_id === null ? { format: messageEventFormat, message: json } : { format: null, message: null };
    return { event_id, chat_id, event: 'new_message', created_at: at, body, ...source };
  });
  tx.appended(events);
  await tx.bulk(
    insertion,
    rows.map((m) => [m.message_id, m.event_id, m.chat_id, m.user_id, m.file_id, m.json, m.body]),
    [at],
  );
}
