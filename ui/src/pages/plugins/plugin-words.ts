import type { Data } from '../../api/api-types.ts';

export type PluginRow = Data<'/api/v1/plugins'>['plugins'][number];

/** What a plugin is made of. */
export function kindWord(kind: PluginRow['kind']): string {
  if (kind === null) return 'damaged';
  return { wasm: 'WebAssembly', grpc: 'gRPC' }[kind as string] ?? kind;
}

/** Who signed a plugin, or that nobody did; what is wrong with a signature. */
export function signatureWords({ state, publisher }: { state: string; publisher: string | null }): string {
  if (publisher === null) return state;
  return state === 'trusted' ? `${publisher}, trusted` : `${publisher} (${state})`;
}

/** Why a plugin is not loaded, without its own name in front. */
export function reasonOf({ name, error }: { name: string; error: string | null }): string {
  const prefix = `plugin ${name}: `;
  const text = error ?? '';
  return text.startsWith(prefix) ? text.slice(prefix.length) : text;
}
