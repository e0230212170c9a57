/** @jsxImportSource preact */
import { Dialog } from './dialog.tsx';
import './help-dialog.css';

const keys: readonly (readonly [string, string])[] = [
  ['Ctrl K or ⌘ K', 'Go to a chat'],
  ['Enter', 'Send the message'],
  ['Shift Enter', 'Start a new line'],
  ['↑', 'Edit your last message, if the composer is empty'],
  ['Esc', 'Mark the chat as read, or cancel'],
  ['j and k', 'Next and previous message'],
  ['Alt ↓ and Alt ↑', 'Next and previous chat'],
  ['?', 'This help'],
];

export function HelpDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl class="keys">
        {keys.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
