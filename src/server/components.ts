import type { ReloadStep, Settings } from './settings.ts';
import type { ShutdownDeadline } from './shutdown-deadline.ts';

/** Part of the server, with its own life cycle. */
export interface Component {
  /** Starts. If it fails, the component is still drained and closed. */
  start?(): unknown;
  /** Accepts no more work and completes what is in progress; all components still work meanwhile. */
  drain?(deadline: ShutdownDeadline): unknown;
  /** Releases its resources. */
  close?(): unknown;
  /** Reload steps by the name used when reporting their problems. */
  reload?: Readonly<Record<string, ReloadStep>>;
}

/** The components of a server: started in order, drained and then closed in reverse order. */
export class Components {
  readonly #started: Component[] = [];

  /** Adds a component that needs no start. */
  add(component: Component): void {
    this.#started.push(component);
  }

  /** Starts the components in order; stops at the first failure. */
  async start(components: readonly Component[]): Promise<void> {
    for (const component of components) {
      this.#started.push(component);
      await component.start?.();
    }
  }

  /** In start order: a reload narrows the scope before it opens a window. */
  follow(settings: Settings): void {
    for (const { reload = {} } of this.#started)
      for (const [name, step] of Object.entries(reload)) settings.onReload(name, step);
  }

  /** @throws the first error of a component, after all others are closed */
  async close(deadline: ShutdownDeadline): Promise<void> {
    const components = this.#started.splice(0).reverse();
    const errors: unknown[] = [];
    const noteError = (error: unknown) => void errors.push(error);
    for (const component of components) await attempt(() => component.drain?.(deadline)).catch(noteError);
    for (const component of components) await attempt(() => component.close?.()).catch(noteError);
    if (errors.length > 0) throw errors[0];
  }
}

/** Turns a synchronous error into a rejection. */
async function attempt(step: () => unknown): Promise<void> {
  await step();
}
