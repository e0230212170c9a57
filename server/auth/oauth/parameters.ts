import { OAuthFault } from './faults.ts';

/** The parameters of a request by name. OAuth treats an empty one as absent. */
export type Parameters = ReadonlyMap<string, string>;

export interface ReadParameters {
  readonly values: Parameters;
  /** Parameters that were sent more than once, which is ambiguous. */
  readonly repeated: ReadonlySet<string>;
}

export function readParameters(fields: Iterable<readonly [string, string]>): ReadParameters {
  const values = new Map<string, string>();
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const [name, value] of fields) {
    if (seen.has(name)) repeated.add(name);
    seen.add(name);
    if (value !== '') values.set(name, value);
  }
  return { values, repeated };
}

export function refuseRepeats({ repeated }: ReadParameters): void {
  const [name] = repeated;
  if (name !== undefined) throw new OAuthFault('invalid_request', `${name.slice(0, 50)} is given more than once.`);
}
