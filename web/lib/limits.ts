/** Characters that the server accepts in the name of a person, a chat or the service, and in the note of an invitation. */
export const maxNameLength = 100;
