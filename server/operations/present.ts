import {
  type App,
  type Attempt,
  type AuditEntry,
  type AuthorizedApp,
  type Chat,
  type ChatUse,
  type Delivery,
  type DeliveryInFull,
  type DeliveryState,
  type EventId,
  type EventName,
  eventExamples,
  type FailureCause,
  type FileId,
  type FileInfo,
  type Hook,
  type Invitation,
  type LastMessage,
  type Message,
  type MessageId,
  type MetricSample,
  type Participant,
  type PersonUse,
  type PushSubscription,
  type Replay,
  type ReplayId,
  records,
  scopeNames,
  serviceRecords,
  type Thread,
  type Token,
  type TokenUse,
  type User,
  type UserId,
  type Webhook,
  type WebhookHealth,
  webhookRecords,
} from '@parley/contract';
import type { z } from 'zod';
import { parseScopes } from '../auth/access-token.ts';
import { statusCause } from '../domain/attempt.ts';
import { type KeptMessage, keptFile, withUrls } from '../domain/message.ts';
import { may } from '../domain/policy.ts';
import { signedContent } from '../domain/signature.ts';
import { isoTime } from '../domain/time.ts';
import { browserInWords } from '../domain/user-agent.ts';
import type { AppRow } from '../store/access/apps.ts';
import type { AuditRow } from '../store/access/audit.ts';
import type { AuthorizedApp as GrantedApp } from '../store/access/grants.ts';
import type { LinkRow } from '../store/access/links.ts';
import type { PersonUse as PersonUseRow } from '../store/access/owner-use.ts';
import { startOfDay, type TokenUseRow } from '../store/access/token-use.ts';
import type { TokenRow } from '../store/access/tokens.ts';
import type { UserRow } from '../store/access/users.ts';
import type { ChatUseRow } from '../store/chat/all-chats.ts';
import type { ChatView } from '../store/chat/chats.ts';
import type { HookRow } from '../store/chat/hooks.ts';
import type { ParticipantRow } from '../store/chat/members.ts';
import { extraBits, type MessageRow, type MessageTexts } from '../store/chat/messages.ts';
import type { Preferences } from '../store/chat/preferences.ts';
import { reactionsTo } from '../store/chat/reactions.ts';
import { type ThreadRow, threadsOf } from '../store/chat/threads.ts';
import type { Db } from '../store/engine/engine.ts';
import type { SampleRow } from '../store/observe/samples.ts';
import type { SubscriptionRow } from '../store/push/subscriptions.ts';
import type { DeliveryRow } from '../store/webhooks/deliveries.ts';
import type { AttemptRow } from '../store/webhooks/delivery-results.ts';
import type { EndpointStateRow } from '../store/webhooks/endpoint-state.ts';
import type { ReplayRow } from '../store/webhooks/replays.ts';
import type { DeliveryCounts } from '../store/webhooks/webhook-health.ts';
import type { WebhookRow } from '../store/webhooks/webhooks.ts';
import { unknownEvents } from './webhook-warnings.ts';

export const time = isoTime;
const timeOrNull = (at: number | null): string | null => (at === null ? null : time(at));

export function keptMessage(row: MessageRow): KeptMessage {
  return JSON.parse(row.json) as KeptMessage;
}

/** Returns the URL of a file. */
export type FileUrl = (fileId: FileId) => string;

export function file(stored: Parameters<typeof keptFile>[0], urlOf: FileUrl): FileInfo {
  return withUrls(keptFile(stored), urlOf(stored.file_id));
}

/** Returns a message with the URL of its file and without reactions. */
export function message(kept: KeptMessage, urlOf: FileUrl): Message {
  const { files, ...single } = kept;
  const shownFile = kept.file && file(kept.file, urlOf);
  if (!files) return { ...single, file: shownFile };
  return { ...single, file: shownFile, files: files.map((one) => file(one, urlOf)) };
}

type WithExtras = Pick<MessageRow, 'chat_id' | 'message_id' | 'extras'>;
type Extras = (messageId: MessageId) => Pick<Message, 'reactions' | 'reply_count' | 'last_reply_id' | 'last_reply_at'>;

/** Reads the extras of messages as one user sees them: one statement for each kind that there is. */
async function readExtras(db: Db, messages: readonly WithExtras[], userId: UserId): Promise<Extras> {
  const reacted = messages.filter(({ extras }) => extras & extraBits.reactions);
  const replied = messages.filter(({ extras }) => extras & extraBits.replies).map(({ message_id }) => message_id);
  const [reactions, threads] = await Promise.all([
    reacted.length > 0 ? reactionsTo(db, reacted, userId) : undefined,
    replied.length > 0 ? threadsOf(db, replied) : undefined,
  ]);
  return (messageId) => {
    const thread = threads?.get(messageId);
    return { reactions: reactions?.get(messageId) ?? [], ...(thread && repliesOf(thread)) };
  };
}

const repliesOf = ({ reply_count, last_reply_id, last_reply_at }: ThreadRow) => ({
  reply_count,
  last_reply_id,
  last_reply_at: time(last_reply_at),
});

export const thread = (row: ThreadRow & { readonly unread_count: number }, root: Message): Thread => ({
  message: root,
  ...repliesOf(row),
  unread_count: row.unread_count,
});

/** Returns a message with its extras as one user sees them. */
export async function messageFor(db: Db, row: MessageRow, userId: UserId, urlOf: FileUrl): Promise<Message> {
  const shown = message(keptMessage(row), urlOf);
  if (row.extras === 0) return shown;
  return { ...shown, ...(await readExtras(db, [row], userId))(row.message_id) };
}

/**
 * Returns messages as a JSON array, and whether it is the same for every reader. Nearly all messages have neither extras nor
 * a file, and are sent as they are stored.
 */
export async function renderMessages(
  db: Db,
  texts: MessageTexts,
  userId: UserId,
  urlOf: FileUrl,
): Promise<{ messages: string; isShared: boolean }> {
  // Every second part is a message that is not sent as it is stored.
  const parts = texts.split('\n');
  const special = parts.map((part, i) => (i % 2 === 1 ? parsePart(part) : undefined));
  const withExtras = special.filter((part) => part !== undefined && part.extras > 0) as SpecialPart[];
  const extrasOf = await readExtras(db, withExtras, userId);
  const rendered = special.map((part, i) =>
    part ? JSON.stringify({ ...message(part.kept, urlOf), ...extrasOf(part.message_id) }) : parts[i],
  );
  const isShared = !withExtras.some(({ extras }) => extras & extraBits.reactions);
  return { messages: `[${rendered.join('')}]`, isShared };
}

type SpecialPart = WithExtras & { readonly kept: KeptMessage };

function parsePart(part: string): SpecialPart {
  const kept = JSON.parse(part.slice(1)) as KeptMessage;
  return { kept, chat_id: kept.chat_id, message_id: kept.message_id, extras: Number(part[0]) };
}

/**
 * Returns a record with the fields of the contract only, so that no other column of the row leaks. Each field is taken from
 * `computed`, or else from the row.
 */
function shown<S extends z.ZodRawShape, C extends Partial<z.output<z.ZodObject<S>>>>(
  record: z.ZodObject<S>,
  row: Omit<z.output<z.ZodObject<S>>, keyof C>,
  computed: C,
): z.output<z.ZodObject<S>> {
  const all: Record<string, unknown> = { ...row, ...computed };
  const entries = Object.keys(record.shape).map((name) => [name, all[name]]);
  return Object.fromEntries(entries) as z.output<z.ZodObject<S>>;
}

/** `last` and `peer` are undefined if there is none to show. */
export function chat(row: ChatView, last: LastMessage | undefined, peer: UserRow | undefined): Chat {
  return shown(records.chat, row, {
    created_at: time(row.created_at),
    last_message: last ?? null,
    peer: peer ? shown(records.peer, peer, {}) : null,
    pins: row.role === null ? [] : (JSON.parse(row.pins) as MessageId[]),
    last_read_id: (row.last_read_id || null) as MessageId | null,
    ...preferences(row),
  });
}

export const preferences = ({ notify, muted_until, is_archived, is_pinned }: Preferences) => ({
  notify,
  muted_until: timeOrNull(muted_until),
  archived: is_archived,
  pinned: is_pinned,
});

export function participant(row: ParticipantRow): Participant {
  const last_read_id = row.last_read_id === 0 ? null : (row.last_read_id as MessageId);
  return shown(records.participant, row, { joined_at: time(row.joined_at), last_read_id });
}

/** Returns the URL of a user's picture, or null if there is none. */
export type AvatarUrl = (user: Pick<UserRow, 'user_id' | 'avatar'>) => string | null;

export function user(row: UserRow, avatarUrl: AvatarUrl): User {
  const { created_at, disabled_at } = row;
  return shown(records.user, row, {
    avatar_url: avatarUrl(row),
    created_at: time(created_at),
    disabled_at: timeOrNull(disabled_at),
  });
}

export function hook(row: HookRow, bot: UserRow, avatarUrl: AvatarUrl): Hook {
  return shown(records.hook, row, {
    bot: user(bot, avatarUrl),
    active: row.role !== null && may('send', row.type, row.role),
    created_at: time(row.created_at),
    last_used_at: timeOrNull(row.last_used_at),
  });
}

export const pushSubscription = (row: SubscriptionRow): PushSubscription =>
  shown(records.pushSubscription, row, {
    browser: row.user_agent === null ? null : browserInWords(row.user_agent),
    created_at: time(row.created_at),
  });

export function token(row: TokenRow): Token {
  return shown(records.token, row, {
    scopes: [...parseScopes(row.scopes)],
    created_at: time(row.created_at),
    expires_at: timeOrNull(row.expires_at),
    last_used_at: timeOrNull(row.last_used_at),
  });
}

export function app(row: AppRow): App {
  return shown(records.app, row, {
    redirects: JSON.parse(row.redirects) as string[],
    confidential: row.secret_hash !== null,
    created_at: time(row.created_at),
  });
}

export const tokenUse = ({ token_id, day, requests }: TokenUseRow): TokenUse => ({
  token_id,
  day: time(startOfDay(day)).slice(0, 10),
  requests,
});

/** The scopes are those of all its grants. */
export function authorizedApp(row: GrantedApp): AuthorizedApp {
  const granted = parseScopes(row.scopes.join(' '));
  return shown(records.authorizedApp, row, {
    scopes: scopeNames.filter((scope) => granted.has(scope)),
    since: time(row.since),
    last_used_at: timeOrNull(row.last_used_at),
  });
}

export function invitation(row: LinkRow): Invitation {
  return shown(records.invitation, row, {
    invitation_id: row.link_id,
    created_at: time(row.created_at),
    expires_at: time(row.expires_at),
  });
}

/** `oldest` is the time of the oldest event that is still to be delivered. */
export function webhook(row: WebhookRow, state: EndpointStateRow, oldest: number | undefined, now: number): Webhook {
  const events = JSON.parse(row.events) as string[];
  return shown(webhookRecords.webhook, row, {
    events,
    unknown_events: unknownEvents(events),
    down_since: timeOrNull(state.down_since),
    next_attempt_at: timeOrNull(state.hold_until),
    oldest_undelivered_age: oldest === undefined ? null : Math.max(0, Math.round((now - oldest) / 1_000)),
    previous_secret_until: row.previous_until !== null && row.previous_until > now ? time(row.previous_until) : null,
    created_at: time(row.created_at),
  });
}

export const webhookHealth = (
  webhook: Webhook,
  { retrying_since, last_failure, ...counts }: DeliveryCounts,
): WebhookHealth => ({
  ...webhook,
  ...counts,
  failing_since: webhook.down_since ?? timeOrNull(retrying_since),
  last_failure: last_failure ? delivery(last_failure) : null,
});

export function delivery(row: DeliveryRow): Delivery {
  return shown(webhookRecords.delivery, row, {
    chat_id: row.chat_id > 0 ? row.chat_id : null,
    replay_id: row.replay_id === 0 ? null : (row.replay_id as ReplayId),
    attempt_count: row.attempts,
    next_attempt_at: timeOrNull(row.next_at),
    last_attempt_at: timeOrNull(row.last_at),
    last_cause: causeOf({ status: row.last_status, error: row.last_error, cause: row.last_cause }),
  });
}

export function attempt({ number, at, status, error, cause, duration_ms, answer }: AttemptRow): Attempt {
  return { number, at: time(at), status, error, cause: causeOf({ status, error, cause }), duration_ms, answer };
}

/** Old rows have no cause. */
function causeOf({ status, error, cause }: Pick<AttemptRow, 'status' | 'error' | 'cause'>): FailureCause | null {
  if (cause !== null || error === null) return cause;
  return status === null ? 'other' : statusCause(status);
}

export function deliveryInFull(
  row: DeliveryRow,
  attempts: readonly AttemptRow[],
  body: string | undefined,
): Omit<DeliveryInFull, 'headers'> {
  const { last_at, last_status: status, last_error: error, last_cause: cause, duration_ms } = row;
  // A first attempt that succeeded is recorded in the delivery alone.
  const isAlone = attempts.length === 0 && last_at !== null && duration_ms !== null;
  const all = isAlone ? [{ number: 1, at: last_at, status, error, cause, duration_ms, answer: null }] : attempts;
  return {
    ...delivery(row),
    attempts: all.map(attempt),
    body: body ?? null,
    signed_content: body === undefined || last_at === null ? null : signedContent(String(row.event_id), last_at, body),
  };
}

export function replay(row: ReplayRow): Replay {
  const settled = row.delivered_count + row.failed_count + row.skipped_count;
  return shown(webhookRecords.replay, row, {
    only: row.only_states === null ? null : (JSON.parse(row.only_states) as DeliveryState[]),
    from_event_id: row.from_event as EventId,
    to_event_id: row.to_event,
    reached_event_id: row.reached_event,
    open_count: Math.max(0, row.delivery_count - settled),
    created_at: time(row.created_at),
    finished_at: timeOrNull(row.finished_at),
  });
}

export function metricSample(row: SampleRow): MetricSample {
  return shown(serviceRecords.metricSample, row, {
    at: time(row.minute * 60_000),
    webhook_lag_ms: row.first_attempts === 0 ? null : Math.round(row.first_attempt_lag_ms / row.first_attempts),
    disk_free_bytes: row.disk_free,
    disk_total_bytes: row.disk_total,
  });
}

/** `lastMessageAt` is undefined if there is no message. */
export function chatUse(row: ChatUseRow, lastMessageAt: string | undefined): ChatUse {
  return shown(serviceRecords.chatUse, row, {
    created_at: time(row.created_at),
    last_message_at: lastMessageAt ?? null,
  });
}

export function personUse(row: PersonUseRow): PersonUse {
  return shown(serviceRecords.personUse, row, { disabled_at: timeOrNull(row.disabled_at) });
}

export function auditEntry(row: AuditRow): AuditEntry {
  return shown(serviceRecords.auditEntry, row, {
    at: time(row.at),
    app_id: row.app_id > 0 ? row.app_id : null,
    details: JSON.parse(row.details) as Record<string, unknown>,
  });
}

/** Returns the body that `webhooks.test` sends if it is asked for no event. */
export function testBody(webhookId: number | null, at: number): string {
  const data = { webhook_id: webhookId, message: 'A test of this webhook. Nothing has happened.' };
  return JSON.stringify({ event: 'test', timestamp: time(at), data });
}

/** Returns the body of an example of an event. */
export const exampleBody = (event: EventName, at: number): string =>
  JSON.stringify({ event, timestamp: time(at), data: eventExamples[event] });

/** Returns a page of rows that were read with one more than the limit. */
export function page<T>(rows: readonly T[], limit: number): { rows: readonly T[]; has_more: boolean } {
  return { rows: rows.slice(0, limit), has_more: rows.length > limit };
}
