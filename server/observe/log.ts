export const levels = ['debug', 'info', 'warn', 'error', 'off'] as const;
export type Level = (typeof levels)[number];
export type LogFormat = 'json' | 'text';

export type Fields = Readonly<Record<string, unknown>>;

/** Lines are written together after at most this long. Errors are written at once. */
const flushMs = 100;

/** Structured log. Never pass a token, a secret or the content of a message. */
export class Log {
  readonly #threshold: number;
  readonly #format: LogFormat;
  readonly #out: (text: string) => void;
  readonly #now: () => number;
  #waiting = '';
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(level: Level, format: LogFormat, out: (text: string) => void, now: () => number) {
    this.#threshold = levels.indexOf(level);
    this.#format = format;
    this.#out = out;
    this.#now = now;
  }

  enabled(level: Level): boolean {
    return levels.indexOf(level) >= this.#threshold;
  }

  /** `event` is a stable snake_case token. */
  write(level: Exclude<Level, 'off'>, event: string, fields: Fields = {}): void {
    if (!this.enabled(level)) return;
    const time = new Date(this.#now()).toISOString();
    const shown = fields.cause === undefined ? fields : { ...fields, cause: describeCause(fields.cause) };
    this.#waiting +=
      this.#format === 'json' ? jsonLine(time, level, event, shown) : textLine(time, level, event, shown);
    if (level === 'error') this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), flushMs).unref();
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const text = this.#waiting;
    this.#waiting = '';
    if (text !== '') this.#out(text);
  }
}

function jsonLine(time: string, level: Level, event: string, fields: Fields): string {
  return `${JSON.stringify({ time, level, event, ...fields })}\n`;
}

function textLine(time: string, level: Level, event: string, fields: Fields): string {
  const pairs = Object.entries(fields).filter(([, value]) => value !== undefined);
  const shown = pairs.map(
    ([name, value]) =>
      `${name}=${typeof value === 'string' && /^[\w.:/-]+$/.test(value) ? value : JSON.stringify(value)}`,
  );
  return `${time} ${level.padEnd(5)} ${event} ${shown.join(' ')}\n`;
}

/** Returns message and stack. Leaves out the detail fields of database errors, which may quote values. */
function describeCause(cause: unknown): unknown {
  if (!(cause instanceof Error)) return String(cause);
  // A wrapper only says that something failed. The reason is inside.
  if (cause.cause instanceof Error) return describeCause(cause.cause);
  const { code, errno } = cause as { code?: unknown; errno?: unknown };
  return { name: cause.name, message: cause.message, code, errno, stack: cause.stack };
}
