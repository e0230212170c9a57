/** @jsxImportSource preact */
import { text } from '../../text/text.ts';
import { Problem } from '../problem.tsx';

interface FormButtonsProps {
  /** Why the last attempt failed. Empty if it did not. */
  readonly problem: string;
  /** The words of the button that submits the form. */
  readonly act: string;
  readonly isBusy: boolean;
  readonly onCancel: () => void;
}

/** The end of a form in a window. */
export const FormButtons = ({ problem, act, isBusy, onCancel }: FormButtonsProps) => (
  <>
    <Problem words={problem} />
    <div class="buttons">
      <button type="button" class="button quiet" onClick={onCancel}>
        {text.common.cancel}
      </button>
      <button type="submit" class="button" disabled={isBusy}>
        {act}
      </button>
    </div>
  </>
);
