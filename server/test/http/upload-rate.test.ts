import { describe, expect, test } from 'bun:test';
import { maxPauseMs, minUploadRate, UploadRate } from '../../http/upload-rate.ts';

const mebibyte = 1024 * 1024;

/** An upload that is cut once it is too slow. */
class Line {
  #at = 0;
  readonly #rate = new UploadRate(
    () => this.#at,
    () => new Error('too slow'),
  );

  /** Returns whether the upload goes on. */
  receive(bytes: number, afterMs: number, storingMs = 0): boolean {
    this.#rate.wait();
    this.#at += afterMs;
    try {
      this.#rate.arrived(bytes);
    } catch {
      return false;
    }
    this.#at += storingMs;
    return true;
  }

  /** Returns how long the upload lasts, at most an hour. */
  lasts(bytes: number, everyMs: number): number {
    const began = this.#at;
    while (this.#at - began < 3_600_000 && this.receive(bytes, everyMs));
    return this.#at - began;
  }
}

describe('the rate of an upload', () => {
  test.each([
    [minUploadRate, 1_000],
    [1_400, 1_000],
    [3 * 1_400, 2_500],
    [64 * 1_024, 30_000],
    [60 * minUploadRate, maxPauseMs],
  ])('allows %d bytes every %d ms for as long as they come', (bytes, everyMs) => {
    expect(new Line().lasts(bytes, everyMs)).toBeGreaterThanOrEqual(3_600_000);
  });

  test.each([
    [1, 15_000],
    [1, 59_999],
    [100, 1_000],
    [1_024, 15_000],
  ])('ends %d bytes every %d ms within two minutes', (bytes, everyMs) => {
    expect(new Line().lasts(bytes, everyMs)).toBeLessThan(120_000);
  });

  test('cannot be saved up for a long pause', () => {
    const line = new Line();
    expect(line.receive(100 * mebibyte, 1_000)).toBe(true);
    expect(line.receive(1, maxPauseMs)).toBe(true);
    expect(line.receive(1, 15_000)).toBe(false);
  });

  test('allows a pause of a minute once a few KiB have come every second before', () => {
    const line = new Line();
    for (let i = 0; i < 5; i++) {
      expect(line.receive(1, maxPauseMs)).toBe(true);
      for (let second = 0; second < 30; second++) expect(line.receive(3_200, 1_000)).toBe(true);
    }
  });

  test('does not count the time in which the server stores the bytes', () => {
    const line = new Line();
    for (let i = 0; i < 10; i++) expect(line.receive(1, 100, 10 * maxPauseMs)).toBe(true);
  });
});
