import type { Chat, Message, Participant, Token, User, UserId } from '@parley/contract';
import { parseScopes } from '../auth/access-token.ts';
import { isoTime } from '../domain/time.ts';
import type { ChatView } from '../store/chats.ts';
import type { Db } from '../store/engine.ts';
import type { ParticipantRow } from '../store/members.ts';
import type { MessageRow, PageRow } from '../store/messages.ts';
import { reactionsTo } from '../store/reactions.ts';
import type { TokenRow } from '../store/tokens.ts';
import type { UserRow } from '../store/users.ts';

/** Rows of the store as the contract shows them. */

const time = isoTime;
const timeOrNull = (at: number | null): string | null => (at === null ? null : time(at));

/** A message of the store, its reactions left empty. */
export function message(row: PageRow): Message {
  return JSON.parse(row.json) as Message;
}

/** The same with its reactions, as one user sees them. */
export async function messageFor(db: Db, row: MessageRow, userId: UserId): Promise<Message> {
  if (!row.has_reactions) return message(row);
  const found = await reactionsTo(db, [row], userId);
  return { ...message(row), reactions: found.get(row.message_id) ?? [] };
}

/** Messages as a JSON array. Those without reactions, nearly all, go out as they are kept. */
export async function renderMessages(db: Db, rows: readonly PageRow[], userId: UserId): Promise<string> {
  const reacted = rows.filter((row) => row.has_reactions).map(message);
  const found = reacted.length > 0 ? await reactionsTo(db, reacted, userId) : undefined;
  const texts = rows.map((row) => {
    if (!row.has_reactions) return row.json;
    const shown = message(row);
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
  };
}

export function user(row: UserRow): User {
  return {
    user_id: row.user_id,
    name: row.name,
    display_name: row.display_name,
    is_admin: row.is_admin === 1,
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

/** A page out of one row more than its limit. */
export function page<T>(rows: readonly T[], limit: number): { rows: readonly T[]; has_more: boolean } {
  return { rows: rows.slice(0, limit), has_more: rows.length > limit };
}
