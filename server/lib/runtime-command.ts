/**
 * Returns how to start another process of this runtime on a file. A folder decides about that process only what it decides about
 * this one: see docs/decisions/0041-one-executable.md.
 */
export const runtimeCommand = (file: string): string[] => [
  process.execPath,
  ...process.execArgv.filter((word) => /^--(no-env-file$|config=)/.test(word)),
  file,
];
