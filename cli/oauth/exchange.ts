import { TransportError } from '@parley/sdk';
import { answerTimeout } from '../answer-timeout.ts';
import type { Clock } from '../context.ts';

/** The server that is asked, and the clock that says when its answer is late. */
export interface Asked {
  readonly server: string;
  readonly clock: Clock;
}

export interface Answer {
  readonly status: number;
  /** The JSON object that was answered, where it was one. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

/** What the server refuses for good, in the words of OAuth. */
export class OAuthRefusal extends Error {
  readonly code: string;

  constructor(code: string, description: unknown) {
    super(`The server refused: ${code}${typeof description === 'string' ? ` (${description})` : ''}.`);
    this.code = code;
  }
}

/** Asks the authorization server. No answer, and one that tells of trouble on its side, are a `TransportError`. */
export async function exchange({ server, clock }: Asked, url: string, form?: Record<string, string>): Promise<Answer> {
  const answer = await send({ server, clock }, url, form);
  const { status, text } = answer;
  const body = parseObject(text);
  if (status === 429 || status >= 500 || (status >= 300 && status < 400)) {
    throw new TransportError(`The server at ${server} answered HTTP ${status}.`, { status });
  }
  if (status >= 400 && typeof body?.error === 'string') throw new OAuthRefusal(body.error, body.error_description);
  return { status, body };
}

async function send({ server, clock }: Asked, url: string, form: Record<string, string> | undefined) {
  // A server that has not answered by then is as good as away.
  using late = answerTimeout(clock);
  try {
    const response = await fetch(url, {
      headers: { accept: 'application/json' },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
      // What is sent may be a secret, and is for this address alone.
      redirect: 'manual',
      signal: late.signal,
    });
    return { status: response.status, text: await response.text() };
  } catch (error) {
    throw new TransportError(`Cannot reach Parley at ${server}: ${(error as Error).message}`, { cause: error });
  }
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
