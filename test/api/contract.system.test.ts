import { testContract } from './generated-requests.ts';

testContract(5000);
