/** @jsxImportSource preact */
import type { Client } from '@parley-chat/sdk';
import { useEffect, useRef, useState } from 'preact/hooks';
import { adminText } from '../../../text/console/admin/text.ts';
import { useSession } from '../../context.ts';
import { tell } from '../../notice.tsx';
import { Problem, useSubmit } from '../../problem.tsx';
import type { inputOf } from './audit-entry.ts';
import { AuditWriter, type ExportFormat, saveFile } from './audit-export.ts';

const words = adminText.audit;

const types: Readonly<Record<ExportFormat, string>> = { csv: 'text/csv', json: 'application/json' };

/** Returns as many rows as a page of this server may have: fewer calls for a long log. */
async function pageLimit(client: Client): Promise<number> {
  const { settings } = await client.service.settings({ name: 'PARLEY_PAGE_LIMIT' });
  return Number(settings[0]?.value) || 50;
}

interface ExportButtonsProps {
  /** The filters. */
  readonly input: ReturnType<typeof inputOf>;
}

/** Saves all entries that the filters let through as a file. It shows how many there are already. */
export function ExportButtons({ input }: ExportButtonsProps) {
  const { client } = useSession();
  const { problem, submit, isBusy } = useSubmit();
  const [count, setCount] = useState(0);
  const stop = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => stop.current?.abort(), []);
  const run = async (format: ExportFormat) => {
    const control = new AbortController();
    stop.current = control;
    const parts: string[] = [];
    const writer = new AuditWriter(format, (text) => parts.push(text));
    setCount(0);
    try {
      const limit = await pageLimit(client);
      for (let before: { before_id?: number } | undefined = {}; before; ) {
        const page: Awaited<ReturnType<Client['service']['audit']>> = await client.service.audit(
          { ...input, ...before, limit },
          { signal: control.signal },
        );
        writer.add(page);
        setCount(writer.count);
        const last = page.entries.at(-1);
        before = page.has_more && last ? { before_id: last.audit_id } : undefined;
      }
    } catch (error) {
      if (control.signal.aborted) return;
      throw error;
    }
    writer.end();
    saveFile(`parley-audit-${new Date().toISOString().slice(0, 10)}.${format}`, parts, types[format]);
    tell(words.exported(writer.count));
  };
  return (
    <div class="export">
      <div class="buttons">
        {isBusy ? (
          <>
            <p role="status" class="muted">
              {words.exporting(count)}
            </p>
            <button type="button" class="button quiet" onClick={() => stop.current?.abort()}>
              {words.cancel}
            </button>
          </>
        ) : (
          <>
            <button type="button" class="button quiet" onClick={() => submit(() => run('csv'))}>
              {words.exportCsv}
            </button>
            <button type="button" class="button quiet" onClick={() => submit(() => run('json'))}>
              {words.exportJson}
            </button>
          </>
        )}
      </div>
      <Problem words={problem} />
    </div>
  );
}
