// Computes the positions of a picture's nodes: columns by call depth, clones beside their base. Pure.
import type { Picture, PictureEdge, PictureNode } from '../../data.ts';

export const NODE = { width: 168, height: 56 } as const;
const GAP = { x: 56, y: 24, clone: 12 } as const;
const MARGIN = 12;

export interface PlacedNode extends PictureNode {
  readonly x: number;
  readonly y: number;
}

export interface PlacedEdge extends PictureEdge {
  readonly id: string;
  /** For an SVG path. */
  readonly line: string;
}

export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly PlacedEdge[];
}

export function layoutOf({ nodes, edges }: Picture): Layout {
  const ranks = ranksOf(nodes, edges);
  const columns = columnsOf(nodes, edges, ranks);
  const placed = new Map<string, PlacedNode>();
  for (const [rank, column] of columns.entries()) {
    let y = MARGIN;
    for (const node of column) {
      const isClone = node.cloneOf !== undefined && column.some(({ id }) => id === node.cloneOf);
      if (isClone) y -= GAP.y - GAP.clone;
      const x = MARGIN + rank * (NODE.width + GAP.x) + (isClone ? GAP.clone : 0);
      placed.set(node.id, { ...node, x, y });
      y += NODE.height + GAP.y;
    }
  }
  centre(columns, placed);
  const all = [...placed.values()];
  return {
    width: Math.max(0, ...all.map(({ x }) => x + NODE.width)) + MARGIN,
    height: Math.max(0, ...all.map(({ y }) => y + NODE.height)) + MARGIN,
    nodes: all,
    edges: edges.flatMap((edge) => {
      const [from, to] = [placed.get(edge.from), placed.get(edge.to)];
      return from === undefined || to === undefined
        ? []
        : [{ ...edge, id: `${edge.from} → ${edge.to}`, line: lineOf(from, to) }];
    }),
  };
}

/** The length of the longest call path to each node; calls that close a cycle do not count. */
function ranksOf(nodes: readonly PictureNode[], edges: readonly PictureEdge[]): ReadonlyMap<string, number> {
  const baseOf = new Map(nodes.map(({ id, cloneOf }) => [id, cloneOf ?? id]));
  const own = (id: string): string => {
    const base = baseOf.get(id) ?? id;
    return baseOf.has(base) ? base : id;
  };
  const before = Map.groupBy(edges, ({ to }) => own(to));
  const ranks = new Map<string, number>();
  const open = new Set<string>();
  const rank = (id: string): number => {
    const known = ranks.get(id);
    if (known !== undefined) return known;
    if (open.has(id)) return -1;
    open.add(id);
    const callers = (before.get(id) ?? []).map(({ from }) => own(from)).filter((from) => from !== id);
    const found = Math.max(0, ...callers.map((from) => rank(from) + 1));
    open.delete(id);
    ranks.set(id, found);
    return found;
  };
  return new Map(nodes.map(({ id }) => [id, rank(own(id))]));
}

/** The nodes of each column: near their callers, a clone right after its base. */
function columnsOf(
  nodes: readonly PictureNode[],
  edges: readonly PictureEdge[],
  ranks: ReadonlyMap<string, number>,
): PictureNode[][] {
  const columns: PictureNode[][] = [];
  for (const node of nodes) (columns[ranks.get(node.id) ?? 0] ??= []).push(node);
  const places = new Map<string, number>();
  for (const [rank, column = []] of columns.entries()) {
    const weight = ({ id, cloneOf }: PictureNode): number => {
      const callers = edges.filter(({ to }) => to === (cloneOf ?? id)).flatMap(({ from }) => places.get(from) ?? []);
      return callers.length === 0 ? 0 : callers.reduce((sum, each) => sum + each, 0) / callers.length;
    };
    const label = ({ id, cloneOf }: PictureNode): string => cloneOf ?? id;
    const isClone = ({ cloneOf }: PictureNode): number => (cloneOf === undefined ? 0 : 1);
    const weights = new Map(column.map((node) => [node.id, weight(node)]));
    const sorted = column.toSorted(
      (a, b) => weights.get(a.id)! - weights.get(b.id)! || label(a).localeCompare(label(b)) || isClone(a) - isClone(b),
    );
    columns[rank] = sorted;
    for (const [place, { id }] of sorted.entries()) places.set(id, place);
  }
  return columns;
}

/** Centres short columns vertically. */
function centre(columns: readonly (readonly PictureNode[])[], placed: Map<string, PlacedNode>): void {
  const heightOf = (column: readonly PictureNode[]): number =>
    Math.max(0, ...column.map(({ id }) => placed.get(id)!.y + NODE.height));
  const tallest = Math.max(0, ...columns.map(heightOf));
  for (const column of columns) {
    const shift = (tallest - heightOf(column)) / 2;
    for (const { id } of column) placed.set(id, { ...placed.get(id)!, y: placed.get(id)!.y + shift });
  }
}

function lineOf(from: PlacedNode, to: PlacedNode): string {
  const [x1, y1] = [from.x + NODE.width, from.y + NODE.height / 2];
  const [x2, y2] = [to.x, to.y + NODE.height / 2];
  if (x2 <= x1) {
    const below = Math.max(from.y, to.y) + NODE.height + GAP.y / 2;
    return `M${x1} ${y1}C${x1 + GAP.x} ${below} ${x2 - GAP.x} ${below} ${x2} ${y2}`;
  }
  const bend = Math.max(GAP.x / 2, (x2 - x1) / 2);
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
}
