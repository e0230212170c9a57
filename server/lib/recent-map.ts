/** A map that drops entries `minMs` to three times `minMs` after their last `set`. It drops whole generations, at no cost. */
export class RecentMap<K, V> {
  readonly #minMs: number;
  #recent = new Map<K, V>();
  #older = new Map<K, V>();
  #rotatesAt = 0;

  constructor(minMs: number) {
    this.#minMs = minMs;
  }

  get(key: K, now: number): V | undefined {
    this.#rotate(now);
    return this.#recent.get(key) ?? this.#older.get(key);
  }

  set(key: K, value: V, now: number): void {
    this.#rotate(now);
    this.#recent.set(key, value);
  }

  #rotate(now: number): void {
    if (now < this.#rotatesAt) return;
    this.#older = now < this.#rotatesAt + this.#minMs ? this.#recent : new Map();
    this.#recent = new Map();
    this.#rotatesAt = now + this.#minMs;
  }
}
