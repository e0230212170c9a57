/** @jsxImportSource preact */
import type { PushSubscription } from '@parley-chat/sdk/operations.ts';
import { useCallback, useState } from 'preact/hooks';
import { canNotify, type Notifications, notifications } from '../../notify/notifications.ts';
import { settingsText } from '../../text/settings/text.ts';
import { useSession } from '../context.ts';
import { Problem, useLoading, useSubmit } from '../problem.tsx';
import { Block, Choice } from './parts.tsx';
import { QuietHoursForm } from './quiet-hours-form.tsx';

const words = settingsText.notifications;

const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });

/** Which messages notify, where, and when not. */
export function NotificationSettings() {
  return (
    <>
      <ThisDevice />
      <QuietHoursForm />
      <Devices />
      <Levels />
    </>
  );
}

function ThisDevice() {
  const { device } = words;
  const here = notifications.value;
  return (
    <Block title={device.title}>
      {!isSecureContext ? (
        <p>{device.insecure}</p>
      ) : !canNotify() ? (
        <p>{device.unsupported}</p>
      ) : here?.permission.value === 'denied' ? (
        <p>{device.blocked}</p>
      ) : (
        here && <Switch here={here} />
      )}
    </Block>
  );
}

function Switch({ here }: { here: Notifications }) {
  const { device } = words;
  const { problem, submit, isBusy } = useSubmit();
  const [isDismissed, setDismissed] = useState(false);
  const { isOn, withText, hasSound } = here.device.choice.value;
  if (!isOn || here.permission.value !== 'granted') {
    const turnOn = async () => {
      await here.turnOn();
      setDismissed(here.permission.value === 'default');
    };
    return (
      <>
        <p>{isDismissed ? device.dismissed : device.off}</p>
        <button type="button" class="button" disabled={isBusy} onClick={() => submit(turnOn)}>
          {device.turnOn}
        </button>
        <Problem words={problem} />
      </>
    );
  }
  return (
    <>
      <div class="line">
        <p role="status">{here.push.value === 'unavailable' ? device.onlyOpen : device.on}</p>
        <button type="button" class="button quiet" disabled={isBusy} onClick={() => submit(() => here.turnOff())}>
          {device.turnOff}
        </button>
      </div>
      <Choice
        label={device.withText}
        note={device.withTextNote}
        isChecked={withText}
        onChange={(isChecked) => submit(() => here.setWithText(isChecked))}
      />
      <Choice
        label={device.sound}
        note={device.soundNote}
        isChecked={hasSound}
        onChange={(isChecked) => here.device.set({ hasSound: isChecked })}
      />
      <Problem words={problem} />
    </>
  );
}

function Devices() {
  const { client } = useSession();
  const { devices } = words;
  const { problem, submit, isBusy } = useSubmit();
  const [list, setList] = useState<readonly PushSubscription[] | undefined>(undefined);
  const [ours, setOurs] = useState<string | undefined>(undefined);
  const here = notifications.value;
  // The list changes when this device is turned on or off.
  const state = here?.push.value;
  const load = useCallback(async () => {
    setOurs(await here?.endpoint().catch(() => undefined));
    setList((await client.push.list({})).subscriptions);
  }, [client, here, state]);
  const loading = useLoading(devices.failed, load);
  const remove = async ({ subscription_id, endpoint }: PushSubscription) => {
    if (here && endpoint === ours) await here.turnOff();
    else await client.push.unsubscribe({ subscription_id });
    await load();
  };
  return (
    <Block title={devices.title} about={devices.about}>
      {list?.length === 0 && <p class="muted">{devices.none}</p>}
      <ul class="devices" aria-label={devices.title}>
        {list?.map((one) => {
          const since = day.format(new Date(one.created_at));
          const name = one.browser ?? new URL(one.endpoint).hostname;
          const notes = [
            ...(one.endpoint === ours ? [devices.here] : []),
            devices.since(since),
            ...(one.with_text ? [] : [devices.withoutText]),
          ];
          return (
            <li key={one.subscription_id} class="line">
              <p>
                {name} <span class="muted">{notes.join(' · ')}</span>
              </p>
              <button
                type="button"
                class="button quiet"
                aria-label={devices.removeOne(name, since)}
                disabled={isBusy}
                onClick={() => submit(() => remove(one))}
              >
                {devices.remove}
              </button>
            </li>
          );
        })}
      </ul>
      <Problem words={loading.problem} onRetry={loading.again} />
      <Problem words={problem} />
    </Block>
  );
}

function Levels() {
  const { levels } = words;
  const rows = [
    [levels.all, levels.allAbout],
    [levels.mentions, levels.mentionsAbout],
    [levels.none, levels.noneAbout],
    [levels.mute, levels.muteAbout],
  ] as const;
  return (
    <Block title={levels.title} about={levels.about}>
      <dl>
        {rows.map(([name, about]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{about}</dd>
          </div>
        ))}
      </dl>
    </Block>
  );
}
