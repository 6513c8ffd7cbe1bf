import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { compilePlugin, pluginFolder } from '../../../test/c-plugin.ts';
import { isInstalled } from '../../../test/installed.ts';
import { describeError } from './error-text.ts';
import { CallRejection, type HostedPlugin, type HostWire, type LogLevel } from './hosted-plugin.ts';
import type { PulledItems } from './messages.ts';
import { loadNative } from './native.ts';

const source = join(import.meta.dirname, 'native/fixtures/trial.c');
const folder = pluginFolder();
const loaded: HostedPlugin[] = [];
const batch = 128;

afterAll(() => rmSync(folder, { recursive: true }));
afterEach(async () => {
  await Promise.all(loaded.splice(0).map((plugin) => plugin.cleanup()));
});

/** The scan, as the host's wire shows it: `total` items of `banners`. */
class TrialWire implements HostWire {
  readonly appended: unknown[] = [];
  readonly values = new Map<string, unknown>();
  readonly logs: [LogLevel, string][] = [];
  readonly #total: number;
  #sent = 0;
  pulls = 0;
  accept: () => Promise<void> = async () => {};

  constructor(total = 0) {
    this.#total = total;
  }

  async pull(key: string): Promise<PulledItems> {
    this.pulls += 1;
    if (key !== 'banners') throw new CallRejection('missing', `no such key: ${key}`);
    const first = this.#sent;
    this.#sent = Math.min(this.#total, first + batch);
    const items = Array.from({ length: this.#sent - first }, (_, offset) => banner(first + offset));
    return { items, end: this.#sent === this.#total };
  }

  async append(): Promise<never> {
    throw new Error('native plugins publish JSON');
  }

  async appendJson(key: string, items: readonly string[]): Promise<void> {
    expect(key).toBe('vulnerabilities');
    await this.accept();
    this.appended.push(...items.map((item) => JSON.parse(item) as unknown));
  }

  async set(key: string, value: unknown): Promise<void> {
    this.values.set(key, value);
  }

  async net(): Promise<never> {
    throw new Error('a native plugin has no network');
  }

  log(level: LogLevel, message: string): void {
    this.logs.push([level, message]);
  }

  progress(): void {}
  warn(): void {}
}

function banner(index: number): object {
  return { index, banner: `SSH-2.0-größe ${index}\r\n"` };
}

function banners(count: number): object[] {
  return Array.from({ length: count }, (_, index) => banner(index));
}

/** As the host tells it to the scan. */
async function rejection(file: string): Promise<string> {
  return await loadNative(file).then(
    () => 'loaded',
    (error: unknown) => describeError(error, ''),
  );
}

interface Run {
  wire?: HostWire;
  signal?: AbortSignal;
  deadline_ms?: number;
  node?: string;
}

const hasCompiler = isInstalled('gcc');

describe.skipIf(!hasCompiler)('a native plugin', () => {
  const build = (name: string, flags: string[] = []) => compilePlugin(folder, source, name, flags);

  const file = hasCompiler ? build('trial') : '';

  async function trial(path = file): Promise<HostedPlugin> {
    const plugin = await loadNative(path);
    loaded.push(plugin);
    await plugin.initialize();
    return plugin;
  }

  async function run(plugin: HostedPlugin, mode: string, { wire, signal, deadline_ms, node }: Run = {}) {
    const name = node ?? 'checker';
    await plugin.configure(name, { mode });
    const context = {
      scan_id: 's1',
      instance_id: name,
      deadline_ms: deadline_ms ?? null,
      keys: ['banners'],
      network: false,
    };
    await plugin.execute(name, context, wire ?? new TrialWire(), signal ?? new AbortController().signal);
  }

  it('says which module it adds', async () => {
    expect((await trial()).metadata).toEqual({
      name: 'trial',
      type: 'evaluation',
      version: '1.2.3',
      description: 'A plugin for tests.',
      options: { mode: { Type: 'string', Description: 'what execute does', Default: 'copy' } },
      requires: ['banners'],
      provides: ['vulnerabilities', 'asset_profiles'],
    });
  });

  it.each([
    ['another ABI', ['-DABI=2'], 'ABI version 2: only version 1 can be loaded'],
    ['a structure that is too short', ['-DSIZE=96'], 'struct_size is 96, ABI 1 has 104 bytes'],
    ['no name', ['-DNAME=NULL'], 'name is NULL'],
    ['a name of other encoding', ['-DNAME="\\xff"'], 'name: not valid UTF-8'],
    ['a long name', [`-DNAME="${'x'.repeat(65)}"`], 'name: longer than 64 bytes'],
    [
      'a schema that is no JSON',
      ['-DSCHEMA="{\\"a\\":}"'],
      /^config_schema: not valid JSON: SyntaxError: Unexpected token '}'/,
    ],
    ['a schema that is a list', ['-DSCHEMA="[]"'], 'config_schema: not a JSON object'],
    ['no list of keys', ['-DREQUIRES=NULL'], 'requires_keys is NULL; a list without keys is {NULL}'],
    ['no function execute', ['-DEXECUTE=NULL'], 'missing function: execute is NULL'],
    ['no symbol Plugin', ['-DSYMBOL=Module'], 'the shared object does not export the symbol Plugin'],
  ])('with %s is rejected', async (name, flags, message) => {
    const given = await rejection(build(name.replaceAll(' ', '-'), flags));
    expect(given).toEqual(typeof message === 'string' ? message : expect.stringMatching(message));
  });

  it('that is a text is rejected before it is loaded', async () => {
    const text = join(folder, 'text.so');
    writeFileSync(text, 'int Plugin;');
    expect(await rejection(text)).toBe('not a shared object: it has no ELF header');
  });

  it('that needs a library that is not there names it', async () => {
    const needed = compilePlugin(folder, source, 'libabsent', ['-DSYMBOL=other']);
    const needy = build('needy', ['-Wl,--no-as-needed', needed]);
    rmSync(needed);
    expect(await rejection(needy)).toMatch(/^cannot load the shared object: .*libabsent\.so/);
  });

  it.each([0, 1, 128, 1000])('reads and publishes %i items in their order', async (total) => {
    const wire = new TrialWire(total);
    await run(await trial(), 'copy', { wire });
    expect(wire.appended).toEqual(banners(total));
    expect(wire.pulls).toBe(Math.max(1, Math.ceil(total / batch)));
  });

  it('keeps items valid until it releases them', async () => {
    await expect(run(await trial(), 'hold', { wire: new TrialWire(1000) })).rejects.toThrow(
      'held 1000 items',
    );
  });

  it('gets a complete value and sets one', async () => {
    const wire = new TrialWire(300);
    await run(await trial(), 'value', { wire });
    expect(wire.values).toEqual(new Map([['asset_profiles', banners(300)]]));
  });

  it('publishes the items of a list one by one', async () => {
    const wire = new TrialWire();
    await run(await trial(), 'array', { wire });
    expect(wire.appended).toEqual([1, { two: 2 }, [3]]);
  });

  it('waits while the scan does not accept what it publishes', async () => {
    const wire = new TrialWire(2000);
    const opened = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    let attempts = 0;
    wire.accept = () => {
      attempts += 1;
      reached.resolve();
      return opened.promise;
    };
    const ended = run(await trial(), 'copy', { wire });
    await reached.promise;
    await eventually(() => wire.pulls === 3);
    expect(attempts).toBe(1);
    opened.resolve();
    await ended;
    expect(wire.appended).toEqual(banners(2000));
  });

  it('fails with the reason when the scan rejects what it publishes', async () => {
    const wire = new TrialWire(1000);
    wire.accept = async () => {
      throw new Error('no such key');
    };
    await expect(run(await trial(), 'copy', { wire })).rejects.toThrow(/^no such key$/);
  });

  it.each([
    ['garbage', /^append\("vulnerabilities"\): not valid JSON: Unexpected end/],
    ['no_key', /^get: 1$/],
    ['silent', /^execute returned 7 without an error text$/],
    ['escape', /^red \u001b\[31m and 5$/],
    ['remaining', /^no deadline$/],
    ['deep', /^0$/],
  ])('fails with what it says (%s)', async (mode, message) => {
    await expect(run(await trial(), mode)).rejects.toThrow(message);
  });

  it('frees each error text once', async () => {
    // A file of its own: the counter is part of the loaded file.
    const plugin = await trial(build('counting'));
    await expect(run(plugin, 'freed')).rejects.toThrow('freed 0');
    await expect(run(plugin, 'freed')).rejects.toThrow('freed 1');
  });

  it('knows its deadline', async () => {
    await expect(run(await trial(), 'remaining', { deadline_ms: 5000 })).rejects.toThrow(/^in time$/);
  });

  it('rejects options with a text of its own', async () => {
    const options = { mode: 'unwanted' };
    await expect((await trial()).configure('checker', options)).rejects.toThrow(
      'this mode is unwanted (19 bytes)',
    );
  });

  it('gets its options at configure', async () => {
    const wire = new TrialWire();
    await run(await trial(), 'configured', { wire });
    expect(wire.logs).toEqual([['debug', '{"mode":"configured"}']]);
  });

  it('that waits for an item ends when it is canceled', async () => {
    const wire = new TrialWire();
    wire.pull = () => new Promise(() => {});
    const abort = new AbortController();
    const ended = run(await trial(), 'until_canceled', { wire, signal: abort.signal });
    await eventually(() => wire.logs.length > 0);
    abort.abort();
    await expect(ended).rejects.toThrow('canceled, next: 2');
  });

  it('executes two nodes at once', async () => {
    const plugin = await trial();
    const waiting = new TrialWire();
    const opened = Promise.withResolvers<PulledItems>();
    waiting.pull = () => opened.promise;
    const first = run(plugin, 'until_canceled', { wire: waiting, node: 'first' });
    await eventually(() => waiting.logs.length > 0);
    const wire = new TrialWire(10);
    await run(plugin, 'copy', { wire, node: 'second' });
    expect(wire.appended).toHaveLength(10);
    opened.resolve({ items: [], end: true });
    await expect(first).rejects.toThrow('next: 3');
  });
});

async function eventually(holds: () => boolean): Promise<void> {
  for (let round = 0; round < 1000 && !holds(); round += 1) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  expect(holds()).toBe(true);
}
