import { createCipheriv, createDecipheriv } from 'node:crypto';

const version = 'v1';
const ivBytes = 12;
const tagBytes = 16;

/** Encrypts what must be read back later: AES-256-GCM, with a fresh nonce each time. */
export class SecretBox {
  readonly #key: Uint8Array;
  readonly #random: (bytes: number) => Uint8Array;

  constructor(key: Uint8Array, random: (bytes: number) => Uint8Array) {
    this.#key = key;
    this.#random = random;
  }

  seal(text: string): string {
    const iv = this.#random(ivBytes);
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv);
    const sealed = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `${version}.${sealed.toString('base64url')}`;
  }

  /** Throws where the text was sealed with another key, or was changed. */
  open(sealed: string): string {
    const [found, data] = sealed.split('.');
    if (found !== version || data === undefined) throw new Error('not a sealed secret of this version');
    const bytes = Buffer.from(data, 'base64url');
    const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, ivBytes));
    decipher.setAuthTag(bytes.subarray(-tagBytes));
    return Buffer.concat([decipher.update(bytes.subarray(ivBytes, -tagBytes)), decipher.final()]).toString('utf8');
  }
}
