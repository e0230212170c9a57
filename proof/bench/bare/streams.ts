import { say } from '../../harness/helper.ts';

/**
 * Writes the body of each POST to `/tell` to all who listen at `/stream`, or to every so many of them (`every`). It authenticates
 * and stores nothing.
 */
interface Controller {
  write(bytes: Uint8Array): unknown;
  flush(): unknown;
}

const listening = new Set<Controller>();

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  idleTimeout: 0,
  async fetch(request) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === '/tell') {
      const bytes = await request.bytes();
      const every = Number(searchParams.get('every') ?? 1);
      let n = 0;
      for (const controller of listening) {
        if (n++ % every !== 0) continue;
        controller.write(bytes);
        controller.flush();
      }
    }
    if (pathname !== '/stream') return new Response('ok');
    let mine: Controller | undefined;
    const source = {
      type: 'direct',
      pull: (controller: Controller) => {
        mine = controller;
        listening.add(controller);
        return new Promise(() => {});
      },
      cancel: () => void (mine && listening.delete(mine)),
    };
    const headers = { 'content-type': 'text/event-stream' };
    return new Response(new ReadableStream(source as unknown as UnderlyingDefaultSource), { headers });
  },
});
say(server.port);
