/** @jsxImportSource preact */
import type { User } from '@parley-chat/sdk';
import { useEffect, useRef, useState } from 'preact/hooks';
import { fileSize } from '../../lib/file-size.ts';
import { userRecord } from '../../store/records.ts';
import { settingsText } from '../../text/settings/text.ts';
import { text } from '../../text/text.ts';
import { Avatar } from '../avatar.tsx';
import { useSession } from '../context.ts';
import { pastedFiles } from '../pasted-files.ts';
import { Problem, useSubmit } from '../problem.tsx';
import { useFileDrop } from '../use-file-drop.ts';
import { Block } from './parts.tsx';
import { type Candidate, maxPictureBytes, pictureTypes, readPicture } from './picture.ts';

const words = settingsText.picture;
const labels = { file: words.theFile };

/** With a finger nothing is dropped. */
const isTouched = (): boolean => matchMedia('(pointer: coarse)').matches;

/** Shows the picture of the person, or the one that they have just chosen, as others will see it. */
export function PictureForm() {
  const { client, store } = useSession();
  const { problem, submit, isBusy, fail } = useSubmit({ labels });
  const [candidate, setCandidate] = useState<Candidate | undefined>(undefined);
  useEffect(() => () => candidate && URL.revokeObjectURL(candidate.url), [candidate]);
  const [notice, setNotice] = useState('');
  const picker = useRef<HTMLInputElement>(null);
  const buttons = useRef<HTMLDivElement>(null);
  const { user_id, display_name, avatar_url } = store.self.value;

  const choose = (files: readonly File[]) => {
    const [file] = files;
    if (!file) return;
    setNotice('');
    submit(async () => {
      const read = await readPicture(file);
      setCandidate(typeof read === 'string' ? undefined : read);
      if (read === 'large') fail(words.large(fileSize(maxPictureBytes)));
      if (read === 'unreadable') fail(words.unreadable);
    });
  };
  const isOver = useFileDrop({ isEnabled: true, isThread: false, onFiles: choose });
  usePastedFiles(choose);

  const done = (user: User, said: string) => {
    store.putUsers([userRecord(user)]);
    setCandidate(undefined);
    setNotice(said);
  };
  // The button that was pressed may be gone. Its place has another one.
  const hadCandidate = useRef(false);
  useEffect(() => {
    if (isBusy) return;
    const hasChanged = hadCandidate.current !== (candidate !== undefined) || notice !== '';
    hadCandidate.current = candidate !== undefined;
    if (hasChanged && document.activeElement === document.body) buttons.current?.querySelector('button')?.focus();
  }, [candidate, isBusy, notice]);
  return (
    <Block title={words.title} about={words.about}>
      <div class={`picture-form${isOver ? ' over' : ''}`}>
        <span class="face" role="img" aria-label={candidate ? words.preview : words.current}>
          {candidate ? <img src={candidate.url} alt="" /> : <Avatar id={user_id} name={display_name} isLarge />}
        </span>
        <div>
          <input
            ref={picker}
            type="file"
            hidden
            accept={pictureTypes.join()}
            aria-label={words.file}
            onChange={({ currentTarget }) => {
              choose([...(currentTarget.files ?? [])]);
              // The same file can be chosen again.
              currentTarget.value = '';
            }}
          />
          <div class="buttons" ref={buttons}>
            {candidate ? (
              <>
                <button
                  key="save"
                  type="button"
                  class="button"
                  disabled={isBusy}
                  onClick={() =>
                    submit(async () => done((await client.users.setAvatar({ file: candidate.file })).user, words.saved))
                  }
                >
                  {words.save}
                </button>
                <button
                  key="cancel"
                  type="button"
                  class="button quiet"
                  disabled={isBusy}
                  onClick={() => setCandidate(undefined)}
                >
                  {text.common.cancel}
                </button>
              </>
            ) : (
              <>
                <button
                  key="choose"
                  type="button"
                  class="button quiet"
                  disabled={isBusy}
                  onClick={() => picker.current?.click()}
                >
                  {words.choose}
                </button>
                {avatar_url !== null && (
                  <button
                    key="remove"
                    type="button"
                    class="button quiet"
                    disabled={isBusy}
                    onClick={() => submit(async () => done((await client.users.removeAvatar({})).user, words.removed))}
                  >
                    {words.remove}
                  </button>
                )}
              </>
            )}
          </div>
          <p role="status" class="muted">
            {candidate ? words.notSaved : notice || (isTouched() ? words.hintTouch : words.hint)}
          </p>
          <Problem words={problem} />
        </div>
      </div>
    </Block>
  );
}

/** Takes files that are pasted anywhere on the page. */
function usePastedFiles(onFiles: (files: readonly File[]) => void): void {
  const take = useRef(onFiles);
  take.current = onFiles;
  useEffect(() => {
    const onPaste = (event: ClipboardEvent) => {
      const files = pastedFiles(event);
      if (files.length === 0) return;
      event.preventDefault();
      take.current(files);
    };
    addEventListener('paste', onPaste);
    return () => removeEventListener('paste', onPaste);
  }, []);
}
