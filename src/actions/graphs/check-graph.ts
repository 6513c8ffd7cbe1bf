import { featuresOfModules, type LicenseFeature } from '../../domain/license.ts';
import { type Graph, type GraphIssue, loadGraph, maxGraphBytes } from '../../engine/graph/graph.ts';
import { localFileIssues } from '../../engine/graph/local-files.ts';
import { SafeYaml } from '../../engine/graph/safe-yaml.ts';
import { validateGraph } from '../../engine/graph/validate.ts';
import type { Registry } from '../../engine/registry.ts';
import { edgeCount, type GraphView, graphView, maxShownEdges } from './graph-view.ts';

/** A graph file with everything that is wrong with it. */
export interface CheckedGraph {
  graph: Graph;
  /** False if the file is malformed: its graph is incomplete then, and its nodes were not checked. */
  readable: boolean;
  errors: GraphIssue[];
  warnings: GraphIssue[];
}

/** @param fallbackName of a graph whose file names none */
export function checkGraph(text: string, fallbackName: string, registry: Registry): CheckedGraph {
  const { graph, issues } = loadGraph(text, fallbackName);
  // References between nodes cannot be checked while the file is malformed.
  if (issues.length > 0) return { graph, readable: false, errors: issues, warnings: [] };
  return { graph, readable: true, ...validateGraph(graph, registry) };
}

/** A problem as clients see it. Lines and columns start with 1. */
export interface GraphProblem {
  severity: 'error' | 'warning';
  type: string;
  line: number;
  column: number;
  /** `instance_id`; null for a problem of the file. */
  node: string | null;
  field: string | null;
  message: string;
  /** What to do about it, in words. */
  fix?: string;
}

/** The verdict on a graph file. Plain data. */
export interface GraphVerdict {
  valid: boolean;
  /** In the order of the file. */
  problems: GraphProblem[];
  /** Null if the file is malformed, or too large to draw. */
  graph: GraphView | null;
}

/** Problems that a verdict lists; further ones are counted. */
const maxProblems = 200;
/** Length of a message: it may contain names of the file. */
const maxMessage = 1000;

/** A graph file of a client. */
export interface GraphFile {
  text: string;
  /** Of a graph whose file names none. */
  name: string;
  /** Whether the file must name no other graph. */
  isNamed: boolean;
}

/** @param features that licenses permit here; undefined = all */
export function graphVerdict(
  file: GraphFile,
  registry: Registry,
  features?: readonly LicenseFeature[],
): GraphVerdict {
  const checked = checkGraph(file.text, file.name, registry);
  const { graph, readable } = checked;
  const errors = [
    ...nameIssues(file, checked),
    ...checked.errors,
    ...localFileIssues(graph, registry),
    ...licenseIssues(graph, features),
  ];
  const drawable = readable && edgeCount(graph) <= maxShownEdges;
  return {
    valid: errors.length === 0,
    problems: listed([
      ...errors.map((issue) => problemOf('error', issue)),
      ...checked.warnings.map((issue) => problemOf('warning', issue)),
    ]),
    graph: drawable ? graphView(graph, registry) : null,
  };
}

function nameIssues({ text, name, isNamed }: GraphFile, { graph, readable }: CheckedGraph): GraphIssue[] {
  if (!isNamed || !readable || graph.name === name) return [];
  const yaml = new SafeYaml(text, maxGraphBytes, 'a list "nodes"');
  const place = yaml.placeOf(yaml.root?.get('name', true));
  const message = `the graph is named "${graph.name}", but is saved as "${name}"`;
  return [{ type: 'name', message, node_id: null, field: 'name', fix: `write name: ${name}`, ...place }];
}

function licenseIssues({ nodes }: Graph, features?: readonly LicenseFeature[]): GraphIssue[] {
  if (features === undefined) return [];
  return nodes.flatMap((node) =>
    featuresOfModules([node.moduleType])
      .filter((feature) => !features.includes(feature))
      .map((feature) => ({
        type: 'license',
        message: `${node.moduleType} requires a license for ${feature}`,
        node_id: node.instanceId,
        field: 'module_type',
        fix: null,
        ...node.positionOf('module_type'),
      })),
  );
}

function problemOf(severity: GraphProblem['severity'], issue: GraphIssue): GraphProblem {
  const { type, line, column, node_id: node, field, message, fix } = issue;
  return {
    severity,
    type,
    line,
    column,
    node: node === null ? null : cut(node, 100),
    field: field === null ? null : cut(field, 100),
    message: cut(message, maxMessage),
    ...(fix !== null && { fix: cut(fix, maxMessage) }),
  };
}

/** Errors come first if not all fit. */
function listed(problems: GraphProblem[]): GraphProblem[] {
  const shown = problems.slice(0, maxProblems).toSorted((a, b) => a.line - b.line || a.column - b.column);
  const left = problems.length - shown.length;
  const last = shown.at(-1);
  if (left === 0 || !last) return shown;
  const rest = { ...last, type: 'size', node: null, field: null, message: `${left} more problems` };
  delete rest.fix;
  return [...shown, rest];
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}…`;
}
