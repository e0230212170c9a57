/** A message whose sender was told that it was accepted. */
export interface Acknowledged {
  readonly chatId: number;
  readonly messageId: number;
  readonly content: string;
}

/** A request that an endpoint got. */
export interface Received {
  readonly webhookId: number;
  readonly eventId: number;
  /** The exact body. */
  readonly body: string;
  /** Whether it was answered with a 2xx. */
  readonly accepted: boolean;
}

/** Which promise was broken. */
export type Broken =
  /** A webhook never got an event, or never accepted it. */
  | 'lost'
  /** Within a chat a later event came before an earlier one. */
  | 'out of order'
  /** An event came again with other bytes, or to another webhook with others. */
  | 'changed'
  /** A message was told of under two ids. */
  | 'told twice'
  /** A body is not what the sender was answered, or no event at all. */
  | 'wrong';

export interface Fault {
  readonly broken: Broken;
  readonly webhookId: number;
  readonly says: string;
}

interface Told {
  readonly chatId: number;
  readonly messageId: number;
  readonly content: string;
}

/** What a body tells of a message; nothing where it is no such event. */
function messageIn(body: string): Told | undefined {
  try {
    const { event, data } = JSON.parse(body) as { event: unknown; data: Record<string, unknown> };
    const { chat_id, message_id, content } = data;
    if (event !== 'new_message' || typeof chat_id !== 'number' || typeof message_id !== 'number') return undefined;
    return { chatId: chat_id, messageId: message_id, content: String(content) };
  } catch {
    return undefined;
  }
}

/**
 * Compares what was acknowledged with what the endpoints of webhooks got, all of which asked for `new_message` in all of
 * these chats, in the order in which each got it. Answers every promise that was not kept: each event reaches each webhook
 * at least once, for each chat in order of first delivery, again only with the same id and bytes. A message whose sender
 * was never told may be missing everywhere; what one webhook got of it, all must get.
 */
export function deliveryFaults(
  webhookIds: readonly number[],
  acknowledged: readonly Acknowledged[],
  received: readonly Received[],
): Fault[] {
  const answered = new Map(acknowledged.map((message) => [message.messageId, message]));
  const bodies = new Map<number, string>();
  const eventOf = new Map<number, number>();
  const faults: Fault[] = [];
  for (const { webhookId, eventId, body } of received) {
    const fault = (broken: Broken, says: string) => faults.push({ broken, webhookId, says });
    const known = bodies.get(eventId);
    if (known !== undefined) {
      if (known !== body) fault('changed', `event ${eventId} came as ${body}, and before as ${known}`);
      continue;
    }
    bodies.set(eventId, body);
    const told = messageIn(body);
    if (!told) {
      fault('wrong', `event ${eventId} is ${body}`);
      continue;
    }
    const other = eventOf.get(told.messageId);
    if (other !== undefined) fault('told twice', `message ${told.messageId} is event ${other} and event ${eventId}`);
    eventOf.set(told.messageId, eventId);
    const sent = answered.get(told.messageId);
    if (sent && (sent.chatId !== told.chatId || sent.content !== told.content)) {
      fault('wrong', `message ${told.messageId} was sent as ${JSON.stringify(sent)} and told as ${body}`);
    }
  }
  for (const webhookId of webhookIds) {
    const own = received.filter((one) => one.webhookId === webhookId);
    faults.push(...lost(webhookId, own, acknowledged, eventOf));
    faults.push(...outOfOrder(webhookId, own, bodies));
  }
  return faults;
}

function lost(
  webhookId: number,
  own: readonly Received[],
  acknowledged: readonly Acknowledged[],
  eventOf: ReadonlyMap<number, number>,
): Fault[] {
  const accepted = new Set(own.filter((one) => one.accepted).map(({ eventId }) => eventId));
  const messages = new Set([...acknowledged.map(({ messageId }) => messageId), ...eventOf.keys()]);
  return [...messages].flatMap((messageId): Fault[] => {
    const eventId = eventOf.get(messageId);
    if (eventId !== undefined && accepted.has(eventId)) return [];
    const says = `message ${messageId}, ${eventId === undefined ? 'told to nobody' : `event ${eventId}`}`;
    return [{ broken: 'lost', webhookId, says }];
  });
}

function outOfOrder(webhookId: number, own: readonly Received[], bodies: ReadonlyMap<number, string>): Fault[] {
  const faults: Fault[] = [];
  // An endpoint that refuses an event must not get the next one of the chat either, until it has accepted it.
  for (const kind of ['came', 'was accepted'] as const) {
    const last = new Map<number, number>();
    const seen = new Set<number>();
    for (const { eventId, accepted } of own) {
      if (seen.has(eventId) || (kind === 'was accepted' && !accepted)) continue;
      seen.add(eventId);
      const chatId = messageIn(bodies.get(eventId) ?? '')?.chatId;
      if (chatId === undefined) continue;
      const before = last.get(chatId) ?? 0;
      if (before > eventId) {
        const says = `in chat ${chatId} event ${eventId} first ${kind} after event ${before}`;
        faults.push({ broken: 'out of order', webhookId, says });
      }
      last.set(chatId, Math.max(before, eventId));
    }
  }
  return faults;
}

/** The faults as lines, at most a few: an empty text where everything was kept. */
export function sayFaults(faults: readonly Fault[], most = 10): string {
  const lines = faults.slice(0, most).map(({ broken, webhookId, says }) => `webhook ${webhookId}: ${broken}: ${says}`);
  if (faults.length > most) lines.push(`and ${faults.length - most} more`);
  return lines.join('\n');
}
