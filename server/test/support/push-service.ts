import { afterAll } from 'bun:test';
import type { Client } from './client.ts';
import { eventually } from './eventually.ts';

/** A notification as a browser gets it, with what the push service saw. */
export interface ReceivedPush {
  readonly headers: Headers;
  readonly bytes: number;
  readonly notification: {
    readonly kind: string;
    readonly chat_id: number;
    readonly chat_name?: string;
    readonly message_id: number;
    readonly author_name: string;
    readonly text?: string;
    readonly file_name?: string;
    readonly is_mention: boolean;
    readonly badge: number;
  };
}

/** A browser with a subscription at the push service of a test. */
export class Browser {
  readonly endpoint: string;
  readonly received: ReceivedPush[] = [];
  readonly p256dh: string;
  readonly auth: string;
  /** The status of the next responses; `hang` responds never. 201 once the list is empty. */
  readonly responses: (number | 'hang' | Response)[] = [];
  /** Requests, whatever the response. */
  requests = 0;
  readonly #keys: CryptoKeyPair;

  constructor(endpoint: string, keys: CryptoKeyPair, p256dh: string, auth: string) {
    this.endpoint = endpoint;
    this.#keys = keys;
    this.p256dh = p256dh;
    this.auth = auth;
  }

  get subscription() {
    return { endpoint: this.endpoint, p256dh: this.p256dh, auth: this.auth };
  }

  get texts(): (string | undefined)[] {
    return this.received.map(({ notification }) => notification.text);
  }

  /** Resolves once so many notifications have arrived. */
  async gets(count: number): Promise<readonly ReceivedPush[]> {
    await eventually(`${count} pushes have arrived`, async () => this.received.length >= count || undefined);
    return this.received;
  }

  /** Decrypts by RFC 8291 with Web Crypto, which the server does not use. */
  async decrypt(body: Uint8Array<ArrayBuffer>): Promise<string> {
    const { subtle } = crypto;
    const salt = body.slice(0, 16);
    const idLength = body[20] ?? 0;
    const sender = body.slice(21, 21 + idLength);
    const senderKey = await subtle.importKey('raw', sender, { name: 'ECDH', namedCurve: 'P-256' }, false, []);
    const shared = await subtle.deriveBits({ name: 'ECDH', public: senderKey }, this.#keys.privateKey, 256);
    const hkdf = async (secret: BufferSource, salt: BufferSource, info: BufferSource, bits: number) => {
      const key = await subtle.importKey('raw', secret, 'HKDF', false, ['deriveBits']);
      return subtle.deriveBits({ name: 'HKDF', hash: 'SHA-256', salt, info }, key, bits);
    };
    const bytes = (text: string) => new TextEncoder().encode(text);
    const own = new Uint8Array(Buffer.from(this.p256dh, 'base64url'));
    const info = new Uint8Array([...bytes('WebPush: info\0'), ...own, ...sender]);
    const secret = await hkdf(shared, new Uint8Array(Buffer.from(this.auth, 'base64url')), info, 256);
    const content = await hkdf(secret, salt, bytes('Content-Encoding: aes128gcm\0'), 128);
    const iv = await hkdf(secret, salt, bytes('Content-Encoding: nonce\0'), 96);
    const key = await subtle.importKey('raw', content, 'AES-GCM', false, ['decrypt']);
    const plain = new Uint8Array(await subtle.decrypt({ name: 'AES-GCM', iv }, key, body.slice(21 + idLength)));
    const end = plain.lastIndexOf(2);
    return new TextDecoder().decode(plain.subarray(0, end));
  }
}

/** A push service on this machine. It checks every request as RFC 8030, 8188, 8291 and 8292 ask for. */
export class PushService {
  readonly #server: ReturnType<typeof Bun.serve>;
  readonly #browsers = new Map<string, Browser>();
  /** What was wrong with requests. */
  readonly faults: string[] = [];
  /** The public key of the server, once it is known. */
  publicKey = '';
  /** Its clock. */
  now = Date.now;

  constructor(hostname = '127.0.0.1') {
    this.#server = Bun.serve({ hostname, port: 0, idleTimeout: 60, fetch: (request) => this.#receive(request) });
  }

  get origin(): string {
    return this.#server.url.origin;
  }

  async browser(): Promise<Browser> {
    const keys = await crypto.subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, ['deriveBits']);
    const p256dh = Buffer.from(await crypto.subtle.exportKey('raw', keys.publicKey)).toString('base64url');
    const auth = Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString('base64url');
    const path = `/push/${crypto.randomUUID()}`;
    const browser = new Browser(`${this.origin}${path}`, keys, p256dh, auth);
    this.#browsers.set(path, browser);
    return browser;
  }

  /** A browser that is subscribed for a user. */
  async subscribe(user: Client, options: { with_text?: boolean } = {}): Promise<Browser> {
    this.publicKey ||= (await user.ok('push.key', {})).public_key;
    const browser = await this.browser();
    await user.ok('push.subscribe', { ...browser.subscription, ...options });
    return browser;
  }

  async stop(): Promise<void> {
    await this.#server.stop(true);
  }

  async #receive(request: Request): Promise<Response> {
    const browser = this.#browsers.get(new URL(request.url).pathname);
    if (!browser) return new Response(null, { status: 404 });
    browser.requests++;
    const response = browser.responses.shift() ?? 201;
    if (response === 'hang') return new Promise(() => {});
    if (response instanceof Response) return response;
    if (response !== 201) return new Response(null, { status: response });
    try {
      await this.#check(request.headers);
      const body = await request.bytes();
      if (body.length > 4_096) throw new Error('a body of more than 4,096 bytes');
      const notification = JSON.parse(await browser.decrypt(body)) as ReceivedPush['notification'];
      browser.received.push({ headers: request.headers, bytes: body.length, notification });
    } catch (error) {
      this.faults.push(String(error));
    }
    return new Response(null, { status: 201 });
  }

  async #check(headers: Headers): Promise<void> {
    const [, token = '', key = ''] = /^vapid t=([\w.-]+), k=([\w-]+)$/.exec(headers.get('authorization') ?? '') ?? [];
    const [header = '', claims = '', signature = ''] = token.split('.');
    const read = (text: string) => JSON.parse(Buffer.from(text, 'base64url').toString()) as Record<string, unknown>;
    if (key !== this.publicKey) throw new Error('another key than the browser subscribed with');
    const raw = new Uint8Array(Buffer.from(key, 'base64url'));
    const ecdsa = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
    const publicKey = await crypto.subtle.importKey('raw', raw, ecdsa, false, ['verify']);
    const signed = new TextEncoder().encode(`${header}.${claims}`);
    const bytes = new Uint8Array(Buffer.from(signature, 'base64url'));
    if (!(await crypto.subtle.verify(ecdsa, publicKey, bytes, signed))) throw new Error('a wrong signature');
    const { aud, exp, sub } = read(claims);
    const seconds = Number(exp) - this.now() / 1_000;
    if (aud !== this.origin || seconds <= 0 || seconds > 86_400 || !String(sub).startsWith('https:'))
      throw new Error(`wrong claims: ${JSON.stringify(read(claims))}`);
    if (read(header).alg !== 'ES256') throw new Error('another algorithm');
    if (headers.get('content-encoding') !== 'aes128gcm') throw new Error('another encoding');
    if (!/^[\w-]{1,32}$/.test(headers.get('topic') ?? '')) throw new Error('a wrong topic');
    if (!/^\d+$/.test(headers.get('ttl') ?? '')) throw new Error('no TTL');
  }
}

/** A push service for all tests of a suite. */
export function pushServiceFor(): PushService {
  const service = new PushService();
  afterAll(() => service.stop());
  return service;
}
