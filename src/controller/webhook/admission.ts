// Admission reviews (`admission.k8s.io/v1`): the request of the API server to a webhook, and the response.
import type { Status } from '../../kube/errors.ts';
import { parseJson, stringifyJson } from '../../kube/json.ts';
import type { KubeObject } from '../../kube/objects.ts';
import type { UserInfo } from '../../kube/reviews.ts';

export interface AdmissionRequest {
  readonly uid: string;
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  readonly subResource?: string;
  readonly name?: string;
  readonly namespace?: string;
  /** The user who sent the request. */
  readonly userInfo: UserInfo;
  readonly object?: KubeObject | null;
  readonly oldObject?: KubeObject | null;
  readonly dryRun?: boolean;
}

export interface AdmissionResponse {
  readonly allowed: boolean;
  readonly status?: Status;
  readonly warnings?: readonly string[];
}

/** Decides about one request; the signal aborts when nobody waits for the answer any longer. */
export type AdmissionHandler = (request: AdmissionRequest, signal: AbortSignal) => Promise<AdmissionResponse>;

const API_VERSION = 'admission.k8s.io/v1';

/** The request in the body of a review. Throws an error that says what is wrong with the body. */
export function readReview(body: Buffer): AdmissionRequest {
  const review = parsed(body) as { kind?: unknown; apiVersion?: unknown; request?: unknown } | null;
  if (typeof review !== 'object' || review === null || review.kind !== 'AdmissionReview') {
    throw new Error(`the body must be an AdmissionReview, found kind ${JSON.stringify(review?.kind ?? null)}`);
  }
  if (review.apiVersion !== API_VERSION) {
    throw new Error(`apiVersion must be ${API_VERSION}, found ${JSON.stringify(review.apiVersion ?? null)}`);
  }
  const request = review.request as Partial<AdmissionRequest> | null | undefined;
  if (typeof request !== 'object' || request === null) throw new Error('the AdmissionReview has no request');
  if (typeof request.uid !== 'string' || request.uid === '') throw new Error('request.uid is missing');
  if (typeof request.operation !== 'string') throw new Error('request.operation is missing');
  return { ...request, userInfo: request.userInfo ?? {} } as AdmissionRequest;
}

/** The review that answers a request. */
export function writeReview(uid: string, response: AdmissionResponse): string {
  return stringifyJson({ kind: 'AdmissionReview', apiVersion: API_VERSION, response: { uid, ...response } });
}

function parsed(body: Buffer): unknown {
  if (body.length === 0) throw new Error('the body is empty: an AdmissionReview is expected');
  try {
    return parseJson(body);
  } catch (error) {
    throw new Error(`the body is not JSON: ${(error as Error).message}`, { cause: error });
  }
}
