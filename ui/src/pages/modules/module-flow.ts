/** What a module needs and makes. */
export interface FlowModule {
  name: string;
  /** `a|b`: one of them. */
  requires: readonly string[];
  provides: readonly string[];
}

/** A key with the modules at its other end. */
export interface FlowKey {
  key: string;
  modules: readonly string[];
}

/** What a module requires, with the modules that provide it. */
export function sourcesOf({ requires }: FlowModule, all: readonly FlowModule[]): FlowKey[] {
  return requires.map((key) => ({
    key,
    modules: namesOf(all, ({ provides }) => provides.some((each) => fits(each, key))),
  }));
}

/** What a module provides, with the modules that require it. */
export function usersOf({ provides }: FlowModule, all: readonly FlowModule[]): FlowKey[] {
  return provides.map((key) => ({
    key,
    modules: namesOf(all, ({ requires }) => requires.some((each) => fits(key, each))),
  }));
}

function fits(provided: string, required: string): boolean {
  return required.split('|').includes(provided);
}

function namesOf(all: readonly FlowModule[], has: (module: FlowModule) => boolean): string[] {
  return all.filter(has).map(({ name }) => name);
}
