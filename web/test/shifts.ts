import { expect } from 'bun:test';
import type { Page } from 'playwright-core';

/** The most that the content of a page may move by itself in one state. */
const maxShift = 0.05;

interface Shift {
  readonly value: number;
  readonly moved: readonly string[];
}

/** The fields of a `layout-shift` entry, which the types of the DOM lack. */
interface ShiftEntry {
  readonly value: number;
  readonly hadRecentInput: boolean;
  readonly sources: readonly { node: Node | null; previousRect: DOMRect; currentRect: DOMRect }[];
}

/** Records how far the content of a page moves without an act of its user. */
export const recordShifts = (page: Page): Promise<unknown> =>
  page.addInitScript(() => {
    const shifts: Shift[] = [];
    Object.assign(globalThis, { shifts });
    const place = ({ x, y, width, height }: DOMRect) => [x, y, width, height].map(Math.round).join(' ');
    const nameOf = (node: Node | null) =>
      node instanceof Element ? `${node.tagName}.${node.className}` : (node?.textContent ?? 'gone');
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        const { value, hadRecentInput, sources } = entry as unknown as ShiftEntry;
        if (hadRecentInput) continue;
        const moved = sources.map(({ node, previousRect, currentRect }) => {
          return `${nameOf(node)}: ${place(previousRect)} to ${place(currentRect)}`;
        });
        shifts.push({ value, moved });
      }
    }).observe({ type: 'layout-shift', buffered: true });
  });

/** Fails if the content moved too far since the last call, and says what moved. */
export async function expectStill(page: Page, state: string): Promise<void> {
  const shifts = await page.evaluate(async () => {
    // A shift is known one frame after it.
    for (let frames = 0; frames < 3; frames++) await new Promise(requestAnimationFrame);
    return (globalThis as unknown as { shifts: Shift[] }).shifts.splice(0);
  });
  const total = shifts.reduce((sum, { value }) => sum + value, 0);
  if (total > maxShift) expect({ state, total, shifts }).toEqual({ state, total: 0, shifts: [] });
}
