import type { ReloadStep, Settings } from './settings.ts';
import type { ShutdownDeadline } from './shutdown-deadline.ts';

/** A part of the server, from its start to its end. */
export interface Component {
  /** Begins. When it fails, the component is drained and closed all the same. */
  start?(): unknown;
  /** Takes no more work and ends what is under way, while every component still works. */
  drain?(deadline: ShutdownDeadline): unknown;
  /** Gives back what it holds. */
  close?(): unknown;
  /** Steps that follow a change of the settings, by the name under which their problems are reported. */
  reload?: Readonly<Record<string, ReloadStep>>;
}

/** The components of a server: started in order, drained and then closed in reverse order. */
export class Components {
  readonly #started: Component[] = [];

  /** Takes a component that needs no start. */
  add(component: Component): void {
    this.#started.push(component);
  }

  /** Starts one after the other; the first failure ends it. */
  async start(components: readonly Component[]): Promise<void> {
    for (const component of components) {
      this.#started.push(component);
      await component.start?.();
    }
  }

  /** In the order of the start: a reload narrows the scope before a window opens. */
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

/** An error that is thrown at once becomes a rejection too. */
async function attempt(step: () => unknown): Promise<void> {
  await step();
}
