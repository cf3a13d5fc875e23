/** The stack's template, and ways to read it. Importing this costs a test file the eight seconds that aws-cdk-lib takes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { EscapementStack, type EscapementStackProps } from '../../lib/escapement-stack';
import type { Definition } from './asl-walker';

export interface Resource {
  Type: string;
  Properties: Record<string, unknown>;
  DeletionPolicy?: string;
  UpdateReplacePolicy?: string;
}

/** With the context of cdk.json, and without bundling a single handler. */
export function stackWith(props: EscapementStackProps = {}): EscapementStack {
  const cdkJson = JSON.parse(readFileSync(join(__dirname, '..', '..', 'cdk.json'), 'utf8')) as { context: object };
  const app = new App({ context: { ...cdkJson.context, 'aws:cdk:bundling-stacks': [] } });
  return new EscapementStack(app, 'Escapement', props);
}

export function synthesise(props: EscapementStackProps = {}): Template {
  return Template.fromStack(stackWith(props));
}

/** Resources of a type by their logical ids. */
export function resourcesOf(template: Template, type: string): Record<string, Resource> {
  return template.findResources(type) as Record<string, Resource>;
}

/** A value with its references replaced by placeholders, such as `${Queue.Arn}`. */
export function resolved(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(resolved);
  if (typeof value !== 'object' || value === null) return value;
  const object = value as Record<string, unknown>;
  if ('Ref' in object) return `\${${String(object['Ref'])}}`;
  if ('Fn::GetAtt' in object) return `\${${(object['Fn::GetAtt'] as string[]).join('.')}}`;
  if ('Fn::Join' in object) {
    const [separator, parts] = object['Fn::Join'] as [string, unknown[]];
    return parts.map(resolved).join(separator);
  }
  return Object.fromEntries(Object.entries(object).map(([name, inner]) => [name, resolved(inner)]));
}

/** What the state machine of the loop does. */
export function loopDefinition(template: Template): Definition {
  const [machine] = Object.values(resourcesOf(template, 'AWS::StepFunctions::StateMachine'));
  return JSON.parse(resolved(machine!.Properties['DefinitionString']) as string) as Definition;
}
