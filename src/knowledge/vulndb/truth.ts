/** Three-valued logic of criteria, in this order; AND takes the lowest, OR the highest. */
export const no = 0;
export const versionUnknown = 1;
export const platformUnknown = 2;
export const yes = 3;
export type Truth = typeof no | typeof versionUnknown | typeof platformUnknown | typeof yes;

export function combine(operator: 'AND' | 'OR', truths: readonly Truth[]): Truth {
  return truths.reduce((a, b) => ((operator === 'AND' ? a < b : a > b) ? a : b));
}

/** The opposite of an unknown is unknown too. */
export function negated(truth: Truth, negate: boolean): Truth {
  if (!negate) return truth;
  if (truth === yes) return no;
  return truth === no ? yes : truth;
}

/** A truth value with the sentence that explains it; empty where no result shows it. */
export interface ReasonedTruth {
  truth: Truth;
  because: string;
}

export const ruledOut: ReasonedTruth = { truth: no, because: '' };
export const granted: ReasonedTruth = { truth: yes, because: '' };
