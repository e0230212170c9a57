/** @jsxImportSource preact */
import { useCallback } from 'preact/hooks';
import { userRecord } from '../../store/records.ts';
import { settingsText } from '../../text/settings/text.ts';
import { useSession } from '../context.ts';
import { Problem, useLoading, useSubmit } from '../problem.tsx';
import { Block, NameField, SaveButtons, useFields } from './parts.tsx';
import { PictureForm } from './picture-form.tsx';
import { ZoneOptions } from './time-zones.tsx';

const words = settingsText.profile;
const labels = { display_name: words.displayName, status_text: words.status, time_zone: words.timeZone };

/** Who somebody is to others. */
export function ProfileSettings() {
  return (
    <>
      <PictureForm />
      <ProfileForm />
    </>
  );
}

interface Profile {
  readonly display_name: string;
  readonly status_text: string;
  /** Null for somebody who does not tell it. */
  readonly time_zone: string | null;
}

function ProfileForm() {
  const { client, store } = useSession();
  const { problem, submit, isBusy } = useSubmit({ labels });
  const { fields: profile, setFields: setProfile, change, notice, setNotice } = useFields<Profile>();
  const { user_id, name } = store.me;
  const load = useCallback(async () => {
    const { user } = await client.users.get({ user_id });
    if (!user) return;
    store.putUsers([userRecord(user)]);
    setProfile(user);
  }, [client, store, user_id]);
  const loading = useLoading(settingsText.failed, load);
  const save = ({ display_name, status_text, time_zone }: Profile) =>
    submit(async () => {
      setNotice('');
      const trimmed = { display_name: display_name.trim(), status_text: status_text.trim() };
      const { user } = await client.users.update({ ...trimmed, time_zone });
      store.putUsers([userRecord(user)]);
      setProfile(user);
      setNotice(words.saved);
    });
  return (
    <Block title={words.title} about={words.about(name)}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (profile) save(profile);
        }}
      >
        <NameField
          label={words.displayName}
          required
          autocomplete="name"
          value={profile?.display_name}
          onInput={(display_name) => change({ display_name })}
        />
        <NameField
          label={words.status}
          placeholder={words.statusExample}
          value={profile?.status_text}
          onInput={(status_text) => change({ status_text })}
        />
        <label class="field">
          <span>{words.timeZone}</span>
          <select
            disabled={!profile}
            value={profile?.time_zone ?? ''}
            onChange={(event) => change({ time_zone: event.currentTarget.value || null })}
          >
            <option value="">{words.noTimeZone}</option>
            <ZoneOptions zone={profile?.time_zone} />
          </select>
        </label>
        <Problem words={loading.problem} onRetry={loading.again} />
        <Problem words={problem} />
        <SaveButtons isDisabled={isBusy || !profile} notice={notice} />
      </form>
    </Block>
  );
}
