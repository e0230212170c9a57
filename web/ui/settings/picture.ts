/** What the server accepts as the picture of a person. */
export const pictureTypes: readonly string[] = ['image/jpeg', 'image/png', 'image/webp', 'image/gif'];
export const maxPictureBytes = 10_485_760;

/** A picture that was chosen, and not saved yet. `url` shows it, and must be revoked. */
export interface Candidate {
  readonly file: File;
  readonly url: string;
}

export type Refusal = 'large' | 'unreadable';

/** Returns the picture of a file, or why it cannot be one. */
export async function readPicture(file: File): Promise<Candidate | Refusal> {
  if (!pictureTypes.includes(file.type)) return 'unreadable';
  if (file.size > maxPictureBytes) return 'large';
  const url = URL.createObjectURL(file);
  const image = new Image();
  image.src = url;
  try {
    await image.decode();
    return { file, url };
  } catch {
    URL.revokeObjectURL(url);
    return 'unreadable';
  }
}
