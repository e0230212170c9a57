import { createECDH, createHash, createPrivateKey, type KeyObject, sign } from 'node:crypto';

/** RFC 8292 allows a day. Push services may have other clocks. */
const validMs = 12 * 3_600_000;

/** A token is used for this long. */
const renewMs = 6 * 3_600_000;

/** Origins whose tokens are cached. There are few push services. */
const maxOrigins = 1_000;

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/**
 * Identifies this server to push services (VAPID, RFC 8292). The key is derived from a secret, so every process and every
 * restored backup with the secret key of the server has the same: browsers subscribe with it.
 */
export class Vapid {
  /** The public key in base64url, as browsers take it. */
  readonly publicKey: string;
  readonly #key: KeyObject;
  readonly #subject: () => string;
  readonly #now: () => number;
  readonly #tokens = new Map<string, { readonly token: string; readonly madeAt: number }>();

  /** `subject` returns a URL of the operator, for the people of a push service. */
  constructor(secret: Uint8Array, subject: () => string, now: () => number) {
    const { privateKey, publicKey } = keyPairOf(secret);
    const base64url = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');
    this.publicKey = base64url(publicKey);
    this.#key = createPrivateKey({
      format: 'jwk',
      key: {
        ...{ kty: 'EC', crv: 'P-256', d: base64url(privateKey) },
        ...{ x: base64url(publicKey.subarray(1, 33)), y: base64url(publicKey.subarray(33)) },
      },
    });
    this.#subject = subject;
    this.#now = now;
  }

  /** Returns the header `Authorization` for a push service. */
  authorization(origin: string): string {
    return `vapid t=${this.#tokenFor(origin)}, k=${this.publicKey}`;
  }

  #tokenFor(origin: string): string {
    const now = this.#now();
    const known = this.#tokens.get(origin);
    if (known && Math.abs(now - known.madeAt) < renewMs) return known.token;
    if (this.#tokens.size >= maxOrigins) this.#tokens.clear();
    const claims = { aud: origin, exp: Math.floor((now + validMs) / 1_000), sub: this.#subject() };
    const signed = `${encode({ typ: 'JWT', alg: 'ES256' })}.${encode(claims)}`;
    const signature = sign('sha256', Buffer.from(signed), { key: this.#key, dsaEncoding: 'ieee-p1363' });
    const token = `${signed}.${signature.toString('base64url')}`;
    this.#tokens.set(origin, { token, madeAt: now });
    return token;
  }
}

/** Returns the pair of the first hash that is a private key: one in 2^32 is too large. */
function keyPairOf(secret: Uint8Array): { privateKey: Buffer; publicKey: Buffer } {
  for (let turn = 0; ; turn++) {
    const privateKey = createHash('sha256').update(secret).update(Uint8Array.of(turn)).digest();
    try {
      const ecdh = createECDH('prime256v1');
      ecdh.setPrivateKey(privateKey);
      return { privateKey, publicKey: ecdh.getPublicKey() };
    } catch (error) {
      if (turn === 255) throw error;
    }
  }
}
