import { fstatSync } from 'node:fs';
import type { LoadedConfig } from '../../config/load.ts';
import type { Client } from '../session/client.ts';
import {
  clientOf,
  namedClient,
  requireServer,
  serverInCharge,
  trustFlags,
} from '../session/server-choice.ts';
import { graphNamesShape } from '../session/server-responses.ts';
import { readConfig } from '../session/session.ts';
import { usage } from '../terminal/failure.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { checkOutputFile, chooseOutput, note, rejectBinary } from '../terminal/output.ts';
import type { CliWiring } from '../wiring.ts';
import { type ScanCommand, type ScanFlags, submissionOf } from './submission.ts';

/** `portolan scan`: decides where the scan runs. @returns the exit code */
export async function scan(
  positional: string[],
  flags: ScanFlags,
  global: GlobalFlags,
  wiring: CliWiring,
): Promise<number> {
  const [output, ...copies] = outputsOf(flags);
  if (flags.compareWith !== undefined && !flags.wait)
    throw usage('--compare-with waits for the end of the scan and cannot be combined with --no-wait');
  if (flags.failOnChange && flags.compareWith === undefined)
    throw usage('--fail-on-change needs a scan to compare with: --compare-with ID');
  const isNamed = positional.length > 0 || (flags.targets ?? flags.targetFile) !== undefined;
  const submission = await submissionOf(isNamed || !isPiped() ? positional : ['-'], flags);
  await checkReportFlags(output.format, flags);
  rejectBinary(output.file, output.format);
  for (const { file } of [output, ...copies]) if (file !== null) await checkOutputFile(file);
  noteHabits(flags, global);
  const order = { submission, dag: flags.dag, output, copies, flags: { ...global, ...flags } };

  if (flags.schedule !== undefined) {
    if (flags.plugin !== undefined)
      throw usage(
        '--plugin goes along with one scan, not with a schedule',
        'portolan plugin install on the machine of the server',
      );
    if (flags.dag !== undefined && !/^[\w-]+$/.test(flags.dag))
      throw usage(
        '--dag FILE goes along with one scan, not with a schedule',
        `portolan dag install ${flags.dag}, then --dag NAME`,
      );
    const { scheduleScan } = await import('../jobs/schedule-scan.ts');
    return scheduleScan(order, await requireServer(flags, global), global);
  }
  const named = await namedClient(flags, global);
  if (named) return advisedOn(named, order);
  const loaded = await readConfig(logFlags(global));
  const inCharge = await serverInCharge(loaded.config);
  if (inCharge !== null) {
    await trustFlags(flags);
    return advisedOn(clientOf(inCharge, flags), order);
  }
  try {
    return await scanLocally(order, loaded, wiring);
  } catch (error) {
    const { withAdvice } = await import('./scan-advice.ts');
    const graphs = async () => {
      const { loadModuleCatalog } = await import('../session/session.ts');
      const { library, release } = await loadModuleCatalog(wiring, loaded.config);
      await release();
      return library.list().map(({ name }) => name);
    };
    throw await withAdvice(error, { flags, graphs, origin: (key) => loaded.origins.get(key) });
  }
}

/** -v and -vv say what the scan does; the log comes with -vvv. */
function logFlags({ verbose = 0, verbosity = verbose, ...global }: GlobalFlags): GlobalFlags {
  return verbosity < 3 ? global : { ...global, verbosity };
}

async function scanLocally(order: ScanCommand, loaded: LoadedConfig, wiring: CliWiring): Promise<number> {
  const { flags } = order;
  if (flags.dryRun) {
    const { dryRun } = await import('./local/local-scan.ts');
    return dryRun(order, loaded, wiring);
  }
  for (const name of ['pool', 'priority'] as const)
    if (flags[name] !== undefined) throw usage(`--${name} needs a server: pass --server, or start one`);
  if (!flags.wait) throw usage('--no-wait needs a server: pass --server, or start one');
  const { scanHere } = await import('./local/local-scan.ts');
  return scanHere(order, loaded, wiring);
}

/** @throws PortolanError `usage` for options of reports with another format */
async function checkReportFlags(format: string, { template, paper }: ScanFlags): Promise<void> {
  if (template === undefined && paper === undefined) return;
  const { requireReportFlags } = await import('../results/report-flags.ts');
  requireReportFlags(format, { template, paper });
}

async function advisedOn(client: Client, order: ScanCommand): Promise<number> {
  try {
    return await scanOn(client, order);
  } catch (error) {
    const { withAdvice } = await import('./scan-advice.ts');
    const graphs = async () => {
      const { dags } = await client.call('GET', '/api/v1/dags', graphNamesShape);
      return dags.map(({ name }) => name);
    };
    throw await withAdvice(error, { flags: order.flags, graphs, origin: () => undefined });
  }
}

async function scanOn(client: Client, order: ScanCommand): Promise<number> {
  const { dryRunOnServer, scanOnServer } = await import('./remote-scan.ts');
  return order.flags.dryRun ? dryRunOnServer(order, client) : scanOnServer(order, client);
}

/** Whether stdin is a pipe or a file: then a scan without targets reads them there. */
function isPiped(): boolean {
  try {
    const stdin = fstatSync(0);
    return stdin.isFIFO() || stdin.isFile() || stdin.isSocket();
  } catch {
    return false;
  }
}

/** What a flag of nmap does otherwise here; with -v also what needs no flag here. */
function noteHabits({ habits }: ScanFlags, { quiet, verbose = 0, verbosity = verbose }: GlobalFlags): void {
  if (habits === undefined || quiet) return;
  for (const text of habits.notes) note(`note: ${text}`);
  if (verbosity > 0) for (const text of habits.always) note(`note: ${text}`);
}

type Output = ReturnType<typeof chooseOutput>;

/** The result, and the files that flags of nmap such as -oX ask for beside it. */
function outputsOf(flags: ScanFlags): [Output, ...Output[]] {
  const named = (flags.habits?.outputs ?? []).map(({ file, format }) =>
    chooseOutput({ output: pathOf(file), format }),
  );
  const isNamed = (flags.output ?? flags.outputFile ?? flags.format) !== undefined;
  const [first, ...rest] = named;
  if (first === undefined || isNamed) return [outputOf(flags), ...named];
  return [first, ...rest];
}

/** A file of the name of a format is no format behind -oX. */
function pathOf(file: string): string {
  return file === '-' || file.includes('/') ? file : `./${file}`;
}

function outputOf(flags: ScanFlags): ReturnType<typeof chooseOutput> {
  if (flags.outputFile === undefined) return chooseOutput(flags);
  const { file, format } = chooseOutput({
    output: `./${flags.outputFile}`,
    format: flags.format ?? wordOf(flags.output),
  });
  return { file: file === null ? null : flags.outputFile, format };
}

/** `-o json --output-file f`: the value of -o is the format. */
function wordOf(output: string | undefined): string | undefined {
  if (output === undefined) return undefined;
  const { file, format } = chooseOutput({ output });
  if (file === null) return format;
  throw usage('--output and --output-file name different files');
}
