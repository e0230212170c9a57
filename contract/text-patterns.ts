/**
 * Rules of texts as patterns of JSON Schema. They use neither `\p{…}` nor look-around nor characters above U+FFFF, because the
 * languages of generated clients read those differently or not at all.
 */

type Range = readonly [first: number, last: number];

const nul: readonly Range[] = [[0, 0]];

/** Control characters and line breaks. */
const controls: readonly Range[] = [
  [0, 0x1f],
  [0x7f, 0x9f],
  [0x2028, 0x2029],
];

const controlsBesideSpaces: readonly Range[] = [
  [0, 8],
  [0xe, 0x1f],
  [0x7f, 0x9f],
];

const directionMarks: readonly Range[] = [
  [0x202a, 0x202e],
  [0x2066, 0x2069],
];

const spaces: readonly Range[] = [
  [9, 0xd],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];

/** Format characters (category Cf). */
const formats: readonly Range[] = [
  [0xad, 0xad],
  [0x600, 0x605],
  [0x61c, 0x61c],
  [0x6dd, 0x6dd],
  [0x70f, 0x70f],
  [0x890, 0x891],
  [0x8e2, 0x8e2],
  [0x180e, 0x180e],
  [0x200b, 0x200f],
  [0x202a, 0x202e],
  [0x2060, 0x2064],
  [0x2066, 0x206f],
  [0xfeff, 0xfeff],
  [0xfff9, 0xfffb],
];

const slashes: readonly Range[] = [
  [0x2f, 0x2f],
  [0x5c, 0x5c],
];

/** Characters that show nothing, except those that a name may need inside an emoji or between letters. */
const invisible: readonly Range[] = [
  ...formats.filter(([first]) => first !== 0x200b),
  [0x34f, 0x34f],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x200b, 0x200b],
  [0x200e, 0x200f],
  [0x2065, 0x2065],
  [0x2800, 0x2800],
  [0x3164, 0x3164],
  [0xfe00, 0xfe0d],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfff8],
];

/** A text without visible characters is blank. */
const blank = union(controls, spaces, formats);

function union(...lists: readonly (readonly Range[])[]): readonly Range[] {
  const merged: [number, number][] = [];
  for (const [first, last] of lists.flat().sort(([a], [b]) => a - b)) {
    const before = merged.at(-1);
    if (before && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else merged.push([first, last]);
  }
  return merged;
}

function minus(ranges: readonly Range[], excluded: readonly Range[]): readonly Range[] {
  return excluded.reduce<readonly Range[]>(
    (left, [from, to]) =>
      left.flatMap(([first, last]): Range[] => [
        ...(first < from ? [[first, Math.min(last, from - 1)] as const] : []),
        ...(last > to ? [[Math.max(first, to + 1), last] as const] : []),
      ]),
    ranges,
  );
}

const escaped = (code: number) => `\\u${code.toString(16).padStart(4, '0')}`;

const inClass = (ranges: readonly Range[]): string =>
  ranges.map(([first, last]) => escaped(first) + (first === last ? '' : `-${escaped(last)}`)).join('');

/** Returns the pattern of a text without these characters that is not blank. It needs no backtracking. */
function visibleText(...forbidden: readonly (readonly Range[])[]): string {
  const excluded = union(...forbidden);
  const start = inClass(minus(blank, excluded));
  return `[${start}]*[^${inClass(union(blank, excluded))}][^${inClass(excluded)}]*`;
}

export const textPatterns = {
  anyText: `^[^${inClass(nul)}]*$`,
  visibleText: `^${visibleText(nul)}$`,
  visibleOrEmptyText: `^(?:${visibleText(nul)})?$`,
  title: `^${visibleText(controls, directionMarks)}$`,
  titleOrEmpty: `^(?:${visibleText(controls, directionMarks)})?$`,
  displayName: `^${visibleText(controls, directionMarks, invisible)}$`,
  fileName: `^${visibleText(controls, directionMarks, slashes)}$`,
  emoji: `^${visibleText(controls, spaces)}$`,
  searchText: `^${visibleText(controlsBesideSpaces)}$`,
} as const;
