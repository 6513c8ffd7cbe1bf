import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { columnsOf } from '../../../src/cli/terminal/draw/printable.ts';
import { Home } from '../command.ts';
import { HeldService } from '../held-service.ts';
import { Listeners } from '../listeners.ts';
import { runInTerminal, screenOf } from '../pty.ts';

const home = new Home();
const listeners = new Listeners();
const host = '127.86.3.1';
let ftp = 0;

beforeAll(async () => {
  ftp = await listeners.serve((socket) => socket.end('220 (vsFTPd 2.3.4)\r\n'), host);
});
afterAll(() => {
  listeners.close();
  home.remove();
});

/** Scans a service that responds and one that is held until a pattern was written, or keys end the scan. */
async function watchScan(wanted: RegExp, keys: string[], columns = 80, ...flags: string[]) {
  const held = new HeldService();
  const port = await held.listen(listeners, host);
  const typed = [...keys];
  let from = 0;
  const scan = ['scan', host, '--no-discover', '--ports', `${ftp},${port}`, '--timeout', '60s', ...flags];
  const output = await runInTerminal(scan, {
    columns,
    env: { ...home.env, NO_COLOR: '1' },
    onOutput: (text, type) => {
      if (!wanted.test(text.slice(from))) return;
      from = text.length;
      const next = typed.shift();
      if (next === undefined) held.release();
      else type(next);
    },
  });
  return { output, screen: screenOf(output), port };
}

describe('a scan in a terminal', () => {
  it('has open ports and what it waits for while it runs, and only the result at the end', async () => {
    const { output, screen, port } = await watchScan(/finishing {2}1 of 2 services/, []);
    expect(output).toContain(`${host}:${ftp}`);
    expect(output).toContain('finishing  1 of 2 services waits for a response');
    expect(output).not.toMatch(/99 %|starting/);
    const ports = [ftp, port].sort((one, other) => one - other);
    expect(screen.slice(1, 4).map((line) => line.split(/ +/)[0])).toEqual([
      'PORT',
      ...ports.map((each) => `${each}/tcp`),
    ]);
    expect(screen.at(-4)).toMatch(/^1 host up, 2 open ports in /);
    expect(screen.at(-3)).toMatch(
      new RegExp(`^kept as \\d{8}-\\d{6}-\\w{6}; findings: portolan scan ${host} --vuln$`),
    );
    expect(screen.at(-2)).toBe('[exit 0]');
  });

  it.each([50, 60, 100, 160])('never writes wider than %i columns while it runs', async (columns) => {
    const { output } = await watchScan(/finishing/, [], columns);
    for (const line of output.replaceAll(/\x1b\[[\d;]*[A-Za-z]/g, '\n').split(/[\r\n]+/))
      if (!line.startsWith('kept as')) expect(columnsOf(line)).toBeLessThanOrEqual(columns);
  });

  it('is drawn again when the window changes', async () => {
    const { output, screen } = await watchScan(/finishing[^\n]*\r?\n|finishing: /, ['resize 50\n']);
    expect(output).toMatch(/finishing: 1 of 2/);
    expect(screen.filter((line) => line.includes('finishing'))).toEqual([]);
  });

  it('writes lines of --format jsonl whole, around the status', async () => {
    const { screen } = await watchScan(/finishing/, [], 60, '--format', 'jsonl');
    const lines = screen.filter((line) => line.startsWith('{'));
    expect(lines.length).toBeGreaterThan(3);
    for (const line of lines) JSON.parse(line);
    expect(screen.join('\n')).not.toContain('finishing');
  });
});

describe('Ctrl-C', () => {
  it('stops the scan, prints what there is and how far it came, and ends with 7', async () => {
    const { screen } = await watchScan(/finishing/, ['\x03']);
    const lines = screen.filter((line) => line !== '');
    expect(lines[0]).toMatch(/^(?:\^C)?stopping, results are kept \(Ctrl-C again ends at once\)$/);
    expect(lines.join('\n')).toMatch(
      new RegExp(`${ftp}/tcp[^]*\ncanceled: .* ports? tried\n(?:.*cut \\d\n)?1 host up, .*\nkept as `),
    );
    expect(lines.at(-2)).toMatch(/^kept as \S+; see it: portolan workspace show latest$/);
    expect(lines.at(-1)).toBe('[exit 7]');
  });
});
