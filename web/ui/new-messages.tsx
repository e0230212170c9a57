/** @jsxImportSource preact */
import { useEffect, useRef, useState } from 'preact/hooks';
import { text } from '../text/text.ts';
import { useSession } from './context.ts';
import { plainText } from './markdown.ts';

/** Tells screen readers about new messages of others in the open chat. */
export function NewMessages({ chatId }: { chatId: number }) {
  const { store } = useSession();
  const [news, setNews] = useState('');
  const seen = useRef(0);
  const newest = store.timeline(chatId).value?.messages.at(-1);
  useEffect(() => {
    seen.current = newest?.message_id ?? 0;
    setNews('');
  }, [chatId]);
  useEffect(() => {
    if (!newest || newest.message_id <= seen.current) return;
    const isFirst = seen.current === 0;
    seen.current = newest.message_id;
    if (isFirst || newest.user_id === store.me.user_id) return;
    const name = store.user(newest.user_id)?.display_name ?? '';
    setNews(text.messageList.said({ name, message: plainText(newest.content) || (newest.file?.name ?? '') }));
  }, [newest, store]);
  return (
    <p class="unseen" aria-live="polite">
      {news}
    </p>
  );
}
