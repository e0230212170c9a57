import { connect, type NatsConnection } from '@nats-io/transport-node';
import type { Bus, Hearing, Topic } from './bus.ts';
import type { NatsAddress } from './nats-url.ts';

/** How soon a connection that is gone is tried again. */
const againMs = 500;

/** A server that does not answer to two of these is gone, although the connection seems to stand. */
const pingMs = 5_000;

const stopMs = 1_000;

/**
 * Over NATS, under a subject that only processes with the same `name` know. Nothing waits for it: while it is away, what
 * is told gets lost, and it is tried again until it is back.
 */
export class NatsBus implements Bus {
  readonly #address: NatsAddress;
  readonly #prefix: string;
  readonly #hearing: Hearing;
  readonly #stopping = new AbortController();
  #connection: NatsConnection | undefined;
  #isUp = false;

  constructor(address: NatsAddress, name: string, hearing: Hearing) {
    this.#address = address;
    this.#prefix = `parley.${name}`;
    this.#hearing = hearing;
    void this.#keepConnected();
  }

  tell(topic: Topic, text: string): void {
    if (!this.#isUp) return;
    try {
      this.#connection?.publish(`${this.#prefix}.${topic}`, text);
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
    let wasLost = false;
    while (!signal.aborted) {
      try {
        const connection = await this.#connect();
        this.#connection = connection;
        if (signal.aborted) return await connection.close();
        wasLost = false;
        this.#subscribe(connection);
        this.#rise();
        void this.#watch(connection);
        const cause = await connection.closed();
        if (signal.aborted) return;
        throw cause ?? new Error('NATS closed the connection');
      } catch (cause) {
        this.#isUp = false;
        // Once, and not with every attempt.
        if (!wasLost && !signal.aborted) this.#hearing.lost(cause);
        wasLost = true;
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
    for (const [topic, hear] of Object.entries(this.#hearing.hear)) {
      connection.subscribe(`${this.#prefix}.${topic}`, {
        callback: (error, message) => {
          if (!error) hear(message.string());
        },
      });
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
