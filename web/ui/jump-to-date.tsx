/** @jsxImportSource preact */
import { useState } from 'preact/hooks';
import { firstSince } from '../store/search.ts';
import { useSession } from './context.ts';
import { Dialog } from './dialog.tsx';
import { IconButton } from './icon.tsx';
import { chatPath, navigate } from './route.ts';
import { startOf, today } from './time.ts';

/** A button that leads to the first message of a day, or after it. */
export function JumpToDate({ chatId }: { chatId: number }) {
  const { client } = useSession();
  const [isOpen, setOpen] = useState(false);
  const [problem, setProblem] = useState('');
  const [day, setDay] = useState('');
  const close = () => {
    setOpen(false);
    setProblem('');
  };
  const jump = async () => {
    const start = startOf(day);
    if (start === undefined) return setProblem('Choose a day.');
    const message = await firstSince(start, async (id) => {
      const bound = id === undefined ? {} : { before_id: id };
      return (await client.messages.list({ chat_id: chatId, limit: 1, ...bound })).messages.at(-1);
    });
    if (!message) return setProblem('There are no messages on this day or later.');
    close();
    navigate(chatPath(chatId, message.message_id));
  };
  return (
    <>
      <IconButton icon="calendar" label="Jump to date" onClick={() => setOpen(true)} />
      {isOpen && (
        <Dialog title="Jump to date" onClose={close}>
          <form
            class="content"
            onSubmit={(event) => {
              event.preventDefault();
              jump().catch((error: Error) => setProblem(error.message));
            }}
          >
            <div class="field">
              <label for="day">Day</label>
              <input
                id="day"
                type="date"
                max={today()}
                required
                autofocus
                value={day}
                onInput={(event) => setDay(event.currentTarget.value)}
              />
            </div>
            {problem !== '' && (
              <p class="problem" role="alert">
                {problem}
              </p>
            )}
            <div class="buttons">
              <button type="submit" class="button">
                Jump
              </button>
            </div>
          </form>
        </Dialog>
      )}
    </>
  );
}
