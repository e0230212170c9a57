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

type Run = () => Promise<Transfer>;

interface Round {
  readonly bare: Transfer;
  readonly ours: Transfer;
  /** By a bare server that answers before the file is on disk. */
  readonly unsafe: Transfer | undefined;
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
  const bareUp = (where: string) => () => timed(bare.pid, () => post(`http://127.0.0.1:${port}/${where}`, {}, path));
  const formUp = () =>
    timed(parley.pid, async () => {
      const answer = await post(`${api}/messages.php?action=send_message`, headers, path, { chat_id: String(chat_id) });
      sent = (JSON.parse(answer) as { message: NonNullable<typeof sent> }).message;
    });
  const rawUp = () => timed(parley.pid, () => post(`${api}/files.php?action=upload&name=file`, headers, path));
  const resumableUp = () => timed(parley.pid, () => postResumable(`http://127.0.0.1:${parley.port}`, headers, path));
  const down = (pid: number, url: string) => timed(pid, () => fetchAll(url, headers, sha256));
  const parleyDown = () => down(parley.pid, `${api}/files.php?action=download&file_id=${sent?.file.file_id}`);

  const races: Readonly<Record<string, readonly [Run, Run, Run?]>> = {
    'a file of 1 GiB up, as a form': [bareUp(''), formUp, bareUp('soon')],
    'a file of 1 GiB up, as it is': [bareUp(''), rawUp, bareUp('soon')],
    'a file of 1 GiB up, resumable': [bareUp(''), resumableUp, bareUp('soon')],
    'a file of 1 GiB down': [() => down(bare.pid, `http://127.0.0.1:${port}/`), parleyDown],
  };
  const outcomes: Outcome[] = [];
  for (const [what, [baseline, ours, unsafe]] of Object.entries(races)) {
    const transfers: Round[] = [];
    // The first only warms up.
    for (let round = 0; round <= rounds; round++) {
      transfers.push({ bare: await baseline(), ours: await ours(), unsafe: await unsafe?.() });
    }
    if (sent && sent.file.sha256 !== sha256) throw new Error('the file arrived with another SHA-256');
    outcomes.push(compare(what, transfers.slice(1)));
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
  method = 'POST',
): Promise<string> {
  const named = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const parts =
    fields && Object.entries({ ...fields, file: `@${path}` }).flatMap(([name, v]) => ['-F', `${name}=${v}`]);
  const body = parts ?? ['-X', method, '-T', path];
  const curl = Bun.spawn(['curl', '-sf', '-H', 'Expect:', ...named, ...body, url], { stdout: 'pipe' });
  const answer = await new Response(curl.stdout).text();
  if ((await curl.exited) !== 0) throw new Error(`the upload to ${url} failed`);
  return answer;
}

/** As the tus protocol has it, in one request, which is how most clients do it until something breaks. */
async function postResumable(server: string, headers: Readonly<Record<string, string>>, path: string): Promise<void> {
  const common = { ...headers, 'tus-resumable': '1.0.0' };
  const announcement = { ...common, 'upload-length': String(size) };
  const created = await fetch(`${server}/api/uploads`, { method: 'POST', headers: announcement });
  const place = created.headers.get('location');
  const patch = { ...common, 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' };
  await post(`${server}${place}`, patch, path, undefined, 'PATCH');
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

const bar = 0.5;

function compare(what: string, rounds: readonly Round[]): Outcome {
  const ratioTo = (side: 'bare' | 'unsafe') => rounds.map((r) => r.ours.perSecond / (r[side]?.perSecond ?? Number.NaN));
  const ratios = ratioTo('bare');
  const side = (which: 'bare' | 'ours'): Side => ({
    perSecond: median(rounds.map((round) => round[which].perSecond)),
    p50Ms: 0,
    p99Ms: 0,
    serverBusy: median(rounds.map((round) => round[which].cpu)),
    loadBusy: undefined,
    cpuMicros: undefined,
    answers: rounds.length,
  });
  const unsafe = median(ratioTo('unsafe'));
  const notes = ['rates in MiB'];
  if (!Number.isNaN(unsafe)) notes.push(`${unsafe.toFixed(2)} of a bare server that does not wait for the disk`);
  return {
    kind: 'rates',
    what,
    bar,
    notes,
    baseline: side('bare'),
    contender: side('ours'),
    ratio: median(ratios),
    ratios,
  };
}
