import { type Config, poolForm, poolPattern } from '../../config/schema.ts';
import { channelProblem } from '../../domain/channel.ts';
import { type FieldProblem, invalidRequest, PortolanError } from '../../domain/errors.ts';
import type { Protocol } from '../../domain/host.ts';
import { parsePorts } from '../../domain/port.ts';
import { defaultPriority, maxPriority, type ScanOptions, type ScanRequest } from '../../domain/scan.ts';
import type { TargetList } from '../../domain/targets/target.ts';
import { nearest } from '../../domain/text/nearest.ts';
import { parseDuration } from '../../domain/time/duration.ts';
import { type Graph, requestsVuln } from '../../engine/graph/graph.ts';
import type { GraphLibrary } from '../../engine/graph/graph-library.ts';
import { portCatalog } from '../../knowledge/ports.ts';
import type { Listener } from '../../net/local-listeners.ts';
import { channelsOfRules } from '../../notify/rules.ts';
import type { PlannedPlugin } from '../../plugins/plugin.ts';
import { malformedEgress } from '../egress-choice.ts';
import { applyProfile } from './apply-profile.ts';
import { checkTargets, maxListed, type SubmittedTargets, type TargetRejection } from './check-targets.ts';
import { namesOfOff, type PlannedGraph, pluginsFor } from './plan-plugins.ts';
import { quote } from './quote.ts';
import { serverTargetHint, serverTargets } from './server-targets.ts';
import { maxNameLength, maxTagLength, maxTags, type Submission } from './submission.ts';

/** Names available to a submission. */
export interface ScanChoices {
  profiles: readonly { name: string; aliases: readonly string[] }[];
  dags: readonly string[];
  /** Installed graphs and profiles. */
  installed?: GraphLibrary;
  /** Content of the graph file named by `dag` (command line only). */
  graph?: Graph;
  /** The graph file that came with the submission; `dag` has its name. */
  sent?: { graph: Graph; text: string };
  /** The loaded plugins. */
  plugins?: readonly PlannedPlugin[];
  /** Listeners of the requesting server. */
  listeners?: readonly Listener[];
}

export interface SubmissionOrigin {
  scanId: string;
  createdAt: Date;
  /** Token id, `cli`, or null. */
  user: string | null;
  /** Members of the submission that are no fields: `unknown field: x`. */
  unknownFields?: readonly string[];
  /** `dag` may name a file instead of an installed graph (command line only). */
  graphFiles?: boolean;
}

/** The pool that always exists. */
export const defaultPool = 'default';

/** Probe timeouts accepted by every module. */
const probeTimeoutMs = { least: 10, most: 300_000 };

/** Options available to every submission. */
export const optionNames = [
  'scan_type',
  'discover',
  'concurrency',
  'timeout',
  'retries',
  'max_duration',
  'min_severity',
  'compliance',
  'intrusive',
  'fail_fast',
  'exclude_ports',
  'discover_profile',
  'discovery_timeout',
  'discovery_retries',
  'fingerprint',
  'max_protocols',
  'interface',
  'source_ip',
  'source_port',
  'disable_plugins',
] as const satisfies (keyof ScanOptions)[];

/** A validated submission with its parsed targets. */
export interface DecidedRequest extends SubmittedTargets {
  request: ScanRequest;
}

/**
 * Validates a submission and applies all defaults. Resolves no names, expands no ranges.
 * @throws PortolanError `invalid_request` with all problems at once
 */
export function decideRequest(
  submitted: Submission,
  config: Config,
  choices: ScanChoices,
  origin: SubmissionOrigin,
): DecidedRequest {
  const problems: FieldProblem[] = [];
  const profile = resolveProfile(submitted.profile ?? config.scanner.default_profile, choices, problems);
  const { submission, probing } = applyProfile(choices.installed?.profile(profile), submitted, config);
  checkGraph(submission.dag, choices, origin, problems);
  const protocol = submission.options?.scan_type === 'udp' ? 'udp' : 'tcp';
  const ports = checkPorts(submission.ports, 'ports', protocol, problems);
  checkPorts(submission.options?.exclude_ports, 'options.exclude_ports', protocol, problems);
  checkBounds(submission, config, problems);
  checkOptions(submission.options ?? {}, problems);
  // Files were taken out where they count: they go along with one scan over REST.
  for (const field of ['graph', 'plugins'] as const)
    if (submission[field] !== undefined)
      problems.push({ field, reason: 'files go along with POST /api/v1/scans only; install them instead' });
  const switchedOff = submission.options?.disable_plugins ?? [];
  checkDisabled(switchedOff, choices, problems);
  const { targets, excluded, rejections } = checkTargets(submission, config, problems);
  if (problems.length === 0) {
    const tcpPorts = protocol === 'tcp' ? ports : null;
    const own = serverTargets(targets.items, tcpPorts, config.scanner, choices.listeners ?? []);
    rejections.push(...own.map((target) => ({ ...target, reason: 'out_of_scope', hint: serverTargetHint })));
    if (own.length > 0) problems.push({ field: 'targets', reason: 'out_of_scope' });
  }
  if (problems.length > 0) throw rejection(problems, rejections, targets);
  const off = [...new Set([...namesOfOff(choices.plugins ?? []), ...switchedOff])];
  const request: ScanRequest = {
    scan_id: origin.scanId,
    created_at: origin.createdAt.toISOString(),
    targets: submission.targets,
    exclude: submission.exclude ?? [],
    profile,
    vuln:
      submission.vuln ??
      (submission.options?.fingerprint !== false && evaluates(profile, submission.dag, choices)),
    notifications: channelsOf(submission, config),
    name: submission.name ?? null,
    tags: [...new Set(submission.tags ?? [])],
    ports,
    rate: submission.rate ?? config.scanner.rate,
    dag: submission.dag ?? null,
    graph: graphOf(submission.dag, choices),
    ...planned(profile, submission.dag, off, choices),
    pool: submission.pool ?? defaultPool,
    priority: submission.priority ?? defaultPriority,
    options: {
      ...decideOptions(submission.options ?? {}, origin),
      ...probing,
      ...(off.length > 0 && { disable_plugins: off }),
    },
    user: origin.user,
    ...(origin.unknownFields?.length && { ignored: origin.unknownFields }),
  };
  return { request, targets, excluded };
}

/** Whether a scan looks for vulnerabilities by default. */
function evaluates(profile: string, dag: string | undefined, choices: ScanChoices): boolean {
  const chosen = chosenGraph(profile, dag, choices);
  return profile === 'deep' || (chosen !== undefined && requestsVuln(chosen.graph));
}

function chosenGraph(
  profile: string,
  dag: string | undefined,
  { installed, graph, sent }: Pick<ScanChoices, 'installed' | 'graph' | 'sent'>,
): PlannedGraph | undefined {
  if (sent) return { graph: sent.graph, isBuiltin: false };
  const found = dag === undefined ? installed?.profile(profile) : installed?.get(dag);
  const entry = found && (installed?.get('dag' in found ? found.dag : found.name) ?? found);
  if (entry) return { graph: entry.graph, isBuiltin: entry.source === 'builtin' };
  return graph && { graph, isBuiltin: false };
}

/** A later version of a plugin does not affect an accepted scan. */
function planned(
  profile: string,
  dag: string | undefined,
  off: readonly string[],
  choices: ScanChoices,
): Pick<ScanRequest, 'plugins'> {
  const plugins = pluginsFor(chosenGraph(profile, dag, choices), choices.plugins ?? [], off);
  return plugins.length > 0 ? { plugins } : {};
}

function checkDisabled(names: readonly string[], { plugins = [] }: ScanChoices, problems: FieldProblem[]) {
  const known = plugins.map(({ file }) => file.name);
  for (const name of names.filter((each) => !known.includes(each))) {
    const guess = nearest(name, known);
    const hint = guess ? `did you mean ${guess}?` : `loaded: ${known.join(', ') || 'none'}`;
    problems.push({
      field: 'options.disable_plugins',
      reason: `no plugin ${quote(name)} is loaded; ${hint}`,
    });
  }
}

/** Builtin graphs change with the program only. */
function graphOf(dag: string | undefined, { installed, sent }: ScanChoices): string | undefined {
  if (sent) return sent.text;
  const entry = dag === undefined ? undefined : installed?.get(dag);
  return entry?.source === 'builtin' ? undefined : entry?.text;
}

/** Known options only: a stored request must not contain what a later version would apply. */
function decideOptions(given: ScanOptions, { graphFiles }: SubmissionOrigin): ScanOptions {
  const names: (keyof ScanOptions)[] = [
    ...optionNames,
    ...(graphFiles ? (['fingerprint_rules', 'ipv6_only'] as const) : []),
  ];
  return Object.fromEntries(
    names.filter((name) => given[name] !== undefined).map((name) => [name, given[name]]),
  );
}

function rejection(
  problems: FieldProblem[],
  rejections: TargetRejection[],
  targets: TargetList,
): PortolanError {
  const targetsOnly = rejections.length > 0 && problems.every(({ field }) => field === 'targets');
  const first = rejections[0];
  const count = targets.items.length + targets.problems.length;
  const rejected = `${rejections.length} of ${count} targets ${rejections.length === 1 ? 'was' : 'were'} rejected:`;
  const message =
    targetsOnly && first
      ? `${count === 1 ? 'target' : rejected} ${quote(first.value)}: ` +
        (first.reason === 'out_of_scope' ? `out of scope; ${first.hint}` : first.reason)
      : problems.map(({ field, reason }) => `${field}: ${reason}`).join('; ');
  const details =
    rejections.length > 0
      ? { targets: rejections.slice(0, maxListed), targets_refused: rejections.length }
      : {};
  return invalidRequest(message.slice(0, 2000), problems.slice(0, maxListed), details);
}

function resolveProfile(name: string, { profiles }: ScanChoices, problems: FieldProblem[]): string {
  const found = profiles.find((profile) => profile.name === name || profile.aliases.includes(name));
  if (found) return found.name;
  const known = profiles.map((profile) => profile.name);
  problems.push({
    field: 'profile',
    reason: `unknown profile ${quote(name)}; valid names: ${known.join(', ')}`,
  });
  return name;
}

function checkGraph(
  dag: string | undefined,
  { dags, sent }: ScanChoices,
  origin: SubmissionOrigin,
  problems: FieldProblem[],
) {
  if (dag === undefined || sent || dags.includes(dag) || origin.graphFiles) return;
  const guess = nearest(dag, dags);
  const hint = guess ? `did you mean ${guess}?` : `installed: ${dags.join(', ') || 'none'}`;
  problems.push({ field: 'dag', reason: `no graph ${quote(dag)} is installed; ${hint}` });
}

/** @param protocol default protocol of the ports */
function checkPorts(
  given: Submission['ports'],
  field: string,
  protocol: Protocol,
  problems: FieldProblem[],
): string | null {
  if (given === undefined) return null;
  const spec = Array.isArray(given) ? given.join(',') : given;
  try {
    parsePorts(spec, portCatalog, protocol);
  } catch (error) {
    if (!(error instanceof PortolanError)) throw error;
    const fields = error.details['fields'] as FieldProblem[] | undefined;
    problems.push(...(fields ?? [{ field, reason: error.message }]).map(({ reason }) => ({ field, reason })));
  }
  return spec;
}

function checkBounds(submission: Submission, config: Config, problems: FieldProblem[]): void {
  const { rate, pool, priority = defaultPriority, name, tags } = submission;
  const maxRate = config.scanner.max_rate;
  const isWrong = typeof rate === 'number' && (!Number.isSafeInteger(rate) || rate < 1 || rate > maxRate);
  if (isWrong) {
    problems.push({
      field: 'rate',
      reason: `must be auto, or a whole number from 1 to ${maxRate} (scanner.max_rate)`,
    });
  }
  checkPool(pool, config, problems);
  if (!Number.isInteger(priority) || priority < 0 || priority > maxPriority) {
    problems.push({ field: 'priority', reason: `must be a whole number from 0 to ${maxPriority}` });
  }
  if (name && name.length > maxNameLength) {
    problems.push({ field: 'name', reason: `must have at most ${maxNameLength} characters` });
  }
  if ((tags?.length ?? 0) > maxTags || tags?.some((tag) => tag.length > maxTagLength)) {
    problems.push({ field: 'tags', reason: `at most ${maxTags} tags of at most ${maxTagLength} characters` });
  }
  if (name && hasControls(name))
    problems.push({ field: 'name', reason: 'must not contain control characters' });
  if (tags?.some((tag) => tag === '' || hasControls(tag))) {
    problems.push({ field: 'tags', reason: 'a tag must not be empty or contain control characters' });
  }
  for (const channel of submission.notifications ?? []) checkChannel(channel, problems);
}

/** Without configured pools, any pool name is valid. */
function checkPool(pool: string | undefined, { workers }: Config, problems: FieldProblem[]): void {
  if (pool === undefined || pool === defaultPool) return;
  if (workers.pools === null) {
    if (poolPattern.test(pool)) return;
    problems.push({ field: 'pool', reason: `${quote(pool)} is not a pool name; use ${poolForm}` });
  } else if (!Object.hasOwn(workers.pools, pool)) {
    const known = [...new Set([defaultPool, ...Object.keys(workers.pools)])].slice(0, maxListed);
    problems.push({ field: 'pool', reason: `unknown pool ${quote(pool)}; valid names: ${known.join(', ')}` });
  }
}

function checkChannel(channel: string, problems: FieldProblem[]): void {
  const reason = channelProblem(channel);
  if (reason !== null) problems.push({ field: 'notifications', reason: `${quote(channel)} ${reason}` });
}

/** Without channels in the submission, the default ones; and those of the rules. */
export function channelsOf({ notifications = [] }: Submission, config: Config): string[] {
  const named = notifications.length > 0 ? notifications : config.notifications.default_channels;
  return [...new Set([...named, ...channelsOfRules(config.notifications)])];
}

function checkOptions(options: ScanOptions, problems: FieldProblem[]): void {
  for (const name of ['timeout', 'max_duration', 'discovery_timeout'] as const) {
    const text = options[name];
    if (text !== undefined && !((parseDuration(text) ?? 0) > 0)) {
      problems.push({
        field: `options.${name}`,
        reason: `${quote(text)} is not a duration such as 3s or 1h30m`,
      });
    }
  }
  for (const name of ['timeout', 'discovery_timeout'] as const) {
    const ms = parseDuration(options[name] ?? '') ?? 0;
    if (ms > 0 && (ms < probeTimeoutMs.least || ms > probeTimeoutMs.most)) {
      problems.push({ field: `options.${name}`, reason: 'must be from 10ms to 5m' });
    }
  }
  problems.push(...malformedEgress(options));
}

function hasControls(text: string): boolean {
  return /\p{Cc}/u.test(text);
}
