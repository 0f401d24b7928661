// Lets the account of field owners look at an object in other versions: it is pure and asks for one conversion after the
// other, so that where a webhook converts it is done again with each answer until it has all that it needs.
import type { AnyObject, JsonObject } from '../../kube/objects.ts';
import { stringifyJson } from '../../kube/json.ts';
import { MissingVersion } from '../patch/index.ts';
import type { Versions } from '../patch/index.ts';
import type { Resource } from '../resource.ts';
import type { Cluster } from '../rest/context.ts';
import type { Schema } from '../schema/types.ts';
import { convert } from './forms.ts';

/** Thrown out of the account: this is not known yet. */
class Unconverted extends Error {
  readonly object: JsonObject;
  readonly apiVersion: string;
  readonly key: string;

  constructor(object: JsonObject, apiVersion: string, key: string) {
    super(`not converted to ${apiVersion} yet`);
    this.object = object;
    this.apiVersion = apiVersion;
    this.key = key;
  }
}

/** Does some work that may look at an object in other versions of its kind; a promise only when a webhook is asked. */
export function withVersions<T>(
  cluster: Pick<Cluster, 'hooks'>,
  resource: Resource,
  work: (versions: Versions | undefined) => T,
): T | Promise<T> {
  const { conversion } = resource;
  if (conversion === undefined) return work(undefined);
  const known = new Map<string, JsonObject>();
  const attempt = (): T | Promise<T> => {
    try {
      return work({ schemaOf, convert: look });
    } catch (error) {
      if (!(error instanceof Unconverted)) throw error;
      return answered(error).then(attempt);
    }
  };
  const schemaOf = (apiVersion: string): Schema => {
    const schema = conversion.schemas.get(apiVersion);
    if (schema === undefined) throw new MissingVersion(apiVersion);
    return schema;
  };
  const answered = async ({ object, apiVersion, key }: Unconverted): Promise<void> => {
    known.set(key, await convert(cluster, object as unknown as AnyObject, resource, apiVersion));
  };
  const look = (object: JsonObject, apiVersion: string): JsonObject => {
    if (object['apiVersion'] === apiVersion) return object;
    const key = `${apiVersion} ${stringifyJson(object)}`;
    let found = known.get(key);
    if (found === undefined) {
      const converted =
        conversion.webhook === undefined && convert(cluster, object as unknown as AnyObject, resource, apiVersion);
      if (converted === false || converted instanceof Promise) throw new Unconverted(object, apiVersion, key);
      known.set(key, (found = converted));
    }
    return found;
  };
  return attempt();
}
