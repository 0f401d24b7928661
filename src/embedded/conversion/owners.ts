// Gives field management access to an object in other versions. Its code is synchronous, so when a webhook must convert
// first, it is interrupted and restarted after each conversion until it has all that it needs.
import type { AnyObject, JsonObject } from '../../kube/objects.ts';
import { stringifyJson } from '../../kube/json.ts';
import { MissingVersion } from '../patch/index.ts';
import type { Versions } from '../patch/index.ts';
import type { Resource } from '../resource.ts';
import type { Cluster } from '../rest/context.ts';
import type { Schema } from '../schema/types.ts';
import { convert } from './forms.ts';

/** Interrupts the work: this conversion is not available yet. */
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

/** Runs work that may need an object in other versions; returns a promise only when a webhook must be called. */
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
      return work({ schemaOf, convert: convertKnown });
    } catch (error) {
      if (!(error instanceof Unconverted)) throw error;
      return fetchConversion(error).then(attempt);
    }
  };
  const schemaOf = (apiVersion: string): Schema => {
    const schema = conversion.schemas.get(apiVersion);
    if (schema === undefined) throw new MissingVersion(apiVersion);
    return schema;
  };
  const fetchConversion = async ({ object, apiVersion, key }: Unconverted): Promise<void> => {
    known.set(key, await convert(cluster, object as unknown as AnyObject, resource, apiVersion));
  };
  const convertKnown = (object: JsonObject, apiVersion: string): JsonObject => {
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
