import { expect, it } from 'vitest';
import type { GraphLibrary } from '../engine/graph/graph-library.ts';
import { type FoundInstallation, installedChanges } from './installed-changes.ts';

type Texts = Record<string, string>;

const entries = (texts: Texts = {}) => Object.entries(texts).map(([name, text]) => ({ name, text }));
const library = ({ graphs, profiles }: { graphs?: Texts; profiles?: Texts }) =>
  ({ list: () => entries(graphs), profiles: () => entries(profiles) }) as unknown as GraphLibrary;

function found(
  plugins: Texts,
  files: Parameters<typeof library>[0] = {},
  tenant: Parameters<typeof library>[0] = {},
): FoundInstallation {
  return {
    listed: Object.entries(plugins).map(([plugin, content]) => {
      const [name = '', version = ''] = plugin.split(' ');
      return { name, version, sha256: content, error: content === 'bad' ? 'unknown key' : null };
    }),
    libraries: { service: library(files), tenants: new Map([['acme', library(tenant)]]) },
  };
}

it('names plugins, graphs and profiles that are new, other or gone', () => {
  const before = found(
    { 'staging 0.1.0': 'a', 'stays 1.0.0': 'b' },
    { graphs: { sweep: '1', same: '1' }, profiles: { nightly: '1' } },
  );
  const after = found(
    { 'staging 0.2.0': 'a', 'stays 1.0.0': 'b', 'broken 1.0.0': 'bad' },
    { graphs: { sweep: '2', same: '1' } },
    { profiles: { nightly: '1' } },
  );
  expect(installedChanges(before, after)).toEqual([
    'plugin staging 0.2.0',
    'plugin broken 1.0.0 (not loaded, see the log)',
    'profile nightly of acme',
    'graph sweep',
    'plugin staging 0.1.0 (removed)',
    'profile nightly (removed)',
  ]);
  expect(installedChanges(after, after)).toEqual([]);
});
