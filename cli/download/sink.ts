/** Where the bytes of a file go. */
export interface Sink {
  /** How many are there. */
  readonly size: number;
  /** What the server said about the bytes that are there, to be asked for the rest of the same. */
  readonly etag: string | undefined;
  /** Called before the first byte. */
  begin(etag: string | undefined): Promise<void>;
  append(bytes: Uint8Array): Promise<void>;
  /** Drops what is there: the file comes from its beginning. */
  restart(): Promise<void>;
  /** Of all that is there. */
  sha256(): string;
}
