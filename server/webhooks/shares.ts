import type { NodeRow } from '../store/nodes.ts';

/** Beyond its share a process keeps this part of it more, and one: what comes and goes is not passed round for it. */
const slack = 1 / 4;

/**
 * The rule by which processes share the webhooks: whatever nobody drives is taken by whoever sees it first, so nothing waits
 * for a particular process. Who has come to drive clearly more than its share of all hands over what is above the
 * share, each to whoever drives the fewest. Answers to whom, once for each that is to be handed over.
 */
export function handovers(nodes: readonly NodeRow[], owner: string): string[] {
  const held = new Map(nodes.map((node) => [node.owner, node.held]));
  const own = held.get(owner) ?? 0;
  const share = Math.ceil(nodes.reduce((sum, node) => sum + node.held, 0) / nodes.length);
  if (nodes.length < 2 || own <= share * (1 + slack) + 1) return [];
  held.delete(owner);
  return Array.from({ length: own - share }, () => {
    const [to, count] = [...held].reduce((least, one) => (one[1] < least[1] ? one : least));
    held.set(to, count + 1);
    return to;
  });
}
