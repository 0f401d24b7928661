// The name of Istio resources in messages of the commands.
import { Istio } from '../../api/istio.ts';
import type { Noun } from '../objects/find.ts';

export const ISTIO: Noun<Istio> = {
  kind: Istio,
  one: 'Istio resource',
  many: 'Istio resources',
  list: 'offshoot mesh status',
};
