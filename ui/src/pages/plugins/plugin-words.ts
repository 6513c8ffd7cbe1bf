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

/** In which graphs a plugin runs, or why it runs in none. */
export function runsText({ loaded, disabled, runs_in: graphs }: RunFacts): string {
  if (disabled) return 'no scan: it is switched off';
  if (!loaded) return 'no scan';
  return graphs.join(', ') || 'no graph names it';
}

type RunFacts = Pick<PluginRow, 'loaded' | 'disabled' | 'runs_in'>;

/** What a plugin may do, by its permissions. */
export function mayText({ permissions, kind }: Pick<PluginRow, 'permissions' | 'kind'>): string {
  if (kind === 'grpc') return 'whatever its program may: it runs outside the sandbox';
  const sends = permissions.includes('network') ? 'send to hosts of the scan, ' : '';
  return kind === 'rules' ? 'read results' : `${sends}read results, add results`;
}

/** Why a plugin is not loaded, without its own name in front. */
export function reasonOf({ name, error }: { name: string; error: string | null }): string {
  const prefix = `plugin ${name}: `;
  const text = error ?? '';
  return text.startsWith(prefix) ? text.slice(prefix.length) : text;
}
