/** @jsxImportSource preact */
import { text } from '../text/text.ts';
import { Dialog } from './dialog.tsx';
import './help-dialog.css';

export function HelpDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title={text.help.title} onClose={onClose}>
      <dl class="keys">
        {Object.values(text.help.keys).map(({ keys, act }) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{act}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
