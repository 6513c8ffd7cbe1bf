import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Home } from '../command.ts';
import { Listeners } from '../listeners.ts';
import { runInTerminal } from '../terminal.ts';

const home = new Home();
const listeners = new Listeners();
afterAll(() => {
  listeners.close();
  home.remove();
});

const ports = { stays: 0, gone: 0 };
const ids: string[] = [];

async function scan(...args: string[]): Promise<void> {
  const target = ['127.0.0.1', '--no-discover', '--timeout', '1s', '--format', 'json'];
  const { stdout, stderr } = await home.run(['scan', ...target, ...args]);
  if (stdout === '') throw new Error(stderr);
  ids.push((JSON.parse(stdout) as { scan_id: string }).scan_id);
}

beforeAll(async () => {
  ports.stays = await listeners.greet('SSH-2.0-OpenSSH_9.2p1\r\n');
  const before = new Listeners();
  ports.gone = await before.greet('SSH-2.0-OpenSSH_8.4p1\r\n');
  await scan('--ports', `${ports.stays},${ports.gone}`);
  before.close();
  await scan('--ports', `${ports.stays},${ports.gone}`);
  await scan('--ports', String(ports.stays), '--vuln');
}, 240_000);

const diff = (...args: string[]) => home.run(['scan', 'diff', ...args]);

describe('scan diff', () => {
  it('compares with the baseline, and counts what changed', async () => {
    const { code, stdout } = await diff(ids[1] ?? '');
    const [head = '', ...lines] = stdout.trimEnd().split('\n');
    expect([code, lines]).toEqual([0, [`- 127.0.0.1:${ports.gone}  ssh, OpenSSH 8.4p1`, '1 gone']]);
    const time = '\\((?:now|\\d+ \\w+ ago)\\)';
    expect(head).toMatch(new RegExp(`^${ids[1]} ${time} since ${ids[0]} ${time}$`));
  });

  it('sums up what cannot be compared, and names it with -v', async () => {
    const { stdout } = await diff('latest', ids[1] ?? '');
    expect(stdout).toMatch(/\n\? \d+ findings? of 127\.0\.0\.1: not evaluated before\n/);
    expect(stdout).toMatch(/\nno change, \d+ not comparable\n$/);
    const all = await diff('latest', ids[1] ?? '', '-v');
    expect(all.stdout).toContain(`? 127.0.0.1:${ports.stays}: not evaluated before\n`);
  });

  it('ends with 8 for a change only with --fail-on-change', async () => {
    const codes = [
      await diff(ids[1] ?? '', '--fail-on-change'),
      await diff(ids[1] ?? ''),
      await diff('latest', ids[1] ?? '', '--fail-on-change'),
    ].map(({ code }) => code);
    expect(codes).toEqual([8, 0, 0]);
  });

  it('ends with 7 for a scan that failed, whatever changed', async () => {
    const slow = ['--no-discover', '--ports', '1-2000', '--rate', '20', '--max-duration', '1s'];
    expect((await home.run(['scan', '127.0.0.1', ...slow])).code).toBe(6);
    const { code } = await diff('latest', ids[1] ?? '', '--fail-on-change');
    expect([code, (await diff('latest', ids[1] ?? '')).code]).toEqual([7, 0]);
    await home.run(['workspace', 'delete', 'latest', '--force']);
  });

  it.each([40, 80])('fits into a terminal of %i columns but for the line of ids', async (columns) => {
    const { lines } = await runInTerminal(home, ['scan', 'diff', ids[1] ?? ''], { columns });
    for (const line of lines.slice(1)) expect(line.length).toBeLessThanOrEqual(columns);
    expect(lines[0]).toContain(ids[0]);
  });

  it('says which scan has none before it', async () => {
    const { code, stderr } = await diff(ids[0] ?? '');
    expect([code, stderr]).toEqual([1, expect.stringContaining('name the one to compare with')]);
  });
});
