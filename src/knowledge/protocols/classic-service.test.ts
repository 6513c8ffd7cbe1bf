import { expect, test } from 'vitest';
import { parseClassicService } from './classic-service.ts';

/** A DSIGetStatus response with a machine type, two versions and a name. */
function dsi(machine: string): Buffer {
  const text = (value: string) => [value.length, ...Buffer.from(value, 'latin1')];
  const name = text('files');
  const machineAt = 10 + name.length;
  const machineText = text(machine);
  const versionsAt = machineAt + machineText.length;
  const body = Buffer.from([
    0,
    machineAt,
    0,
    versionsAt,
    0,
    0,
    0,
    0,
    0,
    0,
    ...name,
    ...machineText,
    2,
    ...text('AFP2.2'),
    ...text('AFP3.4'),
  ]);
  const header = Buffer.alloc(16);
  header.writeUInt16BE(0x0103, 0);
  header.writeUInt32BE(body.length, 8);
  return Buffer.concat([header, body]);
}

test('an AFP server reports machine, versions and name', () => {
  expect(parseClassicService(dsi('Netatalk3.1.12'))?.evidence).toEqual([
    ['afp.machine', 'Netatalk3.1.12'],
    ['afp.versions', 'AFP2.2 AFP3.4'],
    ['afp.server', 'files'],
  ]);
  expect(parseClassicService(dsi(''))).toBeNull();
});

test('AFP offsets beyond the end yield nothing', () => {
  const response = dsi('Netatalk3.1.12');
  response.writeUInt16BE(0xffff, 18);
  expect(parseClassicService(response)).toBeNull();
});

test.each([
  ['eeaccdf2', '2026-11-22T02:12:02Z'],
  ['eeaccdf200000000', '2026-11-22T02:12:02Z'],
])('the time of RFC 868: %s', (digits, time) => {
  expect(parseClassicService(Buffer.from(digits, 'hex'))).toMatchObject({
    service: 'time',
    proof: `time ${time}`,
  });
});

test.each(['fffd18ff', '00000001', 'eeaccdf2ff', 'eeaccdf200000001'])(
  '%s does not parse as a time',
  (digits) => {
    expect(parseClassicService(Buffer.from(digits, 'hex'))).toBeNull();
  },
);

test('parsing hostile bytes terminates', () => {
  const seed = dsi('Netatalk3.1.12');
  for (let at = 0; at < seed.length; at++)
    for (const byte of [0, 0x7f, 0x80, 0xff]) {
      const bytes = Buffer.from(seed);
      bytes[at] = byte;
      expect(() => parseClassicService(bytes.subarray(0, seed.length - (at % 7)))).not.toThrow();
    }
});
