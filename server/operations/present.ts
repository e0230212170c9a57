import {
  type Attempt,
  type Chat,
  type Delivery,
  type DeliveryInFull,
  type DeliveryState,
  type EventId,
  eventNames,
  type FileId,
  type FileInfo,
  type Message,
  type MessageId,
  type Participant,
  type Replay,
  type ReplayId,
  type Token,
  type User,
  type UserId,
  type Webhook,
} from '@parley/contract';
import { parseScopes } from '../auth/access-token.ts';
import { type KeptFile, type KeptMessage, keptFile } from '../domain/message.ts';
import { signedContent } from '../domain/signature.ts';
import { isoTime } from '../domain/time.ts';
import type { TokenRow } from '../store/access/tokens.ts';
import type { UserRow } from '../store/access/users.ts';
import type { ChatView } from '../store/chat/chats.ts';
import type { ParticipantRow } from '../store/chat/members.ts';
import type { MessageRow, PageRow } from '../store/chat/messages.ts';
import { reactionsTo } from '../store/chat/reactions.ts';
import type { Db } from '../store/engine/engine.ts';
import type { DeliveryRow } from '../store/webhooks/deliveries.ts';
import type { AttemptRow } from '../store/webhooks/delivery-results.ts';
import type { EndpointStateRow } from '../store/webhooks/endpoint-state.ts';
import type { ReplayRow } from '../store/webhooks/replays.ts';
import type { WebhookRow } from '../store/webhooks/webhooks.ts';

/** Rows of the store as the contract shows them. */

const time = isoTime;
const timeOrNull = (at: number | null): string | null => (at === null ? null : time(at));

/** A message as the store keeps it. */
export function keptMessage(row: PageRow): KeptMessage {
  return JSON.parse(row.json) as KeptMessage;
}

/** Where a file can be fetched. */
export type FileUrl = (fileId: FileId) => string;

export function file(stored: KeptFile, urlOf: FileUrl): FileInfo {
  return { ...keptFile(stored), url: urlOf(stored.file_id) };
}

/** A message with the address of its file, its reactions left empty. */
export function message(kept: KeptMessage, urlOf: FileUrl): Message {
  return { ...kept, file: kept.file && file(kept.file, urlOf) };
}

/** The same with its reactions, as one user sees them. */
export async function messageFor(db: Db, row: MessageRow, userId: UserId, urlOf: FileUrl): Promise<Message> {
  const shown = message(keptMessage(row), urlOf);
  if (!row.has_reactions) return shown;
  const found = await reactionsTo(db, [row], userId);
  return { ...shown, reactions: found.get(row.message_id) ?? [] };
}

/** Messages as a JSON array. Those with neither reactions nor a file, nearly all, go out as they are kept. */
export async function renderMessages(
  db: Db,
  rows: readonly PageRow[],
  userId: UserId,
  urlOf: FileUrl,
): Promise<string> {
  const reacted = rows.filter((row) => row.has_reactions).map(keptMessage);
  const found = reacted.length > 0 ? await reactionsTo(db, reacted, userId) : undefined;
  const texts = rows.map((row) => {
    if (!row.has_reactions && row.file_id === null) return row.json;
    const shown = message(keptMessage(row), urlOf);
    return JSON.stringify({ ...shown, reactions: found?.get(shown.message_id) ?? [] });
  });
  return `[${texts.join(',')}]`;
}

export function chat(row: ChatView): Chat {
  return {
    chat_id: row.chat_id,
    type: row.type,
    visibility: row.visibility,
    name: row.name,
    description: row.description,
    created_by: row.created_by,
    created_at: time(row.created_at),
    participant_count: row.participant_count,
    last_message_id: row.last_message_id,
    role: row.role,
    unread_count: row.unread_count,
  };
}

export function participant(row: ParticipantRow): Participant {
  return {
    user_id: row.user_id,
    name: row.name,
    display_name: row.display_name,
    role: row.role,
    joined_at: time(row.joined_at),
    last_read_id: row.last_read_id === 0 ? null : (row.last_read_id as MessageId),
  };
}

export function user(row: UserRow): User {
  return {
    user_id: row.user_id,
    kind: row.kind,
    owner_id: row.owner_id,
    name: row.name,
    display_name: row.display_name,
    is_admin: row.is_admin,
    created_at: time(row.created_at),
    disabled_at: timeOrNull(row.disabled_at),
  };
}

export function token(row: TokenRow): Token {
  return {
    token_id: row.token_id,
    name: row.name,
    scopes: [...parseScopes(row.scopes)],
    created_at: time(row.created_at),
    expires_at: timeOrNull(row.expires_at),
    last_used_at: timeOrNull(row.last_used_at),
  };
}

/** A webhook, with the time of the oldest event that it is still to be told of. */
export function webhook(row: WebhookRow, state: EndpointStateRow, oldest: number | undefined, now: number): Webhook {
  const events = JSON.parse(row.events) as string[];
  const known: readonly string[] = ['*', ...eventNames];
  return {
    webhook_id: row.webhook_id,
    user_id: row.user_id,
    url: row.url,
    events,
    unknown_events: events.filter((name) => !known.includes(name)),
    chat_id: row.chat_id,
    service_wide: row.service_wide === 1,
    include_direct: row.include_direct === 1,
    status: row.status,
    disabled_reason: row.disabled_reason,
    down_since: timeOrNull(state.down_since),
    next_attempt_at: timeOrNull(state.hold_until),
    oldest_undelivered_age: oldest === undefined ? null : Math.max(0, Math.round((now - oldest) / 1_000)),
    expired_count: row.expired_count,
    previous_secret_until: row.previous_until !== null && row.previous_until > now ? time(row.previous_until) : null,
    created_at: time(row.created_at),
  };
}

export function delivery(row: DeliveryRow): Delivery {
  return {
    delivery_id: row.delivery_id,
    webhook_id: row.webhook_id,
    event_id: row.event_id,
    event: row.event,
    chat_id: row.chat_id > 0 ? row.chat_id : null,
    replay_id: row.replay_id === 0 ? null : (row.replay_id as ReplayId),
    state: row.state,
    reason: row.reason,
    attempt_count: row.attempts,
    next_attempt_at: timeOrNull(row.next_at),
    last_attempt_at: timeOrNull(row.last_at),
    last_status: row.last_status,
    last_error: row.last_error,
    duration_ms: row.duration_ms,
  };
}

export function attempt({ number, at, status, error, duration_ms, answer }: AttemptRow): Attempt {
  return { number, at: time(at), status, error, duration_ms, answer };
}

export function deliveryInFull(
  row: DeliveryRow,
  attempts: readonly AttemptRow[],
  body: string | undefined,
): DeliveryInFull {
  const { last_at, last_status, last_error, duration_ms } = row;
  const isToldByItself = attempts.length === 0 && last_at !== null && duration_ms !== null;
  const only = {
    number: 1,
    at: last_at ?? 0,
    status: last_status,
    error: last_error,
    duration_ms: duration_ms ?? 0,
    answer: null,
  };
  return {
    ...delivery(row),
    attempts: (isToldByItself ? [only] : attempts).map(attempt),
    body: body ?? null,
    signed_content: body === undefined || last_at === null ? null : signedContent(String(row.event_id), last_at, body),
  };
}

export function replay(row: ReplayRow): Replay {
  const settled = row.delivered_count + row.failed_count + row.skipped_count;
  return {
    replay_id: row.replay_id,
    webhook_id: row.webhook_id,
    status: row.status,
    only: row.only_states === null ? null : (JSON.parse(row.only_states) as DeliveryState[]),
    from_event_id: row.from_event as EventId,
    to_event_id: row.to_event,
    reached_event_id: row.reached_event,
    open_count: Math.max(0, row.delivery_count - settled),
    delivered_count: row.delivered_count,
    failed_count: row.failed_count,
    skipped_count: row.skipped_count,
    created_at: time(row.created_at),
    finished_at: timeOrNull(row.finished_at),
  };
}

/** The body that a test of a webhook sends. */
export function sample(webhookId: number, at: number): string {
  const data = { webhook_id: webhookId, message: 'A test of this webhook. Nothing has happened.' };
  return JSON.stringify({ event: 'test', timestamp: time(at), data });
}

/** A page out of one row more than its limit. */
export function page<T>(rows: readonly T[], limit: number): { rows: readonly T[]; has_more: boolean } {
  return { rows: rows.slice(0, limit), has_more: rows.length > limit };
}
