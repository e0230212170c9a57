/** The default monotonic clock, for callers outside of the composed server: the command line and tools. */
export const processMonotonic = (): number => performance.now();
