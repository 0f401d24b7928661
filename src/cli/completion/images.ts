// Completes `[namespace/]deployment[:container]=image` part by part, for --subset and set-image.
import type { Suggestion } from './suggest.ts';

export interface Container {
  /** As written in the value: `[namespace/]deployment`. */
  readonly deployment: string;
  readonly container: string;
  readonly image: string;
}

/** Suggests how a value can continue. Images are suggested without their tag, which will differ. */
export function imageSuggestions(value: string, containers: readonly Container[]): readonly Suggestion[] {
  const [, target = value, hasImage] = /^([^=]*)(=)?/.exec(value) ?? [];
  const [deployment = '', container] = target.split(':');
  const ofDeployment = containers.filter((each) => each.deployment === deployment);
  if (hasImage !== undefined) {
    const candidates = ofDeployment.filter((each) => container === undefined || each.container === container);
    return unique(candidates.map(({ image }) => `${target}=${withoutTag(image)}:`));
  }
  if (container !== undefined) return unique(ofDeployment.map((each) => `${deployment}:${each.container}=`));
  return unique(
    containers.map((each) => {
      const isOne = containers.filter((other) => other.deployment === each.deployment).length === 1;
      return `${each.deployment}${isOne ? '=' : ':'}`;
    }),
  );
}

function withoutTag(image: string): string {
  return image.replace(/@.*$/, '').replace(/:[^/]*$/, '');
}

function unique(values: readonly string[]): Suggestion[] {
  return [...new Set(values)].map((value) => ({ value }));
}
