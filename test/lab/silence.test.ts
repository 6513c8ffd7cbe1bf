import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type Packet, Wire } from './wire.ts';

interface Silence {
  verb: string;
  from: number;
  to: number;
}

const scans = 5;

let wire: Wire;
beforeAll(async () => {
  wire = new Wire(`${inject('fleetPrefix')}q`);
  await wire.listen([8001, 8002]);
});
afterAll(() => wire?.down());

/** What left in a stretch that had to be silent, a second after its beginning at the latest. */
const late = (packets: Packet[], { from, to }: Silence) =>
  packets.filter(({ time }) => time > from + 1 && time < to);

test('a scan that was paused or canceled at a random moment sends nothing at all a second later', async () => {
  const submission = {
    // Hosts that answer, with services that say nothing, and hosts that swallow everything.
    targets: ['10.82.9.0/27', '10.83.9.0/27'],
    ports: '8001-8040',
    rate: 300,
    options: { timeout: '3s', retries: 2 },
  };
  const script = fileURLToPath(new URL('stop-at-random.ts', import.meta.url));
  const run = await wire.run(script, [String(scans), JSON.stringify(submission)]);
  expect([run.exitCode, run.stderr]).toEqual([0, '']);
  const silences = run.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Silence);
  expect(silences).toHaveLength(2 * scans);
  expect(run.packets.length).toBeGreaterThan(1000);
  for (const silence of silences)
    expect([silence.verb, late(run.packets, silence)]).toEqual([silence.verb, []]);
}, 120_000);
