// The mesh: versions, components, restarts in progress, what blocks a deletion.
import type { JSX } from 'preact';
import type { MeshDetail } from '../../data.ts';
import { useDetail, useNow } from '../live/hooks.ts';
import { Empty, Loading, Missing } from '../parts/states.tsx';
import { Commands, Sentence } from '../parts/text.tsx';
import { More, Tree } from '../parts/tree.tsx';

export function Mesh(): JSX.Element {
  const { detail, problem } = useDetail<MeshDetail>('/api/live/mesh');
  const now = useNow();
  if (detail === undefined && problem === undefined) return <Loading />;
  if (!detail) return <Missing what="mesh" problem={problem} />;
  return (
    <>
      <Sentence text={detail.sentence} />
      <section class="card">
        <h2>Versions</h2>
        <ul class="plain">
          {detail.versions.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      </section>
      {detail.trees.length === 0 ? (
        <Empty title="Apply an `Istio` resource, and Offshoot manages installation, upgrades and restarts." />
      ) : (
        detail.trees.map((tree) => (
          <section key={tree.name} class="card">
            <h2>{tree.name}</h2>
            <Tree node={tree} />
          </section>
        ))
      )}
      <More events={detail.events} now={now} />
      <Commands lines={detail.commands} />
    </>
  );
}
