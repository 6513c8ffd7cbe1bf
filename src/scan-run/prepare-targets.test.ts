import { describe, expect, it } from 'vitest';
import { loadConfig } from '../config/load.ts';
import type { ShardPart } from '../domain/shard.ts';
import type { Resolution } from '../net/resolve.ts';
import { prepareTargets } from './prepare-targets.ts';

const names: Record<string, Resolution> = {
  'web.example': { addresses: ['127.0.1.1', '127.0.1.2'], dropped: 0 },
  'many.example': { addresses: ['127.0.2.1'], dropped: 984 },
  'both.example': { addresses: ['2001:db8::9', '127.0.4.200', '127.0.4.17'], dropped: 0 },
  'bad.example': { addresses: ['224.0.0.1', '0.0.0.0', '127.0.3.1'], dropped: 0 },
};
const resolve = async (name: string): Promise<Resolution> => names[name] ?? { error: 'name does not exist' };

async function prepare(
  targets: string[],
  exclude: string[] = [],
  env: Record<string, string> = {},
  part: ShardPart | null = null,
) {
  const { config } = await loadConfig({ env });
  const prepared = await prepareTargets({ targets, exclude }, config, resolve, part);
  return { ...prepared, list: [...prepared.addresses] };
}

describe('prepareTargets', () => {
  it('subtracts exclusions, also by name and by another spelling', async () => {
    const { list, excluded } = await prepare(
      ['127.0.1.0/29', 'web.example'],
      ['web.example', '::ffff:127.0.1.3', '127.0.1.5-6'],
    );
    expect(list).toEqual(['127.0.1.4']);
    expect(excluded).toBe(5n);
  });

  it('excludes a whole block, its network and broadcast addresses too', async () => {
    const { list } = await prepare(['127.0.0.0/23'], ['127.0.0.0/24']);
    expect(list).toEqual(Array.from({ length: 255 }, (_, i) => `127.0.1.${i}`));
  });

  it('lists a name once for each of its addresses', async () => {
    const { targets } = await prepare(['web.example', 'gone.example', '127.0.0.1']);
    expect(targets).toEqual([
      { value: 'web.example', kind: 'hostname', ip: '127.0.1.1' },
      { value: 'web.example', kind: 'hostname', ip: '127.0.1.2' },
      { value: 'gone.example', kind: 'hostname' },
      expect.objectContaining({ value: '127.0.0.1' }),
    ]);
  });

  it('counts the addresses of a shard as its home does, whatever this machine has and permits', async () => {
    const targets = ['127.0.1.1-127.0.1.4', 'fe80::1%absent0', 'fe80::1%lo-fe80::2%lo'];
    const block = { SERVICE_SCANNER__BLOCKLIST: '127.0.1.1' };
    const shard = (at: number) => prepare(targets, [], block, { shard: at, of: 2, hostnames: {} });
    expect((await shard(0)).list).toEqual(['127.0.1.3', 'fe80::1%absent0', 'fe80::2%lo']);
    expect((await shard(1)).list).toEqual(['127.0.1.2', '127.0.1.4', 'fe80::1%lo']);
  });

  it('applies the scope after name resolution; deny wins', async () => {
    const { list, excluded, warnings } = await prepare(['web.example', '127.0.9.1'], [], {
      SERVICE_SCANNER__SCOPE__ALLOW: '127.0.0.0/8',
      SERVICE_SCANNER__SCOPE__DENY: '127.0.1.2/32',
    });
    expect(list).toEqual(['127.0.1.1', '127.0.9.1']);
    expect(excluded).toBe(1n);
    expect(warnings.map((warning) => warning.code)).toEqual(['out_of_scope']);
  });

  it('reports names that fail or have too many addresses, and goes on', async () => {
    const { list, errors, warnings } = await prepare(['gone.example', 'many.example', '127.0.0.1']);
    expect(list).toEqual(['127.0.0.1', '127.0.2.1']);
    expect(errors).toEqual([
      { target: 'gone.example', code: 'resolve_failed', message: 'name does not exist' },
    ]);
    expect(warnings).toEqual([
      {
        code: 'too_many_addresses',
        message: 'many.example has 985 addresses; only the first 1 are scanned',
        target: 'many.example',
      },
    ]);
  });

  it('scans the block of a prefix length around the lowest address of a name', async () => {
    const { list, targets, hostnames, warnings } = await prepare(['both.example/28']);
    expect(list).toEqual(Array.from({ length: 14 }, (_, at) => `127.0.4.${17 + at}`));
    expect(targets).toEqual([
      { value: '127.0.4.16/28', kind: 'cidr' },
      { value: 'both.example', kind: 'hostname', ip: '127.0.4.17' },
    ]);
    expect([...hostnames]).toEqual([['127.0.4.17', ['both.example']]]);
    expect(warnings).toMatchObject([{ code: 'too_many_addresses', target: 'both.example/28' }]);
    expect((await prepare(['both.example/126'])).list).toEqual(
      [8, 9, 'a', 'b'].map((at) => `2001:db8::${at}`),
    );
  });

  it('excludes every block around the addresses of a name', async () => {
    const { list } = await prepare(['127.0.4.0/24'], ['both.example/25']);
    expect(list).toEqual([]);
    expect((await prepare(['127.0.4.16/30'], ['both.example/31'])).list).toEqual(['127.0.4.18']);
  });

  it('reports a name with a prefix length that has no address of that family, or none', async () => {
    const { list, errors } = await prepare(['web.example/64', 'gone.example/24', '127.0.0.1']);
    expect(list).toEqual(['127.0.0.1']);
    expect(errors).toEqual([
      { target: 'gone.example', code: 'resolve_failed', message: 'name does not exist' },
      { target: 'web.example/64', code: 'resolve_failed', message: 'the name has no IPv6 address' },
    ]);
  });

  it('never takes multicast or unspecified addresses from a name server', async () => {
    expect((await prepare(['bad.example'])).list).toEqual(['127.0.3.1']);
  });
});
