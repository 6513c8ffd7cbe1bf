import type { Data } from '../../api/api-types.ts';

export type ModuleRow = Data<'/api/v1/modules'>['modules'][number];
