import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type NmapFlag, nmapGroups } from '../../../src/cli/scan/nmap/nmap-flags.ts';
import { rawObstacle } from '../../../src/net/packets/linux/rights.ts';
import { root } from '../../program.ts';
import { Home } from '../command.ts';

const home = new Home();
/** Files without a folder are those of the home. */
const before = process.cwd();
beforeAll(() => process.chdir(home.path));
afterAll(() => {
  process.chdir(before);
  home.remove();
});
const page = readFileSync(join(root, 'docs/coming-from-nmap.md'), 'utf8');
writeFileSync(home.file('hosts.txt'), '127.0.0.1\n');
writeFileSync(home.file('others.txt'), '127.0.0.9\n');
writeFileSync(
  home.file('rules.yaml'),
  readFileSync(
    join(root, 'rules', readdirSync(join(root, 'rules')).find((name) => /ya?ml$/.test(name)) ?? ''),
  ),
);

/** What a value of the table stands for. */
const samples: Record<string, string> = {
  FILE: 'hosts.txt',
  LIST: '127.0.0.9',
  N: '5',
  T: '2s',
  X: 'default',
  IF: 'lo',
  PORT: '40123',
  ADDRESS: '127.0.0.1',
  BASE: 'base',
};

/** Values of flags whose kind of value has another meaning. */
const special: Record<string, string> = {
  '-p': '1,2',
  '--exclude-ports': '2',
  '-iL': 'hosts.txt',
  '--exclude-file': 'others.txt',
  '--excludefile': 'others.txt',
  '-oX': '-',
};

function valueOf({ value, output }: NmapFlag, flag: string): string[] {
  if (value === undefined) return [];
  if (special[flag] !== undefined) return [special[flag]];
  return [output === undefined ? (samples[value] ?? '') : `${flag.slice(1)}.out`];
}

const rows = nmapGroups.flatMap(({ rows: own }) =>
  own.flatMap((row) => row.flags.map((flag) => [flag, row] as const)),
);
/** A user who may not ping is told so. */
const withoutPing = /^warning: icmp: discovering hosts by TCP connections instead of ICMP: .*\n/m;
/** A scan that sends little. */
const brief = ['--no-fingerprint', '--no-workspace'];
const little = ['-p', '1', ...brief];

describe.concurrent('every line of the table of nmap', { timeout: 300_000 }, () => {
  it.each(rows.filter(([, row]) => row.rejected === undefined))('%s acts', async (flag, row) => {
    const dryRun = row.output === undefined && row.words !== undefined ? ['--dry-run'] : [];
    const ports = flag === '--top-ports' ? brief : little;
    const args = ['scan', '127.0.0.1', ...ports, ...dryRun, flag, ...valueOf(row, flag)];
    const { code, stderr: said } = await home.run(args);
    if (flag === '-sS' && rawObstacle() !== null) return expect(code).toBe(5);
    const stderr = said.replace(withoutPing, '');
    if (flag === '-v')
      return expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/ up: /) });
    const notes = row.note === undefined ? '' : `note: ${row.note}\n`;
    expect({ code, stderr }).toEqual({ code: 0, stderr: notes });
  });

  it.each(rows.filter(([, row]) => row.rejected !== undefined))(
    '%s names the flag to use',
    async (flag, row) => {
      const { code, stdout, stderr } = await home.run(['scan', '127.0.0.1', flag, ...valueOf(row, flag)]);
      const hint = row.rejected ?? 'portolan help nmap';
      expect({ code, stdout, stderr }).toEqual({
        code: 2,
        stdout: '',
        stderr: `portolan: ${flag} of nmap is not offered\n  try: ${hint}\n`,
      });
    },
  );

  it('help nmap prints it, and the page has it', async () => {
    const { stdout, code } = await home.run(['help', 'nmap']);
    expect(code).toBe(0);
    for (const [flag, { here }] of rows) {
      expect(stdout).toContain(flag);
      expect(stdout).toContain(here);
      expect(page).toContain(`\`${flag}`);
    }
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  });
});

/** The commands of the tables by hand, with the addresses of this machine. */
const commands = [...page.matchAll(/`portolan (scan [^`]*)`/g), ...page.matchAll(/^portolan (scan .*)$/gm)]
  .map(([, command = '']) => command)
  .filter((command) => !command.startsWith('scan -sU -p 53') && !command.startsWith('scan diff'));

describe.concurrent('the other lines of the page', { timeout: 300_000 }, () => {
  it('are many', () => {
    expect(commands.length).toBeGreaterThan(25);
  });

  it.each(commands)('portolan %s', async (command) => {
    const words = command
      .replace(/192\.0\.2\.0\/\d+/g, '127.0.0.0/29')
      .replaceAll('192.0.2.', '127.0.0.')
      .split(' ');
    const { code, stderr } = await home.run([...words, '--dry-run'], { input: '127.0.0.1\n' });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });
});

describe.concurrent('flags of nmap', { timeout: 300_000 }, () => {
  const folder = (name: string) => {
    const path = home.file(name);
    mkdirSync(path, { recursive: true });
    return path;
  };
  /** The request of the only scan of a workspace. */
  const requestOf = async (name: string, args: string[]) => {
    const dir = folder(name);
    const ended = await home.run(['scan', '127.0.0.1', '--no-fingerprint', '--workspace-dir', dir, ...args]);
    expect(ended).toMatchObject({ code: 0 });
    const [id = ''] = readdirSync(join(dir, 'scans'));
    const request = JSON.parse(readFileSync(join(dir, 'scans', id, 'request.json'), 'utf8')) as {
      options: object;
    };
    return { ...request, ...request.options };
  };

  it('act in their order: a later one wins', async () => {
    const faster = await requestOf('later', [
      '-p1',
      '-T4',
      '-r',
      '500',
      '-sT',
      '--retries',
      '2',
      '--retry',
      '4',
    ]);
    expect(faster).toMatchObject({
      rate: 500,
      ports: '1',
      timeout: '1250ms',
      retries: 4,
      scan_type: 'connect',
    });
    const timed = await requestOf('timed', [
      '-p',
      '22',
      '-p',
      '1',
      '-r',
      '500',
      '-T0',
      '-T',
      'aggressive',
      '-g',
      '40321',
    ]);
    expect(timed).toMatchObject({
      rate: 'auto',
      ports: '1',
      timeout: '1250ms',
      source_port: 40321,
    });
    expect(timed).not.toHaveProperty('concurrency');
  });

  it('-sSU and -sT -sU scan both transports', async () => {
    const both = await requestOf('both', ['-sTU', '-p', '1,2']);
    expect(both).toMatchObject({ ports: 'T:1,2,U:1,2', scan_type: 'connect' });
    const apart = await requestOf('apart', ['-sU', '-sT', '-p', 'T:1,U:2']);
    expect(apart).toMatchObject({ ports: 'T:1,U:2', scan_type: 'connect' });
    const udp = await requestOf('udp', ['-sT', '--scan-type', 'udp', '-p', '1']);
    expect(udp).toMatchObject({ ports: '1', scan_type: 'udp' });
  });

  it('-p means ports where it can, else a profile', async () => {
    expect(await requestOf('ports', ['-p', '1,T:2-3'])).toMatchObject({
      ports: '1,T:2-3',
      profile: 'standard',
    });
    expect(await requestOf('profile', ['-p', 'quick', '-p', 'ssh'])).toMatchObject({
      ports: 'ssh',
      profile: 'quick',
    });
  });

  it('write their files, and no file of another name', async () => {
    const cwd = folder('files');
    const args = ['scan', '127.0.0.1', ...little, '-oA', 'all', '-oX', 'x.xml', '-oJ', 'j.json'];
    expect(await home.start(args, { cwd })).toMatchObject({ code: 0, stdout: '' });
    expect(readdirSync(cwd).sort()).toEqual(['all.gnmap', 'all.nmap', 'all.xml', 'j.json', 'x.xml']);
    expect(readFileSync(join(cwd, 'all.gnmap'), 'utf8')).toMatch(/^Host: 127\.0\.0\.1 \(\)\tStatus: Up$/m);
    expect(readFileSync(join(cwd, 'all.xml'), 'utf8')).toContain('<nmaprun');
    const both = await home.start(['scan', '127.0.0.1', ...little, '-oN', 'n.txt', '--format', 'csv'], {
      cwd,
    });
    expect(both.stdout).toMatch(/^host,port,/);
    expect(existsSync(join(cwd, 'n.txt'))).toBe(true);
  });

  it.each([
    [['-sSX'], '-sX of nmap is not offered (in -sSX)', '-sS, -sT or -sU'],
    [['-sSQ'], 'unknown flag -sSQ', 'portolan scan --help, portolan help nmap'],
    [['-nvz'], 'unknown flag -nvz', 'portolan scan --help, portolan help nmap'],
    [['-oZ', 'x'], 'unknown flag -oZ', '-o Z'],
    [['-oreport'], 'unknown flag -oreport', '-o report'],
    [['-pn'], 'unknown flag -pn', '-Pn'],
    [['-pssh'], 'unknown flag -pssh', '-p ssh'],
    [['-PS22'], '-PS of nmap is not offered', '--discover-profile fast, standard, deep or tcp'],
    [['-oX'], '-oX needs a value', '-oX FILE'],
    [['-T9'], 'unknown flag -T9', 'portolan scan --help, portolan help nmap'],
    [['--scan-dealy', '1s'], 'unknown flag --scan-dealy', '--scan-delay 1s'],
  ])('%j is rejected whole', async (flags, message, hint) => {
    const { code, stdout, stderr } = await home.run(['scan', '127.0.0.1', ...flags]);
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: '',
      stderr: `portolan: ${message}\n  try: ${hint}\n`,
    });
    expect(['x', 'report'].filter((name) => existsSync(home.file(name)))).toEqual([]);
  });

  it('-v says what is always so, -q leaves notes out', async () => {
    const args = ['scan', '127.0.0.1', ...little, '--dry-run', '-sV', '-O', '-n', '-T1'];
    const { stderr } = await home.run([...args, '-v']);
    expect(stderr).toContain('note: -sV: services are identified');
    expect(stderr).toContain('note: -n: no reverse look-ups of names');
    expect(stderr).toContain('note: -T1 sends 1 packet/s here');
    expect((await home.run([...args, '-q'])).stderr).toBe('');
  });

  it('--open leaves out hosts without an open port', async () => {
    const all = await home.run(['scan', '127.0.0.1-2', ...little, '--format', 'json']);
    expect(JSON.parse(all.stdout).results).toHaveLength(2);
    const open = await home.run(['scan', '127.0.0.1-2', ...little, '--open', '--format', 'json']);
    expect(JSON.parse(open.stdout).results).toEqual([]);
    expect((await home.run(['scan', '127.0.0.1-2', ...little, '--open'])).stdout).not.toContain('127.0.0.');
  });

  it('-6 leaves out IPv4 addresses of names', async () => {
    const { stdout } = await home.run(['scan', 'localhost', ...little, '-6']);
    expect(stdout).not.toContain('127.0.0.1');
    expect(stdout).toMatch(/::1|no IPv6 address/);
  });
});

describe('targets', () => {
  it.each([[['-']], [[]], [['-f', '-']], [['-iL', '-']]])('from a pipe: %j', async (args) => {
    const { code, stdout } = await home.run(['scan', ...args, ...little, '--format', 'json'], {
      input: '127.0.0.3 # one\n127.0.0.4\n',
    });
    expect(code).toBe(0);
    expect(JSON.parse(stdout).targets).toEqual(['127.0.0.3', '127.0.0.4']);
  });

  it('are missing', async () => {
    expect(await home.run(['scan'])).toMatchObject({
      code: 2,
      stderr: 'portolan: no targets\n  try: portolan scan 192.0.2.10, or -f FILE\n',
    });
  });

  it('a profile file that is called like ports is rejected', async () => {
    const file = home.file('ssh.yaml');
    writeFileSync(file, 'name: ssh\n');
    const { code, stderr } = await home.run(['scan', '127.0.0.1', '--profile', file]);
    expect(code).toBe(2);
    expect(stderr).toContain('must not be a port list: -p means ports by it');
  });
});
