import type {
  FileId,
  FileOperationName,
  Input,
  OperationName,
  Output,
  Signal,
  StreamOperationName,
  UserId,
} from '@parley/contract';
import type { Actor } from '../auth/audit.ts';
import type { Caller } from '../auth/caller.ts';
import type { FileLinks } from '../auth/file-links.ts';
import type { AccessServices } from '../auth/services.ts';
import type { AttemptMade, Sending } from '../domain/attempt.ts';
import { fingerprint, storedResponse } from '../domain/idempotency.ts';
import type { LiveQuery, LiveStream } from '../domain/live.ts';
import type { Blobs } from '../files/storage/blobs.ts';
import type { ReceivedFile } from '../files/uploads.ts';
import { claimKeys, storeResponses } from '../store/access/idempotency.ts';
import type { Tx } from '../store/engine/engine.ts';
import type { WebhookRow } from '../store/webhooks/webhooks.ts';
import type { Download } from './download.ts';
import type { Live } from './live.ts';
import type { PreparedJson } from './prepared-json.ts';

/** One call, ready to be carried out: its caller known and its input valid. */
export interface Call<N extends OperationName> {
  readonly name: N;
  readonly caller: Caller;
  readonly input: Input<N>;
  /** The file that came with it; not whole until a transaction makes it so. */
  readonly file?: ReceivedFile | undefined;
  /** The event that a reader who comes back has seen last. */
  readonly lastEventId?: number | undefined;
  /** Where it comes from. */
  readonly address: () => string;
  /** Given only where the operation honours one. */
  readonly idempotencyKey?: string | undefined;
}

export type Answer<N extends OperationName> = N extends FileOperationName
  ? Download
  : N extends StreamOperationName
    ? Live
    : Output<N> | PreparedJson<N>;
export type Handler<N extends OperationName> = (call: Call<N>) => Promise<Answer<N>>;
/** Asked before the file of a call is taken in, with what of its input has come by then. Refuses who would be refused anyway. */
export type Gate = (caller: Caller, given: Readonly<Record<string, unknown>>) => Promise<void>;
export type Gates = { readonly [N in OperationName]?: Gate };

export type Handlers = { readonly [N in OperationName]: Handler<N> };

/** What operations need from those who deliver. */
export interface WebhookServices {
  readonly maxPerUser: number;
  /** Returns the URL as it is stored. Rejects with `invalid_input` if webhooks may not be sent to it. */
  readonly checkUrl: (url: string) => Promise<string>;
  readonly seal: (secret: string) => string;
  /** Makes an attempt now, outside the queues. */
  readonly attempt: (webhook: WebhookRow, sending: Sending) => Promise<AttemptMade>;
  /** Says that a webhook was changed. Resolves once this process acts on it. */
  readonly changed: () => Promise<void>;
}

/** What operations need from where files are kept. */
export interface FileServices {
  /** Returns the URL of a file, and for '' the part of it before the id. */
  readonly url: (fileId: FileId | '') => string;
  readonly links: FileLinks;
  readonly read: Blobs['read'];
  /** When a file is removed that nobody does anything with from now on. */
  readonly expiry: () => number;
}

/** What operations need from the process around them. */
export interface Services extends AccessServices {
  /** Makes a stream ready. */
  readonly openStream: (query: LiveQuery) => Promise<LiveStream>;
  /** Tells those who listen, here and elsewhere. */
  readonly signal: (signal: Signal) => void;
  readonly webhooks: WebhookServices;
  readonly files: FileServices;
}

/**
 * Carries out a change in one transaction. Under an Idempotency-Key an earlier answer is given again, and a new one is
 * kept in the same transaction as what it tells of.
 */
export async function change<N extends OperationName>(
  services: Services,
  call: Call<N>,
  work: (tx: Tx, at: number) => Promise<Output<N>>,
): Promise<Output<N>> {
  return services.engine.write(async (tx) => {
    if (call.idempotencyKey === undefined) return work(tx, services.now());
    const key = keyOf(call, call.idempotencyKey);
    const asked = askedBy(call);
    const [kept] = (await claimKeys(tx, [key])).values();
    if (kept) return JSON.parse(storedResponse(kept, asked)) as Output<N>;
    const at = services.now();
    const answer = await work(tx, at);
    await storeResponses(tx, [{ ...key, fingerprint: asked, answer: JSON.stringify(answer) }], at);
    return answer;
  });
}

/** What a call asks for, to know it again: a file by its bytes, under whatever id they came this time. */
export function askedBy<N extends OperationName>({ input, file }: Call<N>): string {
  if (!file) return fingerprint(input);
  const { name, size, sha256 } = file;
  return fingerprint({ ...(input as object), file: { name, size, sha256 } });
}

/** Whoever makes a call, as the audit log knows them. */
export const actorOf = ({
  caller,
  address,
}: Pick<Call<OperationName>, 'caller' | 'address'>): Actor & { userId: UserId } => ({
  userId: caller.userId,
  appId: caller.appId,
  address: address(),
});

export const keyOf = <N extends OperationName>(call: Call<N>, key: string) => ({
  user_id: call.caller.userId,
  app_id: call.caller.appId,
  operation: call.name,
  key,
});
