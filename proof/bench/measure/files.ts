import { randomFillSync } from 'node:crypto';
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { temporaryFolder } from '../../../server/test/support/cleanup.ts';
import { freePort } from '../../../server/test/support/postgres.ts';
import { cpuSeconds, startOnServerCore, untilHealthy } from '../machine.ts';
import type { Outcome, Reference } from '../outcome.ts';
import { freshEnvironment, startParley } from '../parley.ts';
import type { Plan } from '../plan.ts';
import { median, type Side } from '../race.ts';

const mebibyte = 1_024 ** 2;
const memoryBar = 120;

/** One transfer of the file. */
interface Transfer {
  readonly perSecond: number;
  readonly cpu: number;
}

interface Round {
  readonly bare: Transfer;
  readonly ours: Transfer;
  /** By a bare server that answers before the file is on disk. */
  readonly unsafe: Transfer | undefined;
  /** By the disk alone. */
  readonly disk: Transfer;
}

/** A large file goes up, as a part of a form and as the whole body, and comes down again. */
export async function measureFiles({ rounds, sizes }: Plan): Promise<Outcome[]> {
  const size = sizes.fileMebibytes * mebibyte;
  const env = freshEnvironment();
  await using parley = await startParley(env);
  const port = await freePort();
  await using bare = startOnServerCore(['proof/bench/bare/files.ts'], {
    PORT: String(port),
    FOLDER: temporaryFolder(),
  });
  await untilHealthy(bare, port);
  const sender = await parley.user('bench');
  const { chat_id } = (await sender.ok('messages.create_group', { name: 'Files', participants: [] })).group;
  const { path, sha256 } = makeFile(`${temporaryFolder()}/file`, size);

  const api = `http://127.0.0.1:${parley.port}/api`;
  const headers = { authorization: `Bearer ${sender.token}` };
  let sent: { message_id: number; file: { file_id: number; sha256: string } } | undefined;
  const bareUp = (where: string) => () =>
    timed(bare.pid, size, () => post(`http://127.0.0.1:${port}/${where}`, {}, path));
  const formUp = () =>
    timed(parley.pid, size, async () => {
      const answer = await post(`${api}/messages.php?action=send_message`, headers, path, { chat_id: String(chat_id) });
      sent = (JSON.parse(answer) as { message: NonNullable<typeof sent> }).message;
    });
  const rawUp = () => timed(parley.pid, size, () => post(`${api}/files.php?action=upload&name=file`, headers, path));
  const resumableUp = () =>
    timed(parley.pid, size, () => postResumable(`http://127.0.0.1:${parley.port}`, headers, path, size));
  const down = (pid: number, url: string) => timed(pid, size, () => fetchAll(url, headers, sha256));
  const parleyDown = () => down(parley.pid, `${api}/files.php?action=download&file_id=${sent?.file.file_id}`);

  const copy = diskCopy(path, size, `${temporaryFolder()}/copy`);
  const read = diskCopy(path, size, '/dev/null');
  const up = { baseline: bareUp(''), unsafe: bareUp('soon'), disk: copy };
  const downFrom = { baseline: () => down(bare.pid, `http://127.0.0.1:${port}/`), unsafe: undefined, disk: read };
  const races = {
    'up, as a form': { ...up, ours: formUp },
    'up, as it is': { ...up, ours: rawUp },
    'up, resumable': { ...up, ours: resumableUp },
    down: { ...downFrom, ours: parleyDown },
  };
  const outcomes: Outcome[] = [];
  for (const [way, { baseline, ours, unsafe, disk }] of Object.entries(races)) {
    const transfers: Round[] = [];
    // The first only warms up.
    for (let round = 0; round <= Math.min(3, rounds); round++) {
      transfers.push({ bare: await baseline(), ours: await ours(), unsafe: await unsafe?.(), disk: await disk() });
    }
    if (sent && sent.file.sha256 !== sha256) throw new Error('the file arrived with another SHA-256');
    outcomes.push(compare(`a file of ${sizes.fileMebibytes.toLocaleString('en')} MiB ${way}`, transfers.slice(1)));
  }
  const peak = Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${parley.pid}/status`, 'latin1'))?.[1]) / 1_024;
  outcomes.push({ kind: 'figure', what: 'memory at its highest with files', value: peak, unit: 'MB', bar: memoryBar });
  return outcomes;
}

function makeFile(path: string, size: number): { path: string; sha256: string } {
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

/** What the disk alone takes: for an upload to write a copy that is there to stay, for a download to read. */
const diskCopy = (path: string, size: number, to: string) => () =>
  timed(process.pid, size, async () => {
    const whole = to === '/dev/null' ? [] : ['conv=fsync'];
    const dd = Bun.spawn(['dd', `if=${path}`, `of=${to}`, 'bs=1M', 'status=none', ...whole]);
    if ((await dd.exited) !== 0) throw new Error(`the copy to ${to} failed`);
  });

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
async function postResumable(
  server: string,
  headers: Readonly<Record<string, string>>,
  path: string,
  size: number,
): Promise<void> {
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

async function timed(pid: number, size: number, transfer: () => Promise<unknown>): Promise<Transfer> {
  const [started, cpu] = [performance.now(), cpuSeconds(pid) ?? 0];
  await transfer();
  const seconds = (performance.now() - started) / 1_000;
  return { perSecond: size / mebibyte / seconds, cpu: ((cpuSeconds(pid) ?? 0) - cpu) / seconds };
}

const bar = 0.5;

function compare(what: string, rounds: readonly Round[]): Outcome {
  const ratioTo = (side: 'bare' | 'unsafe' | 'disk') =>
    rounds.map((r) => r.ours.perSecond / (r[side]?.perSecond ?? Number.NaN));
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
  const reference = (what: string, side: 'unsafe' | 'disk'): Reference => ({
    what,
    perSecond: median(rounds.map((r) => r[side]?.perSecond ?? Number.NaN)),
    ratio: median(ratioTo(side)),
  });
  const isUpload = rounds.some(({ unsafe }) => unsafe);
  const references = isUpload
    ? [
        reference('a bare server that does not wait for the disk', 'unsafe'),
        reference('a copy on the same disk', 'disk'),
      ]
    : [reference('reading it from the disk', 'disk')];
  return {
    kind: 'rates',
    what,
    bar,
    notes: ['rates in MiB'],
    references,
    baseline: side('bare'),
    contender: side('ours'),
    ratio: median(ratios),
    ratios,
  };
}
