import type { SealedBox } from '../lib/sealed-box.ts';

const version = 'v1';

/** Secrets of webhooks as text for the database. */
export class SecretBox {
  readonly #box: SealedBox;

  constructor(box: SealedBox) {
    this.#box = box;
  }

  seal(secret: string): string {
    return `${version}.${this.#box.seal(secret).toString('base64url')}`;
  }

  /** Throws if the secret was sealed with another key, or was changed. */
  open(sealed: string): string {
    const [found, data] = sealed.split('.');
    if (found !== version || data === undefined) throw new Error('not a sealed secret of this version');
    return this.#box.open(Buffer.from(data, 'base64url'));
  }
}
