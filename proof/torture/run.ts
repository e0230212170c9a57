import { Gate } from '../../server/test/support/gate.ts';
import { quietPort } from '../../server/test/support/quiet-port.ts';
import { attach } from '../../server/test/support/server.ts';
import { launchChromium, profileOf } from '../harness/browser.ts';
import { shuffled, stream } from '../harness/random.ts';
import { Server } from '../harness/server.ts';
import { environment, makeGroup, readMessages } from '../harness/stage.ts';
import { pause } from '../harness/wait.ts';
import { faultsOf } from './check.ts';
import { Tab } from './tab.ts';

export interface TortureOptions {
  readonly seed: number;
  /** How often the server is killed and started again. */
  readonly kills: number;
  /** How often all connections are cut. */
  readonly cuts: number;
  /** How often a tab is reloaded while it sends. */
  readonly reloads: number;
  readonly progress: (line: string) => void;
}

export interface TortureResult {
  readonly typed: number;
  readonly seconds: number;
  readonly broken: readonly string[];
}

type Act = 'kill' | 'cut' | 'reload';

const settleMs = 90_000;

/** Two people type, one of them in two tabs, while everything around them breaks. Returns what they lost. */
export async function runTorture(options: TortureOptions): Promise<TortureResult> {
  await using ends = new AsyncDisposableStack();
  const startedAt = performance.now();
  const random = stream(options.seed, 'torture');
  const env = environment({ PORT: String(await quietPort()) });
  let server = await Server.start(env);
  ends.defer(() => server.kill());
  const gate = ends.use(await Gate.before(server.url));
  const admin = await attach(server.url, env);
  const [ada, bob] = [await admin.user('ada', { admin: true }), await admin.user('bob')];
  const chat = await makeGroup(ada, [bob], 'Torture');

  const browser = await launchChromium();
  ends.defer(() => browser.close());
  const profile = ({ userId }: { userId: number }) => profileOf(browser, admin, { userId, url: gate.url });
  const [hers, his] = [await profile(ada), await profile(bob)];
  const url = `${gate.url}/chats/${chat}`;
  const tabs = {
    ada: [await Tab.open(hers, 'the first tab of Ada', url), await Tab.open(hers, 'the second tab of Ada', url)],
    bob: [await Tab.open(his, 'the tab of Bob', url)],
  };
  const all = [...tabs.ada, ...tabs.bob];
  const typed = new Map<keyof typeof tabs, string[]>([
    ['ada', []],
    ['bob', []],
  ]);
  const broken = new Set<string>();

  /** Types one message in a tab. Reloads the tab at once if it is told to. */
  const type = async (who: keyof typeof tabs, isReloaded = false) => {
    const own = tabs[who];
    const tab = own[Math.floor(random() * own.length)] as Tab;
    const texts = typed.get(who) as string[];
    const text = `${who} ${texts.length + 1}`;
    texts.push(text);
    await tab.type(text);
    if (isReloaded) await tab.load();
    for (const twice of await tab.doubled()) broken.add(`${tab.name} showed "${twice}" twice for a moment`);
  };

  const acts: Readonly<Record<Act, () => Promise<void>>> = {
    kill: async () => {
      await server.kill();
      await Promise.all([type('ada'), type('bob')]);
      await pause(random() * 1_500);
      server = await Server.start(env);
    },
    cut: async () => {
      gate.shut();
      await Promise.all([type('ada'), type('bob')]);
      await pause(random() * 800);
      gate.unshut();
    },
    reload: () => type(random() < 0.7 ? 'ada' : 'bob', true),
  };
  const { kills, cuts, reloads } = options;
  const plan = shuffled(
    [...repeat<Act>('kill', kills), ...repeat<Act>('cut', cuts), ...repeat<Act>('reload', reloads)],
    random,
  );
  for (const [i, act] of plan.entries()) {
    options.progress(`${i + 1} of ${plan.length}: ${act}`);
    for (let count = Math.floor(random() * 4); count >= 0; count--) {
      await Promise.all([type('ada'), random() < 0.5 && type('bob')]);
      await pause(random() * 120);
    }
    await acts[act]();
  }

  options.progress('everything is up again');
  const count = [...typed.values()].flat().length;
  const deadline = performance.now() + settleMs;
  const isSettled = async () => (await Promise.all(all.map((tab) => tab.unsent()))).every((unsent) => unsent === 0);
  while (performance.now() < deadline && !(await isSettled())) await pause(100);
  const stored = (await readMessages(ada, [chat])).map(({ content }) => content);
  for (const fault of faultsOf('on the server', stored, typed)) broken.add(fault);
  for (const tab of all) {
    const shown = await untilSame(tab, stored, deadline);
    for (const fault of faultsOf(`in ${tab.name}`, shown, typed)) broken.add(fault);
    if (shown.join() !== stored.join()) broken.add(`${tab.name} shows another order than the server has`);
    for (const error of tab.errors) broken.add(error);
  }
  return { typed: count, seconds: (performance.now() - startedAt) / 1_000, broken: [...broken] };
}

/** Reads a tab until it shows what the server has, or until the deadline. */
async function untilSame(tab: Tab, stored: readonly string[], deadline: number): Promise<string[]> {
  for (;;) {
    const shown = await tab.readAll();
    if (shown.join() === stored.join() || performance.now() > deadline) return shown;
    await pause(500);
  }
}

const repeat = <T>(value: T, times: number): T[] => Array.from({ length: times }, () => value);
