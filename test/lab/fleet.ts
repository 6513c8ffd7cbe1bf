import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';

/** One listening port of the fleet, as fleet.sh and dpkg know it. */
export interface Service {
  ip: string;
  port: number;
  protocol: 'tcp';
  service: string;
  product: string;
  package: string;
  /** Upstream version of the installed package. */
  version: string;
  /** false: the server does not tell its version to a stranger, so a scan must not name one. */
  version_exposed: boolean;
}

/** What is true about the fleet. */
export interface Fleet {
  network: string;
  /** Address of the host on which the scan runs; it is inside `network` and listens on nothing. */
  scanner: string;
  services: Service[];
}

declare module 'vitest' {
  export interface ProvidedContext {
    fleet: Fleet;
    /** Name of the fleet, for PORTOLAN_LAB_PREFIX. */
    fleetPrefix: string;
    /** Folder that goes away with the fleet. */
    fleetFolder: string;
  }
}

export const fleetScript = fileURLToPath(new URL('fleet.sh', import.meta.url));

/**
 * Vitest global setup: starts the fleet and returns its end. The fleet goes down when its standard input ends,
 * so it cannot outlive this process, however this process ends.
 */
export default async function startFleet(project: TestProject): Promise<() => Promise<void>> {
  const prefix = process.env.PORTOLAN_LAB_PREFIX ?? `pltlab-${process.pid}`;
  const holder = spawn('bash', [fleetScript, 'hold'], {
    env: { ...process.env, PORTOLAN_LAB_PREFIX: prefix },
    stdio: ['pipe', 'pipe', 'inherit'],
    // a group of its own: Ctrl-C ends the tests first, they then end the fleet
    detached: true,
  });
  const ended = once(holder, 'close');
  const truthFile = await Promise.race([firstLine(holder.stdout), ended.then(() => '')]);
  if (truthFile === '') throw new Error('the fleet did not come up; what failed is written above');
  project.provide('fleet', JSON.parse(readFileSync(truthFile, 'utf8')) as Fleet);
  project.provide('fleetPrefix', prefix);
  project.provide('fleetFolder', dirname(truthFile));
  return async () => {
    holder.stdin.end();
    await ended;
  };
}

async function firstLine(stream: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  for await (const chunk of stream) {
    text += chunk;
    if (text.includes('\n')) break;
  }
  return text.split('\n')[0] ?? '';
}
