// The data that the server sends to the page. Both sides import these types, and nothing else of each other.
import type { RecentEvent } from '../api/description/events.ts';
import type { ProgressStep, TreeNode } from '../api/description/tree.ts';
import type { Condition, ReportedChange, ReportedStall } from '../controller/index.ts';
import type { Terminal } from './terminal.ts';
import type { ConsideredData, DecisionData } from '../traffic/index.ts';

/** The colour and icon of a state; the word beside it says more. */
export type Tone = 'good' | 'busy' | 'bad' | 'idle';

interface RowBase {
  readonly namespace: string;
  readonly name: string;
  readonly state: string;
  readonly tone: Tone;
  readonly created: string;
  /** What is wrong with it, in one sentence. */
  readonly problem?: string;
}

export interface EnvironmentRow extends RowBase {
  readonly type: 'environment';
  /** Subsets and consumers that are ready, of all: `1/2`. */
  readonly ready: string;
  /** The requests that reach it: `x-env=pr-7`. */
  readonly match: string;
  /** The header that these requests carry: `x-env: pr-7`. */
  readonly carries: string;
  /** The same in a sentence, with names between backticks: "the key `pr-7` (`x-env` or `baggage`)". */
  readonly requests: string;
  /** Those requests that go to other environments instead. */
  readonly exceptions?: readonly { readonly match: string; readonly taker: string }[];
  /** A command that sends such a request. */
  readonly call?: string;
  readonly replaces: readonly Replacement[];
  readonly isolation?: Pick<Condition, 'status' | 'reason' | 'message' | 'lastTransitionTime'> & {
    /** The result of the proof in words: `not isolated`. */
    readonly word: string;
  };
  readonly expires?: string;
}

/** A workload that an environment replaces with its own version. */
export interface Replacement {
  /** `NAMESPACE/NAME` of the base. */
  readonly workload: string;
  readonly images: readonly string[];
  /** A consumer gets no requests. */
  readonly isConsumer?: true;
}

export interface ClaimRow extends RowBase {
  readonly type: 'claim';
  readonly className: string;
  readonly target?: string;
  readonly expires?: string;
}

export interface TargetRow extends RowBase {
  readonly type: 'target';
  readonly place: string;
  readonly claim?: string;
}

export interface RuleRow extends RowBase {
  readonly type: 'rule';
  readonly mesh: string;
}

interface IstioRow extends RowBase {
  readonly type: 'istio';
}

export type Row = EnvironmentRow | ClaimRow | TargetRow | RuleRow | IstioRow;
export type RowType = Row['type'];

/** Something that happened, for the feed. */
export interface FeedItem extends RecentEvent {
  readonly id: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** A line of `/api/live`. */
export type LiveLine =
  | { readonly snapshot: readonly Row[]; readonly session: Session }
  | { readonly changes: readonly { readonly key: string; readonly row: Row | null }[] }
  | { readonly feed: readonly FeedItem[] }
  | { readonly beat: string };

/** A line of `/api/live/TYPE/…`: one object in detail; null if it does not exist. */
export type DetailLine = { readonly detail: Detail | null } | { readonly beat: string };

/** The user, and what they may do here. */
export interface Session {
  readonly version: string;
  readonly user?: string;
  /** When the session expires; only after signing in with the form. */
  readonly until?: string;
  /** Whether the page allows writes; the user needs the permissions too. */
  readonly writes: boolean;
  /** There may be environments that the user may not read. */
  readonly isRestricted?: true;
  /** The header that carries the key of an environment. */
  readonly keyHeader: string;
  /** The gateway of this process, if it serves one. */
  readonly gateway?: EntryPoint;
  /** How commands reach this cluster; absent: without further flags. */
  readonly terminal?: Terminal;
}

/** A gateway's URL, and the namespace that it leads to. */
export interface EntryPoint {
  readonly url: string;
  readonly namespace: string;
}

export type Detail = EnvironmentDetail | ObjectDetail | MeshDetail;

export interface ObjectDetail {
  readonly type: 'claim' | 'target' | 'rule';
  readonly row: Row;
  readonly sentence: string;
  readonly tree: TreeNode;
  readonly events: readonly RecentEvent[];
  readonly conditions: readonly Condition[];
  readonly yaml: string;
  readonly commands: readonly string[];
}

export interface EnvironmentDetail extends Omit<ObjectDetail, 'type' | 'row'> {
  readonly type: 'environment';
  readonly row: EnvironmentRow;
  readonly calls: readonly string[];
  readonly timeline: readonly TimelineStep[];
  readonly picture: Picture;
  /** A request of others that the environment reroutes, if there is one. */
  readonly counterexample?: TriedRequest;
  /** Whether the user has permission to delete it. */
  readonly mayDelete?: true;
}

export interface MeshDetail {
  readonly type: 'mesh';
  readonly sentence: string;
  readonly versions: readonly string[];
  readonly trees: readonly TreeNode[];
  readonly events: readonly RecentEvent[];
  readonly commands: readonly string[];
}

/** A step in the timeline of an environment. */
export interface TimelineStep {
  readonly label: string;
  readonly state: ProgressStep['state'];
  /** When it was reached. */
  readonly at?: string;
  /** What it waits for, or why it failed. */
  readonly note?: string;
}

/** Who calls whom, and by which rule: the base path, and the path of the selected requests. */
export interface Picture {
  readonly nodes: readonly PictureNode[];
  readonly edges: readonly PictureEdge[];
  /** Notes on what is hidden or unknown. */
  readonly notes: readonly string[];
}

export interface PictureNode {
  /** `gateway NS/NAME`, `callers NS`, `NS/KIND/NAME` of a workload, `folded NS`. */
  readonly id: string;
  readonly kind: 'gateway' | 'callers' | 'workload' | 'folded';
  readonly label: string;
  readonly namespace: string;
  /** Its images, or how many services are folded into it. */
  readonly detail: string;
  /** For a clone: its base workload. */
  readonly cloneOf?: string;
  /** Whether the selected requests come here. */
  readonly isOnPath: boolean;
}

export interface PictureEdge {
  readonly from: string;
  readonly to: string;
  /** `base`: requests without the key; `path`: the selected requests; `both`. */
  readonly on: 'base' | 'path' | 'both';
  /** The host that is called. */
  readonly host: string;
  /** The rule behind it, in words. */
  readonly rule: string;
}

/** A request as people write it. */
export interface TriedRequest {
  readonly method?: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** `NAMESPACE/NAME` of the calling workload, or its namespace and labels. */
  readonly from?: string | { readonly namespace: string; readonly labels?: Readonly<Record<string, string>> };
  /** `NAMESPACE/NAME` of the Gateway that it enters through. */
  readonly gateway?: string;
}

export interface Hop {
  readonly title: string;
  /** Ids of nodes of the picture. */
  readonly from: string;
  readonly to: readonly string[];
  readonly decision: DecisionData;
  readonly considered: readonly ConsideredData[];
  /** The decision in words. */
  readonly lines: readonly string[];
}

export interface Tried {
  readonly sentence: string;
  readonly hops: readonly Hop[];
  readonly picture: Picture;
  readonly command: string;
}

/** The choices that forms offer. */
export interface Choices {
  readonly namespaces: readonly string[];
  readonly workloads: readonly { readonly key: string; readonly containers: readonly string[] }[];
  readonly gateways: readonly string[];
  /** `http://NAME.NAMESPACE:PORT/` of Services, and of the hosts of Gateways. */
  readonly urls: readonly string[];
  /** Classes of deployment targets; absent if the user may not read them. */
  readonly classes?: readonly string[];
}

export interface PlanAnswer {
  readonly sentence: string;
  /** Whether the environment would become ready. */
  readonly tone: Tone;
  readonly environment: string;
  /** The file that the commands read the manifest from. */
  readonly file: string;
  readonly changes: readonly ReportedChange[];
  readonly stalled: readonly ReportedStall[];
  /** What happens to requests, in sentences. */
  readonly traffic: readonly string[];
  readonly proof?: ProofAnswer;
  readonly commands: readonly string[];
}

export interface ProofAnswer {
  readonly verdict: 'True' | 'False' | 'Unknown';
  /** The result in words: `not isolated`. */
  readonly word: string;
  readonly reason: string;
  readonly message: string;
  readonly notes: readonly string[];
  readonly counterexample?: TriedRequest;
}

/** What went wrong, to which object, and what to do. */
export interface Problem {
  readonly error: string;
  readonly hint?: string;
  /** The API server's own message, if it rejected the request. */
  readonly refusal?: string;
}
