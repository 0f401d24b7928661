// Weights of the user → percentages that sum to 100, as AWS App Mesh requires.
import type { Mode } from '../model.ts';

const UINT32 = 2 ** 32;

/**
 * Percentages are rounded down, and the remainder goes to the first target with a weight. In compat mode, as in
 * SuperGloo, it goes to the first target, and the arithmetic has 32 bits.
 */
export function percentages(weights: readonly number[], mode: Mode): readonly number[] {
  const wrap = (value: number): number => (mode === 'compat' ? value % UINT32 : value);
  const total = wrap(weights.reduce((sum, weight) => sum + weight, 0));
  const shares = weights.map((weight) => Math.floor(wrap(weight * 100) / total));
  const rest = 100 - shares.reduce((sum, share) => sum + share, 0);
  const receiver = mode === 'compat' ? 0 : weights.findIndex((weight) => weight > 0);
  return shares.map((share, index) => (index === receiver ? share + rest : share));
}
