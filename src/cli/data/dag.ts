import { Option } from 'commander';
import type { CheckedGraph } from '../../actions/graphs/check-graph.ts';
import { PortolanError } from '../../domain/errors.ts';
import type { Graph, GraphIssue } from '../../engine/graph/graph.ts';
import { loadInstalledRegistry } from '../session/command-plugins.ts';
import { type ServerFlags, serverOptions } from '../session/server-flags.ts';
import { loadInstalled, readConfigQuietly } from '../session/session.ts';
import type { CliCommand } from '../terminal/cli-command.ts';
import { countText } from '../terminal/draw/amounts.ts';
import { printable, printableJson, printableLines } from '../terminal/draw/printable.ts';
import type { GlobalFlags } from '../terminal/globals.ts';
import { note, oneText, print, writeResult } from '../terminal/output.ts';
import { formatOption } from '../terminal/output-options.ts';
import type { SourceProblem } from '../terminal/source-lines.ts';
import type { CliWiring } from '../wiring.ts';
import { graphDot, graphOut, nodeConfigText, readGraphText } from './graph-text.ts';

export function addDagCommand(program: CliCommand): void {
  const dag = program.command('dag').description('check, show and install graph files');
  dag
    .command('validate')
    .description('check a graph file: exit 0 valid, 1 errors, 2 warnings with --strict')
    .argument('<file>', 'YAML or JSON file')
    .option('--strict', 'treat warnings as errors')
    .option('--json', 'print the problems as JSON')
    .runs(() => validate);
  dag
    .command('show')
    .description('show the nodes of a graph file or of an installed graph')
    .argument('<file>', 'file, or name of an installed graph')
    .addOption(
      new Option('--format <format>', 'output format').choices(['text', 'dot', 'json']).default('text'),
    )
    .runs(() => show);
  dag
    .command('export')
    .description('print an installed graph as a file, to edit and use with scan --dag')
    .argument('<name>', 'name of an installed graph')
    .option('-o, --output <file>', 'output file (default: stdout)')
    .addOption(new Option('--format <format>', 'output format').choices(['yaml', 'json']).default('yaml'))
    .runs(() => exportGraph);
  dag
    .command('list')
    .description('list the installed graphs')
    .addOption(formatOption())
    .addOptions(serverOptions())
    .runs(() => list);
  dag
    .command('install')
    .description('install a graph file under its name, for scans and jobs; a running server has it at once')
    .argument('<file>', 'YAML or JSON file')
    .option('--force', 'replace the installed graph of that name')
    .addOptions(serverOptions())
    .runs(async () => (await import('./dag-install.ts')).installGraph);
  dag
    .command('remove')
    .description('delete an installed graph that no profile and no job names')
    .argument('<name>', 'name of an installed graph')
    .addOptions(serverOptions())
    .runs(async () => (await import('./dag-install.ts')).removeGraph);
}

/** @throws PortolanError when the file cannot be read */
async function checkFile(file: string, global: GlobalFlags, wiring: CliWiring): Promise<CheckedGraph> {
  const { config } = await readConfigQuietly(global);
  const [text, { checkGraph }, registry] = await Promise.all([
    readGraphText(file),
    import('../../actions/graphs/check-graph.ts'),
    loadInstalledRegistry(wiring, config),
  ]);
  return checkGraph(text, file.replace(/^.*\//, '').replace(/\.\w+$/, ''), registry);
}

async function validate(
  file: string,
  flags: { strict?: boolean; json?: boolean },
  global: GlobalFlags,
  wiring: CliWiring,
): Promise<number> {
  const { graph, errors, warnings } = await checkFile(file, global, wiring);
  const valid = errors.length === 0;
  if (valid) await checkLicense(graph, global);
  if (flags.json)
    print(printableJson({ valid, errors: errors.map(issueOut), warnings: warnings.map(issueOut) }));
  else {
    if (errors.length + warnings.length > 0) {
      const { problemLines } = await import('../terminal/source-lines.ts');
      print(
        problemLines([...errors.map(problemOf(file, 'error')), ...warnings.map(problemOf(file, 'warning'))]),
      );
    }
    if (valid) print(`${printable(file)}: ${countText(graph.nodes.length, 'node')}, valid\n`);
  }
  if (!valid) return 1;
  return flags.strict && warnings.length > 0 ? 2 : 0;
}

/** @throws PortolanError `license_required` for modules that need a license where licenses are enforced */
async function checkLicense({ nodes }: Graph, global: GlobalFlags): Promise<void> {
  const moduleTypes = nodes.map((node) => node.moduleType);
  const { featuresOfModules } = await import('../../domain/license.ts');
  if (featuresOfModules(moduleTypes).length === 0) return;
  const { config } = await readConfigQuietly(global);
  const { readLicense } = await import('../../workspace/license/read-license.ts');
  (await readLicense(config)).demandModules(moduleTypes);
}

function issueOut(issue: GraphIssue): Record<string, unknown> {
  const { type, message, node_id, field, line, column, fix } = issue;
  return { type, message, node_id, field, line, column, fix };
}

function problemOf(file: string, severity: 'error' | 'warning') {
  return ({ line, column, message, fix, node_id, field }: GraphIssue): SourceProblem => {
    const place = [node_id && `node "${node_id}"`, field].filter(Boolean).join(', ');
    return {
      file,
      line,
      column,
      severity,
      message: `${place && `${place}: `}${message}`,
      hint: fix ?? undefined,
    };
  };
}

/** `file:line:column: error: node "x", config.ports: message (fix)` */
function issueLine(file: string, severity: string, issue: GraphIssue): string {
  const place = [issue.node_id && `node "${issue.node_id}"`, issue.field].filter(Boolean).join(', ');
  const fix = issue.fix ? ` (${issue.fix})` : '';
  return printable(
    `${file}:${issue.line}:${issue.column}: ${severity}: ${place && `${place}: `}${issue.message}${fix}`,
  );
}

async function show(
  file: string,
  { format }: { format: string },
  global: GlobalFlags,
  wiring: CliWiring,
): Promise<number> {
  const found = await findGraph(file, global, wiring);
  for (const issue of found.errors) note(issueLine(file, 'error', issue));
  if (found.errors.length > 0) return 1;
  if (format === 'json') print(printableJson(graphOut(found.graph)));
  else if (format === 'dot') print(graphDot(found.graph));
  else await printGraph(found.graph, global);
  return 0;
}

async function printGraph({ name, description, nodes }: Graph, global: GlobalFlags): Promise<void> {
  const { printTable } = await import('../terminal/draw/print-table.ts');
  print(`${printable([name, description].filter(Boolean).join(': '))}\n\n`);
  printTable(
    [
      { head: 'NODE', cell: ({ instanceId }) => instanceId },
      { head: 'MODULE', cell: ({ moduleType }) => moduleType },
      { head: 'DEPENDS ON', cell: ({ dependsOn }) => dependsOn.join(', ') || null, over: 'wrap' },
      { head: 'CONFIG', cell: nodeConfigText, over: 'wrap' },
    ],
    nodes,
    global,
    [
      ['CONFIG', 24],
      ['DEPENDS ON', 24],
    ],
  );
}

/** A name without a slash or an extension can be an installed graph. */
async function findGraph(
  file: string,
  global: GlobalFlags,
  wiring: CliWiring,
): Promise<Pick<CheckedGraph, 'graph' | 'errors'>> {
  if (/^[\w-]+$/.test(file)) {
    const { library } = await loadInstalled(wiring, global);
    const installed = library.get(file);
    if (installed) return { graph: installed.graph, errors: [] };
  }
  return checkFile(file, global, wiring);
}

/** An installed graph as a file, to edit and use with `scan --dag`. */
async function exportGraph(
  name: string,
  flags: { format: string; output?: string },
  global: GlobalFlags,
  wiring: CliWiring,
): Promise<void> {
  const { library } = await loadInstalled(wiring, global);
  const entry = library.get(name);
  if (!entry) {
    const known = library.list().map((installed) => installed.name);
    throw new PortolanError('not_found', `unknown graph "${name}" (${known.join(', ')})`);
  }
  const text = flags.format === 'json' ? printableJson(graphOut(entry.graph)) : entry.text;
  if (flags.output === undefined) print(printableLines(text));
  else await writeResult(flags.output, oneText(text));
}

async function list(
  { format, ...flags }: ServerFlags & { format: string },
  global: GlobalFlags,
  wiring: CliWiring,
): Promise<void> {
  const { dags, problems } = await installedGraphs(flags, global, wiring);
  if (format === 'json') print(printableJson({ dags, problems }));
  else {
    const { printTable } = await import('../terminal/draw/print-table.ts');
    printTable(
      [
        { head: 'NAME', cell: ({ name }) => name },
        { head: 'NODES', cell: ({ nodes }) => nodes },
        { head: 'SOURCE', cell: ({ source }) => source },
        { head: 'DESCRIPTION', cell: ({ description }) => description, over: 'wrap' },
      ],
      dags,
      global,
      [['DESCRIPTION', 24]],
    );
  }
}

async function installedGraphs(flags: ServerFlags, global: GlobalFlags, wiring: CliWiring) {
  const { namedClient } = await import('../session/server-choice.ts');
  const client = await namedClient(flags, global);
  if (client) {
    const { listedGraphsShape } = await import('../session/server-responses.ts');
    return { ...(await client.call('GET', '/api/v1/dags', listedGraphsShape)), problems: [] };
  }
  const { library } = await loadInstalled(wiring, global);
  const dags = library.list().map(({ name, description, source, graph }) => ({
    name,
    description,
    source,
    nodes: graph.nodes.length,
  }));
  return { dags, problems: library.problems };
}
