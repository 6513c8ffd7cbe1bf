import type { Config } from '../../config/schema.ts';
import type { Query } from '../../domain/query/query.ts';
import type { FieldName } from '../../domain/query/query-fields.ts';
import type { SummaryRow } from '../../domain/result.ts';
import type { ScanWarning, StageRecord } from '../../domain/scan.ts';
import type { Coverage } from '../../report/model/report.ts';
import type { RecordPlace } from '../../workspace/record/scan-record.ts';
import type { Facet } from '../../workspace/record-index/facets.ts';
import type { MatchCounts } from '../../workspace/record-index/matched-members.ts';
import type { Member } from '../../workspace/record-index/record-index.ts';
import type { SortKey } from '../../workspace/record-index/sort-keys.ts';
import type { Explanation, PortEndpoint } from '../results/explain-port.ts';
import type { ListedFix } from '../results/listed-fix.ts';

/** Messages between the server and the thread of the indexes. Plain data. */

export interface IndexedScan {
  record: RecordPlace;
  /** Path of the file of its index. */
  file: string;
  /** Its record grows. */
  isRunning?: boolean;
}

export interface RowsRequest {
  kind: 'rows';
  query: Query | null;
  type: string | undefined;
  keys: readonly SortKey[];
  /** Equal findings of a host are one row. */
  joined?: boolean;
  offset: number;
  limit: number;
  /** Last member of the page before, of the index with this name; null = begin at the offset. */
  after: { epoch: string; member: Member } | null;
}

export interface RowsResponse {
  /** JSON text of an array. */
  records: string;
  total: number;
  offset: number;
  matches: MatchCounts;
  epoch: string;
  /** Of the page; null if it is empty. */
  last: Member | null;
  /** Of the record that the index has so far, below 1; null = all of it. */
  share: number | null;
}

export interface FacetsRequest {
  kind: 'facets';
  query: Query | null;
  fields: readonly FieldName[];
  limit: number;
}

export interface FacetsResponse {
  facets: Facet[];
  matches: MatchCounts;
  /** @see RowsResponse */
  share?: number;
}

export interface FixesRequest {
  kind: 'fixes';
  query: Query | null;
  offset: number;
  limit: number;
}

export interface FixesResponse {
  fixes: ListedFix[];
  total: number;
  /** @see RowsResponse */
  share?: number;
}

/** The parts of the configuration that rules and vulnerability data depend on. */
export type ExplainConfig = Pick<Config, 'fingerprint' | 'workspace' | 'vulndb'>;

export interface ExplainRequest {
  kind: 'explain';
  scanId: string;
  endpoint: PortEndpoint;
  config: ExplainConfig;
}

export interface CoverageRequest {
  kind: 'coverage';
  summary: Pick<SummaryRow, 'addresses_scanned' | 'excluded'>;
  warnings: ScanWarning[];
  stages: StageRecord[];
}

export interface CoverageResponse extends Coverage {
  /** @see RowsResponse */
  share?: number;
}

/** Builds the index, without a response before it stands. */
export interface PrepareRequest {
  kind: 'prepare';
}

export type IndexRequest =
  | RowsRequest
  | FacetsRequest
  | FixesRequest
  | ExplainRequest
  | CoverageRequest
  | PrepareRequest;

export interface IndexResponses {
  rows: RowsResponse;
  facets: FacetsResponse;
  fixes: FixesResponse;
  explain: Explanation;
  coverage: CoverageResponse;
  prepare: null;
}

/** To the thread. */
export type ToIndexThread =
  | { type: 'request'; id: number; scan: IndexedScan; request: IndexRequest; deadlineMs: number }
  | { type: 'abort'; id: number }
  /** The scan is deleted. */
  | { type: 'forget'; file: string }
  /** Somebody follows the scan, without a request at the moment. */
  | { type: 'watched'; file: string }
  /** The thread ends by itself. */
  | { type: 'close' };

/** An error, across the border of a thread. `code` is null for one that no user caused. */
export interface IndexFailure {
  code: string | null;
  message: string;
  details: Record<string, unknown>;
  stack: string | null;
}

/** From the thread. `size`: rows of the index; `idle`: nothing is being built either. */
export type FromIndexThread =
  | { type: 'response'; id: number; response: IndexResponses[keyof IndexResponses]; size: number }
  | { type: 'failed'; id: number; error: IndexFailure }
  | { type: 'idle' }
  | { type: 'busy' };
