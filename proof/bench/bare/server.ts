import { given, say } from '../../harness/helper.ts';
import type { FixedResponse } from '../parley.ts';

/**
 * The minimum that any server on Bun does for the same exchange. It takes the same request, parses its body if there is one,
 * and returns the bytes that Parley returned for it, head and body.
 */
const { headers, body } = await given<FixedResponse>();

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    if (request.method === 'POST') await request.json();
    return new Response(body, { headers });
  },
});
say(server.port);
