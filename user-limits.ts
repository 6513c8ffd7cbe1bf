/** The limits that users meet, with values from the sources; part of `npm run docs`. */
import { amountText, limitOf } from './internal-limits.ts';
import { type ConfigKey, configKeys } from './src/config/schema.ts';
import { formatDuration } from './src/domain/time/duration.ts';
import bannerGrabber from './src/modules/scanner/banner_grabber.ts';

interface UserLimit {
  what: string;
  /** A key of the configuration, of which the default counts; a constant: its file below src/ and name; or a text. */
  value: { key: string } | [file: string, name: string] | string;
  beyond: string;
  /** What changes it, where that is no key of the configuration; missing = built in. */
  change?: string;
}

const submission = 'scan-run/plan/submission.ts';
const checks = 'server/http/request/request-checks.ts';
const slots = 'server/access/request-slots.ts';
const threads = 'report/thread/report-threads.ts';

const userLimits: Record<string, UserLimit[]> = {
  'Scans and jobs': [
    {
      what: 'Items of `targets`, and of `exclude`',
      value: [submission, 'maxTargets'],
      beyond: '400 `invalid_request`; name networks instead of addresses',
    },
    {
      what: 'File of targets (`@file`, `--target-file`)',
      value: ['cli/scan/submission.ts', 'maxListBytes'],
      beyond: 'exit code 2',
    },
    {
      what: 'Separate ranges of addresses that octets such as `10.0-255.0-255.1` make',
      value: ['domain/targets/octet-ranges.ts', 'maxOctetIntervals'],
      beyond: '400 `invalid_request`; name whole networks',
    },
    {
      what: 'Addresses of a scan',
      value: { key: 'scanner.max_addresses' },
      beyond: '400 `invalid_request`, before anything is sent',
    },
    {
      what: 'Addresses of one host name',
      value: ['net/resolve.ts', 'maxAddressesPerName'],
      beyond: 'the others are not scanned; a warning counts them',
    },
    {
      what: 'Characters of the name of a scan',
      value: [submission, 'maxNameLength'],
      beyond: '400 `invalid_request`',
    },
    { what: 'Tags of a scan', value: [submission, 'maxTags'], beyond: '400 `invalid_request`' },
    { what: 'Characters of a tag', value: [submission, 'maxTagLength'], beyond: '400 `invalid_request`' },
    {
      what: 'Packets per second of a scan',
      value: { key: 'scanner.rate' },
      beyond: 'the scan waits; `auto` rises from 1,000 up to `scanner.max_rate`',
    },
    {
      what: 'Packets per second of all scans of a server',
      value: { key: 'scanner.max_rate' },
      beyond: 'the scans share it evenly; none gets more than its own rate',
    },
    {
      what: 'Kept bytes of one response or banner',
      value: amountText('maxBytes', Number(bannerGrabber.options.max_bytes?.Default)),
      beyond: 'cut, with `truncated: true`',
      change: 'option `max_bytes` of `banner_grabber`',
    },
    {
      what: 'Host names of one address, beside its first, that are requested as sites',
      value: amountText('maxSites', Number(bannerGrabber.options.max_sites?.Default)),
      beyond: 'not requested; the warning `names_left_out` counts and names them',
      change: 'option `max_sites` of `banner_grabber`',
    },
    { what: 'Scans that wait', value: { key: 'queue.max_jobs' }, beyond: '503 `queue_full`' },
    {
      what: 'Recurring jobs of a tenant',
      value: ['actions/jobs/submit-job.ts', 'maxSchedules'],
      beyond: '503 `queue_full`; cancel some first',
    },
  ],
  'Requests to the API': [
    {
      what: 'Body of a request',
      value: ['server/http/request/json-body.ts', 'maxBodyBytes'],
      beyond: '413 `payload_too_large`',
    },
    { what: 'Bytes of a URL', value: [checks, 'maxUrlLength'], beyond: '414 `uri_too_long`' },
    {
      what: 'All headers together',
      value: ['server/http/app.ts', 'maxHeaderBytes'],
      beyond: '431 `headers_too_large`',
    },
    {
      what: 'Targets of a scan in a list',
      value: ['domain/listed-scan.ts', 'maxListedTargets'],
      beyond: 'the first ones, with `targets_total`; fewer of long ones',
    },
    {
      what: 'Bytes of the name of a scan in a list',
      value: ['domain/listed-scan.ts', 'maxListedNameBytes'],
      beyond: 'cut, with `…` at the end',
    },
    {
      what: 'Bytes of the tags of a scan in a list',
      value: ['domain/listed-scan.ts', 'maxListedTagsBytes'],
      beyond: 'the first ones, with `tags_total`',
    },
    {
      what: 'Items of a page',
      value: ['actions/paging/list-page.ts', 'maxLimit'],
      beyond: 'a higher `limit` counts as this; follow `next_cursor`',
    },
    {
      what: 'Characters of a query',
      value: ['domain/query/parse-query.ts', 'maxQueryLength'],
      beyond: '400 `invalid_request`',
    },
    {
      what: 'Requests per minute and token',
      value: { key: 'server.api.rate_limit' },
      beyond: '429 `rate_limited` with `Retry-After`',
    },
    {
      what: 'Concurrent requests of a token',
      value: [slots, 'maxAtOnce'],
      beyond: 'the next ones wait',
    },
    {
      what: 'Waiting requests of a token',
      value: [slots, 'maxWaiting'],
      beyond: '429 `rate_limited`',
    },
    {
      what: 'Open event streams of a token',
      value: { key: 'server.streams.per_token' },
      beyond: '429 `rate_limited`',
    },
    {
      what: 'Open event streams of all clients',
      value: { key: 'server.streams.total' },
      beyond: '429 `rate_limited`',
    },
    {
      what: 'Invalid tokens from one address in a minute',
      value: ['server/access/auth.ts', 'maxFailedAttempts'],
      beyond: '429 `rate_limited` for that address',
    },
    {
      what: 'Lifetime of an `Idempotency-Key`',
      value: ['store/idempotency.ts', 'idempotencyKeyTtlMs'],
      beyond: 'the same key submits again',
    },
  ],
  'Files, plugins and rules': [
    {
      what: 'Configuration file',
      value: ['config/file.ts', 'maxFileBytes'],
      beyond: 'exit code 3; nothing starts',
    },
    {
      what: 'Graph file',
      value: ['engine/graph/graph.ts', 'maxGraphBytes'],
      beyond: 'rejected, with the reason',
    },
    {
      what: 'Profile file',
      value: ['engine/graph/profile-file.ts', 'maxProfileBytes'],
      beyond: 'rejected, with the reason',
    },
    {
      what: 'Tokens of a profile file (words, signs, ends of lines)',
      value: ['engine/graph/profile-file.ts', 'maxProfileTokens'],
      beyond: 'rejected, with the reason',
    },
    {
      what: 'Plugin package, packed and unpacked',
      value: ['plugins/package-archive.ts', 'maxPackageBytes'],
      beyond: 'not installed',
    },
    {
      what: 'Memory of a plugin',
      value: { key: 'plugins.limits.memory' },
      beyond: 'its node fails; the scan goes on',
    },
    {
      what: 'Run time of a plugin',
      value: { key: 'plugins.limits.timeout' },
      beyond: 'its node fails; the scan goes on',
    },
    {
      what: 'Output of a plugin at a time',
      value: { key: 'plugins.limits.output' },
      beyond: 'its node fails; the scan goes on',
    },
    {
      what: 'Items that a node of a plugin publishes',
      value: { key: 'plugins.limits.node_items' },
      beyond: 'dropped; a warning counts them',
    },
    {
      what: 'Size of these items as JSON',
      value: { key: 'plugins.limits.node_bytes' },
      beyond: 'dropped; a warning counts them',
    },
    {
      what: 'Items that all plugins of a scan, or of a shard of it, publish',
      value: { key: 'plugins.limits.scan_items' },
      beyond: 'dropped; a warning counts them',
    },
    {
      what: 'Size of those items as JSON',
      value: { key: 'plugins.limits.scan_bytes' },
      beyond: 'dropped; a warning counts them',
    },
    {
      what: 'Threads of a plugin',
      value: { key: 'plugins.limits.threads' },
      beyond: 'its node fails; the scan goes on',
    },
    {
      what: 'File of evaluation rules',
      value: ['plugins/rules/rule-reader.ts', 'maxRuleFileBytes'],
      beyond: 'rejected, with the reason',
    },
    {
      what: 'Evaluation rules of a scan',
      value: ['scan-run/catalogs/load-rules.ts', 'maxRules'],
      beyond: 'rejected, with the reason',
    },
  ],
  Reports: [
    {
      what: 'Reports that a server renders at a time',
      value: [threads, 'maxAtOnce'],
      beyond: 'the next ones wait',
    },
    {
      what: 'MiB of memory for one of them',
      value: [threads, 'maxReportMemory'],
      beyond: 'the report fails; export JSON or JSONL',
    },
    {
      what: 'Kinds of findings that a PDF shows in full',
      value: ['report/pdf/sections/findings.ts', 'maxEntries'],
      beyond: 'the index lists them; HTML and JSON have them in full',
    },
    {
      what: 'Hosts of a PDF with a block for each',
      value: ['report/pdf/sections/hosts.ts', 'maxBlocks'],
      beyond: 'a table lists them; HTML and JSON have all of them',
    },
  ],
};

/** Section -> rows: what, value, what happens beyond, what changes it. @throws Error if a value is not in the sources */
export function userLimitRows(): Map<string, string[][]> {
  return new Map(
    Object.entries(userLimits).map(([section, limits]) => [
      section,
      limits.map(({ what, value, beyond, change }) => {
        const key = typeof value === 'object' && 'key' in value ? `\`${value.key}\`` : '-';
        return [what, valueText(value), beyond, change ?? key];
      }),
    ]),
  );
}

function valueText(value: UserLimit['value']): string {
  if (typeof value === 'string') return value;
  if (!('key' in value)) return amountText(value[1], limitOf(...value));
  const key = configKeys.find(({ path }) => path === value.key);
  if (!key) throw new Error(`config key ${value.key} does not exist`);
  return defaultText(key);
}

function defaultText({ default: value, type }: ConfigKey): string {
  if (value === null) return 'not limited';
  if (typeof value !== 'number') return String(value);
  return type === 'duration' ? formatDuration(value) : value.toLocaleString('en');
}
