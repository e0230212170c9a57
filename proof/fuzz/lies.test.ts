import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { http } from './http.ts';
import { usualSeed } from './subject.ts';
import { Target } from './target.ts';

/** A fault as a server without care would answer it. */
const fault = () => new Response('{"success":false}', { status: 500, headers: { 'content-type': 'application/json' } });

/** Stands before a server, and passes everything on until it is told to lie: then all but its health is a fault. */
class Liar {
  isLying = false;
  target = '';
  readonly #server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: (request) => this.#answer(request) });

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    if (this.isLying && pathname !== '/healthz') return fault();
    const { method, headers } = request;
    const body = await request.arrayBuffer();
    const isBare = method === 'GET' || method === 'HEAD';
    const passed = { method, headers, redirect: 'manual', ...(!isBare && { body }) } as const;
    return await fetch(`${this.target}${pathname}${search}`, passed);
  }

  async stop(): Promise<void> {
    await this.#server.stop(true);
  }
}

describe('a server that answers everything with a fault is found out by', () => {
  const liar = new Liar();
  let open: Target | undefined;
  const target = () => {
    if (!open) throw new Error('the server has not been started yet');
    return open;
  };
  beforeAll(async () => {
    open = await Target.open('sqlite', (url) => {
      liar.target = url;
      return liar.url;
    });
    await open.people();
    liar.isLying = true;
  });
  afterAll(async () => {
    await open?.close();
    await liar.stop();
  });

  for (const { name, property, runs } of http(target).subjects) {
    test(name, async () => {
      const { failed } = await fc.check(property, { seed: usualSeed, numRuns: runs, endOnFailure: true });
      expect(failed).toBeTrue();
    });
  }
});
