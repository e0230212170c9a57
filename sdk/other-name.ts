/** Every name that this version does not know. It is a type of its own, so that comparing with a known name narrows `data`. */
export declare enum OtherName {
  Any = '',
}
