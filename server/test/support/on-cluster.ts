import { natsMissing } from './nats.ts';
import { postgresMissing } from './postgres.ts';
import { describeUnless } from './requirements.ts';

/** Describes behaviour of several nodes, which needs PostgreSQL and NATS. */
export function onCluster(name: string, suite: () => void): void {
  describeUnless(postgresMissing ?? natsMissing, name, suite);
}
