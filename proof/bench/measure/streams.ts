import { hashToken, newSecret } from '../../../server/auth/access-token.ts';
import { processRuntime } from '../../../server/compose.ts';
import { insertToken } from '../../../server/store/access/tokens.ts';
import { insertUser } from '../../../server/store/access/users.ts';
import { cpuSeconds, mebibytes, residentBytes } from '../../harness/machine.ts';
import { figure } from '../../harness/report.ts';
import { makeGroup } from '../../harness/stage.ts';
import type { EngineMeasure } from '../engines.ts';
import { Baseline, type Parley } from '../parley.ts';
import { compare, type Round } from '../race.ts';
import { type Listeners, openListeners } from './listeners.ts';

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
  const request = (path: string, ...headers: string[]) =>
    [`GET ${path} HTTP/1.1`, 'Host: 127.0.0.1', ...headers, '\r\n'].join('\r\n');
  const resident = () => mebibytes(residentBytes(parley.pid));
  const before = resident();
  const ours = await openListeners(
    parley.port,
    people.map(({ token }) => request('/api/events.php?action=stream', `Authorization: Bearer ${token}`)),
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
    people.map(() => request('/stream')),
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

/** Adds them from beside the server: through it they would take a minute. */
async function addPeople({ engine }: Parley, count: number): Promise<{ userId: number; token: string }[]> {
  const at = Date.now();
  return engine.write(async (tx) => {
    const people: { userId: number; token: string }[] = [];
    for (let i = 0; i < count; i++) {
      const name = `listener${i}`;
      const user = await insertUser(tx, { name, displayName: name, isAdmin: false, passwordHash: null, at });
      if (!user) throw new Error(`there is a ${name} already`);
      const { user_id: userId } = user;
      const token = newSecret('personal', processRuntime.random);
      await insertToken(tx, {
        ...{ user_id: userId, kind: 'personal', name: 'bench', hash: hashToken(token), scopes: 'messages:read' },
        ...{ parent_id: null, app_id: 0, grant_id: null, created_at: at, expires_at: null },
      });
      people.push({ userId, token });
    }
    return people;
  });
}
