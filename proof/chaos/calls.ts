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

  /** Repeats a call until it succeeds. Returns undefined if it took effect before without a response. */
  async insist<N extends OperationName>(
    user: Client,
    name: N,
    input: ClientInput<N>,
    end: AbortSignal,
    headers: Record<string, string> = {},
  ): Promise<Given<N>['body'] | undefined> {
    for (let tries = 0; ; tries++) {
      const { server, given } = await this.#call(user, name, input, end, headers);
      const isRepeat = tries > 0;
      const answer = answerTo(name, server, given, isRepeat);
      const key = headers['idempotency-key'];
      this.answers.push(key === undefined ? answer : { ...answer, key });
      if (typeof given !== 'string') {
        if (given.status === 200) {
          this.lastSuccess.set(user.userId, performance.now());
          return given.body;
        }
        if (answer.outcome === 'already done') return undefined;
        if (!isTemporary(given.status)) throw new Error(`${name}: ${answer.detail}`);
      }
      await pause(retryMs, end);
    }
  }

  /** Repeats a call until it is refused with a code. */
  async expectRefusal<N extends OperationName>(
    user: Client,
    name: N,
    input: ClientInput<N>,
    code: ErrorCode,
    end: AbortSignal,
  ): Promise<void> {
    for (;;) {
      const { server, given } = await this.#call(user, name, input, end);
      const isRefused = typeof given !== 'string' && given.error?.code === code;
      const refusal: Answer = { operation: name, outcome: 'refused as it should', detail: code };
      this.answers.push(isRefused ? refusal : answerTo(name, server, given, false));
      if (typeof given !== 'string' && !isTemporary(given.status)) return;
      await pause(retryMs, end);
    }
  }

  async #call<N extends OperationName>(
    { token, userId }: Client,
    name: N,
    input: ClientInput<N>,
    end: AbortSignal,
    headers: Record<string, string> = {},
  ): Promise<{ server: Server; given: Given<N> | string }> {
    const server = await this.#nodes.any(this.#random, end);
    const client = new Client(server.url, token, userId);
    return { server, given: await inTime(client.call(name, input, headers)) };
  }
}

const isTemporary = (status: number) => status === 503 || status === 429;

/** The answer for a connection that broke, or could not be made. */
export const brokenBy = (operation: string, server: Server, detail: string): Answer => ({
  operation,
  outcome: detail === silence ? silence : `broken: ${server.state}`,
  detail,
});

function answerTo<N extends OperationName>(
  operation: N,
  server: Server,
  given: Given<N> | string,
  isRepeat: boolean,
): Answer {
  if (typeof given === 'string') return brokenBy(operation, server, given);
  const { status, headers, error } = given;
  const isDone = isRepeat && error && alreadyDone[operation]?.includes(error.code);
  const hasAdvice = status !== 503 || headers.has('retry-after');
  const outcome = isDone ? 'already done' : hasAdvice ? status : '503 without Retry-After';
  return { operation, outcome, detail: `${status} ${JSON.stringify(error ?? {})}` };
}

/** Returns the response, or why there is none. */
async function inTime<T>(call: Promise<T>): Promise<T | string> {
  const late = Promise.withResolvers<string>();
  const timer = setTimeout(() => late.resolve(silence), hangMs);
  const answered = call.catch((error: Error) => error.message);
  return Promise.race([answered, late.promise]).finally(() => clearTimeout(timer));
}
