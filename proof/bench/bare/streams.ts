/**
 * The baseline of streams: whoever asks for `/stream` listens, and what is posted to `/tell` is written to all of them. It
 * knows nobody, keeps nothing and looks at nothing.
 */
interface Controller {
  write(bytes: Uint8Array): unknown;
  flush(): unknown;
}

const listening = new Set<Controller>();

Bun.serve({
  hostname: '127.0.0.1',
  port: Number(process.env.PORT),
  idleTimeout: 0,
  async fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname === '/tell') {
      const bytes = await request.bytes();
      for (const controller of listening) {
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

export {};
