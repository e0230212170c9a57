/** What the server process measures itself. */
export interface SelfMetrics {
  /** The longest delay of the event loop since the last request for it. */
  readonly lagMs: number;
}

/** The JavaScript heap after a full collection. */
export interface HeapMetrics {
  readonly heapBytes: number;
  readonly objects: ObjectCounts;
}

/** The number of objects of each type. */
export type ObjectCounts = Readonly<Record<string, number>>;
