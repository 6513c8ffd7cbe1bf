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

  it('counts the ports that were tried, and those that were not', () => {
    const sweeps = { name: 'test', nodes: [node('find', 'discovery'), sweepOf('22,80,443,8000-8096')] };
    const meter = new ProgressMeter(sweeps, 100, 0, { rateLimit: () => 500 });
    const found = [stage('find', 'running'), stage('sweep', 'running')];
    meter.report('sweep', 2.5, undefined);
    const early = meter.measure(found, 0, counts(4, 1));
    expect(early).toMatchObject({ tried: 250, not_tried: 150, unit: 'ports', rate_limit: 500 });
    expect(found[1]).not.toHaveProperty('total');
    const swept = [stage('find', 'completed'), stage('sweep', 'running')];
    const later = meter.measure(swept, 0, counts(10, 1));
    expect(later).toMatchObject({ tried: 250, not_tried: 750 });
    expect(swept[1]).toMatchObject({ done: 250, total: 1000 });
    const ended = [stage('find', 'completed'), stage('sweep', 'completed')];
    expect(meter.final(true, ended)).toMatchObject({ tried: 1000, not_tried: 0, percent: 100 });
  });

  it('counts what a canceled sweep never came to as not tried, in the stage too', () => {
    const sweeps = { name: 'test', nodes: [node('find', 'discovery'), sweepOf('22,80,443,8000-8096')] };
    const meter = new ProgressMeter(sweeps, 100, 0);
    // The module has reported the rest of its batch as done with; most of that was not tried.
    meter.report('sweep', 10, undefined);
    const coverage = { open: 1, closed: 30, filtered: 9, not_tried: 160 };
    for (const status of ['completed', 'failed'] as const) {
      const canceled = [stage('find', 'completed'), { ...stage('sweep', status), coverage }];
      meter.measure(canceled, 0, counts(10, 1));
      expect(meter.final(false, canceled)).toMatchObject({ tried: 40, not_tried: 960, unit: 'ports' });
      expect(canceled[1]).toMatchObject({ done: 40, total: 1000, coverage: { ...coverage, not_tried: 960 } });
    }
    const whole = [stage('find', 'completed'), { ...stage('sweep', 'completed'), coverage }];
    expect(new ProgressMeter(sweeps, 100, 0).final(true, whole)).toMatchObject({ tried: 40, not_tried: 160 });
  });

  it('counts hosts without a stage that looks for ports', () => {
    const meter = new ProgressMeter({ name: 'test', nodes: [node('find', 'discovery')] }, 100, 0);
    meter.report('find', 30, 100);
    const found = [stage('find', 'running')];
    expect(meter.measure(found, 0, counts(1, 0))).toMatchObject({ tried: 30, not_tried: 70, unit: 'hosts' });
    expect(found[0]).toMatchObject({ done: 30, total: 100 });
  });

  it('states what is finished once nothing is left to send, and is not at 100 before', () => {
    const nodes = [node('find', 'discovery'), node('cve', 'evaluation')];
    const meter = new ProgressMeter({ name: 'test', nodes }, 4, 0);
    expect(
      meter.measure([stage('find', 'running'), stage('cve', 'running')], 0, counts(4, 0)).finishing,
    ).toBeNull();
    const last = meter.measure([stage('find', 'completed'), stage('cve', 'running')], 0, counts(4, 0));
    expect(last).toMatchObject({ finishing: 'evaluation of 4 hosts', slowest_stage: 'cve', percent: 99 });
  });
});

function sweepOf(ports: string): PlannedNode {
  const sweep = node('sweep', 'scanner', { key: 'discovered_hosts', producers: ['find'] });
  return { ...sweep, config: { ports } };
}

function stage(instance_id: string, status: StageRecord['status']): StageRecord {
  return { instance_id, status, items_in: 0, items_out: 0 } as StageRecord;
}
