import type { ToldCounts, Verdict } from './check.ts';
import type { Evidence } from './evidence.ts';
import { figure } from './report.ts';

const rows: Readonly<Record<keyof ToldCounts, string>> = {
  delivered: 'events delivered',
  lost: 'lost',
  outOfOrder: 'out of order',
  repeats: 'repeats',
  unknown: 'not in the log',
  altered: 'other bytes than in the log',
  badSignatures: 'bad signatures',
  mislabelled: 'wrong headers',
};

export function perWebhook({ told }: Evidence, verdict: Verdict): string[][] {
  const heading = ['webhook', ...told.map(({ name }) => name)];
  const count = (name: string, key: keyof ToldCounts) => figure(verdict.told[name]?.[key] ?? 0);
  const keys = Object.keys(rows) as (keyof ToldCounts)[];
  return [heading, ...keys.map((key) => [rows[key], ...told.map(({ name }) => count(name, key))])];
}
