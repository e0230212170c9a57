import { connect, type NatsConnection } from '@nats-io/transport-node';
import type { SealedBox } from '../lib/sealed-box.ts';
import type { Bus, Hearing, Topic } from './bus.ts';
import type { NatsAddress } from './nats-url.ts';

/** How soon a connection that is gone is tried again. */
const againMs = 500;

/** A server that does not answer to two of these is gone, although the connection seems to stand. */
const pingMs = 5_000;

const stopMs = 1_000;

/**
 * Over NATS, between processes with the same `name` and the same seal. Nothing waits for it: while it is away, what is told
 * gets lost, and it is tried again until it is back.
 */
export class NatsBus implements Bus {
  readonly #address: NatsAddress;
  readonly #prefix: string;
  readonly #box: SealedBox;
  readonly #hearing: Hearing;
  readonly #stopping = new AbortController();
  #connection: NatsConnection | undefined;
  #isUp = false;

  constructor(address: NatsAddress, name: string, box: SealedBox, hearing: Hearing) {
    this.#address = address;
    this.#prefix = `parley.${name}`;
    this.#box = box;
    this.#hearing = hearing;
    void this.#keepConnected();
  }

  tell(topic: Topic, text: string): void {
    if (!this.#isUp) return;
    try {
      const subject = `${this.#prefix}.${topic}`;
      this.#connection?.publish(subject, this.#box.seal(text, subject));
    } catch {
      // Too large for this NATS, or it has just gone: lost, as anything here may be.
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#isUp = false;
    await Promise.race([this.#connection?.close(), Bun.sleep(stopMs)]);
  }

  /** The library connects again by itself for as long as it does not give up, as it does where it is refused. */
  async #keepConnected(): Promise<void> {
    const { signal } = this.#stopping;
    let said: string | undefined;
    while (!signal.aborted) {
      try {
        const connection = await this.#connect();
        this.#connection = connection;
        if (signal.aborted) return await connection.close();
        said = undefined;
        this.#subscribe(connection);
        this.#rise();
        void this.#watch(connection);
        const cause = await connection.closed();
        if (signal.aborted) return;
        throw cause ?? new Error('NATS closed the connection');
      } catch (cause) {
        this.#isUp = false;
        // Once for each reason, and not with every attempt.
        const why = String((cause as Error | undefined)?.message ?? cause);
        if (why !== said && !signal.aborted) this.#hearing.lost(cause);
        said = why;
        await Bun.sleep(againMs);
      }
    }
  }

  #connect(): Promise<NatsConnection> {
    const { servers, tls, user, password, token } = this.#address;
    return connect({
      servers: [...servers],
      name: 'parley',
      noEcho: true,
      reconnectTimeWait: againMs,
      maxReconnectAttempts: -1,
      pingInterval: pingMs,
      timeout: pingMs,
      ...(tls && { tls: {} }),
      ...(user !== undefined && password !== undefined && { user, pass: password }),
      ...(token !== undefined && { token }),
    });
  }

  #subscribe(connection: NatsConnection): void {
    for (const topic of Object.keys(this.#hearing.hear) as Topic[]) {
      const subject = `${this.#prefix}.${topic}`;
      connection.subscribe(subject, {
        callback: (error, message) => {
          if (!error) this.#hear(topic, subject, message.data);
        },
      });
    }
  }

  /** Nothing that is heard may throw: the library would stop reading. */
  #hear(topic: Topic, subject: string, sealed: Uint8Array): void {
    try {
      this.#hearing.hear[topic](this.#box.open(sealed, subject));
    } catch (cause) {
      this.#hearing.strange(topic, cause);
    }
  }

  async #watch(connection: NatsConnection): Promise<void> {
    for await (const { type } of connection.status()) {
      if (type === 'disconnect') {
        this.#isUp = false;
        if (!this.#stopping.signal.aborted) this.#hearing.lost(new Error('the connection to NATS broke'));
      }
      if (type === 'reconnect') this.#rise();
    }
  }

  #rise(): void {
    this.#isUp = true;
    this.#hearing.connected();
  }
}
