import type {
  ChatSignal,
  FileId,
  Input,
  MessageId,
  OperationName,
  Output,
  Presence,
  TokenId,
  UserId,
  WebhookId,
} from '@parley/contract';
import type { UserActor } from '../auth/audit.ts';
import type { Caller } from '../auth/caller.ts';
import type { FileLinks } from '../auth/file-links.ts';
import type { SignUpPolicy } from '../auth/links.ts';
import type { AccessServices } from '../auth/services.ts';
import type { AttemptMade, AttemptTarget, Sending, UnregisteredEndpoint } from '../domain/attempt.ts';
import { fingerprint, storedResponse } from '../domain/idempotency.ts';
import type { LiveQuery, LiveStream } from '../domain/live.ts';
import type { Pictures } from '../files/pictures.ts';
import type { Blobs } from '../files/storage/blobs.ts';
import type { Thumbnails } from '../files/thumbnails.ts';
import type { ReceivedFile } from '../files/uploads.ts';
import { claimKeys, storeResponses } from '../store/access/idempotency.ts';
import type { Tx } from '../store/engine/engine.ts';
import type { DeliveryRow } from '../store/webhooks/deliveries.ts';
import type { WebhookRow } from '../store/webhooks/webhooks.ts';
import type { ServerFacts } from './administration.ts';
import type { DailyMessages } from './daily-messages.ts';
import type { AvatarUrl } from './present.ts';
import type { Result } from './results.ts';

/** An authenticated call with valid input. */
export interface Call<N extends OperationName> {
  readonly name: N;
  readonly caller: Caller;
  readonly input: Input<N>;
  /** The file of the request. It is incomplete until a transaction completes it. */
  readonly file?: ReceivedFile | undefined;
  /** The cursor of a client that reconnects. */
  readonly lastEventId?: number | undefined;
  /** Returns the client's IP. */
  readonly address: () => string;
  /** Returns whether a proxy passed the call on, or its Host is not a name of this machine. */
  readonly isForwarded: () => boolean;
  /** Counts an expensive call as so many more requests, before the work. Throws `rate_limited`. */
  readonly charge?: ((requests: number) => void) | undefined;
  /** Set only if the operation supports a key. */
  readonly idempotencyKey?: string | undefined;
  /** Says that the result is the stored response to an earlier call with the same key. */
  readonly replayed?: (() => void) | undefined;
}

export type Handler<N extends OperationName> = (call: Call<N>) => Promise<Result<N>>;
export type Handlers = { readonly [N in OperationName]: Handler<N> };

/**
 * Runs before the file of a call is received, with the fields that came before it. Throws if the call would be refused
 * anyway.
 */
export type Gate = (caller: Caller, given: Readonly<Record<string, unknown>>) => Promise<void>;
export type Gates = { readonly [N in OperationName]?: Gate };

/** The caller for whom a URL is checked. */
export interface UrlCheck {
  readonly isForwarded: boolean;
  /** The error may name the address that a name leads to. */
  readonly isAdmin: boolean;
}

export interface WebhookServices {
  readonly maxPerOwner: number;
  /** Returns the URL as it is stored. Rejects with `invalid_input` if webhooks may not be sent to it. */
  readonly checkUrl: (url: string, call: UrlCheck) => Promise<string>;
  readonly seal: (secret: string) => string;
  /** Makes an attempt now, outside the queues. */
  readonly attempt: (
    endpoint: WebhookRow | UnregisteredEndpoint,
    sending: Sending,
    target: AttemptTarget,
  ) => Promise<AttemptMade>;
  /**
   * Returns the headers of the last attempt at a delivery, or null before the first one. Those of the signatures are left
   * out if the body or the secret is gone.
   */
  readonly sentHeaders: (
    webhook: WebhookRow | undefined,
    delivery: DeliveryRow,
    body: string | undefined,
  ) => Record<string, string> | null;
  /** Says that a webhook was changed. Resolves once this process acts on it. */
  readonly changed: () => Promise<void>;
}

export interface PushServices {
  /** The public key that browsers subscribe with. */
  readonly publicKey: string;
  /** Returns whether messages can be encrypted to a public key. */
  readonly isReceiverKey: (p256dh: string) => boolean;
  /** Returns the URL as it is stored. Rejects with `invalid_input` if pushes may not be sent to it. */
  readonly checkEndpoint: (endpoint: string, call: UrlCheck) => Promise<string>;
  /** Deletes the subscriptions of these users whose access has ended. */
  readonly accessEnded: (userIds: readonly UserId[]) => Promise<void>;
}

export interface FileServices {
  /** Returns the URL of a file, and for '' the part of it before the id. */
  readonly url: (fileId: FileId | '') => string;
  readonly links: FileLinks;
  readonly read: Blobs['read'];
  /** Returns when a file expires that is used last now. */
  readonly expiry: () => number;
}

export interface PresenceServices {
  /** Returns the presence that others were told last. */
  readonly of: (userId: UserId) => Presence;
  /** Says whether the user of a client is away. */
  readonly setAway: (userId: UserId, tokenId: TokenId, isAway: boolean) => void;
  /** Says that a user has committed to hide their presence or to show it. */
  readonly recheck: (userId: UserId) => void;
}

export interface Services extends AccessServices {
  /** Throws `unavailable` while the disk has no room for more data. */
  readonly requireRoom: () => void;
  readonly dailyMessages: DailyMessages;
  readonly openStream: (query: LiveQuery) => Promise<LiveStream>;
  /** Sends a signal to the streams of all processes. */
  readonly signal: (signal: ChatSignal) => void;
  /** Tells the streams of the owner of a webhook that its deliveries have changed. */
  readonly deliveriesChanged: (userId: UserId, webhookId: WebhookId) => void;
  readonly presence: PresenceServices;
  readonly webhooks: WebhookServices;
  readonly push: PushServices;
  readonly files: FileServices;
  /** Returns the URL of a message for people. */
  readonly messageLink: (messageId: MessageId) => string;
  readonly signUp: SignUpPolicy;
  /** Returns the URL of an invitation. */
  readonly invitationLink: (secret: string) => string;
  /** Returns the URL of an incoming webhook. */
  readonly hookUrl: (secret: string) => string;
  readonly avatarUrl: AvatarUrl;
  /** The process, for administrators. */
  readonly server: ServerFacts;
  readonly pictures: Pictures;
  readonly thumbnails: Thumbnails;
}

/**
 * Returns a handler that runs `work` in one transaction. A repeated Idempotency-Key returns the stored response. A new
 * response is stored in the same transaction as the change.
 */
export function change<N extends OperationName>(
  services: Services,
  work: (tx: Tx, at: number, call: Call<N>) => Promise<Output<N>>,
): (call: Call<N>) => Promise<Output<N>> {
  return (call) =>
    services.engine.write(async (tx) => {
      if (call.idempotencyKey === undefined) return work(tx, services.now(), call);
      const key = keyOf(call, call.idempotencyKey);
      const requested = fingerprintOf(call);
      const [stored] = (await claimKeys(tx, [key])).values();
      if (stored) {
        const response = JSON.parse(storedResponse(stored, requested)) as Output<N>;
        call.replayed?.();
        return response;
      }
      const at = services.now();
      const result = await work(tx, at, call);
      await storeResponses(tx, [{ ...key, fingerprint: requested, response: JSON.stringify(result) }], at);
      return result;
    });
}

/** Identifies the input of a call. A file counts by its bytes, because each upload of it has another id. */
export function fingerprintOf<N extends OperationName>({ input, file }: Call<N>): string {
  if (!file) return fingerprint(input);
  const { name, size, sha256 } = file;
  return fingerprint({ ...(input as object), file: { name, size, sha256 } });
}

/** Returns the caller for the audit log. */
export function actorOf({ caller, address }: Pick<Call<OperationName>, 'caller' | 'address'>): UserActor {
  return { userId: caller.userId, appId: caller.appId, address: address() };
}

export const keyOf = <N extends OperationName>(call: Call<N>, key: string) => ({
  user_id: call.caller.userId,
  app_id: call.caller.appId,
  operation: call.name,
  key,
});
