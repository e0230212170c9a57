/**
 * The baseline: the least that any server on Bun does for the same exchange. It takes the same request, parses its body
 * where there is one, and answers the bytes that Parley gave for it, head and body. Started with a file that holds them.
 */
const { headers, body } = (await Bun.file(process.env.ANSWER ?? '').json()) as {
  headers: Record<string, string>;
  body: string;
};

Bun.serve({
  hostname: '127.0.0.1',
  port: Number(process.env.PORT),
  async fetch(request) {
    if (request.method === 'POST') await request.json();
    return new Response(body, { headers });
  },
});

export {};
