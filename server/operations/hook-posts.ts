import { ParleyError } from '@parley/contract';
import { hashToken } from '../auth/access-token.ts';
import { fingerprint, storedResponse } from '../domain/idempotency.ts';
import { may } from '../domain/policy.ts';
import { type HookMessage, type HookOutcome, sendHookMessages } from '../store/chat/hook-messages.ts';
import { findHookByHash, type HookRow, isNewUse, recordHookUse } from '../store/chat/hooks.ts';
import { MessageSender } from './message-sender.ts';
import type { Services } from './operation.ts';

export type { HookRow } from '../store/chat/hooks.ts';

export interface HookPost {
  readonly content: string;
  readonly idempotencyKey?: string | undefined;
}

export interface Posted {
  readonly message_id: number;
  /** True if an earlier post with the same key has sent it. */
  readonly isReplayed: boolean;
}

/** Messages in one transaction. */
const maxBatch = 64;

/** Posts through incoming webhooks. */
export class HookPosts {
  readonly #services: Services;
  readonly #sender: MessageSender<HookMessage, HookOutcome>;
  readonly #useFailed: (error: unknown) => void;

  /** `useFailed` is called if the time of a post could not be stored. The message was sent nevertheless. */
  constructor(services: Services, useFailed: (error: unknown) => void) {
    this.#services = services;
    this.#sender = new MessageSender(services, sendHookMessages, maxBatch);
    this.#useFailed = useFailed;
  }

  /** Returns the hook of a secret. Throws `not_found` for an unknown one. */
  async find(secret: string): Promise<HookRow> {
    const hook = /^hook_[\w-]{43}$/.test(secret)
      ? await findHookByHash(this.#services.engine, hashToken(secret))
      : undefined;
    if (!hook) throw noHook();
    return hook;
  }

  /** Sends a message as the bot of the hook, with the rights of the creator of the hook. */
  async post(hook: HookRow, { content, idempotencyKey }: HookPost): Promise<Posted> {
    const { dailyMessages, requireRoom } = this.#services;
    requireMayPost(hook);
    requireRoom();
    const requested = fingerprint({ chat_id: hook.chat_id, content });
    const message = toMessage(hook, content, idempotencyKey, requested);
    for (;;) {
      const outcome = await this.#sender.send(hook.created_by, message);
      if ('json' in outcome) {
        dailyMessages.add(hook.created_by);
        this.#recordUse(hook);
        return { message_id: messageIdIn(JSON.parse(outcome.json)), isReplayed: false };
      }
      if ('stored' in outcome) {
        const { message } = JSON.parse(storedResponse(outcome.stored, requested)) as { message: object };
        return { message_id: messageIdIn(message), isReplayed: true };
      }
      if (outcome.refused === 'revoked') throw noHook();
      // The creator has lost the right since the hook was read.
      if (outcome.refused !== 'again') throw mayNotPost();
    }
  }

  /** Is not waited for: a sender that got an error would send the message again. */
  #recordUse(hook: HookRow): void {
    const { engine, now } = this.#services;
    const at = now();
    if (isNewUse(hook, at)) {
      engine.writeRelaxed((tx) => recordHookUse(tx, hook.hook_id, at)).catch(this.#useFailed);
    }
  }
}

const messageIdIn = (message: object): number => (message as { readonly message_id: number }).message_id;

const noHook = () => new ParleyError('not_found', 'There is no such incoming webhook, or it was revoked.');

const mayNotPost = () =>
  new ParleyError('forbidden', 'The creator of this incoming webhook may no longer post in the chat.');

function requireMayPost({ type, role }: HookRow): void {
  if (role === null || !may('send', type, role)) throw mayNotPost();
}

const toMessage = (hook: HookRow, content: string, key: string | undefined, requested: string): HookMessage => ({
  hook_id: hook.hook_id,
  chat_id: hook.chat_id,
  user_id: hook.bot_id,
  permitted_by: hook.created_by,
  content,
  reply_to: null,
  file_id: null,
  more_files: [],
  file: null,
  // The bot may have access tokens, whose keys are others.
  key:
    key === undefined
      ? null
      : {
          user_id: hook.bot_id,
          app_id: 0,
          operation: 'messages.send_message',
          key: `hook ${hook.hook_id} ${key}`,
          fingerprint: requested,
        },
});
