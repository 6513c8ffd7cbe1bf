import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createToken } from '../../../actions/access/create-token.ts';
import { openService, type Service } from '../../fixtures/service.ts';

let service: Service;
beforeAll(async () => {
  service = await openService({ 'server.api.auth': true });
});
afterAll(() => service.close());

const text = 'name: mine\nnodes:\n  - { id: sweep, module: connect_scanner, config: { ports: "22" } }\n';
const graph = { file: 'mine.yaml', text };
const script = (name: string) =>
  Buffer.from(
    `export const Plugin = { name: '${name}', version: '1.4.0', description: '', requires: ['open_ports'], execute() {} };\n`,
  ).toString('base64');
const plugin = { file: 'old_ssh.mjs', content: script('old_ssh') };
const targets = ['127.0.0.1'];

async function send(path: string, body: object, ...scopes: string[]) {
  const { token } = await createToken(service.store, { name: 'x', scopes, expiry: '1h', tenant: null });
  const headers = { authorization: `Bearer ${token}` };
  const response = await service.app.inject({ method: 'POST', url: path, payload: body, headers });
  return { status: response.statusCode, ...response.json() };
}
const plan = (body: object, ...scopes: string[]) =>
  send('/api/v1/scans/plan', { targets, ...body }, 'scan:write', ...scopes);

describe('files that are sent with a scan', () => {
  it('are part of its plan, the graph in place of the profile and the plugin after what it requires', async () => {
    const { data } = await plan({ graph, plugins: [plugin] }, 'plugin:manage', 'dag:write');
    expect(data.graph).toBe('mine');
    expect(data.nodes).toMatchObject([
      { instance_id: 'sweep', module_type: 'connect_scanner' },
      { module_type: 'old_ssh', depends_on: ['sweep'], skipped: null },
    ]);
  });

  it('need a scope for each, which scan:write does not have', async () => {
    expect(await plan({ graph }, 'plugin:manage')).toMatchObject({
      status: 403,
      error: { code: 'insufficient_scope', details: { required_scopes: ['dag:write'] } },
    });
    expect(await plan({ plugins: [plugin] }, 'dag:write')).toMatchObject({
      status: 403,
      error: { details: { required_scopes: ['plugin:manage'] } },
    });
  });

  it('are stored with an accepted scan, and installed for no other', async () => {
    const all = ['scan:write', 'scan:read', 'plugin:manage', 'dag:write'];
    const { status, data } = await send('/api/v1/scans', { targets, graph, plugins: [plugin] }, ...all);
    expect(status).toBe(201);
    const request = await service.store.scans.request(data.scan_id);
    expect(request).toMatchObject({ dag: 'mine', graph: text, plugins: [{ added: true }] });
    const [pin] = request?.plugins ?? [];
    const { name, version, sha256 } = pin?.file ?? { name: '', version: '', sha256: '' };
    expect([name, version]).toEqual(['old_ssh', '1.4.0']);
    expect(await service.store.pluginPackages.get({ name, version, sha256 })).toMatchObject({
      state: 'kept',
    });
    const other = await plan({}, 'scan:read');
    expect(JSON.stringify(other.data.nodes)).not.toContain('old_ssh');
  });

  it.each([
    ['an unknown module', { graph: { text: text.replace('connect', 'conect') } }, /conect_scanner/],
    ['a graph file and a name', { graph, dag: 'deep' }, /exclude each other/],
    [
      'the name of a builtin module',
      { plugins: [{ ...plugin, content: script('ssh_parser') }] },
      /builtin one/,
    ],
    ['no plugin', { plugins: [{ file: 'x.exe', content: 'TVo=' }] }, /its name must end in one of/],
    ['a path', { plugins: [{ ...plugin, file: '../x.mjs' }] }, /plugins\/0\/file|plugins\[0\]\.file/],
  ])('with %s are rejected before the scan', async (_what, body, reason) => {
    const { status, error } = await plan(body, 'plugin:manage', 'dag:write');
    expect([status, JSON.stringify(error)]).toEqual([400, expect.stringMatching(reason)]);
  });
});
