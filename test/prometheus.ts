import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import { isInstalled } from './installed.ts';
import { freePort } from './postgres.ts';
import { root } from './program.ts';

/** Whether Debian's package `prometheus` is there; with CI=true it must be. */
export const hasPrometheus = isInstalled('prometheus') && isInstalled('promtool');

export const shippedRules = join(root, 'packaging/prometheus/portolan.rules.yaml');

/** Runs promtool. @returns its exit code and what it printed */
export function promtool(args: string[], input = ''): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, {
    input,
    encoding: 'utf8',
    cwd: join(root, 'packaging/prometheus'),
    timeout: 60_000,
  });
  return { status, output: stdout + stderr };
}

/** A series of a query result: its labels and its value. */
export interface QueriedSeries {
  metric: Record<string, string>;
  value: number;
}

export interface ActiveAlert {
  labels: Record<string, string>;
  annotations: Record<string, string>;
  state: 'pending' | 'firing';
  /** When its expression began to hold. */
  activeAt: string;
}

/** A Prometheus server of a test's own on a loopback port, which scrapes once a second; its data in a temporary folder. */
export class TestPrometheus {
  readonly #dir = mkdtempSync(join(tmpdir(), 'portolan-prometheus-'));
  readonly #child: ChildProcess;
  readonly #url: string;
  #log = '';

  /** @param targets `host:port` @param rules text of a rules file */
  static async start(targets: readonly string[], rules: string): Promise<TestPrometheus> {
    const prometheus = new TestPrometheus(await freePort(), targets, rules);
    try {
      await prometheus.#ready();
      return prometheus;
    } catch (error) {
      await prometheus.dispose();
      throw error;
    }
  }

  private constructor(port: number, targets: readonly string[], rules: string) {
    const config = {
      global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
      rule_files: ['rules.yaml'],
      scrape_configs: [{ job_name: 'portolan', scrape_timeout: '1s', static_configs: [{ targets }] }],
    };
    writeFileSync(join(this.#dir, 'prometheus.yaml'), stringify(config));
    writeFileSync(join(this.#dir, 'rules.yaml'), rules);
    const address = `127.0.0.1:${port}`;
    this.#url = `http://${address}`;
    const args = [
      `--config.file=${join(this.#dir, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(this.#dir, 'data')}`,
      `--web.listen-address=${address}`,
      '--log.level=warn',
    ];
    this.#child = spawn('prometheus', args, { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#log = (this.#log + chunk.toString()).slice(-16 * 1024);
    });
  }

  async query(expression: string): Promise<QueriedSeries[]> {
    const path = `/api/v1/query?query=${encodeURIComponent(expression)}`;
    const { result } = await this.#get<{
      result: { metric: Record<string, string>; value: [number, string] }[];
    }>(path);
    return result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }));
  }

  /** Alerts that are pending or firing. */
  async alerts(): Promise<ActiveAlert[]> {
    return (await this.#get<{ alerts: ActiveAlert[] }>('/api/v1/alerts')).alerts;
  }

  /** Type of a metric family as it was scraped; null for an unknown one. */
  async typeOf(family: string): Promise<string | null> {
    const [found] = await this.#get<{ type: string }[]>(`/api/v1/targets/metadata?metric=${family}`);
    return found?.type ?? null;
  }

  async dispose(): Promise<void> {
    const { exitCode, signalCode } = this.#child;
    if (exitCode === null && signalCode === null && this.#child.pid !== undefined) {
      const ended = new Promise((resolve) => this.#child.once('exit', resolve));
      this.#child.kill('SIGKILL');
      await ended;
    }
    rmSync(this.#dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }

  async #get<T>(path: string): Promise<T> {
    const response = await fetch(`${this.#url}${path}`);
    const body = (await response.json()) as { status: string; error?: string; data: T };
    if (body.status !== 'success') throw new Error(`${path}: ${body.error}`);
    return body.data;
  }

  async #ready(): Promise<void> {
    for (let tries = 0; tries < 600; tries++) {
      if (this.#child.exitCode !== null) break;
      const ready = await fetch(`${this.#url}/-/ready`).catch(() => null);
      if (ready?.ok) return;
      await sleep(100);
    }
    throw new Error(`Prometheus does not run:\n${this.#log}`);
  }
}

/** The shipped rules with another `for`, so that a test need not wait for minutes. */
export function rulesWithin(seconds: number): string {
  return readFileSync(shippedRules, 'utf8').replaceAll(/^( +for:) .*$/gm, `$1 ${seconds}s`);
}
