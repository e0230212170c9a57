/** A message that was acknowledged to its sender. */
export interface Acknowledged {
  readonly chatId: number;
  readonly messageId: number;
  readonly content: string;
}

/** A request to an endpoint. */
export interface Received {
  readonly webhookId: number;
  readonly eventId: number;
  /** The exact body. */
  readonly body: string;
  /** True if the response was a 2xx. */
  readonly accepted: boolean;
}

/** The promise that was broken. */
export type Broken =
  /** An event was not delivered, or never accepted. */
  | 'lost'
  /** A later event of a chat was delivered before an earlier one. */
  | 'out of order'
  /** An event was delivered with different bytes. */
  | 'changed'
  /** A message has two events. */
  | 'told twice'
  /** A body differs from the response to the sender, or is no event. */
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

/** Parses the message of a body. Returns undefined for another event. */
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
 * Compares the acknowledged messages with the requests to the webhooks, in the order of each endpoint. All webhooks subscribe
 * to `new_message` in all of these chats. Returns every broken promise: each event reaches each webhook at least once, in
 * order within a chat, and repeats have the same id and bytes. A message that was not acknowledged may be missing
 * everywhere, but if one webhook gets it, all must.
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
  // After a refusal the next event of the chat must wait until the endpoint accepts this one.
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

/** Returns the first few faults as lines, or an empty text if there are none. */
export function sayFaults(faults: readonly Fault[], most = 10): string {
  const lines = faults.slice(0, most).map(({ broken, webhookId, says }) => `webhook ${webhookId}: ${broken}: ${says}`);
  if (faults.length > most) lines.push(`and ${faults.length - most} more`);
  return lines.join('\n');
}
