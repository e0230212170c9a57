/** @jsxImportSource preact */
import type { TokenUse } from '@parley-chat/sdk/operations.ts';
import { consoleText } from '../../../text/console/text.ts';

const days = 30;
const dayMs = 86_400_000;
/** Of a bar, in units of the drawing. */
const [width, gap, height] = [6, 2, 24];

/** The requests of each of the last 30 days. The server counts days in UTC. */
export function Usage({ usage, now = Date.now() }: { readonly usage: readonly TokenUse[]; readonly now?: number }) {
  const today = Math.floor(now / dayMs);
  const byDay = new Map(usage.map(({ day, requests }) => [Math.floor(Date.parse(day) / dayMs), requests]));
  const counts = Array.from({ length: days }, (_, i) => byDay.get(today - days + 1 + i) ?? 0);
  const all = counts.reduce((sum, count) => sum + count, 0);
  if (all === 0) return null;
  const most = Math.max(...counts);
  return (
    <div class="token-usage">
      <svg viewBox={`0 0 ${days * (width + gap)} ${height}`} aria-hidden="true">
        {counts.map((count, i) => {
          const size = count === 0 ? 1 : Math.max(2, (count / most) * height);
          return (
            <rect
              key={i}
              class={count === 0 ? 'none' : undefined}
              x={i * (width + gap)}
              y={height - size}
              width={width}
              height={size}
            />
          );
        })}
      </svg>
      <span class="muted">{consoleText.access.usage({ all, today: counts.at(-1) ?? 0 })}</span>
    </div>
  );
}
