import { ApiError, type Delivery } from '@parley-chat/sdk';
import { useRef, useState } from 'preact/hooks';
import { consoleText } from '../../text/console/text.ts';
import { useSession } from '../context.ts';
import { tell, useAct } from '../notice.tsx';

const words = consoleText.deliveries;

/** Returns whether a delivery is not settled. */
export const isOpen = ({ state }: Pick<Delivery, 'state'>): boolean => state === 'pending' || state === 'retrying';

/** Returns whether the server refused one delivery, and the next one may be accepted. */
const isRefusal = (error: unknown): boolean => error instanceof ApiError && [404, 409].includes(error.status);

/** What can be done with deliveries. `onChange` is called when something was. */
export function useDeliveryActs(onChange: () => void) {
  const { client } = useSession();
  const act = useAct();
  const [progress, setProgress] = useState('');
  const isStopped = useRef(false);
  const stop = () => {
    isStopped.current = true;
  };
  const redeliver = (ids: readonly number[]) => {
    const rest = [...ids];
    let delivered = 0;
    let due = 0;
    act(words.redeliverFailed, async () => {
      isStopped.current = false;
      try {
        // One after the other: the server allows few at once. After a failure it goes on with those that are left.
        for (let [id] = rest; id !== undefined && !isStopped.current; [id] = rest) {
          if (ids.length > 1) setProgress(words.redelivering({ done: ids.length - rest.length + 1, all: ids.length }));
          try {
            const { delivery } = await client.webhooks.redeliver({ delivery_id: id });
            if (delivery.state === 'delivered') delivered++;
            if (isOpen(delivery)) due++;
          } catch (error) {
            if (ids.length === 1 || !isRefusal(error)) throw error;
          }
          rest.shift();
        }
        tell(due === ids.length ? words.due(due) : words.redelivered({ delivered, due, all: ids.length }));
      } finally {
        setProgress('');
        onChange();
      }
    });
  };
  const skipAll = async (ids: readonly number[]) => {
    let skipped = 0;
    try {
      for (const delivery_id of ids) {
        try {
          await client.webhooks.skip({ delivery_id });
          skipped++;
        } catch (error) {
          if (ids.length === 1 || !isRefusal(error)) throw error;
        }
      }
      tell(words.skipped(skipped));
    } finally {
      onChange();
    }
  };
  const skip = (id: number) => act(words.skipFailed, () => skipAll([id]));
  return { redeliver, stop, skip, skipAll, progress };
}
