import { isEventStream, listOperations, type NamedOperation } from '@parley/contract';
import type { Target } from '../target.ts';
import type { Call } from './call.ts';
import { damageFields, damageRequest } from './damage.ts';
import { type Answer, judge } from './verdict.ts';
import { write } from './write.ts';

const rows = new Map<string, NamedOperation>(listOperations().map((row) => [row.name, row]));

/** Operations that delete what others need. */
const spoiling: readonly string[] = ['tokens.revoke', 'users.disable', 'bots.disable'];

/** Makes a call, and judges the response. */
export async function perform(target: Target, call: Call): Promise<Answer> {
  const row = rows.get(call.operation);
  if (!row) throw new Error(`there is no operation ${call.operation}`);
  const { credentials } = await target.people();
  const fields = damageFields(call.fields, call.damage).map(
    ([name, value]) => [name, target.pool.resolve(value)] as const,
  );
  const { method, address, headers, body } = damageRequest(write(row, fields, call.writing), call.damage);
  const isBare = method === 'GET' || method === 'HEAD';
  const response = await target.send(`/api/${address}`, {
    method,
    headers: { ...headers, ...call.headers, ...credentials[call.caller] },
    ...(body && !isBare && { body }),
  });
  const isStream = isEventStream(row.output) && response.headers.get('content-type')?.startsWith('text/event-stream');
  const answer = await read(target, response, isStream === true);
  try {
    judge(row, { method, address, damage: call.damage }, answer);
  } catch (error) {
    throw explained(target, error as Error);
  }
  if (answer.status === 200 && spoiling.includes(row.name)) target.spoil();
  if (answer.headers.get('content-type')?.startsWith('application/json') && answer.text !== '') {
    target.pool.learn(JSON.parse(answer.text));
  }
  return answer;
}

/** Returns the error with the log line of the server. */
function explained(target: Target, error: Error): Error {
  const fault = target.takeFault();
  return fault === undefined ? error : new Error(`${error.message}\nlog: ${fault}`, { cause: error });
}

/** Reads a response. Reads a stream until a later request is complete. */
async function read(target: Target, response: Response, isStream: boolean): Promise<Answer> {
  const { status, headers } = response;
  if (!isStream) {
    const bytes = Buffer.from(await response.arrayBuffer());
    return { status, headers, text: bytes.toString(), bytes: bytes.length };
  }
  let text = '';
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const listening = (async () => {
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) text += part.value;
  })();
  await (await target.send('/healthz', {})).text();
  await reader?.cancel();
  await listening;
  return { status, headers, text, bytes: text.length };
}
