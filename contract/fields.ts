import { z } from 'zod';
import { defaultPage } from './limits.ts';
import { textPatterns } from './text-patterns.ts';

const encoder = new TextEncoder();

const id = <Brand extends string>(description: string) => z.int().positive().brand<Brand>().meta({ description });

export const userId = id<'UserId'>('identifier of a user');
export const chatId = id<'ChatId'>('identifier of a chat');
export const messageId = id<'MessageId'>('identifier of a message; rises within a chat');
export const eventId = id<'EventId'>('identifier of an event; rises in the order of commits');
export const fileId = id<'FileId'>('identifier of a file');
export const tokenId = id<'TokenId'>('identifier of an access token');
export const invitationId = z.int().positive().meta({ description: 'identifier of an invitation' });
export const appId = z.int().positive().meta({ description: 'identifier of an OAuth app' });
export const webhookId = id<'WebhookId'>('identifier of a webhook');
export const hookId = id<'HookId'>('identifier of an incoming webhook');
export const subscriptionId = id<'SubscriptionId'>('identifier of a push subscription');
export const deliveryId = id<'DeliveryId'>('identifier of a delivery: one event for one webhook');
export const replayId = id<'ReplayId'>('identifier of a replay');

export type UserId = z.output<typeof userId>;
export type ChatId = z.output<typeof chatId>;
export type MessageId = z.output<typeof messageId>;
export type EventId = z.output<typeof eventId>;
export type FileId = z.output<typeof fileId>;
export type TokenId = z.output<typeof tokenId>;
export type WebhookId = z.output<typeof webhookId>;
export type HookId = z.output<typeof hookId>;
export type SubscriptionId = z.output<typeof subscriptionId>;
export type DeliveryId = z.output<typeof deliveryId>;
export type ReplayId = z.output<typeof replayId>;

/** ISO 8601 in UTC with milliseconds. */
export const time = z.iso.datetime({ precision: 3 }).meta({ description: 'ISO 8601, UTC, milliseconds' });

/** A time in an input: any offset, any precision. */
export const timeInput = z.iso
  .datetime({ offset: true, error: 'must be a time such as 2026-01-31T12:00:00Z' })
  .transform((text) => Date.parse(text))
  .meta({ description: 'ISO 8601 with `Z` or an offset' });

interface TextBounds {
  /** 0 allows blank text. */
  readonly min: number;
  readonly maxBytes: number;
  /** Allows the empty string, but not blanks. */
  readonly mayBeEmpty?: boolean;
}

/** Text in any script, without characters that a database or a JSON parser rejects. */
export function text(bounds: TextBounds) {
  return z
    .string()
    .check((ctx) => {
      const fault = textFault(ctx.value, bounds);
      if (fault) ctx.issues.push({ code: 'custom', message: fault, input: ctx.value });
    })
    .meta({
      ...(bounds.min > 0 && !bounds.mayBeEmpty && { minLength: bounds.min }),
      maxLength: bounds.maxBytes,
      pattern: patternOf(bounds),
    });
}

function patternOf({ min, mayBeEmpty }: TextBounds): string {
  if (min === 0) return textPatterns.anyText;
  return mayBeEmpty ? textPatterns.visibleOrEmptyText : textPatterns.visibleText;
}

/** Any character but spaces, control and format characters. */
const visible = /[^\s\p{Cc}\p{Cf}]/u;

function textFault(s: string, { min, maxBytes, mayBeEmpty }: TextBounds): string | undefined {
  if (s === '' && mayBeEmpty) return undefined;
  if (!s.isWellFormed()) return 'must not contain a lone surrogate';
  if (s.includes('\0')) return 'must not contain U+0000';
  if (min > 0 && !visible.test(s)) return 'must not be blank';
  // A UTF-16 unit takes at most three bytes, so a short string need not be encoded.
  if (s.length * 3 > maxBytes && encoder.encode(s).length > maxBytes)
    return `must be at most ${maxBytes} bytes of UTF-8`;
  return undefined;
}

const controls = /[\p{Cc}\p{Zl}\p{Zp}]/u;

/** They change the direction of the text after them, also outside of the name. No script needs them in a name. */
const directionMarks = /[\u202a-\u202e\u2066-\u2069]/u;

const line = (bounds: Pick<TextBounds, 'mayBeEmpty'>) =>
  text({ min: 1, maxBytes: 400, ...bounds })
    .refine((s) => !controls.test(s), 'must be a single line without control characters')
    .refine((s) => !directionMarks.test(s), 'must not contain characters that change the direction of the text')
    .refine((s) => [...s].length <= 100, 'must be at most 100 characters');

/** A name or a title in one line. */
export const title = line({}).meta({
  description: 'one line',
  minLength: 1,
  maxLength: 100,
  pattern: textPatterns.title,
});

export const statusText = line({ mayBeEmpty: true }).meta({
  description: 'one line about what somebody does; may be empty',
  maxLength: 100,
  pattern: textPatterns.titleOrEmpty,
});

const zoneName = /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+)*$/;

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

export const timeZone = z
  .string()
  .max(64)
  .regex(zoneName, { message: 'must be a time zone such as Europe/Berlin', abort: true })
  .refine(isTimeZone, { message: 'must be a time zone such as Europe/Berlin', abort: true })
  .meta({ description: 'a name of the IANA time zone database, such as `Europe/Berlin`' });

/** A time of the day in an input. */
export const timeOfDay = z
  .string()
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time such as 22:30')
  .meta({ description: 'hours and minutes, such as `22:30`' });

/** Scripts that need a joiner between letters. */
const joined = [
  'Arabic',
  'Syriac',
  'Devanagari',
  'Bengali',
  'Gurmukhi',
  'Gujarati',
  'Oriya',
  'Tamil',
  'Telugu',
  'Kannada',
  'Malayalam',
  'Sinhala',
  'Mongolian',
]
  .map((script) => `\\p{Script=${script}}`)
  .join('');

/** Joiners inside such scripts and inside emoji, and the selector that makes a character an emoji. */
const neededMarks = new RegExp(
  [
    `(?<=[${joined}\\p{M}])[\\u200c\\u200d](?=[${joined}])`,
    '(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f])\\u200d(?=\\p{Extended_Pictographic})',
    '(?<=\\p{Extended_Pictographic})[\\ufe0e\\ufe0f]',
    '(?<=[0-9#*])\\ufe0f(?=\\u20e3)',
  ].join('|'),
  'gu',
);

const invisible = /[\p{Default_Ignorable_Code_Point}\p{Cf}\u2800]/u;

/** The name of a user or an app as people see it. With invisible characters it could look like that of another. */
export const displayName = title
  .refine((s) => !invisible.test(s.replace(neededMarks, '')), 'must not contain invisible characters')
  .meta({ description: 'one line without invisible characters', pattern: textPatterns.displayName });

export const fileName = text({ min: 1, maxBytes: 255 })
  .refine((s) => !controls.test(s) && !directionMarks.test(s), 'must not contain control characters')
  .refine((s) => !/[/\\]/.test(s) && s !== '.' && s !== '..', 'must be the name of a file, without a path')
  .meta({ description: 'the name of a file: any script, without a path', pattern: textPatterns.fileName });

export const description = text({ min: 0, maxBytes: 4_096 }).meta({ description: 'free text', maxLength: 4_096 });

export const userName = z
  .string()
  .regex(
    /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,38}[A-Za-z0-9])?$/,
    'must be 1 to 40 of a–z, 0–9, ".", "_", "-", with a letter or digit at each end',
  )
  .meta({ description: 'unique without regard to case' });

export const emoji = text({ min: 1, maxBytes: 64 })
  .refine((s) => !/\s/u.test(s) && !controls.test(s), 'must not contain spaces or control characters')
  .meta({ description: 'an emoji, or a short name such as `+1`', pattern: textPatterns.emoji });

export const searchText = text({ min: 1, maxBytes: 1_024 })
  .refine((s) => !controls.test(s.replace(/\s/gu, ' ')), 'must not contain control characters')
  .meta({ description: 'the text to look for, without regard to case and accents', pattern: textPatterns.searchText });

export const pageLimit = (max: number) =>
  z.int().min(1).max(max).default(defaultPage).meta({ description: 'rows in a page at most' });

export const afterId = z.int().nonnegative().default(0).meta({ description: 'the last id of the page before' });

export const hasMore = z.boolean().meta({ description: 'whether another page follows' });

export const count = z.int().nonnegative();

export function userIds(max: number, min = 0) {
  return z
    .array(userId)
    .min(min)
    .max(max)
    .transform((ids) => [...new Set(ids)])
    .meta({ description: 'user ids; repeats count once' });
}

/** The pattern of Idempotency-Keys, in headers and in inputs. */
export const idempotencyKeyPattern = /^[\x21-\x7e]{1,255}$/;

export const idempotencyKey = z
  .string()
  .regex(idempotencyKeyPattern, 'must be 1 to 255 printable ASCII characters without spaces');
