import { parseQuery } from '../../domain/query/parse-query.ts';
import type { Query } from '../../domain/query/query.ts';
import { QueryProblem } from '../../domain/query/query-problem.ts';
import type { HostRow } from '../../domain/result.ts';
import type { ScanWarning } from '../../domain/scan.ts';
import { canonicalAddress } from '../../domain/targets/address.ts';
import type { RecordIndexes } from '../record-index/record-indexes.ts';
import type { PortEndpoint } from './explain-port.ts';
import { type ProbePlan, probePlan, type Silence, silenceOf } from './explain-silence.ts';
import { type CoverageInput, PlannedCoverage } from './scan-coverage.ts';

/** Why a scan has nothing about an endpoint, and what it sent to find out. */
export interface ScanSilence {
  silence: Silence;
  /** Null if the graph of the scan is no longer installed. */
  probes: ProbePlan | null;
}

/** @param host the host of the endpoint, if the record has it */
export async function scanSilence(
  input: CoverageInput,
  host: HostRow | null,
  place: PortEndpoint,
): Promise<ScanSilence> {
  const { scan, request, config, catalogue } = input;
  const silence = silenceOf(host, place, await PlannedCoverage.of(input));
  if (silence.state === 'down') {
    const errors = errorsAbout(place.host, scan.warnings);
    if (errors.length > 0) silence.errors = errors;
  }
  return { silence, probes: await probePlan(request, config, catalogue) };
}

/** Of warnings that concern several hosts only the first host is known. */
function errorsAbout(host: string, warnings: readonly ScanWarning[]): string[] {
  return warnings.flatMap(({ code, message, target }) => {
    if (code !== 'host_unreachable') return [];
    const [error = message, others] = message.split('; ');
    if (target === host) return [error];
    return others === undefined ? [] : [`perhaps ${error}, which came about ${target}; ${others}`];
  });
}

/** Of a host name that a query takes for nothing else. */
const namePattern = /^(?=.*[a-z])[\w.-]+$/i;

/** The row of a host, by address or name, in an index; null without one. */
export async function indexedHost(
  { scan, record }: Pick<CoverageInput, 'scan'> & { record: Parameters<RecordIndexes['scan']>[1] },
  name: string,
  indexes: RecordIndexes,
  signal?: AbortSignal,
): Promise<HostRow | null> {
  const host = canonicalAddress(name) ?? name;
  if (canonicalAddress(name) === null && !namePattern.test(name)) return null;
  const query = queryOf(host);
  if (query === null) return null;
  const page = { type: 'host', keys: [], offset: 0, limit: 1, after: null };
  const indexed = indexes.scan(scan.scan_id, record, scan.status);
  const { records } = await indexes.request(indexed, { kind: 'rows', query, ...page }, signal);
  const [row] = JSON.parse(records) as HostRow[];
  return row ?? null;
}

/** Null for what no query can name. */
function queryOf(host: string): Query | null {
  try {
    return parseQuery(`host:"${host}"`);
  } catch (error) {
    if (error instanceof QueryProblem) return null;
    throw error;
  }
}
