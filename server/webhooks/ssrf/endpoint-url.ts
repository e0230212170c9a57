import { invalidField } from '@parley/contract';
import { AddressRefusal, type Guard } from './guard.ts';
import { NameFailure } from './resolve.ts';

/**
 * Returns the URL as it is stored. Throws `invalid_input` if webhooks may not be sent to it. A name that does not resolve is
 * accepted: the endpoint may not exist yet, and its deliveries say so.
 */
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
