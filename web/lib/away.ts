/** The responses of a proxy while the server behind it is away. */
const awayStatuses: readonly number[] = [502, 503, 504];

export const isAway = ({ status }: Response): boolean => awayStatuses.includes(status);
