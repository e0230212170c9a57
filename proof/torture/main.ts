import { randomSeed, readArguments, readCount, readOrExit, readSeed, runTool } from '../harness/arguments.ts';
import { figure, table } from '../harness/report.ts';
import { runTorture } from './run.ts';

const usage = `npm run torture -- [--seed N] [--kills N] [--cuts N] [--reloads N]
Two people type in the web client, one of them in two tabs, while the server is killed, connections are cut and tabs are
reloaded. Every message must appear exactly once, in order, in both browsers. It needs Chromium.
--seed     draws the same schedule again; random without it
--kills    how often the server is killed and started again (10)
--cuts     how often all connections are cut (20)
--reloads  how often a tab is reloaded while it sends (10)`;

const bounds = { min: 0, max: 10_000 };

const { seed, kills, cuts, reloads } = readOrExit(usage, (args) => {
  const typed = readArguments(args, ['seed', 'kills', 'cuts', 'reloads']);
  if (typed === 'help') return 'help';
  const { given } = typed;
  return {
    seed: readSeed(given.seed) ?? randomSeed(),
    kills: readCount('kills', given.kills, bounds) ?? 10,
    cuts: readCount('cuts', given.cuts, bounds) ?? 20,
    reloads: readCount('reloads', given.reloads, bounds) ?? 10,
  };
});

/** Updates one line on a terminal. Prints nothing elsewhere. */
const progress = (line: string) => {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${line}`);
};

await runTool(async () => {
  const { typed, seconds, broken } = await runTorture({ seed, kills, cuts, reloads, progress });
  progress('');
  const rows = [
    ['messages typed', figure(typed)],
    ['server killed', figure(kills)],
    ['connections cut', figure(cuts)],
    ['tabs reloaded', figure(reloads)],
    ['seconds', figure(Math.round(seconds))],
  ];
  console.log(`Torture, seed ${seed}: ${broken.length === 0 ? 'everything held' : 'BROKEN'}\n\n${table(rows)}`);
  for (const line of broken) console.log(`BROKEN: ${line}`);
  if (broken.length > 0) process.exitCode = 1;
});
