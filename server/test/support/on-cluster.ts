import { describe } from 'bun:test';
import { natsMissing } from './nats.ts';
import { postgresMissing } from './postgres.ts';

/** Describes behaviour of several nodes, which takes both servers that nodes share. */
export function onCluster(name: string, suite: () => void): void {
  const missing = postgresMissing ?? natsMissing;
  if (missing) {
    console.warn(`skipped: ${name}. ${missing}`);
    describe.skip(name, suite);
  } else {
    describe(name, suite);
  }
}
