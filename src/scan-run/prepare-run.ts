import { PortolanError } from '../domain/errors.ts';
import type { ScanRequest } from '../domain/scan.ts';
import type { ShardPart } from '../domain/shard.ts';
import { parseTargets, type Target } from '../domain/targets/target.ts';
import type { Plan } from '../engine/graph/plan.ts';
import type { SavedState } from '../engine/node.ts';
import type { EarlierRun } from '../engine/run.ts';
import { rawObstacle } from '../net/packets/linux/rights.ts';
import { recordIn } from '../workspace/record/folder-record.ts';
import { planScan } from './plan/plan-scan.ts';
import { type PreparedTargets, prepareTargets } from './prepare-targets.ts';
import type { ResultRecorder } from './results/record-results.ts';
import { restoreResults } from './results/restore-results.ts';
import type { RunContext } from './run-context.ts';

/** Types and names of modules that need the whole scan. */
const ofWholeScans = ['reporter', 'compliance_evaluator'];

/** @throws PortolanError `permission` for raw packets that were requested and that this machine does not allow */
export async function planRun({ input }: RunContext): Promise<Plan> {
  const { request, config, catalogue, part } = input;
  requireRights(request);
  const plan = await planScan(request, config, catalogue, part ? ofWholeScans : []);
  if (!config.license.enforce) return plan;
  const { withLicensedNodes } = await import('./plan/licensed-nodes.ts');
  return await withLicensedNodes(plan, config);
}

/** Plugins start while names are resolved; other modules prepare nothing in the process of a scan. */
export function preparePlugins({ input, modules }: RunContext, { nodes }: Plan): void {
  const plugins = nodes.filter(({ definition }) => definition.producer);
  if (plugins.length > 0) modules.prepare(plugins, parseTargets(input.request.targets).addresses);
}

/** The targets of the scan, or of the shard of it that runs here. */
export async function targetsOfRun({ input, resolve }: RunContext): Promise<PreparedTargets> {
  const { request, config, part } = input;
  const prepared = await prepareTargets(request, config, resolve, part);
  return part ? ofPart(prepared, part) : prepared;
}

/** Reads back what an interrupted run left behind. @returns null when there was none */
export async function restoreEarlier(
  { input, evaluation }: RunContext,
  plan: Plan,
  recorder: ResultRecorder,
): Promise<EarlierRun | null> {
  const { folder, evaluated } = input;
  const earlier = await restoreResults(folder);
  if (!earlier) return null;
  const isEvaluated = Boolean(evaluated) && (await evaluation.match(evaluated ?? []));
  for await (const row of recordIn(folder).rows()) await recorder.recall(row);
  return isEvaluated ? withoutEvaluation(earlier, plan) : earlier;
}

/** Explicitly requested raw packets have no fallback. */
function requireRights({ options }: ScanRequest): void {
  const obstacle = options.scan_type === 'syn' ? rawObstacle() : null;
  if (obstacle !== null) throw new PortolanError('permission', `scan_type syn: ${obstacle}`);
}

/** The owner of the scan has applied its rules: what is removed here, this machine does not permit. */
function ofPart(whole: PreparedTargets, part: ShardPart): PreparedTargets {
  const prepared = withNames(whole, part.hostnames);
  if (prepared.excluded === 0n) return prepared;
  const message =
    'a worker skipped addresses that its own scanner.scope or scanner.blocklist forbids; they are not covered';
  const others = prepared.warnings.filter(({ code }) => code !== 'out_of_scope');
  return { ...prepared, warnings: [...others, { code: 'out_of_scope', message }] };
}

/** The owner of the scan resolved the names. */
function withNames(prepared: PreparedTargets, named: ShardPart['hostnames']): PreparedTargets {
  const hostnames = new Map(Object.entries(named).filter(([ip]) => prepared.addresses.has(ip)));
  const targets = [...hostnames].flatMap(([ip, names]) =>
    names.map((value): Target => ({ value, kind: 'hostname', ip })),
  );
  return { ...prepared, hostnames, targets: [...prepared.targets, ...targets] };
}

/** Only the modules for the whole scan are left to run. */
function withoutEvaluation(earlier: EarlierRun, plan: Plan): EarlierRun {
  const done = plan.nodes.filter(({ definition, skipped }) => !skipped && !isOfWholeScans(definition));
  const completed: SavedState = { completed: true, done: 0, state: null };
  const states = done.map(({ instanceId }) => [instanceId, completed] as const);
  return { ...earlier, states: new Map([...states, ...earlier.states]) };
}

function isOfWholeScans({ type, name }: { type: string; name: string }): boolean {
  return ofWholeScans.includes(type) || ofWholeScans.includes(name);
}
