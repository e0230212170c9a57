import { createCipheriv, createDecipheriv } from 'node:crypto';

const nonceBytes = 12;
const tagBytes = 16;

/**
 * Closes what is told to others, so that whoever else is at the same NATS can neither read it nor make anything up: AES-256-GCM
 * with a fresh nonce, bound to the subject that it is told under.
 */
export class Seal {
  readonly #key: Uint8Array;
  readonly #random: (bytes: number) => Uint8Array;

  constructor(key: Uint8Array, random: (bytes: number) => Uint8Array) {
    this.#key = key;
    this.#random = random;
  }

  close(subject: string, text: string): Uint8Array {
    const nonce = this.#random(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce).setAAD(Buffer.from(subject));
    return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  }

  /** Throws where it was closed with another key, under another subject, or was changed. */
  open(subject: string, sealed: Uint8Array): string {
    const nonce = sealed.subarray(0, nonceBytes);
    const decipher = createDecipheriv('aes-256-gcm', this.#key, nonce, { authTagLength: tagBytes });
    decipher.setAAD(Buffer.from(subject));
    decipher.setAuthTag(sealed.subarray(-tagBytes));
    const text = decipher.update(sealed.subarray(nonceBytes, -tagBytes));
    return Buffer.concat([text, decipher.final()]).toString('utf8');
  }
}
