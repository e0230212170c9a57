import { TransportError } from '@parley-chat/sdk';
import { innermost } from '@parley-chat/sdk/errors.ts';
import type { CommandContext } from '../context.ts';
import { responseTimeout } from '../timeout.ts';
import { MetricSamples } from './metrics.ts';

/** The public endpoints of a server beside its API. */
export interface Probe {
  readonly ready: boolean;
  /** The server's own words. */
  readonly state: string;
  readonly response_ms: number;
  readonly version: string | null;
  /** Undefined if the server does not show its metrics to this machine. */
  readonly metrics: MetricSamples | undefined;
}

/** Asks a server how it is. Throws a `TransportError` if there is no response, or one that Parley did not write. */
export async function probe(server: string, { clock, env }: CommandContext): Promise<Probe> {
  const fetchText = async (path: string, headers: Record<string, string> = {}) => {
    using late = responseTimeout(clock);
    try {
      const response = await fetch(`${server}${path}`, { headers, redirect: 'manual', signal: late.signal });
      return { status: response.status, text: await response.text() };
    } catch (error) {
      throw new TransportError(`Cannot reach Parley at ${server}: ${innermost(error)}`, { cause: error });
    }
  };
  const startedAt = clock.now();
  const { status, text } = await fetchText('/readyz');
  const response_ms = Math.round(clock.now() - startedAt);
  const state = text.trim();
  if (!((status === 200 && /^ready\b/.test(state)) || (status === 503 && /^The \w/.test(state)))) {
    throw new TransportError(`The response of ${server}/readyz is not from Parley: HTTP ${status}.`, { status });
  }
  const token = env.PARLEY_METRICS_TOKEN?.trim();
  const measured = await fetchText('/metrics', token ? { authorization: `Bearer ${token}` } : {});
  const metrics = measured.status === 200 ? new MetricSamples(measured.text) : undefined;
  const version = metrics?.label('parley_info', 'version') ?? versionIn((await fetchText('/api/openapi.json')).text);
  return { ready: status === 200, state, response_ms, version: version ?? null, metrics };
}

function versionIn(description: string): string | undefined {
  try {
    return (JSON.parse(description) as { info?: { version?: string } }).info?.version;
  } catch {
    // Such as 421, if the server has another public name.
    return undefined;
  }
}
