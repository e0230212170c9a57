const usual = 'http://127.0.0.1:8080';

/** The server that the option or the environment names, in one spelling: as the client takes it, without `/api`. */
export function serverAddress(option: string | undefined): string {
  return (option ?? (process.env.PARLEY_URL || usual)).replace(/(?:\/api)?\/*$/, '');
}
