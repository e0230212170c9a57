/** Guides are imported as the text that they hold. */
declare module '*.md' {
  const text: string;
  export default text;
}
