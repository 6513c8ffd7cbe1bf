import * as fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { PortolanError } from './errors.ts';
import { type PortCatalog, parsePorts, portRanges } from './port.ts';

const catalogue: PortCatalog = {
  ranked: Array.from({ length: 1000 }, (_, index) => 2000 - index),
  services: new Map([
    ['ssh', [22]],
    ['https', [443]],
    ['http-alt', [8000, 8080]],
    ['domain', [53]],
  ]),
  known: { tcp: new Set([22, 53, 443, 1500, 8000, 8080]), udp: new Set([53, 161]) },
};
const tcp = (spec: string) => parsePorts(spec, catalogue).tcp;

function problemsOf(spec: string): string[] {
  try {
    parsePorts(spec, catalogue);
  } catch (error) {
    expect(error).toBeInstanceOf(PortolanError);
    expect(error).toMatchObject({ code: 'invalid_request', status: 400, exitCode: 2 });
    const fields = (error as PortolanError).details.fields as { field: string; reason: string }[];
    expect(new Set(fields.map(({ field }) => field))).toEqual(new Set(['ports']));
    return fields.map(({ reason }) => reason);
  }
  throw new Error(`accepted: ${spec}`);
}

describe('portRanges', () => {
  it('joins neighbors', () => {
    expect(portRanges([22, 80, 81, 82, 443, 444])).toBe('22,80-82,443-444');
    expect(portRanges([])).toBe('');
  });

  it('is read back as the same ports', () => {
    const some = fc.uniqueArray(
      fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 65_535 })),
      {
        minLength: 1,
      },
    );
    fc.assert(
      fc.property(some, (ports) => {
        const ascending = ports.sort((a, b) => a - b);
        expect(tcp(portRanges(ascending))).toEqual(ascending);
      }),
    );
  });
});

describe('parsePorts', () => {
  it.each([
    ['22', [22]],
    ['443,22', [22, 443]],
    ['22,22,20-23', [20, 21, 22, 23]],
    ['1,65535', [1, 65535]],
    ['80-80', [80]],
    [' 22 ,\t80 ', [22, 80]],
    ['ssh,HTTPS', [22, 443]],
    ['http-alt', [8000, 8080]],
    ['top-3', [1998, 1999, 2000]],
    ['top:1', [2000]],
    ['TOP-2', [1999, 2000]],
    ['-3', [1, 2, 3]],
    ['65533-', [65_533, 65_534, 65_535]],
    ['22,-2,65535-', [1, 2, 22, 65_535]],
    ['http-*', [8000, 8080]],
    ['http?,ss?', [22, 443]],
    ['*S*', [22, 443]],
    ['[1-1024]', [22, 53, 443]],
    ['[-100]', [22, 53]],
    ['[8000-]', [8000, 8080]],
    ['9,[20-30, 400-500],10', [9, 10, 22, 443]],
    ['[ssh,top-501]', [22, 1500]],
  ])('reads %s', (spec, ports) => expect(parsePorts(spec, catalogue)).toEqual({ tcp: ports, udp: [] }));

  it('reads all, -, common and the whole ranking', () => {
    expect(tcp('all')).toHaveLength(65_535);
    expect(tcp('-')).toEqual(tcp('1-65535'));
    expect(tcp('common')).toEqual(tcp('top-100'));
    expect(tcp('top-1000')).toHaveLength(1000);
  });

  it('lets a prefix hold until the next one', () => {
    expect(parsePorts('22,U:53,161-162,T:80,u:domain,T:-', catalogue).udp).toEqual([53, 161, 162]);
    expect(parsePorts('22,U:53,161,T:80,443,U:500', catalogue)).toEqual({
      tcp: [22, 80, 443],
      udp: [53, 161, 500],
    });
    expect(parsePorts('U:[-],T:[20-30],9', catalogue)).toEqual({ tcp: [9, 22], udp: [53, 161] });
    expect(parsePorts('U:*', catalogue).udp).toEqual([53]);
    expect(parsePorts('U:all', catalogue)).toMatchObject({ tcp: [], udp: { length: 65_535 } });
  });

  it.each([
    '',
    ' ',
    ',',
    '22,',
    '0',
    '65536',
    '99999999999999999999',
    '0-10',
    '1-65536',
    '20-10',
    '1-2-3',
    '--',
    '022',
    '0x16',
    '1e3',
    '2.5',
    '+22',
    '22 23',
    '22;80',
    'top-0',
    'top-1001',
    'top-',
    'top',
    'top-1.5',
    'nosuchservice',
    '__proto__',
    'constructor',
    'T:',
    'U:',
    'X:53',
    'T:U:53',
    'U:top-10',
    'U:common',
    '２２',
    '-0',
    '0-',
    '65536-',
    '-65536',
    '[22',
    '22]',
    '[]',
    '[22]80',
    '[[22]]',
    '[T:22]',
    '[9]',
    'https?',
    'x*',
    'S:9',
    'P:1',
    'tcp:80',
    '80/tcp',
    'top1000',
    '22\n,\u0000',
  ])('refuses %j and names the item', (spec) => {
    expect(problemsOf(spec).length).toBeGreaterThan(0);
  });

  it.each([
    ['0-65535', 'write - for all 65,535 ports'],
    ['sshd', 'did you mean ssh?'],
    ['S:9', 'SCTP'],
    ['udp:53', 'write U:53'],
    ['53/udp', 'write U:53'],
    ['X:53', 'T: is TCP, U: is UDP'],
    ['22 80', 'separate ports with commas'],
    ['22;80', 'separate ports with commas'],
    ['top1000', 'write top-1000'],
    ['top', 'write top-100'],
    ['[22', 'has no "]"'],
    ['[9]', 'has no known port'],
    ['x*', 'matches no known service name'],
    ['https?', 'write https, or'],
  ])('says of %s what to write', (spec, text) =>
    expect(problemsOf(spec)).toEqual([expect.stringContaining(text)]),
  );

  it('names every bad item at once', () => {
    const problems = problemsOf('22,0,80,20-10,nosuch');
    expect(problems).toEqual([
      expect.stringContaining('"0" is out of range'),
      expect.stringContaining('"20-10" is reversed'),
      expect.stringContaining('"nosuch" is not a port'),
    ]);
  });

  it('bounds the words of a hostile list', () => {
    expect(tcp('1-65535,'.repeat(60_000).slice(0, -1))).toHaveLength(65_535);
    expect(problemsOf(','.repeat(1_000_000))).toHaveLength(1);
    expect(problemsOf('0,'.repeat(60_000)).length).toBeLessThanOrEqual(100);
    expect(problemsOf('x'.repeat(1_000_000))[0]?.length).toBeLessThan(200);
    expect(problemsOf('ssh*,'.repeat(1000))).toEqual([expect.stringContaining('100 names with wildcards')]);
    expect(problemsOf('*'.repeat(1_000_000))).toHaveLength(1);
    const guessed = problemsOf('sshd,'.repeat(60_000)).filter((reason) => reason.includes('did you mean'));
    expect(guessed).toHaveLength(3);
    expect(tcp('[1-65535],'.repeat(6_000).slice(0, -1))).toHaveLength(6);
  });

  describe('the work of a long list', () => {
    afterEach(() => vi.restoreAllMocks());

    const everyPort = Array.from({ length: 65_535 }, (_, index) => index + 1);
    it.each([',', ', ', ',T:'])('is no pattern for an item that is a number, between %j', (comma) => {
      const exec = vi.spyOn(RegExp.prototype, 'exec');
      const { length } = tcp(everyPort.join(comma));
      const calls = exec.mock.calls.length;
      vi.restoreAllMocks();
      expect([length, calls]).toEqual([65_535, 0]);
    });

    it('does not grow with the width of its ranges', () => {
      let filled = 0;
      const { fill } = Uint8Array.prototype;
      vi.spyOn(Object.getPrototypeOf(Uint8Array.prototype) as Uint8Array, 'fill').mockImplementation(
        function (this: Uint8Array, value, start = 0, end = this.length) {
          filled += end - start;
          return fill.call(this, value, start, end);
        },
      );
      expect(
        tcp(
          everyPort
            .slice(0, 1000)
            .map((port) => `${port}-65535`)
            .join(','),
        ),
      ).toHaveLength(65_535);
      expect(filled).toBeLessThanOrEqual(2 * 65_536);
    });

    it('reads the ranking once, however often items name it', () => {
      let reads = 0;
      const ranked = new Proxy(catalogue.ranked as number[], {
        get(target, name, receiver) {
          reads += typeof name === 'string' && /^\d+$/.test(name) ? 1 : 0;
          return Reflect.get(target, name, receiver);
        },
      });
      const spec = Array.from({ length: 500 }, (_, index) => `top-${500 + index}`).join(',');
      expect(parsePorts(spec, { ...catalogue, ranked }).tcp).toHaveLength(999);
      expect(reads).toBeLessThanOrEqual(1000);
    });
  });

  it('gives ascending unique ports inside the bounds, or an error', () => {
    const item = fc.oneof(
      fc.integer({ min: -1, max: 66_000 }).map(String),
      fc.tuple(fc.nat(66_000), fc.nat(66_000)).map(([first, last]) => `${first}-${last}`),
      fc.constantFrom(
        'ssh',
        'all',
        '-',
        'common',
        'top-5',
        'T:22',
        'U:53',
        '',
        'zz',
        '[1-',
        '9-]',
        '*s',
        '[-]',
      ),
      fc.string({ maxLength: 8 }),
    );
    fc.assert(
      fc.property(fc.array(item, { maxLength: 5 }), (items) => {
        let selection = { tcp: [] as number[], udp: [] as number[] };
        try {
          selection = parsePorts(items.join(','), catalogue);
        } catch (error) {
          expect(error).toBeInstanceOf(PortolanError);
        }
        for (const ports of [selection.tcp, selection.udp]) {
          expect(ports.every((port, at) => port > (ports[at - 1] ?? 0) && port <= 65_535)).toBe(true);
        }
      }),
    );
  });
});
