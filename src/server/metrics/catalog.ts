/** How to combine the values of several servers on one database. */
export type AcrossServers =
  /** Each server counts its own part. */
  | 'sum'
  /** Read from the shared database: equal on all servers. */
  | 'max'
  /** About one server or its machine. */
  | 'each';

interface CatalogEntry {
  type: 'counter' | 'gauge' | 'histogram';
  help: string;
  labels: readonly string[];
  across: AcrossServers;
  /** Upper bounds of a histogram, in the unit of its name. */
  buckets?: readonly number[];
}

/**
 * Every metric of `/metrics` except those of the Node.js process. Labels never contain text chosen by a client or a
 * target.
 */
export const metricCatalog = {
  service_scans_total: {
    type: 'counter',
    help: 'Scans that reached a final state.',
    labels: [],
    across: 'sum',
  },
  service_scans_finished_total: {
    type: 'counter',
    help: 'Scans that reached a final state, by state: completed, failed.',
    labels: ['status'],
    across: 'sum',
  },
  service_scan_duration_seconds: {
    type: 'histogram',
    help: 'Duration of scans that were started.',
    labels: [],
    across: 'sum',
    buckets: [60, 300, 900],
  },
  service_node_duration_seconds: {
    type: 'histogram',
    help: 'Run time of graph nodes, by module.',
    labels: ['module_type'],
    across: 'sum',
    buckets: [1, 10, 60, 300, 900, 3600],
  },
  service_findings_total: {
    type: 'counter',
    help: 'Findings of scans that reached a final state, by severity.',
    labels: ['severity'],
    across: 'sum',
  },
  service_packets_sent_total: {
    type: 'counter',
    help: 'Packets and connection attempts of scans, as counted against the rate.',
    labels: [],
    across: 'sum',
  },
  service_packet_rate: {
    type: 'gauge',
    help: 'Packets per second that the scans of this server send now, on all their workers.',
    labels: [],
    across: 'sum',
  },
  service_raw_packets_sent_total: {
    type: 'counter',
    help: 'Probes sent by the packet engine, retries included.',
    labels: [],
    across: 'sum',
  },
  service_raw_packets_retransmitted_total: {
    type: 'counter',
    help: 'Probes that the packet engine sent again, because no response had come.',
    labels: [],
    across: 'sum',
  },
  service_raw_packets_received_total: {
    type: 'counter',
    help: 'Packets for the packet engine that reached this machine, dropped ones included.',
    labels: [],
    across: 'sum',
  },
  service_raw_packets_dropped_total: {
    type: 'counter',
    help: 'Packets for the packet engine that the kernel dropped, because its buffer was full.',
    labels: [],
    across: 'sum',
  },
  service_probe_errors_total: {
    type: 'counter',
    help: 'Probes and lookups that failed, by kind: refused, timeout, unreachable, reset, tls, resolve, unsent.',
    labels: ['kind'],
    across: 'sum',
  },
  service_queue_length: {
    type: 'gauge',
    help: 'Waiting scans.',
    labels: [],
    across: 'max',
  },
  service_queue_oldest_seconds: {
    type: 'gauge',
    help: 'Time since the submission of the scan that waits longest, without paused ones; 0 when none waits.',
    labels: [],
    across: 'max',
  },
  service_queue_unserved_scans: {
    type: 'gauge',
    help: 'Unfinished scans in pools without a worker.',
    labels: [],
    across: 'max',
  },
  service_workers: {
    type: 'gauge',
    help: 'Workers that are alive, by state: active, idle; a worker process counts with its capacity.',
    labels: ['state'],
    across: 'max',
  },
  service_worker_utilization: {
    type: 'gauge',
    help: 'Fraction of workers that run a scan, 0 to 1.',
    labels: [],
    across: 'max',
  },
  service_alerts: {
    type: 'gauge',
    help: 'Alert rules of the server by state: inactive, pending, firing.',
    labels: ['state'],
    across: 'max',
  },
  service_alerts_failing: {
    type: 'gauge',
    help: 'Alert rules of the server whose condition cannot be evaluated.',
    labels: [],
    across: 'max',
  },
  service_outbox_length: {
    type: 'gauge',
    help: 'Notifications that are not sent yet.',
    labels: [],
    across: 'max',
  },
  service_notifications_total: {
    type: 'counter',
    help: 'Notifications by type of channel (slack, email, webhook) and outcome: delivered, failed, skipped.',
    labels: ['type', 'status'],
    across: 'sum',
  },
  service_result_store_up: {
    type: 'gauge',
    help: 'Whether the result store took the last results, 1 or 0; absent without a result store.',
    labels: [],
    across: 'each',
  },
  service_result_store_pending_scans: {
    type: 'gauge',
    help: 'Finished scans of this server that the result store does not hold yet; absent without one.',
    labels: [],
    across: 'sum',
  },
  service_result_store_moves_total: {
    type: 'counter',
    help: 'Attempts to move the results of a scan to the result store, by outcome: stored, failed.',
    labels: ['status'],
    across: 'sum',
  },
  service_vulndb_age_seconds: {
    type: 'gauge',
    help: 'Time since the last import or sync of vulnerability data; absent when there was none.',
    labels: [],
    across: 'each',
  },
  service_workspace_bytes: {
    type: 'gauge',
    help: 'Size of all scans in bytes.',
    labels: [],
    across: 'max',
  },
  service_free_space_bytes: {
    type: 'gauge',
    help: 'Free space on the disk of the workspace in bytes.',
    labels: [],
    across: 'each',
  },
  service_http_requests_total: {
    type: 'counter',
    help: 'Responses of the REST and gRPC API by route and HTTP status.',
    labels: ['route', 'status'],
    across: 'sum',
  },
  service_http_request_duration_seconds: {
    type: 'histogram',
    help: 'Time from a request to the end of its response, without streamed responses.',
    labels: [],
    across: 'sum',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  },
  service_build_info: {
    type: 'gauge',
    help: 'The version of this build; always 1.',
    labels: ['version'],
    across: 'each',
  },
} as const satisfies Record<string, CatalogEntry>;

type Catalog = typeof metricCatalog;
type OfType<Type extends CatalogEntry['type']> = {
  [Name in keyof Catalog]: Catalog[Name]['type'] extends Type ? Name : never;
}[keyof Catalog];

export type CounterName = OfType<'counter'>;
export type GaugeName = OfType<'gauge'>;
export type HistogramName = OfType<'histogram'>;
export type LabelOf<Name extends keyof Catalog> = Catalog[Name]['labels'][number];
