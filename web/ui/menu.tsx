/** @jsxImportSource preact */
import { Icon, type IconName } from './icon.tsx';
import { Popover } from './popover.tsx';
import './menu.css';

export interface MenuItem {
  readonly label: string;
  readonly icon?: IconName;
  /** Set for one choice of several. */
  readonly isChecked?: boolean;
  readonly act: () => void;
}

interface MenuProps {
  readonly label: string;
  readonly anchor: HTMLElement;
  readonly groups: readonly (readonly MenuItem[])[];
  readonly onClose: () => void;
}

/** A list of acts beside a button. The arrow keys move in it. */
export function Menu({ label, anchor, groups, onClose }: MenuProps) {
  const onKeyDown = (event: KeyboardEvent & { currentTarget: HTMLElement }) => {
    const items = [...event.currentTarget.querySelectorAll<HTMLElement>('button')];
    const at = items.indexOf(document.activeElement as HTMLElement);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    items.at(next % items.length)?.focus();
  };
  return (
    <Popover label={label} anchor={anchor} onClose={onClose}>
      <div class="menu" role="menu" aria-label={label} onKeyDown={onKeyDown}>
        {groups.map((items) => (
          // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
          <div key={items[0]?.label} role="group" class="group">
            {items.map(({ label: text, icon, isChecked, act }) => (
              <button
                key={text}
                type="button"
                {...(isChecked === undefined
                  ? { role: 'menuitem' }
                  : { role: 'menuitemradio', 'aria-checked': isChecked })}
                onClick={() => {
                  onClose();
                  anchor.focus();
                  act();
                }}
              >
                {icon || isChecked ? <Icon name={icon ?? 'check'} /> : <span class="icon" />}
                {text}
              </button>
            ))}
          </div>
        ))}
      </div>
    </Popover>
  );
}
