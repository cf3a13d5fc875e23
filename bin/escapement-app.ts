import { App } from 'aws-cdk-lib';
import { contextSettings } from '../lib/context-settings';
import { EscapementStack } from '../lib/escapement-stack';

const app = new App();
const { stage, ...settings } = contextSettings((name) => app.node.tryGetContext(name));
new EscapementStack(app, `Escapement-${stage}`, { ...settings, description: `Escapement, stage ${stage}` });
