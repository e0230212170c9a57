/** Tells whoever follows the event log that there is something new. Losing a call only delays: followers also look by themselves. */
export class Wake {
  readonly #listeners = new Set<() => void>();

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  call(): void {
    for (const listener of this.#listeners) listener();
  }
}
