/** A picture of one red pixel, as a PNG in base64. */
const redPixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGM4oKAAAAKkAQHjTKctAAAAAElFTkSuQmCC';

/** The same as an avatar of 64 pixels. */
const redSquare =
  'UklGRk4AAABXRUJQVlA4IEIAAADQAwCdASpAAEAAPm02mEkkIyKhIggAgA2JaQB2AAAjPuOsAFeIUwAA/vA4Q//G83mta3//9lY/9Kx/6Vj9ygAAAAA=';

/** The same as a thumbnail. */
const redThumbnail = 'UklGRjoAAABXRUJQVlA4IC4AAACQAQCdASoBAAEAAUAmJaACdLoAA5gA/vHcj/gN18W0y/+7J//bJ//bJ/7hAAAA';

const bytesOf = (base64: string) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));

export const pictureFile = () => new File([bytesOf(redPixel)], 'picture.png');
export const avatarFile = () => new File([bytesOf(redSquare)], 'avatar.webp');
export const thumbnailFile = () => new File([bytesOf(redThumbnail)], 'picture.png.webp');
