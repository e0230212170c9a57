import { z } from 'zod';

const encoder = new TextEncoder();

const id = <Brand extends string>(description: string) => z.int().positive().brand<Brand>().meta({ description });

export const userId = id<'UserId'>('identifier of a user');
export const chatId = id<'ChatId'>('identifier of a chat');
export const messageId = id<'MessageId'>('identifier of a message; rises within a chat');
export const eventId = id<'EventId'>('identifier of an event; rises in the order of commits');
export const tokenId = id<'TokenId'>('identifier of an access token');

export type UserId = z.output<typeof userId>;
export type ChatId = z.output<typeof chatId>;
export type MessageId = z.output<typeof messageId>;
export type EventId = z.output<typeof eventId>;
export type TokenId = z.output<typeof tokenId>;

/** ISO 8601 in UTC with milliseconds. */
export const time = z.iso.datetime({ precision: 3 }).meta({ description: 'ISO 8601, UTC, milliseconds' });

/** Text as people write it: any script, but nothing a database or a JSON reader could choke on. */
export function text(bounds: { min: number; maxBytes: number }) {
  return z
    .string()
    .refine((s) => s.isWellFormed(), 'must not contain a lone surrogate')
    .refine((s) => !s.includes('\0'), 'must not contain U+0000')
    .refine((s) => bounds.min === 0 || s.trim() !== '', 'must not be blank')
    .refine(
      (s) => utf8Length(s, bounds.maxBytes) <= bounds.maxBytes,
      `must be at most ${bounds.maxBytes} bytes of UTF-8`,
    )
    .meta({ ...(bounds.min > 0 && { minLength: bounds.min }), maxLength: bounds.maxBytes });
}

/** Exact only where it matters: a short string cannot pass the bound, so it is not encoded. */
function utf8Length(s: string, bound: number): number {
  return s.length * 3 <= bound ? s.length : encoder.encode(s).length;
}

const controls = /[\p{Cc}\p{Zl}\p{Zp}]/u;

/** One line shown to people: a name or a title. */
export const title = text({ min: 1, maxBytes: 400 })
  .refine((s) => !controls.test(s), 'must be a single line without control characters')
  .refine((s) => [...s].length <= 100, 'must be at most 100 characters')
  .meta({ minLength: 1, maxLength: 100 });

export const description = text({ min: 0, maxBytes: 4_096 });

export const userName = z
  .string()
  .regex(
    /^[a-z0-9](?:[a-z0-9._-]{0,38}[a-z0-9])?$/i,
    'must be 1 to 40 of a–z, 0–9, ".", "_", "-", with a letter or digit at each end',
  )
  .meta({ description: 'unique without regard to case' });

export const emoji = text({ min: 1, maxBytes: 64 })
  .refine((s) => !/\s/u.test(s) && !controls.test(s), 'must not contain spaces or control characters')
  .meta({ description: 'an emoji, or a short name such as `+1`', minLength: 1, maxLength: 64 });

export const searchText = text({ min: 1, maxBytes: 1_024 }).refine((s) => !controls.test(s.replace(/\s/gu, ' ')), {
  message: 'must not contain control characters',
});

/** A user id each, without repeats. */
export function userIds(max: number) {
  return z
    .array(userId)
    .max(max)
    .transform((ids) => [...new Set(ids)])
    .meta({ description: 'user ids; repeats count once' });
}
