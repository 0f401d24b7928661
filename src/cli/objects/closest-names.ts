// Finds what somebody may have meant. Called for names that do not exist.

/** The candidates that differ little from a name, the closest first, three at most. */
export function closestNames(name: string, candidates: readonly string[]): string[] {
  const allowed = Math.max(2, Math.floor(name.length / 3));
  return candidates
    .map((candidate) => ({ candidate, distance: closeness(name, candidate) }))
    .filter(({ distance }) => distance <= allowed)
    .sort((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}

/** A part of a name is as good as a slip of the finger. */
function closeness(name: string, candidate: string): number {
  if (name.length >= 3 && (candidate.includes(name) || name.includes(candidate))) return 1;
  return distance(name, candidate);
}

/** How many characters must be put in, taken out or replaced to get from one text to the other. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}
