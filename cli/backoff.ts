const firstSteps = [1, 2, 5];
const lastStep = 10;

/** Seconds to wait after so many failures in a row: short, because somebody is watching. */
export const pauseAfter = (failures: number): number => firstSteps[failures - 1] ?? lastStep;
