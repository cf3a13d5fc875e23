import { QualifiedFunctionBase, type IFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { Api } from './api';
import { Commands } from './commands';
import { encryptEverything } from './encryption';
import { allow } from './grants';
import { Job, JobResources, Notification, type JobProps, type NotificationProps } from './job-resources';
import { Monitoring } from './monitoring';
import { Notifying } from './notifying';
import { Running } from './running';
import { Scheduling } from './scheduling';
import { completeSettings, type EscapementSettings } from './settings';
import { Storage } from './storage';

/** What is not given has its default, see `settings.ts`. */
export type EscapementProps = Partial<EscapementSettings>;

/** The whole system, as the picture in docs/architecture.md shows it, for use in any stack. */
export class Escapement extends Construct {
  /** without a slash at its end */
  readonly apiUrl: string;
  readonly commands: Commands;
  private readonly api: Api;
  private readonly running: Running;
  private readonly notifying: Notifying;
  /** grows by the functions of added jobs; read when the template is made */
  private readonly allowedFunctions: string[];
  private readonly logRetentionDays: number;
  private resources: JobResources | undefined;

  constructor(scope: Construct, id: string, props: EscapementProps = {}) {
    super(scope, id);
    const complete = completeSettings(props);
    this.logRetentionDays = complete.logRetentionDays;
    this.allowedFunctions = [...complete.allowedFunctions];
    const settings = { ...complete, allowedFunctions: this.allowedFunctions };
    encryptEverything(this, settings);

    const storage = new Storage(this, 'Storage', settings);
    this.notifying = new Notifying(this, 'Notifying', { storage, settings });
    const notifyQueue = this.notifying.queue;
    this.running = new Running(this, 'Running', { storage, notifyQueue, settings });
    const activations = this.running.queues;
    new Scheduling(this, 'Scheduling', { storage, activations, notifyQueue, settings });
    this.commands = new Commands(this, 'Commands', { storage, activations, notifyQueue, settings });
    this.api = new Api(this, 'Api', { storage, activations, notifyQueue, commands: this.commands, settings });
    new Monitoring(this, 'Monitoring', {
      watched: this,
      activationQueues: [activations.normal, activations.high],
      deadActivations: activations.deadLetters,
      settings,
    });
    this.apiUrl = this.api.url;
  }

  /**
   * A job that is created, changed and deleted with the stack. Its function may be called whatever its name is. What is wrong
   * with the job is told when the stack is deployed, in the words of the API.
   */
  addJob(id: string, props: JobProps): Job {
    this.letCall(this.running.runner, props.handler);
    return new Job(this, id, { ...props, resources: this.jobResources() });
  }

  /** Calls a function at each such change of a job's runs, as long as the stack has it. */
  addNotification(id: string, props: NotificationProps): Notification {
    this.letCall(this.notifying.notifier, props.handler);
    return new Notification(this, id, { ...props, resources: this.jobResources() });
  }

  private letCall(caller: IFunction, callee: IFunction): void {
    // The name of an alias or a version would be that of the function and its own.
    const { functionName } = callee instanceof QualifiedFunctionBase ? callee.lambda : callee;
    if (!this.allowedFunctions.includes(functionName)) this.allowedFunctions.push(functionName);
    allow(caller, ['lambda:InvokeFunction'], [callee.functionArn]);
  }

  private jobResources(): JobResources {
    this.resources ??= new JobResources(this, 'JobResources', {
      apiFunction: this.api.lambda,
      logRetentionDays: this.logRetentionDays,
      // A job may be due at once: whatever carries it stands before it, and goes after it.
      after: [this.api, this.running, this.notifying, this.commands],
    });
    return this.resources;
  }
}
