/** Stands for every name that this version does not know; a type of its own, so that a known name narrows `data`. */
export declare enum OtherName {
  Any = '',
}
