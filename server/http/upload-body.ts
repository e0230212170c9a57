import { UploadBusy } from '../files/lease.ts';
import type { UploadBody } from '../files/resumable-upload.ts';
import { asUnreadable } from './bytes.ts';
import type { RequestContext } from './request-context.ts';
import { minUploadRate, UploadRate } from './upload-rate.ts';

/** Reads the body of a request until its end or `stop`. The rest then stays unread. */
export function stoppableBody(context: RequestContext): UploadBody {
  const reader = context.request.body?.getReader();
  const rate = new UploadRate(context.monotonic, tooSlow);
  let stopped: { readonly error: Error | undefined } | undefined;
  // Ends the pending read. A race with one promise for all reads would keep every chunk in memory.
  let wake = () => {};
  return {
    async next() {
      const { promise, resolve, reject } = Promise.withResolvers<Uint8Array | undefined>();
      wake = () => (stopped?.error ? reject(stopped.error) : resolve(undefined));
      if (stopped || !reader) wake();
      else read(reader).then(resolve, reject);
      context.keepAlive();
      return promise;
    },
    stop(error) {
      stopped ??= { error };
      wake();
    },
  };

  async function read(from: NonNullable<typeof reader>): Promise<Uint8Array | undefined> {
    rate.wait();
    try {
      const { value } = await from.read();
      if (value) rate.arrived(value.length);
      return value;
    } catch (error) {
      throw asUnreadable(error);
    }
  }
}

const tooSlow = () =>
  new UploadBusy(
    `The upload is too slow: it needs ${minUploadRate} bytes per second. Get the Upload-Offset with HEAD, and resume there.`,
  );
