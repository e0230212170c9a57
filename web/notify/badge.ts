/** Shows the number of unread chats on the icon of the installed client, and on that of the tab. */
export function showBadge(unread: number): void {
  // It fails while the page is not fully active.
  if (unread > 0) navigator.setAppBadge?.(unread).catch(() => {});
  else navigator.clearAppBadge?.().catch(() => {});
  const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  if (!link) return;
  link.dataset.read ??= link.getAttribute('href') ?? '';
  const icon = unread > 0 ? link.dataset.unread : link.dataset.read;
  if (icon !== undefined && link.getAttribute('href') !== icon) link.setAttribute('href', icon);
}
