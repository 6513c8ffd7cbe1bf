import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../src/config/load.ts';
import { type RunningServer, startServer } from '../../src/server/start.ts';
import { loopbackOnly, root, ServerClient, sourceEntry } from '../program.ts';
import { wiring, withEnvironment } from './run-command.ts';

interface InProcessServerOptions {
  /** Configuration file. */
  config?: string;
  workers?: number;
  env?: NodeJS.ProcessEnv;
  /** Files of plugins for all scans. */
  plugins?: readonly string[];
}

/**
 * The server that `server start` runs, in the process of the test, on a free port of loopback; its scans have processes of their own.
 * What is about the process itself (signals, its end, its memory) needs a ServerProcess.
 */
export class InProcessServer extends ServerClient {
  readonly workspace = mkdtempSync(join(tmpdir(), 'portolan-test-'));
  readonly pid = process.pid;
  readonly #options: InProcessServerOptions;
  readonly #env: NodeJS.ProcessEnv;
  #running: RunningServer | null = null;

  constructor(options: InProcessServerOptions = {}) {
    super();
    this.#options = options;
    const { PATH, HOME } = process.env;
    const file = { SERVICE_LOGGING__OUTPUT: 'file' };
    this.#env = { PATH, HOME, ...loopbackOnly, XDG_CONFIG_HOME: this.workspace, ...file, ...options.env };
  }

  /** What the server logged. */
  get log(): string {
    return readFileSync(join(this.workspace, 'logs/portolan.log'), 'utf8');
  }

  async start(): Promise<void> {
    await withEnvironment(this.#env, async () => {
      const settings = this.#readConfig();
      const catalog = await wiring.loadModuleCatalog();
      this.#running = await startServer({
        ...settings,
        ...catalog,
        readConfig: async () => this.#readConfig(),
        plugins: this.#options.plugins ?? [],
        version: wiring.version,
        build: wiring.build(),
        entryFile: scanEntry(),
      });
    });
    this.url = this.#running?.url ?? '';
  }

  #readConfig() {
    const { config, workers } = this.#options;
    const flags = {
      'workspace.dir': this.workspace,
      'server.bind': '127.0.0.1:0',
      'server.workers': workers,
    };
    return loadConfig({ file: config, env: this.#env, flags });
  }

  /** Reads the settings again, as after SIGHUP. */
  async reload(): Promise<void> {
    await withEnvironment(this.#env, async () => await this.#running?.reload());
  }

  async stop(): Promise<void> {
    const server = this.#running;
    this.#running = null;
    await server?.stop();
  }

  async dispose(): Promise<void> {
    await this.stop();
    rmSync(this.workspace, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

let entry: string | null = null;

/** Processes of scans start from the bundle, which is quicker, while it is newer than all sources; bin/portolan does the same. */
function scanEntry(): string {
  entry ??= isBuilt() ? join(root, 'dist/main.js') : sourceEntry;
  return entry;
}

function isBuilt(): boolean {
  const sources = [join(root, 'src'), join(root, 'package-lock.json')];
  const found = spawnSync('find', [...sources, '-newer', join(root, 'dist/.stamp'), '-print', '-quit']);
  return found.status === 0 && found.stdout.length === 0;
}
