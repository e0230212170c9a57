import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Counts and times of requests, by operation and status. */
export interface RequestMetrics {
  observe(operation: string, status: number, seconds: number): void;
}

/** Everything that `/metrics` shows. */
export class Metrics implements RequestMetrics {
  readonly registry = new Registry();
  readonly #requests = new Histogram({
    name: 'parley_request_duration_seconds',
    help: 'Time to answer a request, by operation and HTTP status.',
    labelNames: ['operation', 'status'] as const,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [this.registry],
  });
  readonly #children = new Map<string, Histogram.Internal<'operation' | 'status'>>();
  readonly searchLag = new Gauge({
    name: 'parley_search_lag_events',
    help: 'Events that the search index has not taken in yet.',
    registers: [this.registry],
  });
  readonly pruned = new Counter({
    name: 'parley_pruned_total',
    help: 'Rows dropped because their time was over, by kind.',
    labelNames: ['kind'] as const,
    registers: [this.registry],
  });

  constructor(version: string) {
    new Gauge({
      name: 'parley_info',
      help: 'The version that is running.',
      labelNames: ['version'] as const,
      registers: [this.registry],
    }).set({ version }, 1);
    const { registry } = this;
    new Gauge({
      name: 'process_resident_memory_bytes',
      help: 'Resident memory of the process.',
      registers: [registry],
      collect() {
        this.set(process.memoryUsage.rss());
      },
    });
    new Gauge({
      name: 'process_start_time_seconds',
      help: 'When the process started, in seconds since 1970.',
      registers: [registry],
    }).set(Math.round(performance.timeOrigin / 1_000));
  }

  observe(operation: string, status: number, seconds: number): void {
    const key = `${operation} ${status}`;
    let child = this.#children.get(key);
    if (!child) {
      child = this.#requests.labels(operation, String(status));
      this.#children.set(key, child);
    }
    child.observe(seconds);
  }
}
