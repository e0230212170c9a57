import type { ClientInput, ErrorCode, OperationName } from '@parley/contract';
import { Client, type Answer as Given } from '../../server/test/support/client.ts';
import type { Random } from '../harness/random.ts';
import type { Server } from '../harness/server.ts';
import { hangMs, pause } from '../harness/wait.ts';
import type { Answer } from './evidence.ts';
import type { Nodes } from './nodes.ts';

/** The delay before a call that failed is repeated. */
const retryMs = 50;

const silence = 'silence';

/** The errors of a repeated call that already took effect without a response: a user who has left cannot leave. */
const alreadyDone: { readonly [N in OperationName]?: readonly ErrorCode[] } = {
  'chats.leave': ['not_found', 'forbidden'],
  'chats.remove_participant': ['not_found'],
};

/** Calls any server that is up, a different one each time, until there is a response. Records every response. */
export class Calls {
  readonly answers: Answer[] = [];
  /** When a call of each user last succeeded. */
  readonly lastSuccess = new Map<number, number>();
  readonly #nodes: Nodes;
  readonly #random: Random;

  constructor(nodes: Nodes, random: Random) {
    this.#nodes = nodes;
    this.#random = random;
  }

  /**
   * Repeats a call until it succeeds, or is refused as expected. Returns undefined for a refusal, and for a call that took
   * effect before without a response.
   */
  async insist<N extends OperationName>(
    user: Client,
    name: N,
    input: ClientInput<N>,
    end: AbortSignal,
    { key, refusal }: { readonly key?: string; readonly refusal?: ErrorCode } = {},
  ): Promise<Given<N>['body'] | undefined> {
    const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
    for (let tries = 0; ; tries++) {
      const server = await this.#nodes.any(this.#random, end);
      const given = await inTime(new Client(server.url, user.token, user.userId).call(name, input, headers));
      const expected = [...(refusal ? [refusal] : []), ...((tries > 0 && alreadyDone[name]) || [])];
      const code = typeof given === 'string' ? undefined : given.error?.code;
      const isExpected = code !== undefined && expected.includes(code);
      const outcome = refusal === undefined ? 'already done' : 'refused as it should';
      const answer = isExpected ? { operation: name, outcome, detail: code } : answerTo(name, server, given);
      this.answers.push(key === undefined ? answer : { ...answer, key });
      if (isExpected) return undefined;
      if (typeof given !== 'string' && given.status === 200) {
        this.lastSuccess.set(user.userId, performance.now());
        return given.body;
      }
      if (typeof given !== 'string' && !isTemporary(given.status)) throw new Error(`${name}: ${answer.detail}`);
      await pause(retryMs, end);
    }
  }
}

const isTemporary = (status: number) => status === 503 || status === 429;

/** The answer for a connection that broke, or could not be made. */
export const brokenBy = (operation: string, server: Server, detail: string): Answer => ({
  operation,
  outcome: detail === silence ? silence : `broken: ${server.state}`,
  detail,
});

function answerTo<N extends OperationName>(operation: N, server: Server, given: Given<N> | string): Answer {
  if (typeof given === 'string') return brokenBy(operation, server, given);
  const { status, headers, error } = given;
  const hasAdvice = status !== 503 || headers.has('retry-after');
  const detail = `${status} ${JSON.stringify(error ?? {})}`;
  return { operation, outcome: hasAdvice ? status : '503 without Retry-After', detail };
}

/** Returns the response, or why there is none. */
async function inTime<T>(call: Promise<T>): Promise<T | string> {
  const late = Promise.withResolvers<string>();
  const timer = setTimeout(() => late.resolve(silence), hangMs);
  const answered = call.catch((error: Error) => error.message);
  return Promise.race([answered, late.promise]).finally(() => clearTimeout(timer));
}
