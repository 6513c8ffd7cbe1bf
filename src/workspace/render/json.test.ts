import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  anyText,
  extra,
  finding,
  head,
  host,
  plugin,
  port,
  stream,
  text,
  timestamp,
} from '../../../test/result-rows.ts';
import type { Finding } from '../../domain/finding.ts';
import type { ResultRow } from '../../domain/result.ts';
import { renderJson } from './json.ts';

async function json(rows: ResultRow[], pretty = false) {
  return JSON.parse(await text(renderJson(head, stream(rows), pretty)));
}

describe('JSON', () => {
  it.each([false, true])('has extra values by key, before the hosts: pretty %s', async (pretty) => {
    const address = { host: '192.168.1.10', port: 22, protocol: 'tcp' as const };
    const rows = [extra('a_key', 1), extra('a_key', { x: [] }, address), extra('b_key', 'text'), host];
    const data = await json(rows, pretty);
    const producer = plugin;
    expect(data.extra).toEqual({
      a_key: [
        { host: null, value: 1, producer },
        { ...address, value: { x: [] }, producer },
      ],
      b_key: [{ host: null, value: 'text', producer }],
    });
    expect(data.results).toHaveLength(1);
    expect(Object.keys(data).slice(-4)).toEqual(['errors', 'compliance', 'extra', 'results']);
    expect(await json([host])).not.toHaveProperty('extra');
    expect((await json([extra('a', 1)], pretty)).results).toEqual([]);
  });

  it('names the plugin behind hosts, ports and findings', async () => {
    const other = { ...plugin, name: 'other' };
    const both = { producer: other, producers: [plugin, other] };
    const rows = [
      { ...host, producer: plugin },
      port(22, both),
      { ...finding(22, 'a'), producer: plugin },
      { ...finding(null, 'b'), ...both },
    ];
    const [found] = (await json(rows)).results;
    expect(found).toMatchObject({
      producer: plugin,
      ports: [{ ...both, vulnerabilities: [{ id: 'a', producer: plugin }] }],
      vulnerabilities: [{ id: 'b', ...both }],
    });
  });

  it('nests ports in hosts and findings in ports, every field present', async () => {
    const data = await json([
      {
        type: 'error',
        timestamp,
        host: null,
        target: 'nohost',
        code: 'resolve_failed',
        message: 'm',
        node: null,
      },
      host,
      port(22, { banner: 'SSH-2.0', service: null }),
      finding(22, 'CVE-1'),
      port(443, { truncated: true }),
      finding(null, 'CVE-2'),
    ]);
    expect(data).toEqual({
      ...head,
      compliance: [],
      errors: [{ target: 'nohost', code: 'resolve_failed', message: 'm', node: null }],
      results: [
        {
          host: '192.168.1.10',
          hostnames: [],
          state: 'up',
          latency_ms: 0.42,
          mac: null,
          vendor: null,
          os: null,
          device_type: null,
          port_counts: null,
          all_ports_open: false,
          ports: [
            portObject(22, { banner: 'SSH-2.0', vulnerabilities: [finding(22, 'CVE-1').vulnerability] }),
            portObject(443, { truncated: true }),
          ],
          vulnerabilities: [finding(null, 'CVE-2').vulnerability],
        },
      ],
    });
  });

  function portObject(number: number, more: object): object {
    return {
      port: number,
      protocol: 'tcp',
      state: 'open',
      reason: 'syn-ack',
      service: null,
      banner: null,
      banner_b64: null,
      truncated: false,
      tls: null,
      fingerprints: [],
      attributes: {},
      vulnerabilities: [],
      ...more,
    };
  }

  it('loses no port without a host row and no finding without a port row', async () => {
    const data = await json([port(22), finding(80, 'CVE-1'), { ...port(1), host: '192.168.1.11' }]);
    expect(
      data.results.map((entry: { host: string; ports: [] }) => [entry.host, entry.ports.length]),
    ).toEqual([
      ['192.168.1.10', 1],
      ['192.168.1.11', 1],
    ]);
    expect(data.results[0].vulnerabilities).toHaveLength(1);
  });

  it('of nothing is a whole document', async () => {
    expect(await json([])).toEqual({ ...head, compliance: [], errors: [], results: [] });
  });

  it('completes a finding that says little', async () => {
    const bare = { ...finding(22, 'X'), vulnerability: { id: 'X', severity: 'low' } as Finding };
    const data = await json([host, port(22), bare]);
    expect(data.results[0].ports[0].vulnerabilities).toEqual([
      {
        ...finding(22, 'X', 'low').vulnerability,
        title: 'X',
        class: 'possible',
        confidence: 0,
        plugin: '',
      },
    ]);
  });

  it('says the same when indented', async () => {
    const rows = [
      host,
      port(22, { attributes: { a: { b: [1, '\n'] } } }),
      finding(22, 'A'),
      finding(null, 'B'),
      port(80),
    ];
    const pretty = await text(renderJson(head, stream(rows), true));
    expect(JSON.parse(pretty)).toEqual(await json(rows));
    expect(pretty).toBe(`${JSON.stringify(JSON.parse(pretty), null, 2)}\n`);
  });

  it('comes in pieces, however large it is', async () => {
    const rows = Array.from({ length: 3000 }, (_, i) => port(i, { banner: 'x'.repeat(100) }));
    const sizes: number[] = [];
    for await (const piece of renderJson(head, stream(rows))) sizes.push(piece.length);
    expect(sizes.length).toBeGreaterThan(5);
    expect(Math.max(...sizes)).toBeLessThan(70_000);
  });

  it('is valid UTF-8 for any text of a target', async () => {
    await fc.assert(
      fc.asyncProperty(anyText(), async (banner) => {
        const written = await text(renderJson(head, stream([host, port(22, { banner })])));
        expect(Buffer.from(written).toString()).toBe(written);
        expect(JSON.parse(written).results[0].ports[0].banner).toBe(banner.toWellFormed());
      }),
    );
  });
});
