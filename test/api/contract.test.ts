import { testContract } from './generated-requests.ts';

// The first ones of those in contract.system.test.ts.
testContract(1500);
