import type { Registry } from '../registry.ts';
import type { Graph, GraphIssue } from './graph.ts';

/** A service reads no file that a graph names: the one who wrote it may be a client, and texts of errors would reveal its content. */
export function localFileIssues({ nodes }: Graph, registry: Registry): GraphIssue[] {
  return nodes.flatMap((node) => {
    const options = registry.get(node.moduleType)?.options ?? {};
    return Object.entries(options)
      .filter(([name, { IsFile }]) => IsFile && (node.config[name] ?? '') !== '')
      .map(([name]) => {
        const field = `config.${name}`;
        return {
          type: 'option',
          message: `${node.instanceId}: ${field} names a file, which only scans without a server read`,
          node_id: node.instanceId,
          field,
          fix: 'install the rules on the server: portolan fingerprint add',
          ...node.positionOf(field),
        };
      });
  });
}
