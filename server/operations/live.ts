import type { LiveStream } from '../domain/live.ts';

/** An answer that goes on. */
export class Live {
  readonly stream: LiveStream;

  constructor(stream: LiveStream) {
    this.stream = stream;
  }
}
