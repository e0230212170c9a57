import type { UserId, WebhookId } from '@parley/contract';
import type { LogDeps } from '../log/membership.ts';
import type { Log } from '../observe/log.ts';
import type { HostLimit } from './host-limit.ts';
import type { Sender } from './sender.ts';

/** The metrics of deliveries. */
interface DeliveryMetrics {
  attempted(outcome: string, seconds: number): void;
  settled(state: string, count: number): void;
  /** The time from the commit of an event to its first attempt. */
  lag(seconds: number): void;
  chatQueues(count: number): void;
}

/** The dependencies of the delivery worker and its parts. */
export interface DeliveryDeps extends LogDeps {
  /** Names this process in the leases that it holds. */
  readonly owner: string;
  readonly monotonic: () => number;
  readonly sender: Sender;
  /** How many outgoing requests Bun runs at once. */
  readonly maxRequests: number;
  readonly hosts: HostLimit;
  /** No other process can use this database. */
  readonly isAlone: boolean;
  readonly now: () => number;
  readonly random: () => number;
  /** How long a lost wake-up may delay a delivery. */
  readonly sweepMs: number;
  /** Other processes have something to take over. */
  readonly notifyNodes: () => void;
  /** Deliveries of a webhook were created or tried. */
  readonly deliveriesChanged: (userId: UserId, webhookId: WebhookId) => void;
  readonly log: Log;
  readonly metrics: DeliveryMetrics;
}
