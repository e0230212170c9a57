import type { Input, OperationName, Output } from '@parley/contract';
import type { Caller } from '../auth/caller.ts';
import type { Sending } from '../domain/attempt.ts';
import { fingerprint, keptAnswer } from '../domain/idempotency.ts';
import type { Engine, Tx } from '../store/engine.ts';
import { claimKeys, keepAnswers } from '../store/idempotency.ts';
import type { WebhookRow } from '../store/webhooks.ts';
import type { Rendered } from './rendered.ts';

/** One call, ready to be carried out: its caller known and its input valid. */
export interface Call<N extends OperationName> {
  readonly name: N;
  readonly caller: Caller;
  readonly input: Input<N>;
  /** Given only where the operation honours one. */
  readonly idempotencyKey?: string | undefined;
}

export type Handler<N extends OperationName> = (call: Call<N>) => Promise<Output<N> | Rendered<N>>;
export type Handlers = { readonly [N in OperationName]: Handler<N> };

/** What came of one attempt at an endpoint. */
export interface AttemptMade {
  readonly delivered: boolean;
  readonly status: number | null;
  readonly error: string | null;
  readonly duration_ms: number;
  readonly answer: string | null;
}

/** What operations need from those who deliver. */
export interface WebhookServices {
  /** Webhooks of one user at most. */
  readonly most: number;
  /** Answers the URL as it is kept; refuses one that nothing may be sent to. */
  readonly checkUrl: (url: string) => Promise<string>;
  readonly seal: (secret: string) => string;
  /** Makes an attempt now, outside of every lane. */
  readonly attempt: (webhook: WebhookRow, sending: Sending) => Promise<AttemptMade>;
  /** Says that something about a webhook was changed, and answers once that is minded here. */
  readonly nudge: () => Promise<void>;
}

/** What operations need from the process around them. */
export interface Services {
  readonly engine: Engine;
  readonly now: () => number;
  readonly random: (bytes: number) => Uint8Array;
  readonly hashPassword: (password: string) => Promise<string>;
  /** Says that events have been committed, so that whoever follows the log looks now. */
  readonly wake: () => void;
  readonly webhooks: WebhookServices;
  /** Writes down what an administrator will want to know of. */
  readonly audit: (act: string, fields: Readonly<Record<string, unknown>>) => void;
  /** Ends what is remembered of a token or of all tokens of a user. */
  readonly forget: (which: { tokenId: number } | { userId: number }) => void;
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
  const output = await services.engine.write(async (tx) => {
    if (call.idempotencyKey === undefined) return work(tx, services.now());
    const key = keyOf(call, call.idempotencyKey);
    const asked = fingerprint(call.input);
    const [kept] = (await claimKeys(tx, [key])).values();
    if (kept) return JSON.parse(keptAnswer(kept, asked)) as Output<N>;
    const at = services.now();
    const answer = await work(tx, at);
    await keepAnswers(tx, [{ ...key, fingerprint: asked, answer: JSON.stringify(answer) }], at);
    return answer;
  });
  services.wake();
  return output;
}

export const keyOf = <N extends OperationName>(call: Call<N>, key: string) => ({
  user_id: call.caller.userId,
  app_id: call.caller.appId,
  operation: call.name,
  key,
});
