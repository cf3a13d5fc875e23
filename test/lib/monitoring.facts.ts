import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { METRICS, METRICS_NAMESPACE } from '../../lambdas/metrics';
import { resolved, resourcesOf, synthesise } from '../support/synthesised';

const runbook = readFileSync(join(__dirname, '../../docs/runbook.md'), 'utf8');

/** The pages of the runbook that are about alarms, by their headings. */
const pages = new Map(
  runbook
    .split(/^# Alarms$/m)[1]!
    .split(/^# /m)[0]!
    .split(/^## /m)
    .slice(1)
    .map((page) => [page.split('\n', 1)[0]!, page] as const),
);

interface Alarm {
  AlarmName: string;
  AlarmDescription: string;
  TreatMissingData: string;
  EvaluationPeriods: number;
  Period?: number;
  AlarmActions?: unknown[];
}

export function describeMonitoring(): void {
  const watched = synthesise({ alarms: true, dashboard: true });
  const alarms = Object.values(resourcesOf(watched, 'AWS::CloudWatch::Alarm')).map(
    ({ Properties }) => resolved(Properties) as Alarm,
  );
  const headingOf = ({ AlarmName }: Alarm) =>
    /^\$\{AWS::StackName\}: ([^(]+?)( \(.+\))?$/.exec(AlarmName)?.[1] ?? AlarmName;

  test('nothing is watched, drawn or counted unless it is asked for', () => {
    const plain = synthesise();
    expect(resourcesOf(plain, 'AWS::CloudWatch::Alarm')).toEqual({});
    expect(resourcesOf(plain, 'AWS::CloudWatch::Dashboard')).toEqual({});
    expect(JSON.stringify(plain.toJSON())).toContain('"METRICS_STACK_NAME":"off"');
    expect(JSON.stringify(watched.toJSON())).toContain('"METRICS_STACK_NAME":{"Ref":"AWS::StackName"}');
    expect(JSON.stringify(synthesise({ metrics: true }).toJSON())).not.toContain('"METRICS_STACK_NAME":"off"');
  });

  test('the alarms are as reviewed', () => {
    expect(
      alarms.map(({ AlarmName, AlarmDescription }) => `${AlarmName}\n  ${AlarmDescription}`).sort(),
    ).toMatchSnapshot();
  });

  test('each alarm has a name, a severity and a link to its heading in the runbook', () => {
    expect(new Set(alarms.map(({ AlarmName }) => AlarmName)).size).toBe(alarms.length);
    for (const alarm of alarms) {
      const anchor = headingOf(alarm).toLowerCase().replaceAll(' ', '-');
      expect(alarm.AlarmDescription).toMatch(/^Severity: (high|medium)\. .+\. What to do: /);
      expect(alarm.AlarmDescription.endsWith(` docs/runbook.md#${anchor}`)).toBe(true);
    }
  });

  test('the runbook has a page for each alarm and none beside, which says what it means, what to look at and what to do', () => {
    expect([...pages.keys()].sort()).toEqual([...new Set(alarms.map(headingOf))].sort());
    for (const page of pages.values()) {
      expect(page).toMatch(/\*\*What it means\.\*\* .*\*\*What to look at\.\*\* .*\*\*What to do\.\*\* /s);
    }
  });

  test('silence rings only where a tick is missed, after two minutes', () => {
    const [missed, ...rest] = alarms.filter(({ TreatMissingData }) => TreatMissingData !== 'notBreaching');
    expect(rest).toEqual([]);
    expect(missed).toMatchObject({ TreatMissingData: 'breaching', EvaluationPeriods: 2, Period: 60 });
    expect(headingOf(missed!)).toBe('No tick for two minutes');
  });

  test('every queue of dead letters and every function is watched', () => {
    const text = JSON.stringify(alarms);
    const queues = resourcesOf(watched, 'AWS::SQS::Queue');
    const dead = Object.keys(queues).filter((id) => id.includes('DeadLetters'));
    const functions = Object.keys(resourcesOf(watched, 'AWS::Lambda::Function'));
    expect([dead.length, functions.length]).toEqual([6, 8]);
    expect([...dead, ...functions].filter((id) => !text.includes(`\${${id}`))).toEqual([]);
  });

  test('the links lead where the runbook lies, and the topic hears of each alarm and of its end', () => {
    const topic = 'arn:aws:sns:eu-west-1:111122223333:on-call';
    const other = synthesise({ alarms: true, alarmTopicArn: topic, runbookUrl: 'https://example.com/book' });
    for (const { Properties } of Object.values(resourcesOf(other, 'AWS::CloudWatch::Alarm'))) {
      expect(Properties).toMatchObject({ AlarmActions: [topic], OKActions: [topic] });
      expect(Properties['AlarmDescription']).toContain(' https://example.com/book#');
    }
  });

  test('the dashboard shows every metric of ours', () => {
    const [dashboard] = Object.values(resourcesOf(watched, 'AWS::CloudWatch::Dashboard'));
    const body = resolved(dashboard!.Properties['DashboardBody']) as string;
    for (const name of Object.keys(METRICS)) expect(body).toContain(`["${METRICS_NAMESPACE}","${name}","Stack",`);
  });
}
