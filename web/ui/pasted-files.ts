/** Returns the files that are pasted. Office programs put a picture of the text beside the text: that is none. */
export function pastedFiles({ clipboardData }: ClipboardEvent): readonly File[] {
  const { files = [], types = [] } = clipboardData ?? {};
  return types.includes('text/plain') ? [] : [...files];
}
