import { LeaseTerm } from '../lib/lease.ts';
import { backlogsOf } from '../store/webhooks/backlogs.ts';
import { lastDuration, openDeliveries } from '../store/webhooks/deliveries.ts';
import {
  type EndpointStateRow,
  findDue,
  findEndpointState,
  type LeaseKey,
  leaseMs,
  ownedStates,
  type ReleasableState,
  releaseAllLeases,
  releaseLease,
  renewLeases,
  takeLeases,
  transferLease,
} from '../store/webhooks/endpoint-state.ts';
import { announceNode, type NodeRow, removeNode } from '../store/webhooks/nodes.ts';
import { runningReplays } from '../store/webhooks/replays.ts';
import { findAccess, findWebhook } from '../store/webhooks/webhooks.ts';
import type { DeliveryDeps } from './deps.ts';
import type { EndpointSnapshot, Lease } from './endpoint-queue.ts';

/** Webhooks that one call takes. */
const maxTaken = 200;

/** The leases of this process: each webhook is delivered to by one process, under a lease that it renews. */
export class WebhookLeases {
  readonly #deps: DeliveryDeps;
  /** There may be leases to renew. */
  #mayHold: boolean;

  constructor(deps: DeliveryDeps) {
    this.#deps = deps;
    this.#mayHold = !deps.isAlone;
  }

  /** Leases of processes that died do not have to expire if no other process can live. */
  async begin(): Promise<void> {
    if (this.#deps.isAlone) await this.#deps.engine.write((tx) => releaseAllLeases(tx, null));
  }

  /** The lease was taken or renewed by a statement that began at `since`. */
  leaseOf({ webhook_id, lease_number }: LeaseKey, since: number): Lease {
    this.#mayHold = true;
    return { webhook_id, lease_number, term: new LeaseTerm(leaseMs, this.#deps.monotonic, since) };
  }

  /** Renews all leases. Returns what is held, and since when; undefined if nothing can be held. */
  async renew(): Promise<{ states: readonly EndpointStateRow[]; since: number } | undefined> {
    const { engine, owner, isAlone, monotonic } = this.#deps;
    if (!this.#mayHold) return undefined;
    const since = monotonic();
    const states = await engine.writeRelaxed((tx) => renewLeases(tx, owner));
    this.#mayHold = states.length > 0 || !isAlone;
    return { states, since };
  }

  /** Returns what is held, without renewing it. */
  held(): Promise<readonly EndpointStateRow[]> {
    return ownedStates(this.#deps.engine, this.#deps.owner);
  }

  /** Takes webhooks that are due and that no process delivers to. */
  async takeDue(): Promise<{ leases: readonly Lease[]; hasMore: boolean }> {
    const { engine, owner, now, monotonic } = this.#deps;
    const due = await findDue(engine, now(), maxTaken);
    if (due.length === 0) return { leases: [], hasMore: false };
    const since = monotonic();
    const states = await engine.writeRelaxed((tx) => takeLeases(tx, owner, due));
    return { leases: states.map((state) => this.leaseOf(state, since)), hasMore: due.length === maxTaken };
  }

  /** Reads a webhook. Returns undefined if it is deleted, or if the lease is lost. */
  async load({ webhook_id, lease_number }: LeaseKey): Promise<EndpointSnapshot | undefined> {
    const { engine, owner } = this.#deps;
    // First, so that a change during the read is noticed.
    const state = await findEndpointState(engine, webhook_id);
    const webhook = await findWebhook(engine, webhook_id);
    const access = await findAccess(engine, webhook_id);
    if (!webhook || !access || state?.owner !== owner || state.lease_number !== lease_number) return undefined;
    return {
      state,
      webhook,
      access,
      backlogs: await backlogsOf(engine, webhook_id),
      replays: await runningReplays(engine, webhook_id),
      deliveries: await openDeliveries(engine, webhook_id),
      lastDurationMs: await lastDuration(engine, webhook_id),
    };
  }

  /** Returns false if the webhook has changed since it was read. */
  release(state: ReleasableState, dueAt: number | null): Promise<boolean> {
    return this.#deps.engine.writeRelaxed((tx) => releaseLease(tx, this.#deps.owner, state, dueAt));
  }

  /** Returns false if the lease is lost. */
  transfer(lease: LeaseKey, to: string): Promise<boolean> {
    return this.#deps.engine.writeRelaxed((tx) => transferLease(tx, this.#deps.owner, lease, to));
  }

  /** Returns the processes to transfer leases to, once for each lease. */
  async rebalance(): Promise<string[]> {
    const { engine, owner, isAlone } = this.#deps;
    return isAlone ? [] : transfers(await announceNode(engine, owner), owner).slice(0, maxTaken);
  }

  /** No other process transfers leases to this one from now on. */
  async leave(): Promise<void> {
    if (!this.#deps.isAlone) await removeNode(this.#deps.engine, this.#deps.owner);
  }

  async releaseAll(): Promise<void> {
    await this.#deps.engine.write((tx) => releaseAllLeases(tx, this.#deps.owner));
  }
}

/** A process transfers leases only above its share plus this part of it plus one, so that small changes move nothing. */
const slack = 1 / 4;

/**
 * The rule by which processes share the webhooks. A free webhook is taken by the process that sees it first, so nothing
 * waits for a particular process. A process with clearly more than its share transfers what is above the share, each to
 * the process that has the fewest.
 */
export function transfers(nodes: readonly NodeRow[], owner: string): string[] {
  const held = new Map(nodes.map((node) => [node.owner, node.held]));
  const own = held.get(owner) ?? 0;
  const share = Math.ceil(nodes.reduce((sum, node) => sum + node.held, 0) / nodes.length);
  if (nodes.length < 2 || own <= share * (1 + slack) + 1) return [];
  held.delete(owner);
  return Array.from({ length: own - share }, () => {
    const [to, count] = [...held].reduce((fewest, one) => (one[1] < fewest[1] ? one : fewest));
    held.set(to, count + 1);
    return to;
  });
}
