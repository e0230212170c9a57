import type { UploadBody } from '../files/resumable-upload.ts';
import { asUnreadable } from './bytes.ts';
import type { RequestContext } from './request-context.ts';

/** Reads the body of a request until its end or `stop`. The rest then stays unread. */
export function stoppableBody(context: RequestContext): UploadBody {
  const reader = context.request.body?.getReader();
  let stopped: { readonly error: Error | undefined } | undefined;
  // Ends the pending read. A race with one promise for all reads would keep every chunk in memory.
  let wake = () => {};
  return {
    async next() {
      const { promise, resolve, reject } = Promise.withResolvers<Uint8Array | undefined>();
      wake = () => (stopped?.error ? reject(stopped.error) : resolve(undefined));
      if (stopped || !reader) wake();
      else
        reader.read().then(
          ({ value }) => resolve(value),
          (error) => reject(asUnreadable(error)),
        );
      context.keepAlive();
      return promise;
    },
    stop(error) {
      stopped ??= { error };
      wake();
    },
  };
}
