import { invalidField } from '@parley/contract';
import { AddressRefusal, type Guard, NameFailure } from './guard.ts';

/** The URL as it is kept. A name that does not resolve is kept: its endpoint may not be there yet, and deliveries say so. */
export async function checkUrl(guard: Guard, text: string): Promise<string> {
  try {
    const url = guard.readUrl(text);
    await Promise.resolve(guard.target(url)).catch((error) => {
      if (!(error instanceof NameFailure)) throw error;
    });
    return url.href;
  } catch (error) {
    throw error instanceof AddressRefusal ? invalidField('url', error.message) : error;
  }
}
