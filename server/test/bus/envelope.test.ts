import { expect, test } from 'bun:test';
import { Envelopes, maxAgeMs } from '../../bus/envelope.ts';
import { SealedBox } from '../../lib/sealed-box.ts';

const random = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes));
const box = new SealedBox(random(32), random);

/** Servers with one key. Each has its own clock. */
const node = (clock = { now: Date.now() }) => new Envelopes({ box, random, now: () => clock.now });

test('a message is opened once, by each of the others', () => {
  const [from, to, third] = [node(), node(), node()];
  const sealed = from.seal('a b\nc', 'subject');
  expect(to.open(sealed, 'subject')).toBe('a b\nc');
  expect(third.open(sealed, 'subject')).toBe('a b\nc');
  expect(() => to.open(sealed, 'subject')).toThrow('replay');
  expect(to.open(from.seal('', 'subject'), 'subject')).toBe('');
});

test('the sender refuses its own message', () => {
  const from = node();
  expect(() => from.open(from.seal('text', 'subject'), 'subject')).toThrow('replay');
});

test('an older message is refused after a newer one of the same sender and subject', () => {
  const [one, two, to] = [node(), node(), node()];
  const sealed = [one.seal('first', 'x'), one.seal('second', 'x'), one.seal('third', 'y'), two.seal('fourth', 'x')];
  const [first, second, third, fourth] = sealed as [Buffer, Buffer, Buffer, Buffer];
  expect(to.open(third, 'y')).toBe('third');
  expect(to.open(second, 'x')).toBe('second');
  expect(() => to.open(first, 'x')).toThrow('replay');
  expect(to.open(fourth, 'x')).toBe('fourth');
});

test('a message that is too old is refused, also by a server that has not seen it', () => {
  const clock = { now: 1_000_000 };
  const from = node(clock);
  const sealed = from.seal('text', 'subject');
  const later = (ms: number) => node({ now: clock.now + ms });
  expect(later(maxAgeMs).open(sealed, 'subject')).toBe('text');
  expect(later(-maxAgeMs).open(sealed, 'subject')).toBe('text');
  expect(() => later(maxAgeMs + 1).open(sealed, 'subject')).toThrow('clocks');
  expect(() => later(-maxAgeMs - 1).open(sealed, 'subject')).toThrow('clocks');
});

test('a message of another version, subject or key is refused', () => {
  const to = node();
  expect(() => to.open(box.seal('text', 'subject'), 'subject')).toThrow('version');
  expect(() => to.open(node().seal('text', 'subject'), 'other')).toThrow();
  const stranger = new Envelopes({ box: new SealedBox(random(32), random), random, now: Date.now });
  expect(() => to.open(stranger.seal('text', 'subject'), 'subject')).toThrow();
});
