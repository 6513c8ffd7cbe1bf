import { testKills } from './kills.ts';

testKills(1);
