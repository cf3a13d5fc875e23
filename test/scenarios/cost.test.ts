import { GOALS, measureCosts, type Costs, type Goal } from '../support/costs';
import type { Bill } from '../support/meter';

let costs: Costs;
beforeAll(async () => {
  costs = await measureCosts();
}, 60_000);

const goals = Object.entries(GOALS) as [Goal, Partial<Bill>][];

test.each(goals)('%s costs no more than its goal', (what, goal) => {
  const bill = costs.bills[what];
  const over = (Object.entries(goal) as [keyof Bill, number][]).filter(([unit, most]) => !(bill[unit] <= most));
  expect({ bill, over }).toEqual({ bill, over: [] });
});

test('the meter sees the claim and the conclusion of a run, its messages and its invocation', () => {
  const runs = goals.filter(([what]) => what !== 'the first tick of a minute, nothing due');
  for (const bill of runs.map(([what]) => costs.bills[what])) {
    expect(bill.writeUnits).toBeGreaterThanOrEqual(2);
    expect(bill.sqsRequests).toBeGreaterThanOrEqual(0.4);
    expect(bill.invocations).toBeGreaterThanOrEqual(0.1);
  }
});

test('the rows of an ordinary job and its run are written for one unit each', () => {
  expect(costs.largestJob).toBeLessThanOrEqual(1024);
  expect(costs.largestRun).toBeLessThanOrEqual(1024);
});
