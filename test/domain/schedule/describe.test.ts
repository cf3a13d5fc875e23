import { describeSchedule, parseSchedule } from '../../../src/domain/schedule';

test.each([
  ['* * * * *', 'Every minute'],
  ['*/5 * * * *', 'Every 5 minutes'],
  ['*/7 * * * *', 'At every 7th minute from 0 to 59 of every hour'],
  ['* * * * * *', 'Every second'],
  ['*/10 * * * * *', 'Every 10 seconds'],
  ['30 * * * * *', 'At second 30 of every minute'],
  ['*/10 */5 * * * *', 'Every 10 seconds of every 5th minute from 0 to 59'],
  ['* 30 9 * * *', 'Every second of minute 30 of hour 9'],
  ['@hourly', 'At minute 0 of every hour'],
  ['0 9 * * *', 'At 09:00 every day'],
  ['0 9,17 * * 1-5', 'At 09:00 and 17:00 on Monday to Friday'],
  ['cron(0 9 ? * 2-6 *)', 'At 09:00 on Monday to Friday'],
  ['30 15 10 * * *', 'At 10:15:30 every day'],
  ['*/10 9-17 * * SAT', 'Every 10 minutes in hours 9 to 17 on Saturdays'],
  ['1-10,30 5-10 * * *', 'At minutes 1 to 10 and 30 of hours 5 to 10 every day'],
  ['0 0 13 * 5', 'At 00:00 on day 13 of the month or on Fridays'],
  ['0 0 1-5,10 * *', 'At 00:00 on days 1 to 5 and 10 of the month'],
  ['0 0 */2 * *', 'At 00:00 on every 2nd day from 1 to 31 of the month'],
  ['0 0 * * 5-7', 'At 00:00 on Friday to Sunday'],
  ['@yearly', 'At 00:00 on day 1 of the month in January'],
  ['cron(0 8 L * ? *)', 'At 08:00 on the last day of the month'],
  ['cron(0 8 L-1 * ? *)', 'At 08:00 on the day 1 day before the last of the month'],
  ['cron(0 8 L-3 2,4-6 ? *)', 'At 08:00 on the day 3 days before the last of the month in February and April to June'],
  ['cron(0 8 LW * ? *)', 'At 08:00 on the last workday (Monday to Friday) of the month'],
  ['cron(0 8 1W,15 * ? *)', 'At 08:00 on day 15 and the workday (Monday to Friday) nearest to day 1 of the month'],
  ['cron(0 8 ? * 6L *)', 'At 08:00 on the last Friday of the month'],
  ['cron(0 8 ? * TUE#3 *)', 'At 08:00 on the 3rd Tuesday of the month'],
  ['cron(0 0 1 1 ? 2027-2031/2)', 'At 00:00 on day 1 of the month in January in every 2nd year from 2027 to 2031'],
])('%s is told as "%s"', (expression, description) => {
  const schedule = parseSchedule(expression, { timezone: 'Europe/Berlin' });
  expect(describeSchedule(schedule)).toBe(`${description} (Europe/Berlin)`);
});

test.each([
  ['rate(1 minute)', 'Every minute'],
  ['rate(90 minutes)', 'Every 90 minutes'],
  ['rate(2 days)', 'Every 2 days of 24 hours'],
  ['at(2027-07-15T09:30:15)', 'Once, on 2027-07-15 at 09:30:15 (Europe/Berlin)'],
  [
    'at(2027-10-31T02:30:00)',
    'Once, on 2027-10-31 at 02:30:00 (Europe/Berlin), the first of the two times that the clocks show it',
  ],
])('%s is told as "%s"', (expression, description) => {
  expect(describeSchedule(parseSchedule(expression, { timezone: 'Europe/Berlin' }))).toBe(description);
});
