import type { LoadedPlugin, PluginMetadata } from '../plugin.ts';
import { metadataHash, unavailableMetadata } from './grpc-module.ts';
import type { GrpcPlugin } from './grpc-plugins.ts';

/** A configured plugin as scans are planned with it, also if it was never reached. */
export function loadedGrpc({ entry, metadata, error }: Omit<GrpcPlugin, 'loaded'>): LoadedPlugin & {
  metadata: PluginMetadata;
} {
  const { name, endpoint } = entry;
  const known = metadata ?? unavailableMetadata(entry, error ?? 'not asked yet');
  return {
    file: {
      name,
      version: known.version,
      kind: 'grpc',
      sha256: metadataHash(known),
      archive: false,
      folder: '',
      entry: endpoint,
      permissions: [],
      source: 'configuration',
    },
    metadata: known,
    added: false,
  };
}
