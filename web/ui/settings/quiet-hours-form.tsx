/** @jsxImportSource preact */
import { useCallback, useState } from 'preact/hooks';
import { tellQuietHours } from '../../notify/quiet-hours.ts';
import type { QuietHours } from '../../notify/rules.ts';
import { settingsText } from '../../text/settings/text.ts';
import { useSession } from '../context.ts';
import { Problem, useLoading, useSubmit } from '../problem.tsx';
import { Block, useFields } from './parts.tsx';
import { ZoneOptions, zoneHere } from './time-zones.tsx';

const words = settingsText.notifications.quiet;

const labels = { from: words.from, to: words.to, time_zone: words.timeZone };

/** What the form proposes to somebody without quiet hours. */
const proposed = { from: '22:00', to: '07:00' } as const;

export function QuietHoursForm() {
  const { client, store } = useSession();
  const { problem, submit, isBusy, fail } = useSubmit({ labels });
  const { fields: hours, setFields: setHours, change, notice, setNotice } = useFields<QuietHours>();
  /** The hours that the server has. Undefined until they are loaded. */
  const [saved, setSaved] = useState<QuietHours | null | undefined>(undefined);
  const load = useCallback(async () => {
    const { quiet_hours } = await client.users.quietHours({});
    const { user } = quiet_hours ? {} : await client.users.get({ user_id: store.me.user_id });
    setSaved(quiet_hours);
    setHours(quiet_hours ?? { ...proposed, time_zone: user?.time_zone ?? zoneHere() });
  }, [client, store]);
  const loading = useLoading(settingsText.failed, load);
  const save = (next: QuietHours | null) =>
    submit(async () => {
      setNotice('');
      const { quiet_hours } = await client.users.setQuietHours(next ?? {});
      tellQuietHours(store.me.user_id, quiet_hours);
      setSaved(quiet_hours);
      if (quiet_hours) setNotice(words.saved);
    });
  const time = (name: 'from' | 'to') => (
    <label class="field">
      <span>{words[name]}</span>
      <input
        type="time"
        required
        disabled={!hours}
        value={hours?.[name] ?? ''}
        onInput={(event) => change({ [name]: event.currentTarget.value })}
      />
    </label>
  );
  return (
    <Block title={words.title} about={words.about}>
      <p role="status">
        {saved === undefined ? '' : saved ? words.on({ ...saved, zone: saved.time_zone }) : words.off}
      </p>
      <form
        class="quiet-hours"
        onSubmit={(event) => {
          event.preventDefault();
          if (hours?.from === hours?.to) fail(words.same);
          else if (hours) save(hours);
        }}
      >
        {time('from')}
        {time('to')}
        <label class="field zone">
          <span>{words.timeZone}</span>
          <select
            disabled={!hours}
            value={hours?.time_zone}
            onChange={(event) => change({ time_zone: event.currentTarget.value })}
          >
            {hours && <ZoneOptions zone={hours.time_zone} />}
          </select>
        </label>
        <div class="buttons">
          <button type="submit" class="button" disabled={isBusy || !hours}>
            {words.save}
          </button>
          {saved && (
            <button type="button" class="button quiet" disabled={isBusy} onClick={() => save(null)}>
              {words.clear}
            </button>
          )}
        </div>
      </form>
      <p role="status" class="muted">
        {notice}
      </p>
      <Problem words={loading.problem} onRetry={loading.again} />
      <Problem words={problem} />
    </Block>
  );
}
