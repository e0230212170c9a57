import { ParleyError } from '@parley/contract';
import type { LiveSink, LiveStream } from '../domain/live.ts';
import type { Admission } from './admission.ts';
import { headersFor } from './answer.ts';

/** What Bun gives to a stream of the type `direct`. */
interface DirectController {
  /** Answers the bytes written; or, where the connection takes no more for now, a promise that is kept when it does. */
  write(bytes: Uint8Array): number | Promise<number>;
  flush(): unknown;
}

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
  // It is quiet for as long as nothing happens; the stream itself sees to it that it is never silent for long.
  admission.connections.timeout(admission.request, 0);
  const headers = {
    ...headersFor(admission),
    'content-type': 'text/event-stream; charset=utf-8',
    // What nginx would otherwise hold back.
    'x-accel-buffering': 'no',
  };
  const body = {
    type: 'direct',
    pull: (controller: DirectController) =>
      new Promise<void>((resolve) => stream.follow(new ConnectionSink(controller, resolve))),
    cancel: () => stream.leave(),
  };
  return new Response(new ReadableStream(body as unknown as UnderlyingDefaultSource), { headers });
}

class ConnectionSink implements LiveSink {
  readonly #controller: DirectController;
  readonly #end: () => void;

  constructor(controller: DirectController, end: () => void) {
    this.#controller = controller;
    this.#end = end;
  }

  write(bytes: Uint8Array): Promise<unknown> | undefined {
    const written = this.#controller.write(bytes);
    this.#controller.flush();
    return written instanceof Promise ? written : undefined;
  }

  end(): void {
    this.#end();
  }
}
