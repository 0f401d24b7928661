// Completes `[namespace/]deployment[:container]=image` piece by piece: the value of --subset, and what set-image takes.
import type { Suggestion } from './suggest.ts';

export interface Container {
  /** As it is written in the value. */
  readonly deployment: string;
  readonly container: string;
  readonly image: string;
}

/** What a value may go on with. An image is offered up to its tag, for that is what differs. */
export function imageSuggestions(value: string, containers: readonly Container[]): readonly Suggestion[] {
  const [, target = value, hasImage] = /^([^=]*)(=)?/.exec(value) ?? [];
  const [deployment = '', container] = target.split(':');
  const ofDeployment = containers.filter((each) => each.deployment === deployment);
  if (hasImage !== undefined) {
    const meant = ofDeployment.filter((each) => container === undefined || each.container === container);
    return unique(meant.map(({ image }) => `${target}=${withoutTag(image)}:`));
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
