import { afterEach, describe, expect, it } from 'vitest';
import { isInstalled } from '../../../test/installed.ts';
import { closeServers, listen, loopbackGate } from '../../../test/module-trial.ts';
import type { HostFinding } from '../../domain/finding.ts';
import { runTrial } from '../../engine/fixtures/graph-trial.ts';
import { builtinRules } from '../../knowledge/rules/rule-catalog.ts';
import bannerGrabber from '../../modules/scanner/banner_grabber.ts';
import connectScanner from '../../modules/scanner/connect_scanner.ts';
import { describeGrpc } from './describe-grpc.ts';
import { entryOf } from './fixtures/plugin-server.ts';
import { PythonPlugin, pythonGrpc } from './fixtures/python-plugin.ts';
import { grpcModule } from './grpc-module.ts';

const limits = { output: 1024 * 1024 };
const never = new AbortController().signal;
afterEach(closeServers);

/** A scan of two loopback servers with the plugin at the end of the graph. */
async function scan(pluginPort: number, config: string) {
  const entry = entryOf(pluginPort, { name: 'ssh-check' });
  const plugin = grpcModule(entry, await describeGrpc(entry, limits, never), limits);
  const old = await listen((socket) => socket.write('SSH-1.99-OpenSSH_3.4p1\r\n'));
  const recent = await listen((socket) => socket.write('SSH-2.0-OpenSSH_9.2p1\r\n'));
  const graph = `nodes:
  - {instance_id: ports, module_type: connect_scanner, config: {ports: "${old},${recent}"}}
  - {instance_id: banners, module_type: banner_grabber, depends_on: [ports], config: {probes: none}}
  - {instance_id: check, module_type: ssh_protocol_one, depends_on: [banners], config: ${config}}
`;
  const { states, stages, taps } = await runTrial({
    modules: [connectScanner, bannerGrabber, plugin],
    graph,
    environment: {
      net: loopbackGate(['127.0.0.1']),
      targets: [{ value: '127.0.0.1', kind: 'ip', ip: '127.0.0.1' }],
      fingerprints: async () => builtinRules,
    },
  });
  const found = taps.filter(([key]) => key === 'vulnerabilities').map(([, item]) => item as HostFinding);
  return { old, states, stages, found };
}

describe.skipIf(!isInstalled(pythonGrpc))('the Python example of the SDK', () => {
  it.each(['service.module.v1.ModuleService', 'ModuleService'])(
    'as %s finds the server with protocol 1 in a scan, and not the other',
    async (service) => {
      await using plugin = await PythonPlugin.start(service);
      const { old, states, found } = await scan(plugin.port, '{severity: high}');
      expect(states).toEqual({ ports: 'completed', banners: 'completed', check: 'completed' });
      expect(found).toEqual([
        expect.objectContaining({
          id: 'ssh-protocol-one',
          host: '127.0.0.1',
          port: old,
          severity: 'high',
          evidence: 'SSH-1.99-OpenSSH_3.4p1',
          plugin: 'ssh_protocol_one',
        }),
      ]);
    },
  );

  it('is described by itself', async () => {
    await using plugin = await PythonPlugin.start();
    const metadata = await describeGrpc(entryOf(plugin.port), limits, never);
    expect(metadata).toMatchObject({
      name: 'ssh_protocol_one',
      type: 'evaluation',
      version: '1.0.0',
      requires: ['banners'],
      provides: ['vulnerabilities'],
    });
    expect(metadata.options['severity']).toMatchObject({ Type: 'string', Default: 'medium' });
  });

  it('reports an exception as the error of its node', async () => {
    await using plugin = await PythonPlugin.start();
    const entry = entryOf(plugin.port);
    const metadata = await describeGrpc(entry, limits, never);
    // Without the key that it reads.
    const module = grpcModule(entry, { ...metadata, requires: [] }, limits);
    const graph = 'nodes:\n  - {instance_id: check, module_type: ssh_protocol_one}\n';
    const { stages } = await runTrial({ modules: [module], graph });
    expect(stages[0]).toMatchObject({ status: 'failed', error: "KeyError: 'banners'" });
  });
});
