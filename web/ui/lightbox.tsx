/** @jsxImportSource preact */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { filesOf } from '../store/records.ts';
import { text } from '../text/text.ts';
import { FileName, isPicture, pathOf } from './attachments.tsx';
import type { ChatState } from './chat-state.ts';
import { useSession } from './context.ts';
import { Icon, IconButton } from './icon.tsx';
import { fullTime } from './time.ts';

/** A picture that fills the screen. The arrow keys show the pictures before and after it, Escape closes it. */
export function Lightbox({ state }: { state: ChatState }) {
  const { store } = useSession();
  const ref = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => ref.current?.showModal(), []);
  const pictures = state.messages().flatMap((message) =>
    filesOf(message)
      .filter(isPicture)
      .map((file) => ({ file, message })),
  );
  const at = pictures.findIndex(({ file }) => file.file_id === state.viewing.value);
  const shown = pictures[at];
  const isGone = shown === undefined;
  useLayoutEffect(() => {
    // Its message was deleted.
    if (isGone) ref.current?.close();
  }, [isGone]);
  const show = (index: number) => {
    const next = pictures[index];
    if (next) state.viewing.value = next.file.file_id;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const isRightToLeft = getComputedStyle(document.documentElement).direction === 'rtl';
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step !== 0) show(at + (isRightToLeft ? -step : step));
  };
  return (
    <dialog
      ref={ref}
      class="lightbox"
      aria-label={text.lightbox.label}
      closedby="any"
      onKeyDown={onKeyDown}
      onClick={({ target }) => (target as Element).matches('.stage') && ref.current?.close()}
      onClose={() => {
        state.viewing.value = undefined;
      }}
    >
      {shown && (
        <>
          <header>
            <div class="about">
              <p class="file">
                <FileName name={shown.file.name} size={shown.file.size} />
              </p>
              <p class="author">
                {text.lightbox.by({
                  name: <bdi>{store.user(shown.message.user_id)?.display_name ?? '…'}</bdi>,
                  time: fullTime(shown.message.created_at),
                })}
              </p>
            </div>
            {pictures.length > 1 && (
              <span class="place">{text.lightbox.place({ at: at + 1, count: pictures.length })}</span>
            )}
            <a
              class="icon-button"
              href={pathOf(shown.file.url)}
              download={shown.file.name}
              aria-label={text.lightbox.download}
              title={text.lightbox.download}
            >
              <Icon name="download" />
            </a>
            <IconButton icon="close" label={text.common.close} onClick={() => ref.current?.close()} />
          </header>
          <div class="stage">
            <img
              key={shown.file.file_id}
              src={pathOf(shown.file.url)}
              alt={shown.file.name}
              width={shown.file.width}
              height={shown.file.height}
            />
          </div>
          <button
            type="button"
            class="icon-button before"
            aria-label={text.lightbox.previous}
            disabled={at === 0}
            onClick={() => show(at - 1)}
          >
            <Icon name="back" />
          </button>
          <button
            type="button"
            class="icon-button after"
            aria-label={text.lightbox.next}
            disabled={at === pictures.length - 1}
            onClick={() => show(at + 1)}
          >
            <Icon name="next" />
          </button>
        </>
      )}
    </dialog>
  );
}
