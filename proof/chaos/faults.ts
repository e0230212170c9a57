import type { Fault } from './fault.ts';
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
import { framed } from './frame/framed.ts';

/** Everything that can be made to go wrong, by the name that it is asked for. */
export const faults: Readonly<Record<string, Fault>> = {
  'kill-server': framed(killServer),
  'kill-receiver': framed(killReceiver),
  sigterm: framed(sigterm),
  'disk-full': framed(diskFull),
  locked: framed(locked),
  'postgres-restart': framed(postgresRestart),
  'nats-loss': framed(natsLoss),
  clock: framed(clock),
  'receiver-faults': framed(receiverFaults),
  'slow-clients': framed(slowClients),
  floods: framed(floods),
  webhooks,
  cluster: framed(cluster),
};
