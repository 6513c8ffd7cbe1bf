import type { PluginMetadata } from '../plugin.ts';
import { checkMetadata } from '../plugin-metadata.ts';
import type { Metadata } from './gen/module_pb.ts';
import { type GrpcEntry, ModuleClient } from './module-client.ts';

/** Limits of a plugin that is reached over gRPC. */
export interface GrpcLimits {
  /** Maximum size of a response (`plugins.limits.output`), bytes. */
  output: number;
}

/** A plugin has no longer than this to say what it is, milliseconds. */
const describeMs = 5000;

/**
 * Connects once and asks a plugin for its health and its module.
 * @throws Error with the cause; the reason of the signal if that aborts
 */
export async function describeGrpc(
  entry: GrpcEntry,
  limits: GrpcLimits,
  signal: AbortSignal,
): Promise<PluginMetadata> {
  const hurried = { ...entry, timeout: Math.min(entry.timeout, describeMs) };
  const client = await ModuleClient.open(hurried, { outputBytes: limits.output, persistent: false });
  try {
    await client.checkHealth(signal);
    return metadataOf(await client.metadata(signal));
  } finally {
    client.close();
  }
}

function metadataOf({
  name,
  description,
  version,
  type,
  requires,
  provides,
  configSchema,
}: Metadata): PluginMetadata {
  const options = configSchema.length === 0 ? {} : parse(configSchema);
  return checkMetadata({ name, description, version, type, requires, provides, options });
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new Error('config_schema is not JSON');
  }
}
