import { useCallback, useState } from 'preact/hooks';
import { type Attempts, useLoading } from '../../problem.tsx';

/** A page of rows, and the cursor of the next one. */
export interface RowPage<R, C> {
  readonly rows: readonly R[];
  readonly next: C | undefined;
}

interface Rows<R> {
  /** Undefined until the first page is loaded. */
  readonly rows: readonly R[] | undefined;
  /** Loads the next page. Undefined at the end. */
  readonly more: (() => Promise<void>) | undefined;
  readonly loading: Attempts;
  /** Loads the first page again. */
  readonly reload: () => void;
  /** Changes a row that is shown. */
  readonly replace: (isIt: (row: R) => boolean, row: R) => void;
}

/** Loads a list page by page. `load` must be another function if the list is another. */
export function useRows<R, C>(failed: string, load: (cursor: C | undefined) => Promise<RowPage<R, C>>): Rows<R> {
  const [shown, setShown] = useState<{ readonly page: RowPage<R, C>; readonly of: typeof load } | undefined>(undefined);
  const first = useCallback(async () => setShown({ page: await load(undefined), of: load }), [load]);
  const loading = useLoading(failed, first);
  const { run } = loading;
  const page = shown?.page;
  const next = page?.next;
  return {
    rows: page?.rows,
    loading,
    reload: () => run(first),
    replace: (isIt, row) =>
      setShown(
        (now) => now && { ...now, page: { ...now.page, rows: now.page.rows.map((old) => (isIt(old) ? row : old)) } },
      ),
    more:
      next === undefined
        ? undefined
        : async () => {
            const following = await load(next);
            // The filters may have changed meanwhile.
            setShown((now) =>
              now?.of === load
                ? { of: load, page: { rows: [...now.page.rows, ...following.rows], next: following.next } }
                : now,
            );
          },
  };
}
