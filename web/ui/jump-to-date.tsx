/** @jsxImportSource preact */
import { useState } from 'preact/hooks';
import { firstSince } from '../store/search.ts';
import { text } from '../text/text.ts';
import { useSession } from './context.ts';
import { Dialog } from './dialog.tsx';
import { Problem, useSubmit } from './problem.tsx';
import { chatPath, navigate } from './route.ts';
import { startOf, today } from './time.ts';

/** Leads to the first message of a day, or after it. */
export function JumpToDate({ chatId, onClose }: { chatId: number; onClose: () => void }) {
  const { client } = useSession();
  const { problem, submit, fail } = useSubmit();
  const [day, setDay] = useState('');
  const jump = async () => {
    const start = startOf(day);
    if (start === undefined) return fail(text.jumpToDate.noDay);
    const message = await firstSince(start, async (id) => {
      const bound = id === undefined ? {} : { before_id: id };
      return (await client.messages.list({ chat_id: chatId, limit: 1, ...bound })).messages.at(-1);
    });
    if (!message) return fail(text.jumpToDate.noMessages);
    onClose();
    navigate(chatPath(chatId, message.message_id));
  };
  return (
    <Dialog title={text.jumpToDate.title} onClose={onClose}>
      <form
        class="content"
        onSubmit={(event) => {
          event.preventDefault();
          submit(jump);
        }}
      >
        <div class="field">
          <label for="day">{text.jumpToDate.day}</label>
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
        <Problem words={problem} />
        <div class="buttons">
          <button type="submit" class="button">
            {text.jumpToDate.jump}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
