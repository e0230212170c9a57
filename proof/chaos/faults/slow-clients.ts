import { Assistant } from '../frame/assistant.ts';
import { answeredIn } from '../frame/beside.ts';
import { openFiles, residentMegabytes, untilAtMost } from '../frame/process-facts.ts';
import type { Trial } from '../frame/trial.ts';
import { hangMs } from '../hang.ts';
import type { SlowClients, Standing } from '../slow-clients/clients.ts';

/** Connections that a server may hold for others than the slow ones once these are gone. */
const others = 100;

/** So many file descriptors a process may have, where one can tell. */
function mostFiles(): number {
  const asked = Bun.spawnSync(['sh', '-c', 'ulimit -Hn']).stdout.toString().trim();
  return asked === 'unlimited' ? Number.POSITIVE_INFINITY : Number(asked);
}

export const slowClients: Trial<'clients'> = {
  summary: 'thousands of clients send a head or a body byte by byte, or do not read their answers',
  seconds: 45,
  settings: { clients: { summary: 'slow clients, each with a connection', fallback: 10_000 } },
  inapplicable: () => (process.platform === 'linux' ? undefined : 'It takes Linux, which tells what a process holds.'),
  wreak: async (scene, { clients }, end) => {
    const { ms, nodes, stage, tally } = scene;
    if (mostFiles() < clients + 1_000) {
      throw new Error(`${clients} clients take as many open files, and ulimit -Hn is ${mostFiles()}: give --clients`);
    }
    const [node] = nodes.up;
    if (!node) throw new Error('no server is up');
    const stretch = ms / 3;
    const calm = await answeredIn(scene, stretch, end);
    const before = { files: openFiles(node.pid), megabytes: residentMegabytes(node.pid) };
    const given: SlowClients = {
      port: Number(new URL(node.url).port),
      token: stage.writers[0].token,
      chatId: stage.groups[0],
      count: clients,
    };
    await using slow = new Assistant<Standing>('slow-clients/clients.ts', given);
    const first = await slow.line();
    const beside = await answeredIn(scene, stretch, end);
    const held = { files: openFiles(node.pid), megabytes: residentMegabytes(node.pid) };
    await slow.end('SIGTERM');
    const last = await slow.line();
    const files = await untilAtMost(before.files + others, () => openFiles(node.pid), hangMs, end);
    const after = await answeredIn(scene, stretch, end);
    tally.count('slow clients', clients);
    tally.count('their connections, with those of clients that came back', last.connected);
    tally.count('of these closed by the server', last.closedByServer);
    tally.count('open at the last', last.open);
    tally.count('calls that succeeded before them', calm);
    tally.count('calls that succeeded beside them, in the same time', beside);
    tally.count('calls that succeeded after them, in the same time', after);
    tally.tell('beside them against before them', (beside / calm).toFixed(2));
    tally.tell('open files before, with and after them', `${before.files}, ${held.files}, ${files}`);
    tally.tell(
      'MB before, with and after them',
      `${before.megabytes}, ${held.megabytes}, ${residentMegabytes(node.pid)}`,
    );
    if (first.refused > 0) tally.breach(`${first.refused} of ${clients} slow clients could not connect`);
    if (files > before.files + others) tally.breach(`${files - before.files} connections of slow clients were left`);
    return undefined;
  },
};
