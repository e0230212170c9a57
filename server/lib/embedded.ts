/** What a bundle carries that the source reads from its folders at run time. */
export interface Embedded {
  /** The SQL of each migration, by file name. */
  readonly migrations: Readonly<Record<string, string>>;
  /** The file with the output of `web/build.ts`. */
  readonly clientFile: string;
  /** The file with the licenses of the software in the bundle. */
  readonly noticesFile: string;
  /** The main file of the command line. An executable is it itself. */
  readonly cliFile: string | undefined;
  /** The URL of the code of the writer thread. */
  readonly threadUrl: string;
}

/** `release/bundle.ts` replaces this module by one that has a value. From source there is none. */
export const embedded = undefined as Embedded | undefined;
