import { given, say } from '../../harness/helper.ts';

/**
 * The minimum that any sender on Bun does: it posts the same bytes with the same headers to the same endpoint. Reports its
 * processor time in seconds.
 */
export interface SenderJob {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly count: number;
  readonly concurrency: number;
}

const { url, headers, body, count, concurrency } = await given<SenderJob>();

let left = count;

async function sendSome(): Promise<void> {
  while (left-- > 0) {
    const response = await fetch(url, { method: 'POST', headers, body });
    await response.arrayBuffer();
  }
}

await Promise.all(Array.from({ length: concurrency }, sendSome));
const { user, system } = process.cpuUsage();
say((user + system) / 1e6);
