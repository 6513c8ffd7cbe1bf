import { PortolanError } from '../../domain/errors.ts';
import type { Graph } from '../../engine/graph/graph.ts';
import { printable } from '../terminal/draw/printable.ts';

/** A graph as JSON, which `dag validate` reads again. */
export function graphOut(graph: Graph): Record<string, unknown> {
  return {
    name: graph.name,
    description: graph.description,
    version: graph.version,
    nodes: nodesOut(graph),
  };
}

export function nodesOut(graph: Graph): Record<string, unknown>[] {
  return graph.nodes.map((node) => ({
    instance_id: node.instanceId,
    module_type: node.moduleType,
    config: node.config,
    depends_on: node.dependsOn,
  }));
}

/** `ports=22,80 banner=true` */
export function nodeConfigText({ config }: Graph['nodes'][number]): string {
  return Object.entries(config)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
}

/** Graphviz; names are quoted as JSON strings, which DOT reads the same way. */
export function graphDot(graph: Graph): string {
  const nodes = graph.nodes.map(
    (node) => `  ${dotText(node.instanceId)} [label=${dotText(`${node.instanceId}\n${node.moduleType}`)}];`,
  );
  const edges = graph.nodes.flatMap((node) =>
    node.dependsOn.map((before) => `  ${dotText(before)} -> ${dotText(node.instanceId)};`),
  );
  return `digraph ${dotText(graph.name)} {\n  rankdir=LR;\n  node [shape=box];\n${[...nodes, ...edges].join('\n')}\n}\n`;
}

function dotText(text: string): string {
  const lines = text.split('\n').map((line) => printable(line).replace(/["\\]/g, '\\$&'));
  return `"${lines.join('\\n')}"`;
}

/** @throws PortolanError when the file cannot be read */
export async function readGraphText(file: string): Promise<string> {
  const { open } = await import('node:fs/promises');
  const { maxGraphBytes } = await import('../../engine/graph/graph.ts');
  try {
    await using handle = await open(file, 'r');
    // Reading one byte more than allowed shows that a file is too large, whatever its size.
    const { buffer, bytesRead } = await handle.read(
      Buffer.alloc(maxGraphBytes + 1),
      0,
      maxGraphBytes + 1,
      null,
    );
    return new TextDecoder('utf-8', { fatal: true }).decode(buffer.subarray(0, bytesRead));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') {
      throw new PortolanError('not_found', `no file ${file}; portolan dag list shows the installed graphs`);
    }
    const reasons: Record<string, string> = {
      ERR_ENCODING_INVALID_ENCODED_DATA: 'not UTF-8 text',
      EISDIR: 'is a directory',
      EACCES: 'permission denied',
    };
    throw new PortolanError('conflict', `cannot read ${file}: ${reasons[code ?? ''] ?? message}`);
  }
}
