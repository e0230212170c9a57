import { Child } from '../../harness/child.ts';
import { mebibytes, openFiles, residentBytes } from '../../harness/machine.ts';
import { waitUntil } from '../../harness/wait.ts';
import type { ClientCounts, SlowClients } from '../helpers/slow-clients.ts';
import { onLinuxOnly, type Scenario, successesWithin } from '../scenario.ts';

/** Connections that the server may hold for others once the slow clients are gone. */
const maxOthers = 100;

function maxOpenFiles(): number {
  const limit = Bun.spawnSync(['sh', '-c', 'ulimit -Hn']).stdout.toString().trim();
  return limit === 'unlimited' ? Number.POSITIVE_INFINITY : Number(limit);
}

export const slowClients: Scenario<'clients'> = {
  summary: 'thousands of clients send a head or a body byte by byte, or do not read their responses',
  seconds: 45,
  settings: { clients: { summary: 'slow clients, each with a connection', fallback: 10_000 } },
  inapplicable: onLinuxOnly,
  disturb: async (scene, { clients }, end) => {
    const { ms, nodes, stage, tally } = scene;
    if (maxOpenFiles() < clients + 1_000) {
      throw new Error(
        `${clients} clients need as many open files, and ulimit -Hn is ${maxOpenFiles()}: give --clients`,
      );
    }
    const { pid, port } = nodes.first;
    const partMs = ms / 3;
    const look = () => ({ files: openFiles(pid), megabytes: Math.round(mebibytes(residentBytes(pid))) });
    const calls = [await successesWithin(scene, partMs, end)];
    const before = look();
    const input: SlowClients = { port, token: stage.writers[0].token, chatId: stage.groups[0], count: clients };
    await using helper = new Child('proof/chaos/helpers/slow-clients.ts', { input });
    const first = await helper.line<ClientCounts>();
    calls.push(await successesWithin(scene, partMs, end));
    const during = look();
    await helper.kill('SIGTERM');
    const last = await helper.line<ClientCounts>();
    await waitUntil(() => openFiles(pid) <= before.files + maxOthers, { end, everyMs: 200 });
    const after = look();
    calls.push(await successesWithin(scene, partMs, end));
    tally.count('slow clients', clients);
    tally.count('their connections, with those of clients that came back', last.connected);
    tally.count('of these closed by the server', last.closedByServer);
    tally.count('open at the last', last.open);
    tally.note('calls that succeeded before, during and after them, in the same time', calls.join(', '));
    tally.note('during them against before them', ((calls[1] ?? 0) / (calls[0] ?? 0)).toFixed(2));
    tally.note('open files before, during and after them', `${before.files}, ${during.files}, ${after.files}`);
    tally.note('MB before, during and after them', `${before.megabytes}, ${during.megabytes}, ${after.megabytes}`);
    if (first.refused > 0) tally.breach(`${first.refused} of ${clients} slow clients could not connect`);
    const left = after.files - before.files;
    if (left > maxOthers) tally.breach(`${left} connections of slow clients were left`);
  },
};
