import { describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { isQuiet, notifies } from '../../domain/notification.ts';
import { encrypt, isReceiverKey, maxPlainBytes, newMessageKeys } from '../../push/encryption.ts';
import { Vapid } from '../../push/vapid.ts';
import { verdictOn } from '../../push/verdict.ts';

const bytes = (text: string) => Buffer.from(text, 'base64url');

/** RFC 8291, section 5 and appendix A. */
const example = {
  text: 'When I grow up, I want to be a watermelon',
  p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
  auth: 'BTBZMqHH6r4Tts7J_aSIgg',
  salt: bytes('DGv6ra1nlYgDCS1FRnbzlw'),
  privateKey: bytes('yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw'),
  body: 'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
};

describe('encryption', () => {
  test('the example of RFC 8291 comes out byte for byte', () => {
    expect(encrypt(Buffer.from(example.text), example, example).toString('base64url')).toBe(example.body);
  });

  test('the largest message fits into 4,096 bytes, and a larger one is refused', () => {
    const keys = newMessageKeys((count) => crypto.getRandomValues(new Uint8Array(count)));
    expect(encrypt(Buffer.alloc(maxPlainBytes), example, keys).length).toBe(4_096);
    expect(() => encrypt(Buffer.alloc(maxPlainBytes + 1), example, keys)).toThrow();
  });

  test('only points of the curve are keys of receivers', () => {
    expect(isReceiverKey(example.p256dh)).toBe(true);
    for (const wrong of ['', 'BCVx', example.p256dh.replace('BCV', 'BCW'), example.p256dh.replace('BC', 'AC')]) {
      expect(isReceiverKey(wrong)).toBe(false);
    }
  });
});

describe('the key of the server', () => {
  const secret = createHash('sha256').update('a secret').digest();
  const subject = () => 'https://parley.example';

  test('depends on the secret alone', () => {
    const key = new Vapid(secret, subject, Date.now).publicKey;
    expect(new Vapid(secret, subject, Date.now).publicKey).toBe(key);
    expect(new Vapid(Buffer.from('another'), subject, Date.now).publicKey).not.toBe(key);
    expect(isReceiverKey(key)).toBe(true);
  });

  test('signs a token once for an origin, and again before it expires', () => {
    let now = 0;
    const vapid = new Vapid(secret, subject, () => now);
    const first = vapid.authorization('https://push.example');
    expect(vapid.authorization('https://push.example')).toBe(first);
    expect(vapid.authorization('https://other.example')).not.toBe(first);
    now = 7 * 3_600_000;
    expect(vapid.authorization('https://push.example')).not.toBe(first);
  });
});

describe('quiet hours', () => {
  const at = (time: string) => Date.parse(`2026-07-01T${time}:00Z`);

  test('may go over midnight, and follow the time zone', () => {
    const night = { from: '22:00', to: '07:00', time_zone: 'Europe/Berlin' };
    expect(['19:59', '20:00', '23:30', '04:59', '05:00'].map((time) => isQuiet(night, at(time)))).toEqual([
      ...[false, true, true, true, false],
    ]);
    const noon = { from: '12:00', to: '13:30', time_zone: 'UTC' };
    expect(['11:59', '12:00', '13:29', '13:30'].map((time) => isQuiet(noon, at(time)))).toEqual([
      ...[false, true, true, false],
    ]);
  });

  test('midnight is 00:00', () => {
    expect(isQuiet({ from: '00:00', to: '00:01', time_zone: 'UTC' }, at('00:00'))).toBe(true);
  });
});

describe('who is notified', () => {
  const choice = {
    ...{ user_id: 2 as never, notify: 'all' as const, muted_until: null },
    ...{ quiet_from: null, quiet_to: null, quiet_time_zone: null },
  };
  const message = { user_id: 1 as never };

  test('the level and the mute of the chat decide', () => {
    const verdicts = (change: object) =>
      [message, { ...message, mentions: [2 as never] }, { ...message, mentions_all: true }].map((sent) =>
        notifies({ ...choice, ...change }, sent, 1_000),
      );
    expect(verdicts({})).toEqual([true, true, true]);
    expect(verdicts({ notify: 'mentions' })).toEqual([false, true, true]);
    expect(verdicts({ notify: 'none' })).toEqual([false, false, false]);
    expect(verdicts({ muted_until: 1_001 })).toEqual([false, false, false]);
    expect(verdicts({ muted_until: 1_000 })).toEqual([true, true, true]);
    expect(verdicts({ user_id: 1 })).toEqual([false, false, false]);
  });
});

describe('what a response means', () => {
  const responded = (status: number, retryAfterMs?: number) =>
    ({ kind: 'responded', status, retryAfterMs, body: '', ms: 1 }) as const;

  test('by its status', () => {
    const kinds = [200, 201, 202, 404, 410, 400, 403, 301, 413, 429, 500, 503];
    expect(kinds.map((status) => verdictOn(responded(status), 0, 0).counted)).toEqual([
      ...(['sent', 'sent', 'sent', 'gone', 'gone', 'rejected', 'rejected', 'rejected', 'rejected'] as const),
      ...(['retried', 'retried', 'retried'] as const),
    ]);
  });

  test('retries wait longer each time, as long as the service asks for, and end', () => {
    const next = (attempts: number, retryAfterMs?: number) => verdictOn(responded(503, retryAfterMs), attempts, 0).end;
    expect([0, 1, 2, 3].map((attempts) => next(attempts))).toEqual(
      [5_000, 30_000, 120_000, 600_000].map((nextAt) => ({ kind: 'retry', nextAt })),
    );
    expect(next(4)).toEqual({ kind: 'done' });
    expect(next(0, 60_000)).toEqual({ kind: 'retry', nextAt: 60_000 });
    expect(next(0, 1e9)).toEqual({ kind: 'retry', nextAt: 3_600_000 });
  });

  test('no response is tried again, and a private address is not', () => {
    const unreached = (failure: 'timeout' | 'blocked_address') =>
      ({ kind: 'unreached', failure, message: '', ms: 1 }) as const;
    expect(verdictOn(unreached('timeout'), 0, 0).counted).toBe('retried');
    expect(verdictOn(unreached('blocked_address'), 0, 0).counted).toBe('rejected');
  });
});
