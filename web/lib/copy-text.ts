/** Copies a text. The clipboard API exists only over https, and its predecessor everywhere. In a modal window, `place` is in it. */
export function copyText(copied: string, place: Element = document.body): boolean {
  const focused = document.activeElement;
  const area = document.createElement('textarea');
  area.value = copied;
  area.className = 'unseen';
  place.append(area);
  area.select();
  const isCopied = document.execCommand('copy');
  area.remove();
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  return isCopied;
}
