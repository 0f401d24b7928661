// The annotation `lastAppliedConfiguration`: the spec and the tag that were last installed. Written in the form of the
// Kyma operator, and read leniently, because its reader ignored the case of keys.
import * as z from 'zod';
import { istio } from '../../api/istio.ts';
import type { Istio, IstioSpec } from '../../api/istio.ts';
import { LAST_APPLIED } from '../names.ts';

/** The last installed configuration; empty before the first installation. */
export interface LastApplied {
  readonly spec: IstioSpec;
  readonly tag?: string;
}

/** The flavour of the images. */
const IMAGE_BASE = 'distroless';

type JsonObject = Readonly<Record<string, unknown>>;

/** Reads the annotation of a resource; a string says why it can't be read. */
export function readLastApplied({ metadata }: Istio): LastApplied | string {
  const text = metadata.annotations?.[LAST_APPLIED];
  if (text === undefined) return { spec: {} };
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    return `annotation ${LAST_APPLIED} is not JSON: ${(error as Error).message}`;
  }
  if (!isObject(parsed)) return `annotation ${LAST_APPLIED} must be a JSON object`;
  const tag = field(parsed, 'IstioTag');
  if (tag !== undefined && typeof tag !== 'string') {
    return `annotation ${LAST_APPLIED}: IstioTag must be a string, found ${JSON.stringify(tag)}`;
  }
  const spec = readSpec(parsed);
  return typeof spec === 'string' ? `annotation ${LAST_APPLIED}: ${spec}` : { spec, ...(tag !== undefined && { tag }) };
}

/** The value of the annotation. */
export function writeLastApplied(spec: IstioSpec, tag: string): string {
  const { config = {}, components, experimental, compatibilityMode, networkPoliciesEnabled } = spec;
  return JSON.stringify({
    config,
    ...(components !== undefined && { components }),
    ...(experimental !== undefined && { experimental }),
    ...(compatibilityMode === true && { compatibilityMode }),
    ...(networkPoliciesEnabled === true && { networkPoliciesEnabled }),
    IstioTag: tag,
  });
}

/** The part of a spec that one component has applied, so that only the rest still counts as changed. */
export type AppliedPart = 'gateway' | 'sidecars';

/** The applied spec once a component is done: its own fields as they are now, the others as they were. */
export function withApplied(before: LastApplied, spec: IstioSpec, part: AppliedPart): IstioSpec {
  const [was, is] = [before.spec.config ?? {}, spec.config ?? {}];
  if (part === 'gateway') {
    const { numTrustedProxies, forwardClientCertDetails, trustDomain } = is;
    return defined({
      ...before.spec,
      config: defined({ ...was, numTrustedProxies, forwardClientCertDetails, trustDomain }),
      networkPoliciesEnabled: spec.networkPoliciesEnabled,
    });
  }
  const { enableDNSProxying, proxyStatsMatcher } = is;
  return defined({
    ...before.spec,
    config: defined({ ...was, enableDNSProxying, proxyStatsMatcher }),
    compatibilityMode: spec.compatibilityMode,
  });
}

/** `<version>-distroless`. */
export function istioTag(version: string): string {
  return version.includes('-') ? version : `${version}-${IMAGE_BASE}`;
}

/** The spec in the annotation: keys in any case, unknown keys and `null` ignored. */
function readSpec(parsed: JsonObject): IstioSpec | string {
  const schema = istio.schemas.spec;
  const read = schema.safeParse(canonical(schema, parsed));
  if (read.success) return read.data as IstioSpec;
  const [issue] = read.error.issues;
  return `${issue!.path.join('.')}: ${issue!.message}`;
}

function canonical(schema: z.core.$ZodType, value: unknown): unknown {
  if (schema instanceof z.ZodOptional) return canonical(schema.unwrap(), value);
  if (schema instanceof z.ZodArray && Array.isArray(value)) return value.map((each) => canonical(schema.element, each));
  if (!(schema instanceof z.ZodObject) || !isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(schema.shape).flatMap(([name, inner]) => {
      const found = field(value, name);
      return found === undefined || found === null ? [] : [[name, canonical(inner as z.core.$ZodType, found)]];
    }),
  );
}

/** The value of a key in any case; an exact match is preferred. */
function field(fields: JsonObject, name: string): unknown {
  if (Object.hasOwn(fields, name)) return fields[name];
  const key = Object.keys(fields).find((each) => each.toLowerCase() === name.toLowerCase());
  return key === undefined ? undefined : fields[key];
}

function defined<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
