// Suggests similar names for one that does not exist.

/** Up to three candidates that are similar to a name, closest first. */
export function closestNames(name: string, candidates: readonly string[]): string[] {
  const allowed = Math.max(2, Math.floor(name.length / 3));
  return candidates
    .map((candidate) => ({ candidate, distance: closeness(name, candidate) }))
    .filter(({ distance }) => distance <= allowed)
    .sort((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}

/** A substring counts like a single typo. */
function closeness(name: string, candidate: string): number {
  if (name.length >= 3 && (candidate.includes(name) || name.includes(candidate))) return 1;
  return distance(name, candidate);
}

/** The Levenshtein distance. */
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
