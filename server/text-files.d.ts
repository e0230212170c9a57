/** Files that are imported as the text that they hold. */
declare module '*.css' {
  const text: string;
  export default text;
}
declare module '*.svg' {
  const text: string;
  export default text;
}

/** Files that are imported as the path to them. */
declare module '*.png' {
  const path: string;
  export default path;
}
