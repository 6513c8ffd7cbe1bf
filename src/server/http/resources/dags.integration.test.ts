import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { InjectOptions } from 'fastify';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createToken } from '../../../actions/access/create-token.ts';
import type { GraphProblem } from '../../../actions/graphs/check-graph.ts';
import type { AuditEvent } from '../../../workspace/audit/audit-record.ts';
import { openService, type Service } from '../../fixtures/service.ts';

let service: Service;
const keys: Record<string, string> = {};

const tenants = { 'multi_tenant.enabled': true, 'multi_tenant.tenants': 'acme,globex' };

async function start(): Promise<void> {
  service = await openService({ ...tenants, 'server.api.auth': true, 'logging.audit.enabled': true });
  for (const tenant of ['acme', 'globex']) {
    const order = { name: 'test', expiry: '1h', tenant };
    keys[tenant] = (await createToken(service.store, { ...order, scopes: ['admin'] })).token;
    keys[`${tenant} reader`] = (
      await createToken(service.store, { ...order, scopes: ['scan:read', 'scan:write'] })
    ).token;
  }
}
const stop = () => service.close();

async function call(who: string, options: InjectOptions) {
  const headers = {
    authorization: `Bearer ${keys[who]}`,
    'x-tenant-id': who.split(' ')[0],
    ...options.headers,
  };
  return await service.app.inject({ ...options, headers });
}

const get = (name: string, who = 'acme reader') => call(who, { url: `/api/v1/dags/${name}` });
const put = (name: string, text: string, headers: Record<string, string> = {}, who = 'acme') =>
  call(who, { method: 'PUT', url: `/api/v1/dags/${name}`, payload: { text }, headers });
const remove = (name: string, who = 'acme') => call(who, { method: 'DELETE', url: `/api/v1/dags/${name}` });
const validate = async (text: string) => {
  const url = '/api/v1/dags/validate';
  const response = await call('acme reader', { method: 'POST', url, payload: { text } });
  expect([response.statusCode, response.body.slice(0, 300)]).toEqual([200, expect.any(String)]);
  return response.json().data as {
    valid: boolean;
    problems: GraphProblem[];
    graph: { nodes: object[] } | null;
  };
};

const sweep = `name: sweep
description: one sweep
nodes:
  - { instance_id: icmp, module_type: icmp_discovery }
  - { instance_id: syn, module_type: syn_scanner, depends_on: [icmp], config: { ports: "22" } }
  - { instance_id: report, module_type: json_reporter, depends_on: [syn] }
`;

const folder = (tenant = 'acme') => join(service.workspace.dir, 'tenants', tenant, 'config/dags');

describe('GET /api/v1/dags/{name}', () => {
  beforeAll(start);
  afterAll(stop);

  it('shows nodes, options, edges with their keys, and who uses a builtin graph', async () => {
    const response = await get('standard');
    expect(response.statusCode).toBe(200);
    expect(response.headers['etag']).toMatch(/^"[0-9a-f]{32}"$/);
    const { data } = response.json();
    expect(data).toMatchObject({ name: 'standard', source: 'builtin', editable: false });
    expect(data.text).toContain('instance_id');
    const syn = data.nodes.find(({ instance_id }: { instance_id: string }) => instance_id === 'syn');
    expect(syn).toMatchObject({
      module_type: 'syn_scanner',
      type: 'scanner',
      options: { ports: expect.anything() },
    });
    expect(data.edges).toContainEqual({ from: 'icmp', to: 'syn', key: 'discovered_hosts' });
    expect(data.used_by).toEqual({ profiles: ['standard'], jobs: [] });
  });

  it.each(['nothing', '..', '..%2f..%2fetc%2fpasswd', '%2e%2e', 'STANDARD', 'a'.repeat(5000), '%00'])(
    'responds 404 to %s',
    async (name) => {
      expect([404, 400]).toContain((await get(name)).statusCode);
    },
  );
});

describe('POST /api/v1/dags/validate', () => {
  beforeAll(start);
  afterAll(stop);

  it('finds no problem in a good graph and draws it', async () => {
    const verdict = await validate(sweep);
    expect(verdict).toMatchObject({ valid: true, problems: [] });
    expect(verdict.graph?.nodes).toHaveLength(3);
  });

  it('names line, column, node and a fix of each problem, and still draws what it can read', async () => {
    const verdict = await validate(
      sweep.replace('syn_scanner', 'syn_scaner').replace('[syn] }', '[sin], config: { pathh: x } }'),
    );
    expect(verdict.valid).toBe(false);
    expect(verdict.problems).toContainEqual(
      expect.objectContaining({
        severity: 'error',
        line: 5,
        node: 'syn',
        message: '"syn_scaner" is not a registered module',
        fix: 'did you mean "syn_scanner"?',
      }),
    );
    expect(verdict.problems).toContainEqual(
      expect.objectContaining({ line: 6, node: 'report', fix: 'did you mean "syn"?' }),
    );
    expect(verdict.problems).toEqual(verdict.problems.toSorted((a, b) => a.line - b.line));
    expect(verdict.graph?.nodes).toHaveLength(3);
  });

  it('tells warnings from errors, and a text that is no graph', async () => {
    const unreported = await validate(sweep.split('\n').slice(0, 5).join('\n'));
    expect(unreported).toMatchObject({
      valid: true,
      problems: [{ severity: 'warning', type: 'no_reporter' }],
    });
    for (const text of ['', 'nodes: [', '- 1', '\u0000', '{"nodes": 7}', 'null', '"text"']) {
      const verdict = await validate(text);
      expect([text, verdict.valid, verdict.graph, verdict.problems.length > 0]).toEqual([
        text,
        false,
        null,
        true,
      ]);
    }
  });

  /** Each would take seconds on the event loop, or gigabytes. */
  const hostile: Record<string, string> = {
    'a YAML bomb': `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghi'
      .split('')
      .map((name, index) => {
        const before = 'abcdefgh'[index];
        return `${name}: &${name} [${`*${before},`.repeat(9)}]`;
      })
      .join('\n')}\nnodes: *i\n`,
    'more than 1 MiB': `nodes:\n${'  - { id: a, module: b }\n'.repeat(50_000)}`,
    'many nodes': `nodes:\n${Array.from({ length: 20_000 }, (_, index) => `  - { id: n${index}, module: b }`).join('\n')}`,
    'many dependencies': `nodes:\n${Array.from(
      { length: 300 },
      (_, index) => `  - {id: n${index}, module: json_reporter, depends_on: [${'n1,'.repeat(300)}n2]}`,
    ).join('\n')}`,
    'many unknown names': `nodes:\n${Array.from(
      { length: 800 },
      (_, index) =>
        `  - {id: n${index}, module: sin_scanner${index}, depends_on: [q${index}, r${index}], confix: {}}`,
    ).join('\n')}`,
    'deep nesting': `nodes: ${'['.repeat(100_000)}`,
    'a long cycle': `nodes:\n${Array.from(
      { length: 1000 },
      (_, index) => `  - {id: n${index}, module: json_reporter, depends_on: [n${(index + 1) % 1000}]}`,
    ).join('\n')}`,
    'a long name': `name: ${'x'.repeat(900_000)}\nnodes: [{id: a, module: ${'y'.repeat(100_000)}}]`,
  };

  it.each(Object.keys(hostile))('responds to %s with problems of limited size', async (name) => {
    const verdict = await validate(hostile[name] as string);
    expect(verdict.valid).toBe(false);
    expect(JSON.stringify(verdict.problems).length).toBeLessThan(500_000);
  });

  it('serves other requests while it checks a long text', async () => {
    const check = validate(hostile['many unknown names'] as string).then(() => 'check');
    const other = get('standard').then(() => 'other');
    expect(await Promise.race([check, other])).toBe('other');
    await check;
  });
});

describe('PUT /api/v1/dags/{name}', () => {
  it('shows the shape of its body to those who send the file itself', async () => {
    const response = await call('acme', {
      method: 'PUT',
      url: '/api/v1/dags/sweep',
      payload: 'name: sweep\n',
      headers: { 'content-type': 'application/yaml' },
    });
    expect(response.statusCode).toBe(415);
    const { message } = response.json<{ error: { message: string } }>().error;
    expect(message).toMatch(
      /^The request body must be JSON: send Content-Type: application\/json and a body such as \{"text":"\w/,
    );
  });

  beforeEach(start);
  afterEach(stop);

  it('creates a graph in the folder of the tenant, in force at once, for no other tenant', async () => {
    const response = await put('sweep', sweep);
    expect([response.statusCode, response.json().data]).toEqual([
      200,
      expect.objectContaining({ name: 'sweep', source: 'tenant', editable: true, text: sweep }),
    ]);
    expect(readFileSync(join(folder(), 'sweep.yaml'), 'utf8')).toBe(sweep);
    expect(readdirSync(folder())).toEqual(['sweep.yaml']);
    expect((await get('sweep')).json().data.nodes).toHaveLength(3);
    expect((await get('sweep', 'globex')).statusCode).toBe(404);
    expect((await remove('sweep', 'globex')).statusCode).toBe(404);
    const list = (await call('globex', { url: '/api/v1/dags' })).body;
    expect(list).not.toContain('sweep');
    const scan = { targets: ['127.0.0.1'], dag: 'sweep' };
    const submit = (who: string) => call(who, { method: 'POST', url: '/api/v1/scans', payload: scan });
    expect([(await submit('acme')).statusCode, (await submit('globex')).statusCode]).toEqual([201, 400]);
  });

  it('takes a large graph over a connection, whose body comes in several chunks', async () => {
    const text = `${sweep}${'# a comment\n'.repeat(20_000)}`;
    const base = await service.listen();
    const send = async (method: string, url: string) => {
      const headers = {
        authorization: `Bearer ${keys['acme']}`,
        'x-tenant-id': 'acme',
        'content-type': 'application/json',
      };
      return (await fetch(`${base}${url}`, { method, headers, body: JSON.stringify({ text }) })).status;
    };
    expect(await send('POST', '/api/v1/dags/validate')).toBe(200);
    expect(await send('PUT', '/api/v1/dags/sweep')).toBe(200);
  });

  it('replaces a graph only in the version that the client has read', async () => {
    const created = await put('sweep', sweep);
    const etag = String(created.headers['etag']);
    const changed = sweep.replace('"22"', '"23"');
    expect((await put('sweep', changed)).json().error).toMatchObject({ code: 'conflict', details: { etag } });
    const replaced = await put('sweep', changed, { 'if-match': etag });
    expect([replaced.statusCode, replaced.json().data.text]).toEqual([200, changed]);
    expect((await put('sweep', sweep, { 'if-match': etag })).statusCode).toBe(409);
    expect((await put('other', sweep.replace('sweep', 'other'), { 'if-match': etag })).statusCode).toBe(409);
    for (const bad of ['W/"1"', '"x"', `${etag}, "b"`])
      expect((await put('sweep', sweep, { 'if-match': bad })).statusCode).toBe(400);
    expect((await get('sweep')).json().data.text).toBe(changed);
  });

  it('of two clients that create the same name, one gets a conflict', async () => {
    const other = sweep.replace('"22"', '"23"');
    const responses = await Promise.all([put('sweep', sweep), put('sweep', other)]);
    expect(responses.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 409]);
  });

  it('rejects invalid graphs with their problems, foreign names in the text, and names that are none', async () => {
    const invalid = await put('sweep', sweep.replace('syn_scanner', 'syn_scaner'));
    expect(invalid.statusCode).toBe(400);
    expect(invalid.json().error.details.problems).toContainEqual(
      expect.objectContaining({ line: 5, node: 'syn', fix: 'did you mean "syn_scanner"?' }),
    );
    expect((await put('other', sweep)).json().error.details.problems).toMatchObject([
      { line: 1, column: 7, message: 'the graph is named "sweep", but is saved as "other"' },
    ]);
    for (const name of [
      '..%2f..%2fevil',
      '%2e%2e%2fevil',
      'Evil',
      'a.b',
      '-x',
      'a'.repeat(65),
      '%00x',
      'a%0ab',
    ]) {
      expect([name, (await put(name, sweep)).statusCode]).toEqual([name, 400]);
    }
    for (const name of ['standard', 'quick_discovery'])
      expect([name, (await put(name, sweep.replace('sweep', name))).statusCode]).toEqual([name, 409]);
    expect(existsSync(folder()) ? readdirSync(folder()) : []).toEqual([]);
    expect(existsSync(join(service.workspace.dir, 'tenants/acme/config/evil'))).toBe(false);
  });

  it('takes no graph that names a file of the server, and plans no scan with one that lies in a folder', async () => {
    const reading = sweep.replace(
      '  - { instance_id: report',
      `  - { instance_id: grab, module_type: banner_grabber, depends_on: [syn] }
  - { instance_id: finger, module_type: banner_fingerprinter, depends_on: [grab], config: { rules: /etc/passwd } }
$&`,
    );
    const problem = {
      node: 'finger',
      field: 'config.rules',
      message: expect.stringContaining('names a file'),
    };
    expect((await validate(reading)).problems).toContainEqual(expect.objectContaining(problem));
    expect((await put('sweep', reading)).statusCode).toBe(400);
    const shared = join(service.workspace.dir, 'config/dags');
    await mkdir(shared, { recursive: true });
    writeFileSync(join(shared, 'sweep.yaml'), reading);
    await service.context.installed.readFolders(service.context.config);
    const payload = { targets: ['127.0.0.1'], dag: 'sweep' };
    const response = await call('acme', { method: 'POST', url: '/api/v1/scans/plan', payload });
    expect([response.statusCode, response.json().error?.message]).toEqual([
      400,
      expect.stringContaining('finger: config.rules names a file'),
    ]);
  });

  it('never replaces a file that holds something else, or was edited on the disk', async () => {
    await mkdir(folder(), { recursive: true });
    writeFileSync(join(folder(), 'sweep.yaml'), 'nodes: [');
    expect((await put('sweep', sweep)).statusCode).toBe(409);
    expect(readFileSync(join(folder(), 'sweep.yaml'), 'utf8')).toBe('nodes: [');
    const etag = String((await put('second', sweep.replace('sweep', 'second'))).headers['etag']);
    writeFileSync(join(folder(), 'second.yaml'), 'name: second # edited');
    const response = await put('second', sweep.replace('sweep', 'second'), { 'if-match': etag });
    expect(response.json().error.message).toContain('reload the server');
  });

  it('needs the scope admin', async () => {
    for (const response of [
      await put('sweep', sweep, {}, 'acme reader'),
      await remove('sweep', 'acme reader'),
    ])
      expect(response.json().error.code).toBe('insufficient_scope');
  });

  it('and DELETE stand in the audit log of the tenant', async () => {
    await put('sweep', sweep);
    await put('sweep', 'nodes: [');
    await remove('sweep');
    await expect.poll(auditedChanges).toMatchObject([
      {
        outcome: 'allowed',
        resource: { type: 'dag', id: 'sweep' },
        details: { operation: 'dag.write', sha256: expect.any(String) },
      },
      { outcome: 'denied', details: { operation: 'dag.write', error: 'invalid_request' } },
      { outcome: 'allowed', resource: { type: 'dag', id: 'sweep' }, details: { operation: 'dag.remove' } },
    ]);
  });
});

function auditedChanges(): AuditEvent[] {
  const place = join(service.workspace.dir, 'tenants/acme/audit');
  if (!existsSync(place)) return [];
  return readdirSync(place)
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => readFileSync(join(place, name), 'utf8').trim().split('\n'))
    .map((line) => JSON.parse(line) as AuditEvent)
    .filter(({ event }) => event === 'config_change');
}

describe('DELETE /api/v1/dags/{name}', () => {
  beforeEach(start);
  afterEach(stop);

  it('deletes the file; builtin graphs and those of the operator stay', async () => {
    await put('sweep', sweep);
    expect((await remove('sweep')).json().data).toEqual({ name: 'sweep', deleted: true });
    expect(readdirSync(folder())).toEqual([]);
    expect((await get('sweep')).statusCode).toBe(404);
    expect((await remove('sweep')).statusCode).toBe(404);
    expect((await remove('standard')).statusCode).toBe(409);
    const shared = join(service.workspace.dir, 'config/dags');
    await mkdir(shared, { recursive: true });
    writeFileSync(join(shared, 'sweep.yaml'), sweep);
    await service.context.installed.readFolders(service.context.config);
    expect((await get('sweep')).json().data).toMatchObject({ source: 'workspace', editable: false });
    expect((await remove('sweep')).statusCode).toBe(409);
    // A tenant may override it for itself.
    expect((await put('sweep', sweep.replace('"22"', '"23"'))).json().data.source).toBe('tenant');
    expect((await remove('sweep')).statusCode).toBe(200);
    expect((await get('sweep')).json().data.source).toBe('workspace');
  });

  it('leaves the default profile in force when its file is gone as folders are read again', async () => {
    const shared = join(service.workspace.dir, 'config/profiles');
    await mkdir(shared, { recursive: true });
    writeFileSync(join(shared, 'usual.yaml'), 'name: usual\ndescription: usual\n');
    const { config, installed } = service.context;
    await installed.readFolders(config);
    rmSync(join(shared, 'usual.yaml'));
    const usual = { ...config, scanner: { ...config.scanner, default_profile: 'usual' } };
    await installed.readFolders(usual);
    expect(installed.libraries.service.profile('usual')).toMatchObject({ name: 'usual' });
    await installed.readFolders(config);
    expect(installed.libraries.service.profile('usual')).toBeFalsy();
  });

  it('is a conflict with the jobs and profiles that name it', async () => {
    await put('sweep', sweep);
    const payload = {
      type: 'scan',
      params: { targets: ['127.0.0.1'], dag: 'sweep' },
      schedule: '@daily',
      name: 'nightly',
    };
    const { job_id } = (await call('acme', { method: 'POST', url: '/api/v1/jobs', payload })).json().data;
    const jobs = [{ job_id, name: 'nightly', schedule: '@daily' }];
    expect((await get('sweep')).json().data.used_by).toEqual({ profiles: [], jobs });
    const refused = await remove('sweep');
    expect([refused.statusCode, refused.json().error.details]).toMatchObject([409, { jobs }]);
    await call('acme', { method: 'POST', url: `/api/v1/jobs/${job_id}/cancel` });
    const url = '/api/v1/profiles/nightly';
    expect((await call('acme', { method: 'PUT', url, payload: { text: 'dag: sweep\n' } })).statusCode).toBe(
      200,
    );
    expect((await remove('sweep')).json().error.details).toMatchObject({ profiles: ['nightly'] });
    expect((await call('acme', { method: 'DELETE', url })).statusCode).toBe(200);
    expect((await remove('sweep')).statusCode).toBe(200);
  });
});

describe('profiles', () => {
  beforeEach(start);
  afterEach(stop);

  const profile = (name: string, more: InjectOptions = {}, who = 'acme') =>
    call(who, { url: `/api/v1/profiles/${name}`, ...more });

  it('are shown with their graph, ports and settings', async () => {
    expect((await profile('deep')).json().data).toMatchObject({
      name: 'deep',
      aliases: ['full_scan'],
      dag: 'deep',
      source: 'builtin',
      editable: false,
      vuln: true,
      options: {},
      ports: expect.stringMatching(/^all,U:7,/),
    });
    expect((await profile('full_scan')).json().data.name).toBe('deep');
    for (const name of ['none', '..', '..%2fx'])
      expect([404, 400]).toContain((await profile(name)).statusCode);
  });

  it('are saved, replaced and deleted as graphs are', async () => {
    const text =
      'description: night\nscanner: { rate: 50, ports: { custom: "22,80" } }\nvulnerability: { enabled: true }\n';
    const created = await profile('night', { method: 'PUT', payload: { text } });
    expect([created.statusCode, created.json().data]).toMatchObject([
      200,
      { name: 'night', dag: 'standard', ports: '22,80', vuln: true, options: { rate: 50 }, source: 'tenant' },
    ]);
    expect((await profile('night', {}, 'globex')).statusCode).toBe(404);
    const invalid = await profile('bad', { method: 'PUT', payload: { text: 'scanner: { rat: 1 }' } });
    expect(invalid.json().error.details.problems).toMatchObject([
      { line: 1, message: expect.stringContaining('rate') },
    ]);
    expect((await profile('quick', { method: 'PUT', payload: { text } })).statusCode).toBe(409);
    expect((await profile('night', { method: 'PUT', payload: { text } })).statusCode).toBe(409);
    const payload = {
      type: 'scan',
      params: { targets: ['127.0.0.1'], profile: 'night' },
      schedule: '@daily',
    };
    const { job_id } = (await call('acme', { method: 'POST', url: '/api/v1/jobs', payload })).json().data;
    expect((await profile('night', { method: 'DELETE' })).json().error.details.jobs).toMatchObject([
      { job_id },
    ]);
    await call('acme', { method: 'POST', url: `/api/v1/jobs/${job_id}/cancel` });
    expect((await profile('night', { method: 'DELETE' })).statusCode).toBe(200);
    expect((await profile('night')).statusCode).toBe(404);
  });
});
