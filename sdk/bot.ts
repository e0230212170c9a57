import { type Client, connectionOf } from './client.ts';
import { ApiError, type TransportError } from './errors.ts';
import type { EventData } from './operations.ts';
import { isTransient, reconnectDelay, untilAborted } from './retry.ts';
import { verifyWebhook, WebhookVerificationError } from './webhook.ts';

/** A message that somebody else has sent. */
export interface BotMessage extends Readonly<EventData['new_message']> {
  readonly event_id: number;
  /** When it was sent: ISO 8601 in UTC. */
  readonly timestamp: string;
  /** Whether the text mentions the bot, as in `@echo`, by the rules of the server: not within code, for example. */
  readonly isMention: boolean;
  /** The text without the bot's name: `@bob hello` for `@bob @echo hello`. */
  readonly withoutMention: string;
  /**
   * Sends a text to the same chat, as a reply to this message. The first reply of a handler takes effect once, even if the
   * handler runs again after a crash, and so does the second.
   */
  reply(content: string): Promise<void>;
}

export type BotHandler = (message: BotMessage) => void | Promise<void>;

/** Where a bot stopped, as JSON. */
export interface BotState {
  /** The cursor in the event log. A bot that only receives webhooks has none. */
  readonly cursor?: number | undefined;
  /** The ids of the events that were handled last. */
  readonly handled: readonly number[];
}

/** Keeps the state of a bot between runs. */
export interface BotStore {
  /** Returns the state that was saved last, or undefined if there is none. */
  load(): BotState | undefined | Promise<BotState | undefined>;
  /** Called after each event. */
  save(state: BotState): void | Promise<void>;
}

export interface BotOptions {
  readonly client: Client;
  /** Called with each message of somebody else in the bot's chats. */
  readonly onMessage?: BotHandler | undefined;
  /** Called instead of `onMessage` if the message mentions the bot. */
  readonly onMention?: BotHandler | undefined;
  /** Defaults to memory: a bot that is started again begins with new messages. */
  readonly store?: BotStore | undefined;
  /**
   * Called when a handler throws. The event then counts as handled, unless this function throws too. If the handler could
   * not reach the server, `run` repeats it until it can. After a response with 5xx, `run` repeats it up to five times first.
   */
  readonly onError: (error: unknown, message: BotMessage) => void | Promise<void>;
  /** Distinguishes programs that act as the same user. Defaults to `bot`. */
  readonly name?: string | undefined;
}

export interface RunOptions {
  /** Aborting it ends the run after the current message. */
  readonly signal?: AbortSignal | undefined;
  /** Called each time the stream opens. */
  readonly onOpen?: (() => void) | undefined;
  /**
   * Called before each retry, with the milliseconds until then: the stream broke, the server could not be reached at the
   * start, or a call of a handler failed.
   */
  readonly onBreak?: ((error: ApiError | TransportError, pauseMs: number) => void) | undefined;
  /**
   * Called if the bot cannot resume at its cursor: the events after it are deleted, or it belongs to another log. The bot
   * has missed messages, and goes on with new ones. If this function throws, the run ends with that error instead.
   */
  readonly onExpired?: ((error: ApiError) => void) | undefined;
}

export interface Bot {
  /**
   * Follows the event stream, and handles one message after the other. Resolves when the signal is aborted. Throws
   * `ApiError` if the server refuses the stream.
   */
  run(options?: RunOptions): Promise<void>;
  /**
   * Handles the delivery of a webhook, and returns the response: 204, or 401 if the signature is not valid. Throws if the
   * message has to be delivered again: respond with 500.
   */
  receive(request: Request, secret: string | readonly string[]): Promise<Response>;
}

/** The ids that are remembered. A delivery that is repeated after more events than this is handled again. */
const maxHandled = 1_000;

const maxBodyBytes = 1_048_576;
const retryMs = 1_000;

/** How often a handler is repeated after a response with 5xx. The pauses add up to about half a minute. */
const maxServerErrors = 5;

type CallError = ApiError | TransportError;
type IsRetryable = (error: unknown) => error is CallError;

const isServerError = ({ status = 0 }: CallError): boolean => status >= 500;

/** Returns a bot that calls the handlers for each message once, over the event stream (`run`) or webhooks (`receive`). */
export function bot(options: BotOptions): Bot {
  return new RunningBot(options);
}

type Received = Pick<BotMessage, 'event_id' | 'timestamp'> & { readonly data: EventData['new_message'] };

interface Identity {
  readonly userId: number;
  /** Matches the bot's name and the space after it. */
  readonly mention: RegExp;
}

class RunningBot implements Bot {
  readonly #options: BotOptions;
  readonly #client: Client;
  readonly #handled = new Set<number>();
  /** Events that are being handled. */
  readonly #running = new Map<number, Promise<void>>();
  #saving: Promise<void> = Promise.resolve();
  #cursor: number | undefined;
  #loading: Promise<Identity> | undefined;

  constructor(options: BotOptions) {
    this.#options = options;
    this.#client = options.client;
  }

  async run(options: RunOptions = {}): Promise<void> {
    const { signal } = options;
    try {
      await this.#retry(options, Number.POSITIVE_INFINITY, () => untilAborted(this.#load(), signal));
      for await (const event of this.#messages(options)) {
        await this.#retry(options, maxServerErrors, (isRetryable) => this.#handleOnce(event, isRetryable));
      }
    } catch (error) {
      if (!signal?.aborted || error !== signal.reason) throw error;
    }
  }

  async receive(request: Request, secret: string | readonly string[]): Promise<Response> {
    if (request.method !== 'POST') return new Response('POST only', { status: 405, headers: { allow: 'POST' } });
    const body = await readBody(request);
    if (!body) return new Response('too large', { status: 413 });
    try {
      const event = await verifyWebhook(body, request.headers, secret);
      if (event.event === 'new_message') {
        await this.#load();
        const received = { event_id: Number(event.id), timestamp: event.timestamp, data: event.data };
        await this.#handleOnce(received, isTransient);
        await this.#save();
      }
      return new Response(null, { status: 204 });
    } catch (error) {
      if (error instanceof WebhookVerificationError) return new Response(error.message, { status: 401 });
      throw error;
    }
  }

  /** Iterates over the events after the cursor. Saves the state when the caller has handled one. */
  async *#messages({ signal, onOpen, onBreak, onExpired }: RunOptions): AsyncGenerator<Received, never, undefined> {
    for (;;) {
      const stream = this.#client.events({ after: this.#cursor, events: ['new_message'], signal, onOpen, onBreak });
      try {
        this.#cursor = await stream.open();
        await this.#save();
        for await (const event of stream) {
          yield event;
          this.#cursor = stream.cursor;
          await this.#save();
          signal?.throwIfAborted();
        }
      } catch (error) {
        const isExpired = error instanceof ApiError && error.code === 'cursor_expired';
        if (!isExpired || this.#cursor === undefined) throw error;
        onExpired?.(error);
        this.#cursor = undefined;
        // Another log may use the same ids for other events.
        this.#handled.clear();
      }
    }
  }

  /** Repeats the work while the server cannot be reached, and after so many responses with 5xx. Then throws the error. */
  async #retry(
    { signal, onBreak }: RunOptions,
    maxErrors: number,
    work: (isRetryable: IsRetryable) => Promise<unknown>,
  ): Promise<void> {
    const { clock } = connectionOf(this.#client);
    let serverErrors = 0;
    const isRetryable = (error: unknown): error is CallError =>
      isTransient(error) && (!isServerError(error) || serverErrors < maxErrors);
    for (let failures = 0; ; failures++) {
      signal?.throwIfAborted();
      try {
        await work(isRetryable);
        return;
      } catch (error) {
        if (!isRetryable(error)) throw error;
        if (isServerError(error)) serverErrors++;
        const pauseMs = reconnectDelay(failures, retryMs, error);
        onBreak?.(error, pauseMs);
        await clock.sleep(pauseMs, signal);
      }
    }
  }

  /** Loads the state and who the bot is, once. */
  #load(): Promise<Identity> {
    this.#loading ??= this.#start().catch((error) => {
      this.#loading = undefined;
      throw error;
    });
    return this.#loading;
  }

  async #start(): Promise<Identity> {
    const state = await this.#options.store?.load();
    for (const id of state?.handled ?? []) this.#handled.add(id);
    this.#cursor ??= state?.cursor;
    const { user } = await this.#client.users.me();
    const name = user.name.replace(/[.-]/g, '\\$&');
    return { userId: user.user_id, mention: new RegExp(`(?<![\\w.-])@${name}(?![\\w-]|\\.\\w)\\s*`, 'gi') };
  }

  /** Saves the state, one save after the other. */
  #save(): Promise<void> {
    const { store } = this.#options;
    const saved = this.#saving.then(() => store?.save({ cursor: this.#cursor, handled: [...this.#handled] }));
    this.#saving = saved.catch(() => {});
    return saved;
  }

  /** Deliveries of the same event share one run of the handler. */
  async #handleOnce(event: Received, isRetryable: IsRetryable): Promise<void> {
    const id = event.event_id;
    if (this.#handled.has(id)) return;
    const running = this.#running.get(id) ?? this.#handle(event, isRetryable).finally(() => this.#running.delete(id));
    this.#running.set(id, running);
    await running;
  }

  /** Throws the error of a handler if it is retryable. Otherwise the event is handled, unless `onError` throws. */
  async #handle(event: Received, isRetryable: IsRetryable): Promise<void> {
    const identity = await this.#load();
    if (event.data.user_id !== identity.userId) {
      const message = this.#messageOf(event, identity);
      const { onMessage, onMention, onError } = this.#options;
      try {
        await ((message.isMention ? onMention : undefined) ?? onMessage)?.(message);
      } catch (error) {
        if (isRetryable(error)) throw error;
        await onError(error, message);
      }
    }
    this.#handled.add(event.event_id);
    for (const oldest of this.#handled) {
      if (this.#handled.size <= maxHandled) break;
      this.#handled.delete(oldest);
    }
  }

  #messageOf({ event_id, timestamp, data }: Received, { userId, mention }: Identity): BotMessage {
    const { name = 'bot' } = this.#options;
    const { chat_id, message_id, content: text } = data;
    const isMention = data.mentions?.includes(userId) ?? false;
    const withoutMention = text.replace(mention, '').trim();
    let replies = 0;
    const reply = async (content: string) => {
      const idempotencyKey = `${name}-${event_id}-${++replies}`;
      try {
        await this.#client.messages.send({ chat_id, content, reply_to: message_id }, { idempotencyKey });
      } catch (error) {
        // An earlier run of the handler has sent this reply with another text.
        if (!(error instanceof ApiError && error.code === 'idempotency_conflict')) throw error;
      }
    };
    return { ...data, event_id, timestamp, isMention, withoutMention, reply };
  }
}

/** Returns the body, or undefined if it is too large. */
async function readBody(request: Request): Promise<Uint8Array | undefined> {
  const parts: Uint8Array[] = [];
  let size = 0;
  const reader = request.body?.getReader();
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    size += part.value.length;
    if (size > maxBodyBytes) return undefined;
    parts.push(part.value);
  }
  const body = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    body.set(part, at);
    at += part.length;
  }
  return body;
}
