import type { NatsConnection } from '@nats-io/transport-node';
import type { Bus, BusListener, Topic } from './bus.ts';
import type { Envelopes } from './envelope.ts';
import type { NatsUrl } from './nats-url.ts';

const reconnectMs = 500;

/** A connection on which two pings in a row get no response is closed. */
const pingMs = 5_000;

const stopMs = 1_000;

/**
 * A bus over NATS, between processes with the same `name` and key. Nothing waits for it: while it is disconnected,
 * messages are lost, and it reconnects until it succeeds.
 */
export class NatsBus implements Bus {
  readonly #url: NatsUrl;
  readonly #prefix: string;
  readonly #envelopes: Envelopes;
  readonly #listener: BusListener;
  readonly #stopping = new AbortController();
  #connection: NatsConnection | undefined;
  #isConnected = false;

  constructor(url: NatsUrl, name: string, envelopes: Envelopes, listener: BusListener) {
    this.#url = url;
    this.#prefix = `parley.${name}`;
    this.#envelopes = envelopes;
    this.#listener = listener;
    void this.#keepConnected();
  }

  publish(topic: Topic, text: string): void {
    if (!this.#isConnected) return;
    try {
      const subject = `${this.#prefix}.${topic}`;
      this.#connection?.publish(subject, this.#envelopes.seal(text, subject));
    } catch {
      // The message is too large for this NATS, or the connection was just closed: it is lost.
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#isConnected = false;
    await Promise.race([this.#connection?.close(), Bun.sleep(stopMs)]);
  }

  /** The library reconnects by itself, but gives up if NATS refuses the connection. */
  async #keepConnected(): Promise<void> {
    const { signal } = this.#stopping;
    let reported: string | undefined;
    while (!signal.aborted) {
      try {
        const connection = await this.#connect();
        this.#connection = connection;
        if (signal.aborted) return await connection.close();
        reported = undefined;
        this.#subscribe(connection);
        this.#connected();
        void this.#watch(connection);
        const cause = await connection.closed();
        if (signal.aborted) return;
        throw cause ?? new Error('NATS closed the connection');
      } catch (cause) {
        this.#isConnected = false;
        // Each reason is reported once, and not with every attempt.
        const reason = String((cause as Error | undefined)?.message ?? cause);
        if (reason !== reported && !signal.aborted) this.#listener.disconnected(cause);
        reported = reason;
        await Bun.sleep(reconnectMs);
      }
    }
  }

  async #connect(): Promise<NatsConnection> {
    // Loaded here, because a single server does without it.
    const { connect } = await import('@nats-io/transport-node');
    const { servers, tls, user, password, token } = this.#url;
    return connect({
      servers: [...servers],
      name: 'parley',
      noEcho: true,
      reconnectTimeWait: reconnectMs,
      maxReconnectAttempts: -1,
      pingInterval: pingMs,
      timeout: pingMs,
      ...(tls && { tls: {} }),
      ...(user !== undefined && password !== undefined && { user, pass: password }),
      ...(token !== undefined && { token }),
    });
  }

  #subscribe(connection: NatsConnection): void {
    for (const topic of Object.keys(this.#listener.messages) as Topic[]) {
      const subject = `${this.#prefix}.${topic}`;
      connection.subscribe(subject, {
        callback: (error, message) => {
          if (!error) this.#receive(topic, subject, message.data);
        },
      });
    }
  }

  /** Never throws: the library would stop reading. */
  #receive(topic: Topic, subject: string, sealed: Uint8Array): void {
    try {
      this.#listener.messages[topic](this.#envelopes.open(sealed, subject));
    } catch (cause) {
      this.#listener.rejected(topic, cause);
    }
  }

  async #watch(connection: NatsConnection): Promise<void> {
    for await (const { type } of connection.status()) {
      if (type === 'disconnect') {
        this.#isConnected = false;
        if (!this.#stopping.signal.aborted) this.#listener.disconnected(new Error('the connection to NATS broke'));
      }
      if (type === 'reconnect') this.#connected();
    }
  }

  #connected(): void {
    this.#isConnected = true;
    this.#listener.connected();
  }
}
