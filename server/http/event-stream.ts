import { ParleyError } from '@parley/contract';
import type { LiveSink, LiveStream } from '../domain/live.ts';
import type { Admission, Connections } from './admission.ts';
import { headersFor } from './answer.ts';

/** What Bun gives to a stream of the type `direct`. */
interface DirectController {
  /** Answers the bytes written; or, where the connection takes no more for now, a promise that is kept when it does. */
  write(bytes: Uint8Array): number | Promise<number>;
  flush(): unknown;
  end(): unknown;
}

/** How long a connection may be silent after its stream has ended. */
const lingerSeconds = 5;

/** Where a reader that comes back says it came to. An empty one is what a browser has before the first event. */
export function lastEventIdIn(request: Request): number | undefined {
  const header = request.headers.get('last-event-id');
  if (header === null || header === '') return undefined;
  const id = Number(header);
  if (/^\d{1,16}$/.test(header) && Number.isSafeInteger(id)) return id;
  throw new ParleyError('invalid_request', 'Last-Event-ID must be the id of an event of the stream.');
}

/** Answers with a stream of server-sent events, which goes on until one side ends it. */
export function eventStreamResponse(stream: LiveStream, admission: Admission): Response {
  const { connections, request } = admission;
  // It is quiet for as long as nothing happens; the stream itself sees to it that it is never silent for long.
  connections.timeout(request, 0);
  const headers = {
    ...headersFor(admission),
    'content-type': 'text/event-stream; charset=utf-8',
    // What nginx would otherwise hold back.
    'x-accel-buffering': 'no',
  };
  return new Response(
    new ReadableStream(new Source(stream, connections, request) as unknown as UnderlyingDefaultSource),
    { headers },
  );
}

/** What Bun writes out, and the stream writes into: one object, because there are many of them. */
class Source implements LiveSink {
  readonly type = 'direct';
  readonly #stream: LiveStream;
  readonly #connections: Connections;
  readonly #request: Request;
  #controller: DirectController | undefined;

  constructor(stream: LiveStream, connections: Connections, request: Request) {
    this.#stream = stream;
    this.#connections = connections;
    this.#request = request;
  }

  pull(controller: DirectController): void {
    this.#controller = controller;
    this.#stream.follow(this);
  }

  cancel(): void {
    this.#stream.leave();
  }

  write(bytes: Uint8Array): Promise<unknown> | undefined {
    const written = this.#controller?.write(bytes);
    this.#controller?.flush();
    return written instanceof Promise ? written : undefined;
  }

  end(): void {
    this.#controller?.end();
    this.#controller = undefined;
    // What the reader has not taken in by then is dropped, and the connection with it: nobody would ever close it otherwise.
    this.#connections.timeout(this.#request, lingerSeconds);
  }
}
