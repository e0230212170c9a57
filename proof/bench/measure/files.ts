import { randomFillSync } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { temporaryFolder } from '../../../server/test/support/cleanup.ts';
import { cpuSeconds, mebibytes, peakBytes } from '../../harness/machine.ts';
import { figure, median } from '../../harness/report.ts';
import { environment, makeGroup } from '../../harness/stage.ts';
import type { Outcome, Reference } from '../outcome.ts';
import { Baseline, Parley } from '../parley.ts';
import type { Plan } from '../plan.ts';
import { compare, type Round } from '../race.ts';

const mebibyte = 1_024 ** 2;
const memoryBar = 120;
const bar = 0.5;

type Transfer = () => Promise<Round>;

/** One way to transfer a file, by Parley, by the baseline, and by what both depend on. */
interface Way {
  readonly ours: Transfer;
  readonly baseline: Transfer;
  readonly references: Readonly<Record<string, Transfer>>;
}

/** A large file goes up, as a part of a form, as the whole body and resumable, and comes down again. */
export async function measureFiles({ rounds, sizes }: Plan): Promise<Outcome[]> {
  const size = sizes.fileMebibytes * mebibyte;
  await using parley = await Parley.start(environment());
  await using bare = await Baseline.start('files', { folder: temporaryFolder() });
  const sender = await parley.user('bench');
  const chatId = await makeGroup(sender, []);
  const { path, sha256 } = makeFile(`${temporaryFolder()}/file`, size);

  const api = `${parley.url}/api`;
  const bareUrl = `http://127.0.0.1:${bare.port}`;
  const headers = { authorization: `Bearer ${sender.token}` };
  let file: { file_id: number; sha256: string } | undefined;
  const timed = (pid: number, transfer: () => Promise<unknown>) => (): Promise<Round> => timeOf(pid, size, transfer);
  const sendForm = async () => {
    const fields = { chat_id: String(chatId) };
    const response = await upload(`${api}/messages.php?action=send_message`, headers, path, fields);
    file = (JSON.parse(response) as { message: { file: NonNullable<typeof file> } }).message.file;
    if (file.sha256 !== sha256) throw new Error('the file arrived with another SHA-256');
  };
  const up = {
    baseline: timed(bare.pid, () => upload(`${bareUrl}/`, {}, path)),
    references: {
      'a bare server that does not wait for the disk': timed(bare.pid, () => upload(`${bareUrl}/soon`, {}, path)),
      'a copy on the same disk': timed(process.pid, () => copyFile(path, `${temporaryFolder()}/copy`)),
    },
  };
  const ways: Readonly<Record<string, Way>> = {
    'up, as a form': { ...up, ours: timed(parley.pid, sendForm) },
    'up, as it is': {
      ...up,
      ours: timed(parley.pid, () => upload(`${api}/files.php?action=upload&name=file`, headers, path)),
    },
    'up, resumable': { ...up, ours: timed(parley.pid, () => uploadResumable(parley.url, headers, path, size)) },
    down: {
      ours: timed(parley.pid, () =>
        download(`${api}/files.php?action=download&file_id=${file?.file_id}`, headers, sha256),
      ),
      baseline: timed(bare.pid, () => download(`${bareUrl}/`, headers, sha256)),
      references: { 'reading it from the disk': timed(process.pid, () => copyFile(path, '/dev/null')) },
    },
  };
  const outcomes: Outcome[] = [];
  for (const [name, way] of Object.entries(ways)) {
    const what = `a file of ${figure(sizes.fileMebibytes)} MiB ${name}`;
    outcomes.push(await measureWay(what, way, Math.min(3, rounds)));
  }
  const value = mebibytes(peakBytes(parley.pid));
  outcomes.push({ kind: 'figure', what: 'memory at its highest with files', value, unit: 'MB', bar: memoryBar });
  return outcomes;
}

async function measureWay(what: string, { ours, baseline, references }: Way, rounds: number): Promise<Outcome> {
  const [theirs, mine]: [Round[], Round[]] = [[], []];
  const others = Object.entries(references).map(([name, transfer]) => ({ name, transfer, rounds: [] as Round[] }));
  for (let round = 0; round <= rounds; round++) {
    theirs.push(await baseline());
    mine.push(await ours());
    for (const other of others) other.rounds.push(await other.transfer());
  }
  // The first round only warms up.
  const result = compare(theirs.slice(1), mine.slice(1));
  const reference = ({ name, rounds }: (typeof others)[number]): Reference => {
    const perSecond = median(rounds.slice(1).map((round) => round.perSecond));
    return { what: name, perSecond, ratio: compare(rounds.slice(1), mine.slice(1)).ratio };
  };
  return { kind: 'rates', what, bar, notes: ['rates in MiB'], references: others.map(reference), ...result };
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

/** Copies a file durably, or only reads it. */
async function copyFile(path: string, to: string): Promise<void> {
  const durable = to === '/dev/null' ? [] : ['conv=fsync'];
  const dd = Bun.spawn(['dd', `if=${path}`, `of=${to}`, 'bs=1M', 'status=none', ...durable]);
  if ((await dd.exited) !== 0) throw new Error(`the copy to ${to} failed`);
}

/** Uploads with curl, which reads a file from the disk as fast as anything can. */
async function upload(
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
  const response = await new Response(curl.stdout).text();
  if ((await curl.exited) !== 0) throw new Error(`the upload to ${url} failed`);
  return response;
}

/** Uploads by the tus protocol in one request, as most clients do until something breaks. */
async function uploadResumable(
  server: string,
  headers: Readonly<Record<string, string>>,
  path: string,
  size: number,
): Promise<void> {
  const common = { ...headers, 'tus-resumable': '1.0.0' };
  const create = { ...common, 'upload-length': String(size) };
  const created = await fetch(`${server}/api/uploads`, { method: 'POST', headers: create });
  const patch = { ...common, 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' };
  await upload(`${server}${created.headers.get('location')}`, patch, path, undefined, 'PATCH');
}

async function download(url: string, headers: Readonly<Record<string, string>>, sha256: string): Promise<void> {
  const response = await fetch(url, { headers });
  const hasher = new Bun.CryptoHasher('sha256');
  for await (const bytes of response.body ?? []) hasher.update(bytes);
  if (hasher.digest('hex') !== sha256) throw new Error(`${url} returned other bytes`);
}

async function timeOf(pid: number, size: number, transfer: () => Promise<unknown>): Promise<Round> {
  const [started, cpu] = [performance.now(), cpuSeconds(pid) ?? 0];
  await transfer();
  const seconds = (performance.now() - started) / 1_000;
  const serverBusy = ((cpuSeconds(pid) ?? 0) - cpu) / seconds;
  return { perSecond: size / mebibyte / seconds, serverBusy, answers: 1 };
}
