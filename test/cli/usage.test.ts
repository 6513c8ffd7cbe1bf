import { writeFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { Home } from './command.ts';

const home = new Home();
afterAll(() => home.remove());
const badConfig = home.file('bad.yaml');
writeFileSync(badConfig, 'server:\n  workers: many\n');
const badGraph = home.file('bad-graph.yaml');
writeFileSync(
  badGraph,
  'name: bad\nnodes:\n  - {instance_id: a, module_type: no_such_module}\n  - {instance_id: b, module_type: json_reporter, depends_on: [c]}\n',
);

describe('wrong use', () => {
  it.each([
    ['no command', [], 2],
    ['unknown command', ['scna', '127.0.0.1'], 2],
    ['unknown flag', ['scan', '127.0.0.1', '--prots', '22'], 2],
    ['no targets', ['scan'], 2],
    ['bad target', ['scan', '10.0.0.300'], 2],
    ['one bad target of several', ['scan', '127.0.0.1', '010.0.0.1'], 2],
    ['empty item in a list', ['scan', '127.0.0.1,,127.0.0.2'], 2],
    ['bad port', ['scan', '127.0.0.1', '--ports', '65536'], 2],
    ['two port flags', ['scan', '127.0.0.1', '--ports', '1', '--top-ports', '5'], 2],
    ['bad rate', ['scan', '127.0.0.1', '--rate', '1e3'], 2],
    ['bad duration', ['scan', '127.0.0.1', '--timeout', '3'], 2],
    ['unknown profile', ['scan', '127.0.0.1', '--profile', 'nope'], 2],
    ['unknown format', ['scan', '127.0.0.1', '--format', 'xml'], 2],
    ['missing graph file', ['scan', '127.0.0.1', '--dag', '/none/such.yaml'], 2],
    ['bad graph file', ['scan', '127.0.0.1', '--dag', badGraph], 2],
    ['target list missing', ['scan', '-f', '/none/such'], 2],
    ['--no-wait without a server', ['scan', '127.0.0.1', '--no-wait'], 2],
    ['bad server URL', ['scan', '127.0.0.1', '--server', 'ftp://x'], 2],
    ['output folder missing', ['scan', '127.0.0.1', '-o', '/none/such/x.json'], 1],
    ['bad config value', ['scan', '127.0.0.1', '--config', badConfig], 3],
    ['missing config file', ['server', 'start', '--config', '/none/such.yaml'], 3],
    ['workspace is a file', ['workspace', 'list', '--workspace-dir', badConfig], 3],
    ['unreachable server', ['scan', '127.0.0.1', '--server', 'http://127.0.0.1:9'], 4],
    ['bad listen address', ['server', 'start', '--bind', 'here'], 2],
    ['no server to ask', ['server', 'status'], 4],
    ['no server to stop', ['server', 'stop'], 4],
    ['unknown token to verify', ['server', 'token', 'verify'], 5],
    ['unknown scope', ['server', 'token', 'create', '--name', 'x', '--scopes', 'scan:reed'], 2],
    ['unknown token', ['server', 'token', 'revoke', 'nope00'], 1],
    ['unknown scan', ['workspace', 'show', '20260101-000000-abcdef'], 1],
    ['path as scan id', ['workspace', 'export', '../../etc/passwd'], 1],
    ['path as scan id to delete', ['workspace', 'delete', '..', '--force'], 1],
    ['graph with errors', ['dag', 'validate', badGraph], 1],
    ['graph that is a folder', ['dag', 'validate', '/'], 1],
    ['missing graph', ['dag', 'validate', '/none/such.yaml'], 1],
    ['unknown module', ['module', 'show', 'nope'], 1],
    ['unknown graph to export', ['dag', 'export', 'nope'], 1],
    ['unknown profile to show', ['profile', 'show', 'nope'], 1],
    ['no server for scan status', ['scan', 'status', '20260101-000000-abcdef'], 4],
    ['unknown scans to compare', ['scan', 'diff', '20260101-000000-abcdef', '20260101-000000-abcdee'], 1],
    ['unknown shell', ['completion', 'tcsh'], 2],
  ])('%s', async (_what, args, code) => {
    // Anywhere else the text would be a target.
    const input = args.includes('token') ? 'svc_abcdef_x\n' : '';
    const ended = await home.run(args, { input });
    expect({ code: ended.code, stderr: ended.stderr }).toMatchObject({ code });
    // Findings of `dag validate` are its data; everything else is a remark.
    expect(ended.stderr + (args[0] === 'dag' ? ended.stdout : '')).toMatch(/\S/);
    expect(ended.stderr).not.toContain('internal error');
    if (args[0] !== 'dag') expect(ended.stdout).toBe('');
  });

  it('suggests the flag that was meant', async () => {
    expect((await home.run(['scan', '127.0.0.1', '--prots', '22'])).stderr).toContain('--ports');
  });

  it('names each bad target once', async () => {
    const { stderr } = await home.run(['scan', '127.0.0.1', '10.0.0.300', 'http://x']);
    expect(stderr.match(/10\.0\.0\.300/g)?.length).toBeLessThanOrEqual(2);
    expect(stderr).toContain('http://x');
    const one = await home.run(['scan', '']);
    expect(one.stderr).toBe('portolan: target "": is empty\n');
  });

  it('names file, line and column of a bad graph', async () => {
    const { stdout } = await home.run(['dag', 'validate', badGraph]);
    expect(stdout).toMatch(/bad-graph\.yaml:3:\d+: error: .*no_such_module/);
    expect(stdout).toMatch(/bad-graph\.yaml:4:\d+: error: .*"c"/);
    const json = await home.run(['dag', 'validate', badGraph, '--json']);
    const check = JSON.parse(json.stdout);
    expect(check).toMatchObject({ valid: false, warnings: [] });
    expect(check.errors).toContainEqual(
      expect.objectContaining({ type: 'module', node_id: 'a', field: 'module_type', line: 3 }),
    );
    expect(json.code).toBe(1);
  });
});

const versionText =
  /^portolan \d+\.\d+\.\d+\nnode v?24\.[^]*\ncommit (?:[0-9a-f]{40}|unknown)(?:, built \S+Z)?\n$/;

describe('harmless commands', () => {
  it.each([
    ['help', ['--help'], /Usage: portolan/],
    ['help of a command', ['scan', '--help'], /--top-ports/],
    ['help of a nested command', ['server', 'token', 'create', '--help'], /--scopes/],
    ['version', ['version'], versionText],
    ['short version', ['version', '--short'], /^\d+\.\d+\.\d+\n$/],
    ['version flag', ['--version'], /^portolan \d/],
    ['modules', ['module', 'list'], /^NAME .*\n(.*\n)*json_reporter/],
    ['one module', ['module', 'show', 'json_reporter'], /json_reporter .*reporter/],
    ['profiles', ['profile', 'list'], /standard/],
    ['one profile', ['profile', 'show', 'standard'], /nodes:/],
    ['graphs', ['dag', 'list'], /discovery-only/],
    ['one graph', ['dag', 'show', 'standard'], /^standard.*\n\nNODE/],
    ['one graph for Graphviz', ['dag', 'show', 'standard', '--format', 'dot'], /^digraph "standard" \{/],
    ['a valid graph', ['dag', 'validate', 'profiles/standard.yaml', '--strict'], /valid/],
    ['workspace', ['workspace', 'info'], /^scans +0$/m],
    ['no scans', ['workspace', 'list', '--format', 'csv'], /^scan_id,.*\r\n$/],
    ['bash completion', ['completion', 'bash'], /complete -o filenames -F _portolan portolan/],
    ['zsh completion', ['completion', 'zsh'], /^#compdef portolan/],
    ['fish completion', ['completion', 'fish'], /complete -c portolan/],
    ['PowerShell completion', ['completion', 'powershell'], /Register-ArgumentCompleter -Native/],
    ['version as JSON', ['version', '--format', 'json'], /"version": "\d/],
    ['an exported graph', ['dag', 'export', 'quick'], /^name: quick\n/],
    ['an exported graph as JSON', ['dag', 'export', 'quick', '--format', 'json'], /"instance_id": "icmp"/],
    ['one profile as JSON', ['profile', 'show', 'quick', '--format', 'json'], /"nodes": \[/],
    ['help of a command below scan', ['scan', 'diff', '--help'], /\[baseline\]/],
  ])('%s', async (_what, args, expected) => {
    const ended = await home.run(args);
    expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 0, stderr: '' });
    expect(ended.stdout).toMatch(expected);
  });

  it.each([
    ['module', 'modules'],
    ['profile', 'profiles'],
    ['dag', 'dags'],
  ])('%s list --format json', async (command, key) => {
    const { stdout, code } = await home.run([command, 'list', '--format', 'json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)[key].length).toBeGreaterThan(3);
  });

  it('leaves a cell of CSV empty where there is nothing', async () => {
    await home.run(['server', 'token', 'create', '--name', 'x', '--scopes', 'scan:read']);
    const { stdout } = await home.run(['server', 'token', 'list', '--format', 'csv']);
    expect(stdout).toMatch(/,scan:read,[^,]+,,,active,\r\n$/);
  });
});
