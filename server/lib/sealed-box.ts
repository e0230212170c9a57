import { createCipheriv, createDecipheriv } from 'node:crypto';

const nonceBytes = 12;
const tagBytes = 16;

/** Encrypts and authenticates with AES-256-GCM and a fresh nonce each time. */
export class SealedBox {
  readonly #key: Uint8Array;
  readonly #random: (bytes: number) => Uint8Array;

  constructor(key: Uint8Array, random: (bytes: number) => Uint8Array) {
    this.#key = key;
    this.#random = random;
  }

  /** The result can be opened only with the same `context`. */
  seal(text: string, context = ''): Buffer {
    const nonce = this.#random(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce).setAAD(Buffer.from(context));
    return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  }

  /** Throws if it was sealed with another key or context, or was changed. */
  open(sealed: Uint8Array, context = ''): string {
    const nonce = sealed.subarray(0, nonceBytes);
    const decipher = createDecipheriv('aes-256-gcm', this.#key, nonce, { authTagLength: tagBytes });
    decipher.setAAD(Buffer.from(context));
    decipher.setAuthTag(sealed.subarray(-tagBytes));
    const text = decipher.update(sealed.subarray(nonceBytes, -tagBytes));
    return Buffer.concat([text, decipher.final()]).toString('utf8');
  }
}
