/** Limits of input. Each is a setting of the server. */
export interface Limits {
  /** Bytes of UTF-8 in a message. */
  readonly contentBytes: number;
  /** Users named in one create_group, create_channel or add_participants, besides the caller. */
  readonly participants: number;
  /** Rows in one page of a list. */
  readonly page: number;
  /** Bytes in a file. */
  readonly fileBytes: number;
}

export const defaultLimits: Limits = {
  contentBytes: 16_384,
  participants: 1_000,
  page: 200,
  fileBytes: 2 * 1_024 ** 3,
};

/** The default of `limit`. */
export const defaultPage = 50;
