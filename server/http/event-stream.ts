import { ParleyError } from '@parley/contract';
import type { LiveSink, LiveStream } from '../domain/live.ts';
import type { Connections, RequestContext } from './request-context.ts';
import { headersFor } from './responses.ts';

/** The controller that Bun passes to a stream of the type `direct`. */
interface DirectController {
  /** Returns the bytes written, or a promise while the connection takes no more. */
  write(bytes: Uint8Array): number | Promise<number>;
  flush(): unknown;
  end(): unknown;
}

/** The idle timeout of a connection whose stream has ended. */
const lingerSeconds = 5;

/** Returns the cursor of a client that reconnects. Browsers send an empty one before the first event. */
export function lastEventIdIn(request: Request): number | undefined {
  const header = request.headers.get('last-event-id');
  if (header === null || header === '') return undefined;
  const id = Number(header);
  if (/^\d{1,16}$/.test(header) && Number.isSafeInteger(id)) return id;
  throw new ParleyError('invalid_request', 'Last-Event-ID must be the id of an event of the stream.');
}

/** Responds with server-sent events until one side ends the stream. */
export function eventStreamResponse(stream: LiveStream, context: RequestContext): Response {
  const { connections, request } = context;
  // The stream sends heartbeats itself, so the runtime's idle timeout is off.
  connections.timeout(request, 0);
  const headers = {
    ...headersFor(context),
    'content-type': 'text/event-stream; charset=utf-8',
    // nginx would buffer the stream otherwise.
    'x-accel-buffering': 'no',
  };
  return new Response(
    new ReadableStream(new Source(stream, connections, request) as unknown as UnderlyingDefaultSource),
    { headers },
  );
}

/** Source for Bun and sink for the stream. One object for both saves memory with many streams. */
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
    // A client that does not read would otherwise keep the connection open for ever.
    this.#connections.timeout(this.#request, lingerSeconds);
  }
}
