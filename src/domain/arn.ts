/** The parts of a Lambda function's ARN; `qualifier` is a version or an alias. */
export interface FunctionArn {
  region: string;
  account: string;
  name: string;
  qualifier?: string;
}

const FUNCTION_ARN =
  /^arn:aws(?:-[a-z]+)*:lambda:([a-z]{2}(?:-[a-z]+)+-\d):(\d{12}):function:([A-Za-z0-9_-]{1,64})(?::(\$LATEST|[A-Za-z0-9_-]{1,128}))?$/;

export function parseFunctionArn(text: string): FunctionArn | undefined {
  const match = FUNCTION_ARN.exec(text);
  if (!match) return undefined;
  const [, region, account, name, qualifier] = match;
  return { region: region!, account: account!, name: name!, ...(qualifier === undefined ? {} : { qualifier }) };
}

/** Does the function's name match one of the patterns? `*` in a pattern stands for any characters. */
export function isAllowedFunction(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => {
    const literal = pattern.split('*').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    return new RegExp(`^${literal.join('.*')}$`).test(name);
  });
}
