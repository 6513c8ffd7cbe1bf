import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { LoadedConfig } from '../../../config/load.ts';
import type { Config } from '../../../config/schema.ts';
import { PortolanError } from '../../../domain/errors.ts';
import { newScanId, type ScanRequest } from '../../../domain/scan.ts';
import { parseTargets } from '../../../domain/targets/target.ts';
import { ModuleLifecycle } from '../../../engine/lifecycle.ts';
import { requireEgress } from '../../../scan-run/egress-choice.ts';
import { type DecidedRequest, decideRequest } from '../../../scan-run/plan/decide-request.ts';
import { checkModuleDefaults } from '../../../scan-run/plan/module-defaults.ts';
import { type ModuleCatalog, planScan, readGraphFile } from '../../../scan-run/plan/plan-scan.ts';
import type { Submission } from '../../../scan-run/plan/submission.ts';
import { type CommandCatalog, loadModuleCatalog, noteProblems } from '../../session/session.ts';
import { usage } from '../../terminal/failure.ts';
import { note } from '../../terminal/output.ts';
import type { CliWiring } from '../../wiring.ts';
import { isProfileFile, withProfileFile } from '../profile-choice.ts';
import { type ScanCommand, withBaseline } from '../submission.ts';
import { LocalScan, logFor } from './local-run.ts';
import { type LocalScanStore, openLocalScanStore } from './local-store.ts';

/** Runs a scan in this process. @returns the exit code */
export async function scanHere(
  order: ScanCommand,
  settings: LoadedConfig,
  wiring: CliWiring,
): Promise<number> {
  const {
    catalogue,
    decided: { request },
  } = await decide(order, settings, wiring);
  try {
    return await scanWith(order, settings, catalogue, request);
  } finally {
    await catalogue.release();
  }
}

async function scanWith(
  order: ScanCommand,
  settings: LoadedConfig,
  catalogue: ModuleCatalog,
  request: ScanRequest,
): Promise<number> {
  // Reject an invalid scan before anything is stored or sent.
  const plan = await planScan(request, settings.config, catalogue);
  await checkRules(request);
  await checkRawRight(request);
  const lifecycle = new ModuleLifecycle();
  const modules = lifecycle.forScan();
  const log = logFor(settings, note);
  try {
    // Slow preparation runs while workspace and store are opened.
    modules.prepare(plan.nodes, parseTargets(request.targets).addresses);
    return await inStore(order, settings, (chosen, place) =>
      new LocalScan(chosen, settings, { catalogue, modules }, request, place).run(),
    );
  } finally {
    await modules.end(log);
    await lifecycle.cleanUp(log);
  }
}

async function inStore(
  typed: ScanCommand,
  { config }: LoadedConfig,
  run: (order: ScanCommand, place: LocalScanStore) => Promise<number>,
): Promise<number> {
  const place = await openLocalScanStore(config);
  try {
    const order = await withBaseline(typed, (text) => findBaseline(place, text));
    const { template } = order.flags;
    if (template !== undefined) await checkTemplate(place, template);
    return await run(order, place);
  } finally {
    await place.close();
  }
}

/** Validates the rule file before the scan. @throws PortolanError `usage` */
async function checkRules({ options }: ScanRequest): Promise<void> {
  const file = options.fingerprint_rules;
  if (file === undefined) return;
  const { readSignatureFile } = await import('../../../knowledge/rules/signature-file.ts');
  await readSignatureFile(file).catch((error: Error) => {
    throw usage(`--fingerprint-rules: ${error.message}`);
  });
}

/** Before anything is stored. @throws PortolanError `permission` */
async function checkRawRight({ options }: ScanRequest): Promise<void> {
  if (options.scan_type !== 'syn') return;
  const { rawObstacle } = await import('../../../net/packets/linux/rights.ts');
  if (rawObstacle() === null) return;
  throw new PortolanError('permission', '-sS needs raw packets and CAP_NET_RAW is missing', {
    try: '-sT, or portolan doctor',
  });
}

/** @throws PortolanError before the scan rather than after it */
async function checkTemplate({ workspace }: LocalScanStore, name: string): Promise<void> {
  const { readTemplate } = await import('../../../report/template/read-template.ts');
  await readTemplate(workspace.templatesDir, name);
}

/** @returns its id */
async function findBaseline({ store }: LocalScanStore, text: string): Promise<string> {
  if (store === null) throw usage('--compare-with needs the workspace: omit --no-workspace');
  const { checkBaseline } = await import('../../results/compared-with.ts');
  const { showScan } = await import('../../../actions/scans/show-scan.ts');
  const { scanIn } = await import('../../session/scan-choice.ts');
  const whole = await store.whole();
  const scan = await showScan(whole, await scanIn(whole, text));
  checkBaseline(scan);
  return scan.scan_id;
}

/** Prints the plan of a scan; sends and stores nothing. @returns the exit code */
export async function dryRun(order: ScanCommand, settings: LoadedConfig, wiring: CliWiring): Promise<number> {
  const { previewScan } = await import('../../../actions/scans/preview-scan.ts');
  const { printPreview } = await import('../../results/plan-text.ts');
  const { catalogue, decided } = await decide(order, settings, wiring);
  await catalogue.release();
  await checkRules(decided.request);
  const preview = await previewScan(decided, settings.config, catalogue, null);
  printPreview(preview, order.output.format, order.flags);
  return 0;
}

/** The installed modules and profiles, with a profile file, and the request resolved with them. @throws PortolanError */
async function decide(
  order: ScanCommand,
  settings: LoadedConfig,
  wiring: CliWiring,
): Promise<{ catalogue: CommandCatalog; decided: DecidedRequest }> {
  const installed = await loadModuleCatalog(wiring, settings.config, {
    profile: onlyProfile(order, settings.config),
    plugins: order.flags.plugin ?? [],
  });
  try {
    return await decideWith(order, settings, installed);
  } catch (error) {
    await installed.release();
    throw error;
  }
}

async function decideWith(
  order: ScanCommand,
  settings: LoadedConfig,
  installed: CommandCatalog,
): Promise<{ catalogue: CommandCatalog; decided: DecidedRequest }> {
  noteProblems(installed);
  await demandOutput(order, installed);
  checkModuleDefaults(settings, installed.registry);
  const { profile } = order.flags;
  if (profile === undefined || !isProfileFile(profile)) {
    return { catalogue: installed, decided: await requestOf(order, settings.config, installed) };
  }
  const chosen = await withProfileFile(installed, profile);
  const submission = { ...order.submission, profile: chosen.profile };
  const catalogue = { ...installed, ...chosen.catalogue };
  return { catalogue, decided: await requestOf({ ...order, submission }, settings.config, catalogue) };
}

/** @throws PortolanError `license_required` */
async function demandOutput({ output }: ScanCommand, { license }: ModuleCatalog): Promise<void> {
  if (!license) return;
  const { requireFormatLicense } = await import('../../../actions/results/export-scan.ts');
  requireFormatLicense(output.format, license);
}

/** The name of the profile if the request needs no other graph, else null. */
function onlyProfile({ dag, flags, submission }: ScanCommand, { scanner }: Config): string | null {
  return (dag ?? submission.dag) === undefined && flags.compareWith === undefined
    ? (flags.profile ?? scanner.default_profile)
    : null;
}

/** @throws PortolanError `invalid_request` with every problem */
async function requestOf(
  order: ScanCommand,
  config: Config,
  { library, registry, plugins = [] }: ModuleCatalog,
): Promise<DecidedRequest> {
  const { dag, flags } = order;
  const submission = { ...order.submission } as Submission;
  const file = dag === undefined || library.get(dag) ? null : resolve(dag);
  if (dag !== undefined && file !== null && !dag.includes('.') && !existsSync(file))
    throw new PortolanError('usage', `no graph "${dag}"`, {
      fields: [{ field: 'dag', reason: 'no such graph' }],
    });
  if (dag !== undefined) submission.dag = file ?? dag;
  if (flags.ipv6) submission.options = { ...submission.options, ipv6_only: true };
  if (flags.fingerprintRules !== undefined) {
    submission.options = { ...submission.options, fingerprint_rules: resolve(flags.fingerprintRules) };
  }
  const choices = {
    profiles: library.profiles(),
    dags: library.list().map(({ name }) => name),
    installed: library,
    plugins,
    ...(file !== null && { graph: await readGraphFile(file, registry) }),
  };
  const createdAt = new Date();
  const origin = { scanId: newScanId(createdAt, randomBytes), createdAt, user: 'cli', graphFiles: true };
  const decided = decideRequest(submission, config, choices, origin);
  requireEgress(decided.request, config);
  return decided;
}
