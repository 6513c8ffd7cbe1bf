import { describe, expect, it } from 'vitest';
import type { StageRecord } from '../domain/scan.ts';
import type { PlannedInput, PlannedNode } from '../engine/graph/plan.ts';
import { defineModule, type ModuleType } from '../engine/module.ts';
import { ProgressMeter } from './progress.ts';

function node(instanceId: string, type: ModuleType, input?: Omit<PlannedInput, 'required'>): PlannedNode {
  const definition = defineModule({
    name: instanceId,
    type,
    version: '1.0.0',
    description: instanceId,
    options: {},
    requires: [],
    provides: [],
    async execute() {},
  });
  const inputs = input ? [{ ...input, required: true }] : [];
  const rest = {
    config: {},
    ancestors: [],
    dependsOn: [],
    timeoutMs: null,
    retry: { attempts: 1, backoffMs: 0 },
  };
  return { instanceId, definition, inputs, skipped: null, ...rest };
}

const plan = {
  name: 'test',
  nodes: [
    node('find', 'discovery'),
    node('sweep', 'scanner', { key: 'discovered_hosts', producers: ['find'] }),
    node('grab', 'scanner', { key: 'open_ports', producers: ['sweep'] }),
  ],
};
const stages = (...status: StageRecord['status'][]) =>
  status.map((each, i) => ({ instance_id: plan.nodes[i]?.instanceId, status: each }) as StageRecord);
const counts = (live_hosts: number, open_ports: number) => ({ live_hosts, open_ports, vulnerabilities: 0 });

describe('ProgressMeter', () => {
  it('grows through the stages and never goes back', () => {
    const meter = new ProgressMeter(plan, 100, 0);
    meter.report('find', 50, 100);
    const early = meter.measure(stages('running', 'running', 'running'), 0, counts(5, 1));
    expect(early).toMatchObject({ percent: 5, phase: 'discovery', hosts_done: 50, hosts_total: 100 });
    meter.report('sweep', 5, undefined);
    const sweeping = meter.measure(stages('completed', 'running', 'running'), 0, counts(10, 4));
    expect(sweeping).toMatchObject({ percent: 33, phase: 'scanning', hosts_done: 100 });
    meter.report('grab', 2, undefined);
    const grabbing = meter.measure(stages('completed', 'completed', 'running'), 0, counts(10, 4)).percent;
    expect(grabbing).toBe(77);
    expect(meter.measure(stages('completed', 'completed', 'running'), 0, counts(10, 400)).percent).toBe(77);
    expect(meter.measure(stages('completed', 'completed', 'completed'), 0, counts(10, 4)).percent).toBe(99);
    expect(meter.final(true, [])).toMatchObject({ percent: 100, phase: 'done', rate: 0 });
  });
});
