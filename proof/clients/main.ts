import { mkdirSync } from 'node:fs';
import type { Client } from '../../server/test/support/client.ts';
import { freshEnvironment } from '../../server/test/support/engines.ts';
import { startServer } from '../../server/test/support/server.ts';
import { readArguments, readCount, readOrExit, readSeed, runTool } from '../harness/arguments.ts';
import { table } from '../harness/report.ts';
import { clients, type GeneratedClient, linters, outcomesIn, stepNames, steps } from './clients.ts';
import { findUndocumented } from './schemathesis.ts';
import { installNode, inWork, Missing, workFolder } from './tools.ts';

const usage = `npm run clients -- [--examples N] [--seed N]
Generates clients from the OpenAPI document and uses them on a server, lints the document, and runs Schemathesis.
--examples  cases of Schemathesis for each operation (50)
--seed      draws the same cases again (1)`;

const { examples, seed } = readOrExit(usage, (args) => {
  const typed = readArguments(args, ['examples', 'seed']);
  if (typed === 'help') return 'help';
  const { given } = typed;
  const count = readCount('examples', given.examples, { min: 1, max: 100_000 }) ?? 50;
  return { examples: count, seed: readSeed(given.seed) ?? 1 };
});

const skipped: string[] = [];
const failures: string[] = [];

/** Runs a check, and returns 'ok', 'failed' or 'skipped'. */
async function check(name: string, run: () => Promise<string | undefined>): Promise<string> {
  try {
    const fault = await run();
    if (fault === undefined) return 'ok';
    failures.push(`${name}: ${fault}`);
    return 'failed';
  } catch (error) {
    if (!(error instanceof Missing)) {
      failures.push(`${name}: ${(error as Error).message}`);
      return 'failed';
    }
    skipped.push(`${name}: ${error.message}`);
    return 'skipped';
  }
}

/** Generates and uses one client. Returns its row of the table. */
async function tryClient(client: GeneratedClient, document: string, ada: Client, chatId: number): Promise<string[]> {
  const { name } = client;
  const hook = `http://127.0.0.1:9/${encodeURIComponent(name)}`;
  let outcomes: ReadonlyMap<string, string> = new Map();
  const verdict = await check(name, async () => {
    await client.generate(document);
    const env = {
      PARLEY_API: `${ada.url}/api`,
      PARLEY_TOKEN: ada.token,
      CHAT_ID: String(chatId),
      CLIENT: name,
      HOOK_URL: hook,
    };
    outcomes = outcomesIn(await client.use(env));
    const faults = stepNames.flatMap((step) => {
      const outcome = outcomes.get(step) ?? 'did not run';
      return outcome === 'ok' ? [] : [`${steps[step]}: ${outcome}`];
    });
    // The server has the last word on what a client says that it did.
    const { messages } = await ada.ok('messages.get_messages', { chat_id: chatId });
    if (!messages.some(({ content }) => content === `Hello from ${name}`))
      faults.push('its message is not in the chat');
    const { webhooks } = await ada.ok('webhooks.list', {});
    if (!webhooks.some(({ url }) => url === hook)) faults.push('its webhook is not registered');
    return faults.length === 0 ? undefined : faults.join('\n');
  });
  const cell = (outcome: string | undefined) => (outcome === 'ok' ? 'ok' : verdict === 'skipped' ? '-' : 'failed');
  return [name, ...stepNames.map((step) => cell(outcomes.get(step))), verdict];
}

await runTool(async () => {
  mkdirSync(workFolder, { recursive: true });
  const server = await startServer({ ...(await freshEnvironment('sqlite')), PARLEY_FILE_LIMIT: '65536' });
  try {
    const ada = await server.user('ada', { admin: true });
    const { group } = await ada.ok('messages.create_group', { name: 'Clients', participants: [] });
    const document = inWork('openapi.json');
    await Bun.write(document, await (await fetch(`${server.url}/api/openapi.json`)).text());
    const rows: string[][] = [];
    for (const client of clients) rows.push(await tryClient(client, document, ada, group.chat_id));
    const others: string[][] = [];
    for (const { name, lint } of linters) {
      const verdict = await check(name, async () => {
        await installNode();
        return lint(document);
      });
      others.push([name, verdict]);
    }
    const { tokens } = await ada.ok('tokens.list', {});
    const options = { document, api: `${server.url}/api`, token: ada.token, tokenId: tokens[0]?.token_id ?? 0 };
    const name = `Schemathesis, ${examples} cases per operation, seed ${seed}`;
    others.push([name, await check(name, () => findUndocumented({ ...options, examples, seed }))]);

    console.log(`${table([['client', ...stepNames.map((step) => steps[step]), ''], ...rows])}\n\n${table(others)}`);
    for (const line of failures) console.log(`\nFAILED ${line}`);
    for (const line of skipped) console.log(`\nskipped ${line}`);
    if (failures.length > 0 || (skipped.length > 0 && process.env.CI)) process.exitCode = 1;
  } finally {
    await server.stop();
  }
});
