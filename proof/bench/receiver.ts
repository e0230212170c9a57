/**
 * A fast endpoint, in a process of its own: it reads each delivery, counts it and answers 200. What it has seen is asked for
 * with GET, and forgotten with DELETE. Deliveries of a chat that come out of order are counted too, by their message ids.
 */
let seen = { count: 0, disordered: 0, firstAt: 0, lastAt: 0 };
const newest = new Map<number, number>();

Bun.serve({
  hostname: '127.0.0.1',
  port: Number(process.env.PORT),
  async fetch(request) {
    if (request.method === 'GET') return Response.json(seen);
    if (request.method === 'DELETE') {
      seen = { count: 0, disordered: 0, firstAt: 0, lastAt: 0 };
      newest.clear();
      return new Response();
    }
    const { data } = (await request.json()) as { data: { chat_id: number; message_id: number } };
    if ((newest.get(data.chat_id) ?? 0) > data.message_id) seen.disordered++;
    newest.set(data.chat_id, data.message_id);
    seen.count++;
    seen.lastAt = performance.now();
    seen.firstAt ||= seen.lastAt;
    return new Response();
  },
});

export {};
