import type { Log } from '../observe/log.ts';
import type { DispatcherDeps } from './dispatcher.ts';
import type { Sender } from './sender.ts';

/** What is measured of deliveries. */
export interface DeliveryMetrics {
  attempted(outcome: string, seconds: number): void;
  settled(state: string, count: number): void;
  /** The time from the commit of an event to its first attempt. */
  lag(seconds: number): void;
  chatQueues(count: number): void;
}

/** What the parts of the delivery worker get from outside. */
export interface DeliveryDeps extends DispatcherDeps {
  readonly sender: Sender;
  /** No other process can use this database. */
  readonly isAlone: boolean;
  readonly now: () => number;
  readonly random: () => number;
  /** How long a lost wake-up may delay a delivery. */
  readonly sweepMs: number;
  /** Other processes have something to take over. */
  readonly notifyNodes: () => void;
  readonly log: Log;
  readonly metrics: DeliveryMetrics;
}
