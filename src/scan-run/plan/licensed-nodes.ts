import type { Config } from '../../config/schema.ts';
import { PortolanError } from '../../domain/errors.ts';
import { featuresOfModules } from '../../domain/license.ts';
import type { Plan } from '../../engine/graph/plan.ts';
import type { ModuleDefinition } from '../../engine/module.ts';
import { type License, readLicense } from '../../workspace/license/read-license.ts';

/**
 * Where licenses are enforced: a plan in which nodes fail whose module needs a license that is gone since the submission; the scan goes on without
 * them.
 */
export async function withLicensedNodes(
  plan: Plan,
  config: Pick<Config, 'license' | 'workspace'>,
): Promise<Plan> {
  const names = plan.nodes.map(({ definition }) => definition.name);
  if (featuresOfModules(names).length === 0) return plan;
  const license = await readLicense(config);
  const nodes = plan.nodes.map((node) => ({ ...node, definition: licensed(node.definition, license) }));
  return { ...plan, nodes };
}

function licensed(definition: ModuleDefinition, license: License): ModuleDefinition {
  try {
    license.demandModules([definition.name]);
    return definition;
  } catch (error) {
    if (!(error instanceof PortolanError)) throw error;
    return {
      ...definition,
      create: () => ({ ...definition.create(), execute: () => Promise.reject(error) }),
    };
  }
}
