import { rounds } from '../rounds.ts';
import { testKills } from './kills.ts';

testKills(rounds(20, 5));
