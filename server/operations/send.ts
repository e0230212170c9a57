import { invalidField, ParleyError } from '@parley/contract';
import { freeze } from '../domain/event.ts';
import { fingerprint, keptAnswer } from '../domain/idempotency.ts';
import { newMessage } from '../domain/message.ts';
import { may } from '../domain/policy.ts';
import type { Tx } from '../store/engine.ts';
import { claimKeys, keepAnswers, keyName } from '../store/idempotency.ts';
import { findStandings, insertMessages, type NewMessage, type Standing } from '../store/messages.ts';
import { accessChatTo } from './access.ts';
import { Coalescer } from './coalesce.ts';
import { type Call, type Handler, keyOf, type Services } from './operation.ts';
import { Rendered } from './rendered.ts';

type Send = Call<'messages.send_message'>;
type Sent = Rendered<'messages.send_message'>;

/** Sends in one transaction at most. 64 and more share the cost of one fsync so far that a larger batch gains nothing. */
const largestBatch = 256;

/** A send whose key another send of the batch holds with another input: to be tried once that one is settled. */
const again = Symbol('again');

/** `send_message`: sends that arrive together commit together, each with a verdict of its own. */
export function sender(services: Services): Handler<'messages.send_message'> {
  const batches = new Coalescer<Send, Sent | typeof again>(
    async (sends) => {
      const outcomes = await services.engine.write((tx) => sendAll(tx, sends, services.now));
      services.wake();
      return outcomes;
    },
    { largest: largestBatch, parallel: services.engine.writers },
  );
  return async (call) => {
    for (;;) {
      const outcome = await batches.submit(call);
      if (outcome !== again) return outcome;
    }
  };
}

type Verdict = Sent | Error | typeof again;

async function sendAll(tx: Tx, sends: readonly Send[], now: () => number): Promise<Verdict[]> {
  const verdicts = new Map<Send, Verdict>();
  const leaders = await settleRepeats(tx, sends, verdicts);
  const fresh = sends.filter((s) => !verdicts.has(s) && (leaders.get(s) ?? s) === s);
  if (fresh.length > 0) await write(tx, fresh, verdicts, now);
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
        attempt(() => new Rendered(keptAnswer(answer, fingerprint(send.input)).slice(1, -1))),
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
  return fingerprint(send.input) === fingerprint(leader.input) ? verdict : again;
}

/**
 * Takes the event lock, judges, and writes what may be written. Nobody can join, leave or change roles between the verdict
 * and the commit: that would take the lock too.
 */
async function write(tx: Tx, sends: readonly Send[], verdicts: Map<Send, Verdict>, now: () => number): Promise<void> {
  const [ids, standings] = await Promise.all([
    tx.takeIds({ messages: sends.length, events: sends.length }),
    findStandings(tx, sends.map(placeOf)),
  ]);
  // Read under the lock, so that times rise with ids.
  const at = now();
  const messages: NewMessage[] = [];
  const answers = [];
  for (const [i, send] of sends.entries()) {
    const [message_id, event_id, standing] = [ids.messages[i], ids.events[i], standings[i]];
    if (message_id === undefined || event_id === undefined || !standing) throw new Error('too few ids were taken');
    if (!mayWrite(send, standing)) {
      verdicts.set(send, await refusal(tx, send));
      continue;
    }
    const { chat_id, content, reply_to } = send.input;
    const { userId: user_id } = send.caller;
    const json = JSON.stringify(newMessage({ message_id, chat_id, user_id, content, reply_to: reply_to ?? null }, at));
    const data = { message_id, chat_id, user_id, content, ...(reply_to !== undefined && { reply_to }) };
    const body = freeze({ event: 'new_message', data }, at);
    messages.push({ message_id, event_id, chat_id, user_id, json, body });
    const fields = `"message":${json}`;
    verdicts.set(send, new Rendered(fields));
    if (send.idempotencyKey !== undefined) {
      const key = keyOf(send, send.idempotencyKey);
      answers.push({ ...key, fingerprint: fingerprint(send.input), answer: `{${fields}}` });
    }
  }
  await Promise.all([insertMessages(tx, messages, at), answers.length > 0 && keepAnswers(tx, answers, at)]);
}

const placeOf = ({ caller, input }: Send) => ({
  chat_id: input.chat_id,
  user_id: caller.userId,
  reply_to: input.reply_to ?? null,
});

function mayWrite({ input }: Send, { type, role, reply_chat }: Standing): boolean {
  if (type === null || role === null || !may('send', type, role)) return false;
  return input.reply_to === undefined || reply_chat === input.chat_id;
}

/** Why a send was not written. Asked only once that is certain, so the common path pays nothing for it. */
async function refusal(tx: Tx, { caller, input }: Send): Promise<Error> {
  try {
    await accessChatTo(tx, 'send', caller.userId, input.chat_id);
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
