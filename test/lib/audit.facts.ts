import { Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import type { EscapementStackProps } from '../../lib/escapement-stack';
import { stackWith } from '../support/synthesised';

type Reasons = Record<string, string>;

/** With everything that is an option, and a name pattern that nobody foresaw. */
const WHOLE: EscapementStackProps = {
  encryptionKey: 'new',
  alarms: true,
  alarmTopicArn: 'arn:aws:sns:eu-west-1:111122223333:on-call',
  dashboard: true,
  allowedFunctions: ['nightly-*'],
};

/** What cdk-nag's AwsSolutions pack has to say. */
export function describeAudit(): void {
  const findingsOf = (stack: ReturnType<typeof stackWith>) =>
    new AwsSolutionsChecks(stack.node.root)
      .validateScope(stack)
      .violations.flatMap(({ ruleName, violatingResources }) =>
        violatingResources.map(({ constructPath }) => `${ruleName} ${constructPath}`),
      );

  test.each<[string, EscapementStackProps]>([
    ['as it is by default', {}],
    ['with all that is an option', WHOLE],
  ])('the stack %s breaks no rule that is not acknowledged', (_, props) => {
    expect(findingsOf(stackWith(props))).toEqual([]);
  });

  test('what is acknowledged is as reviewed, and nothing is that would not be found', () => {
    const stack = stackWith();
    const acknowledged: Record<string, Reasons> = {};
    for (const { node } of stack.node.findAll()) {
      for (const { type, data } of node.metadata) {
        if (type !== Validations.ACKNOWLEDGED_RULES_METADATA_KEY) continue;
        const reasons = Object.entries(data as Reasons).map(([id, reason]) => [
          id.replace(/^annotation::/i, ''),
          reason,
        ]);
        acknowledged[node.path] = { ...acknowledged[node.path], ...(Object.fromEntries(reasons) as Reasons) };
      }
    }
    expect(acknowledged).toMatchSnapshot();

    const all = stackWith();
    for (const { node } of all.node.findAll()) {
      const { metadata } = node;
      Object.defineProperty(node, 'metadata', {
        value: metadata.filter(({ type }) => type !== Validations.ACKNOWLEDGED_RULES_METADATA_KEY),
      });
    }
    const found = findingsOf(all);
    for (const [path, reasons] of Object.entries(acknowledged)) {
      for (const id of Object.keys(reasons)) {
        expect(found.filter((finding) => finding.startsWith(`${id} ${path}`))).not.toEqual([]);
      }
    }
  });
}
