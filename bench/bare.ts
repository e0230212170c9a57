/**
 * The baseline: the least that any server on Bun does for the same exchange. It takes the same request, parses its body
 * where there is one, and answers bytes that Parley gave for it. Started with a file that holds those bytes.
 */
const answer = await Bun.file(process.env.ANSWER ?? '').text();
const headers = { 'content-type': 'application/json; charset=utf-8' };

Bun.serve({
  hostname: '127.0.0.1',
  port: Number(process.env.PORT),
  async fetch(request) {
    if (request.method === 'POST') await request.json();
    return new Response(answer, { headers });
  },
});

export {};
