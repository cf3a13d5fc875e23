import { Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/** Findings of cdk-nag that stay as they are, each with the reason that an auditor asks for. */
export function acknowledge(construct: IConstruct, reasons: Readonly<Record<string, string>>): void {
  Validations.of(construct).acknowledge(...Object.entries(reasons).map(([id, reason]) => ({ id, reason })));
}
