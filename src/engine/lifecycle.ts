import type { AddressSet } from '../domain/targets/address-set.ts';
import { errorText } from './error-text.ts';
import type { PlannedNode } from './graph/plan.ts';
import type { Logger, Module, ModuleDefinition } from './module.ts';

/** Identifies a module type: a registry may hand out copies of its definition. */
type Factory = ModuleDefinition['create'];

/**
 * The module types of one process: each is initialized at its first use, through an instance that runs no node, and
 * cleaned up at the end of the process.
 */
export class ModuleLifecycle {
  readonly #initialized = new Map<Factory, Promise<Module>>();

  /** The module types of one scan; a process may run several, one after another. */
  forScan(): ScanModules {
    return new ScanModules((definition) => this.#initialize(definition));
  }

  /** Cleans up what was initialized, the newest first. Errors are logged. */
  async cleanUp(log: Logger): Promise<void> {
    const types = [...this.#initialized.values()].reverse();
    this.#initialized.clear();
    for (const initialized of types) {
      const module = await initialized.catch(() => null);
      if (module) await attempt(log, 'cleanup failed', module.name(), async () => module.cleanup());
    }
  }

  /** A failed attempt is forgotten: the next scan makes another one. */
  async #initialize(definition: ModuleDefinition): Promise<void> {
    const { create } = definition;
    let initialized = this.#initialized.get(create);
    if (!initialized) {
      initialized = initializedInstance(create);
      this.#initialized.set(create, initialized);
      initialized.catch(() => this.#initialized.delete(create));
    }
    await initialized;
  }
}

async function initializedInstance(create: Factory): Promise<Module> {
  const module = create();
  await module.initialize();
  return module;
}

/** The module types of one scan: prepared while it is planned, initialized at most once, released when it has ended. */
export class ScanModules {
  readonly #initializeType: (definition: ModuleDefinition) => Promise<void>;
  readonly #attempts = new Map<Factory, Promise<void>>();
  /** Instance IDs of nodes. */
  readonly #prepared = new Set<string>();
  readonly #used = new Map<Factory, ModuleDefinition>();
  /** Names of modules that did not end after their abort, and may run on. */
  readonly abandoned = new Set<string>();

  constructor(initializeType: (definition: ModuleDefinition) => Promise<void>) {
    this.#initializeType = initializeType;
  }

  /** Lets the modules of nodes start slow preparation; each node once. Sends nothing. */
  prepare(nodes: readonly PlannedNode[], addresses: AddressSet): void {
    for (const { skipped, definition, config, instanceId } of nodes) {
      if (skipped !== null || !definition.prepare || this.#prepared.has(instanceId)) continue;
      this.#prepared.add(instanceId);
      this.#used.set(definition.create, definition);
      definition.prepare(config, addresses);
    }
  }

  /** @throws the error of the module, for every node of its type */
  async initialize(definition: ModuleDefinition): Promise<void> {
    const { create } = definition;
    this.#used.set(create, definition);
    let attempted = this.#attempts.get(create);
    if (!attempted) {
      attempted = this.#initializeType(definition);
      this.#attempts.set(create, attempted);
    }
    await attempted;
  }

  abandon({ name }: ModuleDefinition): void {
    this.abandoned.add(name);
  }

  /** The scan has ended, however it did: releases what its module types hold. Errors are logged. */
  async end(log: Logger): Promise<void> {
    const used = [...this.#used.values()];
    this.#used.clear();
    await Promise.all(
      used.map((definition) =>
        attempt(log, 'end of scan failed', definition.name, async () => definition.endScan?.()),
      ),
    );
  }
}

async function attempt(log: Logger, failure: string, module: string, work: () => Promise<void>) {
  try {
    await work();
  } catch (error) {
    log.warn(failure, { module, error: errorText(error) });
  }
}
