import { createHash } from 'node:crypto';
import type { Producer } from '../../domain/producer.ts';
import { defineModule, type ModuleDefinition } from '../../engine/module.ts';
import type { PluginMetadata } from '../plugin.ts';
import type { GrpcLimits } from './describe-grpc.ts';
import type { GrpcEntry } from './module-client.ts';

/** The module of a plugin that runs on its own and is called over gRPC. It is outside of the sandbox and of the gate. */
export function grpcModule(
  entry: GrpcEntry,
  metadata: PluginMetadata,
  limits: GrpcLimits,
  producer: Producer = { name: entry.name, version: metadata.version, sha256: metadataHash(metadata) },
): ModuleDefinition {
  const { provides, unavailable } = metadata;
  const definition = defineModule({
    ...metadata,
    execute: async (ctx, data) => {
      if (unavailable !== undefined) return explainAbsence(entry, limits, ctx.signal);
      // Libraries of gRPC are loaded by scans that need them.
      const { runOverGrpc } = await import('./node-calls.ts');
      await runOverGrpc({ entry, limits, provides, ctx, data });
    },
  });
  return { ...definition, producer, ...(unavailable !== undefined && { unavailable }) };
}

/** A plugin over gRPC has no file that could be hashed: what stands for it is what it says about itself. */
export function metadataHash({ unavailable: _reason, ...metadata }: PluginMetadata): string {
  return createHash('sha256').update(JSON.stringify(metadata)).digest('hex');
}

/**
 * Stands for what a plugin that was never reached would say, under the name of its entry, so that a scan that needs it
 * fails that node only. Names of modules have no dashes.
 */
export function unavailableMetadata(entry: GrpcEntry, reason: string): PluginMetadata {
  return {
    name: entry.name.replaceAll('-', '_'),
    type: 'evaluation',
    version: '0.0.0',
    description: 'A gRPC plugin that was not reached.',
    options: {},
    requires: [],
    provides: [],
    unavailable: reason,
  };
}

/** @throws Error why the plugin cannot be reached now, or that it can */
async function explainAbsence(entry: GrpcEntry, limits: GrpcLimits, signal: AbortSignal): Promise<never> {
  const { describeGrpc } = await import('./describe-grpc.ts');
  const { name } = await describeGrpc(entry, limits, signal);
  throw new Error(
    `its plugin came up after the scan was planned, with the module ${name}: run the scan again`,
  );
}
