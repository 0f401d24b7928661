// The traffic picture: the base path is muted, the selected path is drawn over it. A list below has the same content.
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Picture } from '../../data.ts';
import { layoutOf, NODE } from './layout.ts';
import type { PlacedEdge, PlacedNode } from './layout.ts';

/** A wide picture is scaled down to this factor; beyond that it scrolls. */
const MIN_SCALE = 0.8;

interface PictureProps {
  readonly picture: Picture;
  /** The label of the selected path. */
  readonly legend: string;
  /** Each new number above 0 sends a dot along the path. */
  readonly run?: number;
}

export function TrafficPicture({ picture, legend, run = 0 }: PictureProps): JSX.Element {
  const layout = useMemo(() => layoutOf(picture), [picture]);
  const [pointedAt, pointAt] = useState<PlacedEdge | undefined>(undefined);
  const canvas = useRef<HTMLDivElement>(null);
  useEffect(() => showPath(canvas.current), [layout.width]);
  const labels = new Map(picture.nodes.map(({ id, label }) => [id, label]));
  const textOf = ({ from, to, rule, host }: PlacedEdge): string =>
    `${labels.get(from) ?? from} → ${labels.get(to) ?? to}: http://${host}, by ${rule}`;
  // SVG draws later elements on top.
  const edges = layout.edges.toSorted((a, b) => Number(a.on !== 'base') - Number(b.on !== 'base'));
  return (
    <section class="card picture" aria-label="Traffic picture">
      <div class="legend">
        <span class="l-path">{legend}</span>
        <span class="l-base">everybody else</span>
        <span class="l-both">both</span>
      </div>
      <div
        class="canvas"
        ref={canvas}
        tabIndex={0}
        role="group"
        aria-label="Picture of services; the list below says the same"
      >
        <svg
          width={layout.width}
          height={layout.height}
          viewBox={`0 0 ${layout.width} ${layout.height}`}
          style={{ minWidth: `${layout.width * MIN_SCALE}px` }}
          data-walk
        >
          <defs>
            {(['base', 'path', 'both'] as const).map((on) => (
              <marker
                key={on}
                id={`end-${on}`}
                viewBox="0 0 8 8"
                refX="7"
                refY="4"
                markerWidth="7"
                markerHeight="7"
                orient="auto"
              >
                <path class={`end ${on}`} d="M0 0 8 4 0 8z" />
              </marker>
            ))}
          </defs>
          {edges.map((edge) => (
            <g
              key={edge.id}
              class={`edge ${edge.on}`}
              data-step
              tabIndex={-1}
              role="img"
              aria-label={textOf(edge)}
              onClick={() => pointAt(edge)}
              onPointerEnter={() => pointAt(edge)}
              onPointerLeave={() => pointAt(undefined)}
              onFocus={() => pointAt(edge)}
              onBlur={() => pointAt(undefined)}
            >
              <path class="hit" d={edge.line} />
              <path class="line" d={edge.line} marker-end={`url(#end-${edge.on})`} />
            </g>
          ))}
          {layout.nodes.map((node) => (
            <Node key={node.id} node={node} />
          ))}
          {run > 0 && <Dots key={run} edges={edges} />}
        </svg>
      </div>
      <p class="told" role="status">
        {pointedAt === undefined ? 'Tap or point at a line to see the rule behind it.' : textOf(pointedAt)}
      </p>
      {picture.notes.map((note) => (
        <p key={note} class="muted">
          {note}
        </p>
      ))}
      <details>
        <summary>The same as a list</summary>
        <ul class="edges">
          {edges.map((edge) => (
            <li key={edge.id}>
              <span class={`tag ${edge.on}`}>
                {edge.on === 'base' ? 'others' : edge.on === 'path' ? 'with key' : 'both'}
              </span>{' '}
              {textOf(edge)}
            </li>
          ))}
        </ul>
      </details>
    </section>
  );
}

/** Scrolls the clone into view, if the picture scrolls. */
function showPath(canvas: HTMLElement | null): void {
  const node = canvas?.querySelector('.node.clone.on-path') ?? canvas?.querySelector('.node.clone');
  if (!canvas || !node || canvas.scrollWidth <= canvas.clientWidth) return;
  const [outer, inner] = [canvas.getBoundingClientRect(), node.getBoundingClientRect()];
  canvas.scrollLeft += inner.left + inner.width / 2 - (outer.left + outer.width / 2);
}

function Node({ node }: { readonly node: PlacedNode }): JSX.Element {
  const { x, y, kind, label, detail, cloneOf, isOnPath } = node;
  const isClone = cloneOf !== undefined;
  return (
    <g class={`node ${kind} ${isClone ? 'clone' : ''} ${isOnPath ? 'on-path' : ''}`} transform={`translate(${x} ${y})`}>
      <title>{`${label} ${detail}`}</title>
      <rect width={NODE.width} height={NODE.height} rx={8} />
      <text x={12} y={24} class="n-label">
        {cut(label, 17)}
      </text>
      <text x={12} y={42} class="n-detail">
        {cut(detail, 20)}
      </text>
    </g>
  );
}

/** Shortens a long name in the middle: its ends distinguish it from others. */
function cut(text: string, maxLength: number): string {
  const half = Math.floor((maxLength - 1) / 2);
  return text.length <= maxLength ? text : `${text.slice(0, half)}…${text.slice(-half)}`;
}

/** A dot that runs along each edge of the path. */
function Dots({ edges }: { readonly edges: readonly PlacedEdge[] }): JSX.Element {
  if (matchMedia('(prefers-reduced-motion: reduce)').matches) return <></>;
  const path = edges.filter(({ on }) => on !== 'base');
  return (
    <>
      {path.map(({ id, line }) => (
        <circle key={id} r={5} class="dot">
          <animateMotion {...{ dur: '0.9s', path: line, fill: 'remove' }} />
          <animate attributeName="opacity" values="1;1;0" dur="0.9s" fill="freeze" />
        </circle>
      ))}
    </>
  );
}
