/** @jsxImportSource preact */
import { useState } from 'preact/hooks';
import { copyText } from '../../lib/copy-text.ts';
import { consoleText } from '../../text/console/text.ts';
import { Icon } from '../icon.tsx';
import { tell } from '../notice.tsx';

interface CopyButtonProps {
  readonly text: string;
  /** Says what is copied. */
  readonly label: string;
  readonly onCopy?: () => void;
}

export function CopyButton({ text, label, onCopy }: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false);
  return (
    <button
      type="button"
      class="button quiet copy"
      aria-label={isCopied ? undefined : label}
      onClick={(event) => {
        const button = event.currentTarget;
        const isDone = copyText(text, button.parentElement ?? undefined);
        button.focus();
        setCopied(isDone);
        if (isDone) onCopy?.();
        else tell(consoleText.copyFailed);
      }}
    >
      <Icon name={isCopied ? 'check' : 'copy'} />
      {isCopied ? consoleText.copied : consoleText.copy}
    </button>
  );
}
