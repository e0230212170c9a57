/** Upper bounds of the buckets that durations are counted in, in seconds. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 3_600] as const;

interface Durations {
  readonly buckets: number[];
  count: number;
  sum: number;
}

/**
 * What `/metrics` shows, in Prometheus' text format. Our own few lines, because a request is counted on the hot path:
 * here that is an array's increment, with the usual client library 1.5 µs of the 20 that a send may take.
 */
export class Metrics {
  readonly #version: string;
  readonly #requests = new Map<string, Map<number, Durations>>();
  readonly #attempts = new Map<string, Durations>();
  readonly #lag = noDurations();
  readonly #pruned = new Map<string, number>();
  readonly #settled = new Map<string, number>();
  readonly #eventLock = { waited: 0, held: 0 };
  #chatQueues = 0;
  #busConnected: boolean | undefined;
  #streams = 0;
  #streamed = 0;
  readonly #streamEnds = new Map<string, number>();
  #searchLag = 0;

  constructor(version: string) {
    this.#version = version;
  }

  /** A request was answered. */
  request(operation: string, status: number, seconds: number): void {
    let byStatus = this.#requests.get(operation);
    if (!byStatus) {
      byStatus = new Map();
      this.#requests.set(operation, byStatus);
    }
    let durations = byStatus.get(status);
    if (!durations) {
      durations = noDurations();
      byStatus.set(status, durations);
    }
    observe(durations, seconds);
  }

  /** An attempt at a webhook's endpoint came to an end. */
  attempted(outcome: string, seconds: number): void {
    let durations = this.#attempts.get(outcome);
    if (!durations) {
      durations = noDurations();
      this.#attempts.set(outcome, durations);
    }
    observe(durations, seconds);
  }

  /** An event was first sent to a webhook, this long after it was committed. */
  lag(seconds: number): void {
    observe(this.#lag, seconds);
  }

  chatQueues(count: number): void {
    this.#chatQueues = count;
  }

  busConnected(isConnected: boolean): void {
    this.#busConnected = isConnected;
  }

  streams(open: number): void {
    this.#streams = open;
  }

  /** Something was told to so many streams. */
  streamed(count: number): void {
    this.#streamed += count;
  }

  streamEnded(why: string): void {
    this.#streamEnds.set(why, (this.#streamEnds.get(why) ?? 0) + 1);
  }

  /** Deliveries were settled. */
  settled(state: string, count: number): void {
    this.#settled.set(state, (this.#settled.get(state) ?? 0) + count);
  }

  /** Rows were dropped because their time was over. */
  pruned(kind: string, count: number): void {
    this.#pruned.set(kind, (this.#pruned.get(kind) ?? 0) + count);
  }

  /** A transaction waited so long for the lock under which events get their ids, and held it so long. */
  eventLock(waitedMs: number, heldMs: number): void {
    this.#eventLock.waited += waitedMs / 1_000;
    this.#eventLock.held += heldMs / 1_000;
  }

  searchLag(events: number): void {
    this.#searchLag = events;
  }

  text(): string {
    const lines = [
      ...header('parley_info', 'gauge', 'The version that is running.'),
      `parley_info{version="${this.#version}"} 1`,
      ...header('process_resident_memory_bytes', 'gauge', 'Resident memory of the process.'),
      `process_resident_memory_bytes ${process.memoryUsage.rss()}`,
      ...header('process_start_time_seconds', 'gauge', 'When the process started, in seconds since 1970.'),
      `process_start_time_seconds ${Math.round(performance.timeOrigin / 1_000)}`,
      ...header('parley_search_lag_events', 'gauge', 'Events that the search index has not taken in yet.'),
      `parley_search_lag_events ${this.#searchLag}`,
      ...header(
        'parley_event_lock_held_seconds_total',
        'counter',
        'Time that this node held the lock under which events get their ids: one second in each second for all nodes together, at most.',
      ),
      `parley_event_lock_held_seconds_total ${this.#eventLock.held}`,
      ...header(
        'parley_event_lock_waited_seconds_total',
        'counter',
        'Time that transactions of this node waited for the lock under which events get their ids.',
      ),
      `parley_event_lock_waited_seconds_total ${this.#eventLock.waited}`,
      ...header('parley_pruned_total', 'counter', 'Rows dropped because their time was over, by kind.'),
      ...[...this.#pruned].map(([kind, count]) => `parley_pruned_total{kind="${kind}"} ${count}`),
      ...header(
        'parley_deliveries_total',
        'counter',
        'Deliveries to webhooks that attempts have settled, by what became of them.',
      ),
      ...[...this.#settled].map(([state, count]) => `parley_deliveries_total{state="${state}"} ${count}`),
      ...header(
        'parley_webhook_chat_queues',
        'gauge',
        'Chats that have deliveries queued for a webhook, at the last sweep.',
      ),
      `parley_webhook_chat_queues ${this.#chatQueues}`,
      ...(this.#busConnected === undefined
        ? []
        : [
            ...header('parley_nats_connected', 'gauge', 'Whether other servers are told of what is new over NATS.'),
            `parley_nats_connected ${this.#busConnected ? 1 : 0}`,
          ]),
      ...header('parley_streams', 'gauge', 'Event streams that are open.'),
      `parley_streams ${this.#streams}`,
      ...header('parley_streamed_total', 'counter', 'Events and signals told live, once for each stream.'),
      `parley_streamed_total ${this.#streamed}`,
      ...header('parley_streams_ended_total', 'counter', 'Event streams that came to their end, by reason.'),
      ...[...this.#streamEnds].map(([why, count]) => `parley_streams_ended_total{reason="${why}"} ${count}`),
      ...header('parley_webhook_lag_seconds', 'histogram', 'Time from the commit of an event to its first attempt.'),
      ...histogram('parley_webhook_lag_seconds', '', this.#lag),
      ...header('parley_webhook_attempt_seconds', 'histogram', 'Time that attempts at webhooks took, by outcome.'),
      ...[...this.#attempts].flatMap(([outcome, durations]) =>
        histogram('parley_webhook_attempt_seconds', `outcome="${outcome}"`, durations),
      ),
      ...header('parley_request_duration_seconds', 'histogram', 'Time to answer a request, by operation and status.'),
    ];
    for (const [operation, byStatus] of this.#requests) {
      for (const [status, durations] of byStatus) {
        lines.push(
          ...histogram('parley_request_duration_seconds', `operation="${operation}",status="${status}"`, durations),
        );
      }
    }
    return `${lines.join('\n')}\n`;
  }
}

const header = (name: string, type: string, help: string) => [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];

const noDurations = (): Durations => ({ buckets: bounds.map(() => 0), count: 0, sum: 0 });

function observe(durations: Durations, seconds: number): void {
  durations.count++;
  durations.sum += seconds;
  const bucket = bounds.findIndex((bound) => seconds <= bound);
  if (bucket >= 0) durations.buckets[bucket] = (durations.buckets[bucket] ?? 0) + 1;
}

function histogram(name: string, labels: string, { buckets, count, sum }: Durations): string[] {
  const and = labels === '' ? '' : `${labels},`;
  const braced = labels === '' ? '' : `{${labels}}`;
  let below = 0;
  const counted = bounds.map((bound, i) => {
    below += buckets[i] ?? 0;
    return `${name}_bucket{${and}le="${bound}"} ${below}`;
  });
  return [
    ...counted,
    `${name}_bucket{${and}le="+Inf"} ${count}`,
    `${name}_sum${braced} ${sum}`,
    `${name}_count${braced} ${count}`,
  ];
}
