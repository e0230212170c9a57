/** @jsxImportSource preact */
import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.tsx';
import './empty-state.css';

interface EmptyStateProps {
  readonly icon: IconName;
  readonly title: string;
  /** The level of the heading. */
  readonly level?: 1 | 2;
  /** Says what to do next. */
  readonly children: ComponentChildren;
  readonly actions?: ComponentChildren;
}

/** Stands where there is nothing to show. */
export function EmptyState({ icon, title, level = 2, children, actions }: EmptyStateProps) {
  return (
    <div class="empty-state">
      <span class="symbol">
        <Icon name={icon} />
      </span>
      {level === 1 ? <h1>{title}</h1> : <h2>{title}</h2>}
      <p>{children}</p>
      {actions && <div class="buttons">{actions}</div>}
    </div>
  );
}
