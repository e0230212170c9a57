import { join } from 'node:path';
import { unstatedRules } from '@parley/contract';
import { installPython, inWork, pythonTool, run } from './tools.ts';

export interface SchemathesisOptions {
  readonly document: string;
  readonly api: string;
  readonly token: string;
  readonly tokenId: number;
  readonly examples: number;
  readonly seed: number;
}

/** A stream does not end, so nothing can wait for its end. */
const excluded = ['eventsStream'];

/** `rule_is_in_the_schema` of our hooks does the same with the list of rules that no schema states. */
const replaced = 'positive_data_acceptance';

/** Runs Schemathesis with all its checks and ours. Returns its report, or undefined if it finds nothing. */
export async function findUndocumented(options: SchemathesisOptions): Promise<string | undefined> {
  const { document, api, token, tokenId, examples, seed } = options;
  await installPython();
  const rules = inWork('unstated-rules.json');
  await Bun.write(rules, JSON.stringify(unstatedRules));
  const { code, output } = await run(
    [
      ...[pythonTool('schemathesis'), '--config-file', join(import.meta.dir, 'schemathesis.toml')],
      ...['run', document, '--url', api, '--header', `Authorization: Bearer ${token}`],
      ...['--checks', 'all', '--exclude-checks', replaced, '--phases', 'examples,coverage,fuzzing'],
      ...['--max-examples', String(examples), '--seed', String(seed), '--workers', '2', '--continue-on-failure'],
      ...['--suppress-health-check', 'all', '--request-timeout', '30', '--no-color', '--warnings', 'off'],
      ...excluded.flatMap((id) => ['--exclude-operation-id', id]),
    ],
    {
      cwd: inWork(),
      env: {
        SCHEMATHESIS_HOOKS: 'schemathesis_hooks',
        PYTHONPATH: import.meta.dir,
        PYTHONDONTWRITEBYTECODE: '1',
        UNSTATED_RULES: rules,
        TOKEN_ID: String(tokenId),
      },
    },
  );
  await Bun.write(inWork('schemathesis.txt'), output);
  return code === 0 ? undefined : output;
}
