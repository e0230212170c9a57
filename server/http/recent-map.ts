/**
 * A map that forgets what was not set again for `leastMs`, and for at most three times as long: a whole generation at a
 * time, so that forgetting costs nothing.
 */
export class RecentMap<K, V> {
  readonly #leastMs: number;
  #recent = new Map<K, V>();
  #older = new Map<K, V>();
  #turnsAt = 0;

  constructor(leastMs: number) {
    this.#leastMs = leastMs;
  }

  get(key: K, now: number): V | undefined {
    this.#turn(now);
    return this.#recent.get(key) ?? this.#older.get(key);
  }

  set(key: K, value: V, now: number): void {
    this.#turn(now);
    this.#recent.set(key, value);
  }

  #turn(now: number): void {
    if (now < this.#turnsAt) return;
    this.#older = now < this.#turnsAt + this.#leastMs ? this.#recent : new Map();
    this.#recent = new Map();
    this.#turnsAt = now + this.#leastMs;
  }
}
