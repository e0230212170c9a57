import type { ClientInput, ErrorCode, OperationName } from '@parley/contract';
import { Client, type Answer as Given } from '../../../server/test/support/client.ts';
import { hangMs } from '../hang.ts';
import { pause } from '../pause.ts';
import type { Random } from '../random.ts';
import type { Answer } from './evidence.ts';
import type { NodeLife } from './node.ts';
import type { Nodes } from './nodes.ts';

/** Between two tries of a call that got no answer, or was asked to come again. */
const againMs = 50;

const silence = 'silence';

/** What a call may be answered once its like came to pass without an answer: somebody who has left cannot leave. */
const alreadyDone: { readonly [N in OperationName]?: readonly ErrorCode[] } = {
  'chats.leave': ['not_found', 'forbidden'],
  'chats.remove_participant': ['not_found'],
};

/** Calls through whichever node is there, each time another one, until there is an answer. Writes every answer down. */
export class Calls {
  readonly answers: Answer[] = [];
  /** When each user last succeeded with something. */
  readonly lastSuccess = new Map<number, number>();
  readonly #nodes: Nodes;
  readonly #random: Random;

  constructor(nodes: Nodes, random: Random) {
    this.#nodes = nodes;
    this.#random = random;
  }

  /** Answers undefined where the call had come to pass before without an answer. */
  async insist<N extends OperationName>(
    user: Client,
    name: N,
    input: ClientInput<N>,
    end: AbortSignal,
    headers: Record<string, string> = {},
  ): Promise<Given<N>['body'] | undefined> {
    for (let tries = 0; ; tries++) {
      const { node, given } = await this.#call(user, name, input, end, headers);
      const isRepeat = tries > 0;
      const answer = answerTo(name, node, given, isRepeat);
      const key = headers['idempotency-key'];
      this.answers.push(key === undefined ? answer : { ...answer, key });
      if (typeof given !== 'string') {
        if (given.status === 200) {
          this.lastSuccess.set(user.userId, performance.now());
          return given.body;
        }
        if (isRepeat && given.error && alreadyDone[name]?.includes(given.error.code)) return undefined;
        if (given.status !== 503 && given.status !== 429) throw new Error(`${name}: ${answer.says}`);
      }
      await pause(againMs, end);
    }
  }

  /** A call that is to be refused: made until it is answered. */
  async refused<N extends OperationName>(
    user: Client,
    name: N,
    input: ClientInput<N>,
    code: ErrorCode,
    end: AbortSignal,
  ): Promise<void> {
    for (;;) {
      const { node, given } = await this.#call(user, name, input, end);
      const isRefused = typeof given !== 'string' && given.error?.code === code;
      this.answers.push(
        isRefused
          ? { operation: name, outcome: 'refused as it should', says: code }
          : answerTo(name, node, given, false),
      );
      if (typeof given !== 'string' && given.status !== 503 && given.status !== 429) return;
      await pause(againMs, end);
    }
  }

  async #call<N extends OperationName>(
    { token, userId }: Client,
    name: N,
    input: ClientInput<N>,
    end: AbortSignal,
    headers: Record<string, string> = {},
  ): Promise<{ node: NodeLife; given: Given<N> | string }> {
    const node = await this.#nodes.any(this.#random, end);
    const client = new Client(node.url, token, userId);
    return { node, given: await inTime(client.call(name, input, headers)) };
  }
}

/** What to make of a connection that broke, or could not be made. */
export const brokenBy = (operation: string, node: NodeLife, says: string): Answer => ({
  operation,
  outcome: says === silence ? silence : `broken: ${node.state}`,
  says,
});

function answerTo<N extends OperationName>(
  name: N,
  node: NodeLife,
  given: Given<N> | string,
  isRepeat: boolean,
): Answer {
  return typeof given === 'string' ? brokenBy(name, node, given) : answerOf(name, given, isRepeat);
}

function answerOf<N extends OperationName>(
  operation: N,
  { status, headers, error }: Given<N>,
  isRepeat: boolean,
): Answer {
  const isDone = isRepeat && error && alreadyDone[operation]?.includes(error.code);
  const hasAdvice = status !== 503 || headers.has('retry-after');
  const outcome = isDone ? 'already done' : hasAdvice ? status : '503 without Retry-After';
  return { operation, outcome, says: `${status} ${JSON.stringify(error ?? {})}` };
}

/** The answer, or in words why there is none. */
async function inTime<T>(call: Promise<T>): Promise<T | string> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(silence), hangMs);
  });
  const answered = call.catch((error: Error) => error.message);
  return Promise.race([answered, late]).finally(() => clearTimeout(timer));
}
