import { describe, expect, it } from 'vitest';
import { readItems } from './plugin-sample.ts';

const endpoint = { host: '192.0.2.7', port: 22, protocol: 'tcp' };

describe('a sample', () => {
  it('has items by key', () => {
    const items = { banners: [{ ...endpoint, banner: 'SSH-2.0-x' }], 'my.key': [1] };
    expect(readItems(JSON.stringify(items))).toEqual(new Map(Object.entries(items)));
  });

  it('may be a result: its hosts, open ports and banners', () => {
    const port = { port: 22, protocol: 'tcp', banner: 'SSH-2.0-x' };
    const result = {
      data: { results: [{ host: '192.0.2.7', ports: [port, { port: 80, protocol: 'tcp' }] }] },
    };
    const items = readItems(JSON.stringify(result));
    expect(items.get('discovered_hosts')).toEqual([{ ip: '192.0.2.7', method: 'sample' }]);
    expect(items.get('open_ports')).toEqual([endpoint, { ...endpoint, port: 80 }]);
    expect(items.get('banners')).toMatchObject([{ ...endpoint, banner: 'SSH-2.0-x', probe: 'null' }]);
    const lines = `${JSON.stringify({ type: 'port', ...endpoint, banner: 'b' })}\n`;
    expect(readItems(lines).get('banners')).toMatchObject([{ ...endpoint, banner: 'b' }]);
  });

  it.each(['', '7', '[]', '{}', 'null', '{"a": 1}', '{"results": []}'])('is refused if it is %j', (text) => {
    expect(() => readItems(text)).toThrow(/neither/);
  });
});
