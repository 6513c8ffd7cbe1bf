import { describe, expect, it } from 'vitest';
import type * as sdk from '../../../sdk/types/portolan.d.ts';
import type { Port } from '../../domain/host.ts';
import type { Banner } from '../../domain/text/banner.ts';
import { type ModuleType, moduleTypes } from '../../engine/module.ts';
import type { OptionDef } from '../../engine/options.ts';
import { ScriptData, scriptContext } from './script-context.ts';

/** Holds if the compiler accepts the argument: that is the test of the types. */
const is = <T>(value: T): T => value;

describe('the types of the SDK', () => {
  it('are those of the program', () => {
    const context = scriptContext(
      { scan_id: 's', instance_id: 'n', deadline_ms: null, keys: [], network: false } as never,
      {},
      {} as never,
      new AbortController().signal,
    );
    is<sdk.PluginContext>(context);
    is<sdk.DataContext>(new ScriptData([], {} as never));
    is<(item: Banner) => sdk.Banner>((item) => item);
    is<(item: Port) => sdk.OpenPort>((item) => item);
    is<(option: sdk.OptionSchema) => Pick<OptionDef, 'Type' | 'Description'>>((option) => option);
    is<(type: NonNullable<sdk.ScriptPlugin['type']>) => ModuleType>((type) => type);
    const types: NonNullable<sdk.ScriptPlugin['type']>[] = [
      'discovery',
      'scanner',
      'parser',
      'fingerprint',
      'profiler',
      'evaluation',
    ];
    expect(types).toEqual(moduleTypes.filter((type) => type !== 'reporter'));
    expect(Object.keys(context).sort()).toEqual(
      ['deadline', 'instanceId', 'log', 'net', 'options', 'progress', 'scanId', 'signal', 'warn'].sort(),
    );
  });
});
