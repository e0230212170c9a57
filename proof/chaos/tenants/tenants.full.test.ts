import { expect, test } from 'bun:test';
import { attackers } from './attackers.ts';
import { playTenants } from './run.ts';
import { attackRows, figureRows } from './verdict.ts';

/** Catches hangs, and nothing else. */
const maxMs = 300_000;

test(
  'every attacker attacks, and everything is measured with and without them',
  async () => {
    const result = await playTenants({ engine: 'sqlite', seconds: 4 });
    const { without, during, attacks } = result;
    for (const { meP50, meP99, lagP50, lagP99, calls, uploads, streams } of [without, during]) {
      for (const time of [meP50, meP99, lagP50, lagP99]) expect(time).toBeGreaterThanOrEqual(0);
      for (const { tried } of [calls, uploads, streams]) expect(tried).toBeGreaterThan(0);
    }
    expect(without.uploads.admitted).toBe(without.uploads.tried);
    expect(without.streams.admitted).toBe(without.streams.tried);
    expect(without.disableMs).toBeGreaterThan(0);
    expect(Object.keys(attacks)).toEqual(Object.keys(attackers));
    for (const counts of Object.values(attacks)) expect(Object.keys(counts)).not.toEqual([]);
    expect(figureRows(result).every((row) => row.length === 4)).toBeTrue();
    expect(attackRows(result)).toHaveLength(Object.keys(attackers).length);
  },
  maxMs,
);
