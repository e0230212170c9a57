import { clock } from './faults/clock.ts';
import { cluster } from './faults/cluster.ts';
import { diskFull } from './faults/disk-full.ts';
import { floods } from './faults/floods.ts';
import { killReceiver } from './faults/kill-receiver.ts';
import { killServer } from './faults/kill-server.ts';
import { locked } from './faults/locked.ts';
import { natsLoss } from './faults/nats-loss.ts';
import { postgresRestart } from './faults/postgres-restart.ts';
import { receiverFaults } from './faults/receiver-faults.ts';
import { sigterm } from './faults/sigterm.ts';
import { slowClients } from './faults/slow-clients.ts';
import { webhooks } from './faults/webhooks.ts';
import type { Scenario } from './scenario.ts';

/** All faults, by their name on the command line. */
export const faults: Readonly<Record<string, Scenario>> = {
  'kill-server': killServer,
  'kill-receiver': killReceiver,
  sigterm,
  'disk-full': diskFull,
  locked,
  'postgres-restart': postgresRestart,
  'nats-loss': natsLoss,
  clock,
  'receiver-faults': receiverFaults,
  'slow-clients': slowClients,
  floods,
  webhooks,
  cluster,
};
