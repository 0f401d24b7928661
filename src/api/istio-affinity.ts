// `core/v1 Affinity`, as the Istio resource takes it for the CNI node agent.
import * as z from 'zod';
import { hints, int32 } from './core.ts';

const ATOMIC = { 'x-kubernetes-map-type': 'atomic' } as const;
const strings = () => z.array(z.string());

const Requirement = () =>
  z.object({
    key: z.string().describe('The label or field.'),
    operator: z.string().describe('How its value relates to the values.'),
    values: strings().describe('The values.').optional(),
  });

const LabelSelector = () =>
  hints(
    z.object({
      matchExpressions: z.array(Requirement()).describe('Requirements on labels; all must hold.').optional(),
      matchLabels: z.record(z.string(), z.string()).describe('Labels with the value that each must have.').optional(),
    }),
    ATOMIC,
  );

const NodeSelectorTerm = () =>
  hints(
    z.object({
      matchExpressions: z.array(Requirement()).describe('Requirements on the labels of nodes.').optional(),
      matchFields: z.array(Requirement()).describe('Requirements on the fields of nodes.').optional(),
    }),
    ATOMIC,
  );

const weight = () => int32().describe('Weight of the term, from 1 to 100.');

const NodeAffinity = () =>
  z.object({
    preferredDuringSchedulingIgnoredDuringExecution: z
      .array(z.object({ preference: NodeSelectorTerm().describe('Which nodes are preferred.'), weight: weight() }))
      .describe('Preferences: nodes with the greatest sum of weights win.')
      .optional(),
    requiredDuringSchedulingIgnoredDuringExecution: hints(
      z.object({ nodeSelectorTerms: z.array(NodeSelectorTerm()).describe('Terms; one of them must hold.') }),
      ATOMIC,
    )
      .describe('Requirements on nodes.')
      .optional(),
  });

const PodAffinityTerm = () =>
  z.object({
    labelSelector: LabelSelector().describe('Which pods.').optional(),
    matchLabelKeys: strings().describe('Keys of labels whose value must be that of the incoming pod.').optional(),
    mismatchLabelKeys: strings()
      .describe('Keys of labels whose value must not be that of the incoming pod.')
      .optional(),
    namespaceSelector: LabelSelector().describe('In which namespaces, by label.').optional(),
    namespaces: strings().describe('In which namespaces, by name.').optional(),
    topologyKey: z.string().describe('The node label that defines the topology domain.'),
  });

const PodAffinity = () =>
  z.object({
    preferredDuringSchedulingIgnoredDuringExecution: z
      .array(
        z.object({ podAffinityTerm: PodAffinityTerm().describe('Which pods, and what is near.'), weight: weight() }),
      )
      .describe('Preferences: nodes with the greatest sum of weights win.')
      .optional(),
    requiredDuringSchedulingIgnoredDuringExecution: z
      .array(PodAffinityTerm())
      .describe('What must hold for a node.')
      .optional(),
  });

/** `core/v1 Affinity`. */
export const Affinity = () =>
  z.object({
    nodeAffinity: NodeAffinity().describe('Which nodes.').optional(),
    podAffinity: PodAffinity().describe('Near which pods.').optional(),
    podAntiAffinity: PodAffinity().describe('Away from which pods.').optional(),
  });
