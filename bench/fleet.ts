import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { root } from '../test/program.ts';

export const portolan = join(root, 'bin/portolan');
/** Longest run of one scanner. */
const runLimitMs = 600_000;

/** One service of the fleet, as its script describes it. */
export interface Truth {
  host: string;
  ip: string;
  port: number;
  proto: 'tcp' | 'udp';
  service: string;
  product: string;
  /** Package of the distribution that it comes from. */
  package: string;
  /** A right name of the product matches. */
  productRe: string;
  version: string;
  /** `yes`: in the greeting or the first plain answer; `indirect`: in a deeper exchange; `no`: not at all. */
  versionExposed: 'yes' | 'indirect' | 'no';
  cpe23: string[];
}

/** One service of the public fleet, test/lab/fleet.sh. */
export interface LabTruth {
  ip: string;
  port: number;
  protocol: 'tcp' | 'udp';
}

/** A fleet of real daemons on a network of its own, as a script builds it. */
class ScriptedFleet {
  readonly #script: string;
  readonly #environment: NodeJS.ProcessEnv;
  readonly folder = mkdtempSync(join(tmpdir(), 'portolan-fleet-'));

  constructor(script: string) {
    // Daemons that give up their rights have their files below.
    chmodSync(this.folder, 0o755);
    this.#script = resolve(script);
    this.#environment = {
      PATH: process.env['PATH'] ?? '',
      HOME: this.folder,
      XDG_CONFIG_HOME: this.folder,
      FLEET_PREFIX: `d${process.pid % 10_000}`,
      FLEET_RUN: join(this.folder, 'fleet'),
      PORTOLAN_LAB_PREFIX: `d${process.pid % 10_000}`,
    };
  }

  /** Starts the fleet. @returns what the script printed */
  protected start(options: string[]): string {
    return execFileSync('bash', [this.#script, 'up', ...options], {
      env: this.#environment,
      stdio: ['ignore', 'pipe', 'inherit'],
      encoding: 'utf8',
    });
  }

  /** Runs a command on the scanner's host to its end. */
  async run(command: string[]): Promise<{ seconds: number; output: string }> {
    const startedAt = performance.now();
    const child: ChildProcess = spawn('bash', [this.#script, 'exec', ...command], {
      env: this.#environment,
      cwd: this.folder,
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: runLimitMs,
    });
    if (!child.stdout) throw new Error('no output');
    const [output] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    if (child.exitCode !== 0) throw new Error(`${command[0]} ended with ${child.exitCode}`);
    return { seconds: (performance.now() - startedAt) / 1000, output };
  }

  down(): void {
    spawnSync('bash', [this.#script, 'down'], { env: this.#environment, stdio: 'ignore' });
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A fleet whose script is given (see detect.ts). */
export class Fleet extends ScriptedFleet {
  /** @param only pattern of the hosts that are wanted */
  up(only: string): Truth[] {
    const file = join(this.folder, 'truth.json');
    process.stdout.write(this.start(['--only', only, '--truth', file]));
    const { services } = JSON.parse(readFileSync(file, 'utf8')) as { services: Truth[] };
    return services;
  }
}

/** The public fleet; it needs `npm run setup:test`. */
export class LabFleet extends ScriptedFleet {
  constructor() {
    super(join(root, 'test/lab/fleet.sh'));
  }

  up(): LabTruth[] {
    const file = this.start([]).trim();
    const { services } = JSON.parse(readFileSync(file, 'utf8')) as { services: LabTruth[] };
    return services;
  }
}
