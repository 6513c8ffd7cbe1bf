import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ended, Home, launcher, run } from './command.ts';
import { freePort, Listeners } from './listeners.ts';

const home = new Home();
const listeners = new Listeners();
let ssh = 0;
let hostile = 0;
let closed = 0;

/** Clear screen, set the title, write the clipboard, ring, go back, and the one-byte form of CSI. */
const escapes = Buffer.from(
  '\x1b[2J\x1b]0;owned\x07\x1b]52;c;ZXZpbA==\x07abc\b\b\b\x9b31m\x7f\r\n',
  'latin1',
);

beforeAll(async () => {
  ssh = await listeners.greet('SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u2\r\n');
  hostile = await listeners.greet(Buffer.concat([Buffer.from('220 '), escapes]));
  closed = await freePort();
});
afterAll(() => {
  listeners.close();
  home.remove();
});

/** A quick scan: of a host that is known to live. */
function scan(...args: string[]) {
  return home.run(['scan', '127.0.0.1', '--no-discover', '--timeout', '1s', ...args]);
}

const formats = ['text', 'json', 'jsonl', 'csv'] as const;

/** One scan in each format, with all remarks that there are, which several tests look at. */
const printed = {} as Record<(typeof formats)[number], Ended>;
beforeAll(async () => {
  const ports = ['--ports', `${ssh},${hostile},${closed}`];
  const args = ['scan', '127.0.0.1', '--timeout', '1s', ...ports, '--tags', 'a,b', '--progress', '-vv'];
  await Promise.all(
    formats.map(async (format) => {
      printed[format] = await home.run([...args, '--format', format]);
    }),
  );
});

describe('scan of real listeners', { concurrent: true }, () => {
  it('prints the data object as JSON, and nothing else', async () => {
    expect(printed.json.code).toBe(0);
    const result = JSON.parse(printed.json.stdout);
    expect(result).toMatchObject({ status: 'completed', partial: false, targets: ['127.0.0.1'] });
    expect(result.summary).toMatchObject({ live_hosts: 1, open_ports: 2 });
    expect(result.results[0]).toMatchObject({ host: '127.0.0.1', state: 'up' });
    expect(result.results[0].ports.map(({ port }: { port: number }) => port).sort()).toEqual(
      [ssh, hostile].sort(),
    );
    expect(result.results[0].ports).toContainEqual(
      expect.objectContaining({
        port: ssh,
        protocol: 'tcp',
        state: 'open',
        service: expect.objectContaining({ name: 'ssh', product: 'OpenSSH', version: '9.2p1' }),
      }),
    );
  });

  it('marks open ports that the end of the scan left without probes', async () => {
    const silent = await Promise.all([1, 2].map(() => listeners.serve(() => undefined)));
    const limits = ['--concurrency', '1', '--timeout', '60s', '--max-duration', '4s'];
    const { stdout } = await home.run([
      'scan',
      '127.0.0.1',
      '--ports',
      silent.join(','),
      ...limits,
      '--format',
      'json',
    ]);
    const { status, summary, results } = JSON.parse(stdout);
    expect({ status, unidentified: summary.unidentified }).toEqual({
      status: 'failed',
      unidentified: { timeout: 0, rate: 0, cut: 2 },
    });
    expect(results[0].ports).toMatchObject(
      silent.sort((a, b) => a - b).map((port) => ({ port, unidentified_reason: 'cut' })),
    );
  });

  it('lists hosts and ports whole where only banner_grabber looks for them', async () => {
    const file = home.file('banners.yaml');
    writeFileSync(
      file,
      `nodes:\n  - { id: grab, module: banner_grabber, config: { ports: "${ssh},${closed}" } }\n`,
    );
    const { stdout } = await scan('--dag', file, '--format', 'json');
    const { summary, results } = JSON.parse(stdout);
    expect(summary).toMatchObject({ live_hosts: 1, open_ports: 1 });
    expect(results).toMatchObject([
      { host: '127.0.0.1', state: 'up', ports: [{ port: ssh, state: 'open', reason: 'syn-ack' }] },
    ]);
  });

  it('banner_grabber alone tries the ports of the request, not those of its graph', async () => {
    const file = home.file('other-ports.yaml');
    writeFileSync(file, `nodes:\n  - { id: grab, module: banner_grabber, config: { ports: "${ssh}" } }\n`);
    const { stdout } = await scan('--dag', file, '--ports', String(closed), '--format', 'json');
    expect(JSON.parse(stdout)).toMatchObject({ summary: { open_ports: 0 }, results: [] });
  });

  it('prints records line by line as JSONL, the summary last', async () => {
    const { code, stdout } = printed.jsonl;
    expect(code).toBe(0);
    const records = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const identities = records.map(({ type, port }) => [type, port].filter(Boolean).join(' '));
    expect(new Set(identities)).toEqual(new Set(['host', `port ${ssh}`, `port ${hostile}`, 'summary']));
    expect(identities.at(-1)).toBe('summary');
  });

  it('prints CSV', async () => {
    const { code, stdout } = printed.csv;
    expect(code).toBe(0);
    const [head, ...rows] = stdout.split('\r\n');
    expect(head).toBe(
      'host,port,protocol,state,service,version,product,cpe,vulnerability_ids,max_severity,banner,unidentified_reason,class,producers',
    );
    expect(rows).toContainEqual(expect.stringContaining(`127.0.0.1,${ssh},tcp,open,ssh,9.2p1,OpenSSH,`));
  });

  it('prints a table whose texts are whole outside a terminal', async () => {
    const { code, stdout } = printed.text;
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^${ssh}/tcp +open +ssh +OpenSSH 9\\.2p1`, 'm'));
    expect(stdout).toMatch(/^1 host up, 2 open ports in \d/m);
    expect(stdout).not.toContain('…');
  });

  it('lists the scan in the workspace and exports it again', async () => {
    const first = JSON.parse(printed.json.stdout);
    const list = JSON.parse((await home.run(['workspace', 'list', '--format', 'json'])).stdout);
    expect(list.scans).toContainEqual(
      expect.objectContaining({ scan_id: first.scan_id, status: 'completed', tags: ['a', 'b'] }),
    );
    const exported = await home.run(['workspace', 'export', first.scan_id]);
    expect(JSON.parse(exported.stdout)).toEqual(first);
    const shown = await home.run(['workspace', 'show', first.scan_id, '--show-results']);
    expect(shown.stdout).toContain(`${ssh}/tcp`);
    expect((await home.run(['workspace', 'delete', first.scan_id, '--force'])).code).toBe(0);
    expect((await home.run(['workspace', 'show', first.scan_id])).code).toBe(1);
  });

  it('reads targets from stdin, and has no remarks with --quiet', async () => {
    const args = ['--no-discover', '--timeout', '1s', '--ports', String(ssh), '--format', 'csv'];
    const { stdout, stderr } = await home.run(['scan', '-f', '-', ...args, '--quiet', '--progress'], {
      input: '127.0.0.1\n',
    });
    expect(stdout).toContain(`127.0.0.1,${ssh},tcp,open`);
    expect(stderr).toBe('');
  });

  it('reads targets from a file and writes a private one, in the format of its name', async () => {
    const targets = home.file('hosts.txt');
    writeFileSync(targets, '# one\n127.0.0.1\n');
    const file = home.file('result.jsonl');
    const args = ['--no-discover', '--timeout', '1s', '--ports', String(ssh), '-o', file];
    const { code, stdout } = await home.run(['scan', `@${targets}`, ...args]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const records = readFileSync(file, 'utf8').trimEnd().split('\n');
    expect(records).toHaveLength(3);
    expect(JSON.parse(records[1] as string)).toMatchObject({ type: 'port', host: '127.0.0.1', port: ssh });
  });

  it('scans nothing that is excluded', async () => {
    const { code, stderr, stdout } = await scan(
      '--ports',
      String(ssh),
      '--exclude',
      '127.0.0.0/8',
      '--format',
      'csv',
    );
    expect(code).toBe(2);
    expect(stderr).toContain('nothing is left to scan: exclude has every target');
    expect(stdout).not.toContain(`${ssh}`);
  });

  it('keeps nothing with --no-workspace', async () => {
    const fresh = new Home();
    const { code, stdout } = await fresh.run([
      'scan',
      '127.0.0.1',
      '--no-discover',
      '--timeout',
      '1s',
      '--ports',
      String(ssh),
      '--no-workspace',
    ]);
    expect(code).toBe(0);
    expect(stdout).toContain(`${ssh}/tcp`);
    expect(existsSync(fresh.file('.local'))).toBe(false);
    fresh.remove();
  });
});

describe('terminal escapes in banners', { concurrent: true }, () => {
  it.each(formats)('reach no output as %s', (format) => {
    const ended = printed[format];
    expect(ended.code).toBe(0);
    for (const byte of [0x1b, 0x9b, 0x07, 0x08, 0x7f]) expect(ended.bytes.includes(byte)).toBe(false);
    expect(ended.stdout).toContain('x1b');
  });

  it('reach no output on a terminal either', async () => {
    const command = `${process.execPath} ${launcher} scan 127.0.0.1 --no-discover --ports ${hostile} --timeout 1s --no-color`;
    const ended = await run('script', ['-qec', command, '/dev/null'], {
      env: { ...home.env, TERM: 'xterm' },
    });
    // What the program itself draws: lines are erased before the status is drawn again.
    const drawn = ended.bytes.toString('latin1').replaceAll(/\r?(?:\x1b\[1A)?\x1b\[2K/g, '');
    expect(drawn).toContain('\\x1b[2J');
    expect(drawn).not.toMatch(/[\x1b\x9b\x07\x08\x7f]/);
  });
});

describe('output', { concurrent: true }, () => {
  it('is refused before the scan when the folder is missing', async () => {
    const fresh = new Home();
    const ended = await fresh.run(['scan', '127.0.0.1', '-o', fresh.file('none/result.json')]);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain('no directory');
    expect(existsSync(fresh.file('.local'))).toBe(false);
    fresh.remove();
  });

  it.each(['json', 'text'])('as %s may be cut off by its reader', async (format) => {
    const targets = `--no-discover --timeout 1s --rate 5000 --ports ${ssh},1-9`;
    const command = `"$0" "$1" scan 127.0.1.0/24 127.0.0.1 ${targets} --format ${format} | head -c 1; echo " \${PIPESTATUS[0]}"`;
    const ended = await run('bash', ['-c', command, process.execPath, launcher], { env: home.env });
    expect(ended.stderr).not.toMatch(/EPIPE|internal error/);
    expect(ended.stdout).toMatch(/ 0\n$/);
  });

  it('that cannot be written is a failure', async () => {
    const command = `"$0" "$1" scan 127.0.0.1 --no-discover --timeout 1s --ports ${ssh} --format json > /dev/full`;
    const ended = await run('bash', ['-c', command, process.execPath, launcher], { env: home.env });
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain('ENOSPC');
  });
});

describe('bad input', { concurrent: true }, () => {
  it('leaves no trace', async () => {
    const fresh = new Home();
    expect((await fresh.run(['scan', '10.0.0.300'])).code).toBe(2);
    expect((await fresh.run(['scan', '127.0.0.1', '--dag', '/none/such.yaml'])).code).toBe(2);
    expect(readdirSync(fresh.path).filter((name) => name !== '.cache')).toEqual([]);
    fresh.remove();
  });
});

describe('--dry-run', { concurrent: true }, () => {
  it('plans, counts and sends nothing', async () => {
    let connections = 0;
    const own = '127.86.0.2';
    const port = await listeners.serve(() => connections++, own);
    const plan = (...args: string[]) => home.run(['scan', own, ...args, '--dry-run']);
    const text = await plan('--ports', String(port));
    expect(text.code).toBe(0);
    expect(text.stdout).toContain(`${own}: 1 address, none excluded\n`);
    expect(text.stdout).not.toContain('syn_scanner');
    const detailed = await plan('--ports', String(port), '-v');
    expect(detailed.stdout).toContain('syn_scanner');
    const facts = JSON.parse((await plan('--ports', `${port},1-10`, '--format', 'json')).stdout);
    expect(facts).toMatchObject({ addresses: 1, ports: { udp: 0 } });
    expect(facts.packets_estimate).toBeGreaterThan(10);
    expect(connections).toBe(0);
  });

  it('looks for vulnerabilities where a graph file is for that, unless --no-vuln says otherwise', async () => {
    const file = home.file('own.yaml');
    writeFileSync(file, 'metadata: { vuln: true }\nnodes:\n  - { id: sweep, module: connect_scanner }\n');
    const planned = async (...flags: string[]) => {
      const { stdout } = await scan('--dag', file, '--dry-run', '--format', 'json', ...flags);
      const { vuln, warnings } = JSON.parse(stdout);
      return [vuln, warnings.map(({ code }: { code: string }) => code)];
    };
    expect(await planned()).toEqual([true, ['vuln_unavailable']]);
    expect(await planned('--no-vuln')).toEqual([false, ['evaluation_off']]);
  });
});

describe('Ctrl-C', { concurrent: true }, () => {
  it('cancels, keeps what was found and ends with 7', async () => {
    const ended = await home.start(
      [
        'scan',
        '127.0.0.1',
        '127.64.0.0/20',
        '--no-discover',
        '--ports',
        `${ssh}`,
        '--rate',
        '100',
        '--format',
        'json',
        '--progress',
      ],
      {
        started: (child) => {
          child.stderr?.once('data', async () => {
            child.kill('SIGINT');
            await sleep(20);
            // The launcher of a terminal session passes the same key on a second time.
            child.kill('SIGINT');
          });
        },
      },
    );
    expect(ended.code).toBe(7);
    const result = JSON.parse(ended.stdout);
    expect(result).toMatchObject({ status: 'failed', partial: true });
    expect(ended.stderr).toContain('canceled');
  });
});
