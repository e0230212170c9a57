import { randomFillSync } from 'node:crypto';
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { freePort } from '../server/test/support/postgres.ts';
import { cpuSeconds, startOnServerCore, temporaryFolder, untilHealthy } from './machine.ts';
import type { Outcome } from './measurements.ts';
import { freshEnvironment, startParley } from './parley.ts';
import { median, type Side } from './race.ts';

const mebibyte = 1_024 ** 2;
const size = 1_024 * mebibyte;
const memoryBar = 120;

/** One transfer of the file. */
interface Transfer {
  readonly perSecond: number;
  readonly cpu: number;
}

/** A file of 1 GiB goes up, as a part of a form and as the whole body, and comes down again. */
export async function measureFiles(rounds: number): Promise<Outcome[]> {
  const env = freshEnvironment();
  await using parley = await startParley(env);
  const port = await freePort();
  await using bare = startOnServerCore(['bench/bare-files.ts'], { PORT: String(port), FOLDER: temporaryFolder() });
  await untilHealthy(bare, port);
  const sender = await parley.user('bench');
  const { chat_id } = (await sender.ok('messages.create_group', { name: 'Files', participants: [] })).group;
  const { path, sha256 } = makeFile(`${temporaryFolder()}/file`);

  const api = `http://127.0.0.1:${parley.port}/api`;
  const headers = { authorization: `Bearer ${sender.token}` };
  let sent: { message_id: number; file: { file_id: number; sha256: string } } | undefined;
  const bareUp = () => timed(bare.pid, () => post(`http://127.0.0.1:${port}/`, {}, path));
  const formUp = () =>
    timed(parley.pid, async () => {
      const answer = await post(`${api}/messages.php?action=send_message`, headers, path, { chat_id: String(chat_id) });
      sent = (JSON.parse(answer) as { message: NonNullable<typeof sent> }).message;
    });
  const rawUp = () => timed(parley.pid, () => post(`${api}/files.php?action=upload&name=file`, headers, path));
  const down = (pid: number, url: string) => timed(pid, () => fetchAll(url, headers, sha256));
  const parleyDown = () => down(parley.pid, `${api}/files.php?action=download&file_id=${sent?.file.file_id}`);

  const pairs = {
    'a file of 1 GiB up, as a form': { bar: 0.5, sides: [bareUp, formUp] },
    'a file of 1 GiB up, as it is': { bar: 0.5, sides: [bareUp, rawUp] },
    'a file of 1 GiB down': { bar: 0.5, sides: [() => down(bare.pid, `http://127.0.0.1:${port}/`), parleyDown] },
  } as const;
  const outcomes: Outcome[] = [];
  for (const [what, { bar, sides }] of Object.entries(pairs)) {
    const transfers: [Transfer, Transfer][] = [];
    for (let round = 0; round < rounds; round++) transfers.push([await sides[0](), await sides[1]()]);
    if (sent && sent.file.sha256 !== sha256) throw new Error('the file arrived with another SHA-256');
    outcomes.push(compare(what, bar, transfers));
  }
  const peak = Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${parley.pid}/status`, 'latin1'))?.[1]) / 1_024;
  outcomes.push({ kind: 'figure', what: 'memory at its highest meanwhile', value: peak, unit: 'MB', bar: memoryBar });
  return outcomes;
}

function makeFile(path: string): { path: string; sha256: string } {
  const hasher = new Bun.CryptoHasher('sha256');
  const piece = Buffer.alloc(mebibyte);
  const file = openSync(path, 'w');
  for (let written = 0; written < size; written += mebibyte) {
    randomFillSync(piece);
    hasher.update(piece);
    writeSync(file, piece);
  }
  closeSync(file);
  return { path, sha256: hasher.digest('hex') };
}

/** With curl, which takes a file from the disk as fast as anything can. */
async function post(
  url: string,
  headers: Readonly<Record<string, string>>,
  path: string,
  fields?: Readonly<Record<string, string>>,
): Promise<string> {
  const named = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const parts =
    fields && Object.entries({ ...fields, file: `@${path}` }).flatMap(([name, v]) => ['-F', `${name}=${v}`]);
  const body = parts ?? ['-X', 'POST', '-T', path];
  const curl = Bun.spawn(['curl', '-sf', '-H', 'Expect:', ...named, ...body, url], { stdout: 'pipe' });
  const answer = await new Response(curl.stdout).text();
  if ((await curl.exited) !== 0) throw new Error(`the upload to ${url} failed`);
  return answer;
}

async function fetchAll(url: string, headers: Readonly<Record<string, string>>, sha256: string): Promise<void> {
  const response = await fetch(url, { headers });
  const hasher = new Bun.CryptoHasher('sha256');
  for await (const bytes of response.body ?? []) hasher.update(bytes);
  if (hasher.digest('hex') !== sha256) throw new Error(`${url} gave other bytes`);
}

async function timed(pid: number, transfer: () => Promise<unknown>): Promise<Transfer> {
  const [started, cpu] = [performance.now(), cpuSeconds(pid) ?? 0];
  await transfer();
  const seconds = (performance.now() - started) / 1_000;
  return { perSecond: size / mebibyte / seconds, cpu: ((cpuSeconds(pid) ?? 0) - cpu) / seconds };
}

function compare(what: string, bar: number, transfers: readonly (readonly [Transfer, Transfer])[]): Outcome {
  const ratios = transfers.map(([bare, ours]) => ours.perSecond / bare.perSecond);
  const side = (which: 0 | 1): Side => ({
    perSecond: median(transfers.map((pair) => pair[which].perSecond)),
    p50Ms: 0,
    p99Ms: 0,
    serverBusy: median(transfers.map((pair) => pair[which].cpu)),
    loadBusy: undefined,
    cpuMicros: undefined,
    answers: transfers.length,
  });
  const notes = ['rates in MiB', 'the bare server does not wait for the disk'];
  return { kind: 'rates', what, bar, notes, baseline: side(0), contender: side(1), ratio: median(ratios), ratios };
}
