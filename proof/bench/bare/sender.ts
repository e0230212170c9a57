/**
 * The baseline for deliveries: the least that any sender on Bun does. It posts the same bytes with the same headers to the
 * same endpoint, so many at once, from one process. Takes a job on its standard input.
 */
interface Job {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly count: number;
  readonly concurrency: number;
}

const { url, headers, body, count, concurrency } = (await Bun.stdin.json()) as Job;

let left = count;

async function sendSome(): Promise<void> {
  while (left-- > 0) {
    const response = await fetch(url, { method: 'POST', headers, body });
    await response.arrayBuffer();
  }
}

await Promise.all(Array.from({ length: concurrency }, sendSome));

export {};
