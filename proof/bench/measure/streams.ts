import { cpuSeconds, mebibytes, residentBytes } from '../../harness/machine.ts';
import { figure } from '../../harness/report.ts';
import { makeGroup } from '../../harness/stage.ts';
import type { EngineMeasure } from '../engines.ts';
import { Baseline } from '../parley.ts';
import { compare, type Round } from '../race.ts';
import { addPeople, type Listeners, openListeners, streamRequest } from './listeners.ts';

const memoryBar = 125;
const secondsBar = 1;
const bar = 0.5;

/** Thousands of users listen to one chat, each with a stream, and a message reaches all of them. */
export const measureStreams: EngineMeasure = async ({ title, start }, { rounds, sizes }) => {
  const count = sizes.streams;
  const many = `${figure(count)} streams`;
  await using parley = await start();
  await using bare = await Baseline.start('streams');
  const owner = await parley.user('bench');
  const people = await addPeople(parley, count);
  const chat_id = await makeGroup(owner, []);
  for (let first = 0; first < count; first += 1_000) {
    const participants = people.slice(first, first + 1_000).map(({ userId }) => userId);
    await owner.ok('chats.add_participants', { chat_id, participants });
  }
  const resident = () => mebibytes(residentBytes(parley.pid));
  const before = resident();
  const ours = await openListeners(
    parley.port,
    people.map(({ token }) => streamRequest('/api/events.php?action=stream', `Authorization: Bearer ${token}`)),
  );
  await Bun.sleep(sizes.idleMs);
  const memory = resident();
  let frame = '';
  const mine = await sendRounds(rounds, parley.pid, count, ours, async (content) => {
    const { message } = await owner.ok('messages.send_message', { chat_id, content });
    frame = `id: 1\nevent: new_message\ndata: ${JSON.stringify({ message })}\n\n`;
  });
  // One after the other: a process may not have as many connections as both need.
  ours.close();
  const theirs = await openListeners(
    bare.port,
    people.map(() => streamRequest('/stream')),
  );
  const send = (mark: string) =>
    fetch(`http://127.0.0.1:${bare.port}/tell`, { method: 'POST', body: frame.replace(markOf(rounds), mark) });
  const bareRounds = await sendRounds(rounds, bare.pid, count, theirs, send);
  theirs.close();
  const slowest = Math.max(...mine.map(({ perSecond }) => count / perSecond));
  return [
    {
      kind: 'rates',
      what: `a message to ${many}, arrivals, ${title}`,
      bar,
      ...compare(bareRounds, mine),
      notes: [`from the call to the last of ${count} streams; memory before the streams ${before.toFixed(0)} MB`],
    },
    { kind: 'figure', what: `a message to ${many}, the slowest, ${title}`, value: slowest, unit: 's', bar: secondsBar },
    { kind: 'figure', what: `memory with ${many}, idle, ${title}`, value: memory, unit: 'MB', bar: memoryBar },
  ];
};

const markOf = (round: number) => `round ${round} of the bench`;

/** The first round only warms up. */
async function sendRounds(
  rounds: number,
  pid: number,
  count: number,
  listeners: Listeners,
  send: (mark: string) => Promise<unknown>,
): Promise<Round[]> {
  const done: Round[] = [];
  for (let round = 0; round <= rounds; round++) {
    const mark = markOf(round);
    const [started, cpu] = [performance.now(), cpuSeconds(pid) ?? 0];
    await listeners.hear(mark, () => send(mark));
    const seconds = (performance.now() - started) / 1_000;
    done.push({ perSecond: count / seconds, serverBusy: ((cpuSeconds(pid) ?? 0) - cpu) / seconds, answers: 1 });
  }
  return done.slice(1);
}
