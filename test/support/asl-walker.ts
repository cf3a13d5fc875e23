/**
 * A small interpreter of state machines: just what our loop is made of, in the Amazon States Language with JSONPath
 * (https://states-language.net). What it does not know it refuses, so that it never walks past something. Time is the
 * clock's: a call that lasts longer than its state allows is given up, and may come to its end unheard, as it does on AWS.
 */
import type { Clock } from '../../src/ports';

type Json = unknown;
type Fields = Record<string, Json>;

interface Rule {
  ErrorEquals: readonly string[];
}
interface RetryRule extends Rule {
  IntervalSeconds?: number;
  MaxAttempts?: number;
  BackoffRate?: number;
}
interface CatchRule extends Rule {
  Next: string;
  ResultPath?: string | null;
}
interface ChoiceRule {
  Variable: string;
  BooleanEquals: boolean;
  Next: string;
}

interface State {
  Type: string;
  Next?: string;
  End?: boolean;
  Result?: Json;
  Resource?: string;
  Parameters?: Fields;
  OutputPath?: string;
  TimeoutSeconds?: number;
  Retry?: readonly RetryRule[];
  Catch?: readonly CatchRule[];
  Choices?: readonly ChoiceRule[];
  Default?: string;
  Seconds?: number;
  TimestampPath?: string;
}

export interface Definition {
  StartAt: string;
  TimeoutSeconds?: number;
  States: Record<string, State>;
}

const KNOWN_FIELDS: Record<string, readonly string[]> = {
  Pass: ['Type', 'Next', 'End', 'Result'],
  Task: ['Type', 'Next', 'End', 'Resource', 'Parameters', 'OutputPath', 'TimeoutSeconds', 'Retry', 'Catch'],
  Choice: ['Type', 'Choices', 'Default'],
  Wait: ['Type', 'Next', 'End', 'Seconds', 'TimestampPath'],
  Succeed: ['Type'],
};

export interface Walk {
  status: 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT';
  /** names of the states in the order that they were entered */
  path: string[];
  error?: string;
}

/** An error with a name that the states language knows. */
export class StatesError extends Error {
  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}

/**
 * Walks from the start to the end. `invoke` is the Lambda function: it gets the payload and answers, or throws an error
 * whose name is what Retry and Catch look at.
 */
export async function walk(
  definition: Definition,
  { clock, invoke }: { clock: Clock; invoke: (payload: Json) => Promise<Json> },
): Promise<Walk> {
  const startedAt = clock.now();
  const endsAt = startedAt + (definition.TimeoutSeconds ?? Infinity) * 1000;
  const context = { Execution: { StartTime: new Date(startedAt).toISOString() } };
  const path: string[] = [];

  const waitUntil = async (at: number) => {
    await clock.waitUntil(Math.min(at, endsAt));
    if (clock.now() >= endsAt) throw new OutOfTime();
  };
  const callOnce = async (state: State, input: Json) => {
    const calledAt = clock.now();
    const { Payload } = fillIn(state.Parameters ?? {}, input, context) as { Payload: Json };
    const answered = new AbortController();
    const patience = clock.waitUntil(
      Math.min(calledAt + (state.TimeoutSeconds ?? Infinity) * 1000, endsAt),
      answered.signal,
    );
    try {
      return await Promise.race([
        invoke(Payload).then((answer) => ({ Payload: answer ?? null })),
        patience.then(() => {
          if (clock.now() >= endsAt) throw new OutOfTime();
          throw new StatesError('States.Timeout', `no answer within ${state.TimeoutSeconds} s`);
        }),
      ]);
    } finally {
      answered.abort();
    }
  };
  const call = async (state: State, input: Json) => {
    const tries = new Map<RetryRule, number>();
    for (;;) {
      try {
        return await callOnce(state, input);
      } catch (error) {
        if (error instanceof OutOfTime || isRuntimeError(error)) throw error;
        const rule = state.Retry?.find((each) => matches(each, error));
        const tried = (rule && tries.get(rule)) ?? 0;
        if (!rule || tried >= (rule.MaxAttempts ?? 3)) throw error;
        tries.set(rule, tried + 1);
        await waitUntil(clock.now() + (rule.IntervalSeconds ?? 1) * (rule.BackoffRate ?? 2) ** tried * 1000);
      }
    }
  };
  const step = async (state: State, input: Json): Promise<{ next: string | undefined; output: Json }> => {
    switch (state.Type) {
      case 'Pass':
        return { next: state.Next, output: state.Result ?? input };
      case 'Wait':
        await waitUntil(
          state.TimestampPath === undefined
            ? clock.now() + state.Seconds! * 1000
            : instantOf(at(state.TimestampPath, input, context)),
        );
        return { next: state.Next, output: input };
      case 'Choice': {
        const chosen = state.Choices!.find(({ Variable, BooleanEquals, ...rest }) => {
          onlyKnows(Object.keys(rest), ['Next'], 'a choice');
          return at(Variable, input, context) === BooleanEquals;
        });
        const next = chosen?.Next ?? state.Default;
        if (next === undefined) throw new StatesError('States.NoChoiceMatched', 'no choice fits');
        return { next, output: input };
      }
      case 'Task':
        try {
          return { next: state.Next, output: at(state.OutputPath ?? '$', await call(state, input), context) };
        } catch (error) {
          const rule = isRuntimeError(error) ? undefined : state.Catch?.find((each) => matches(each, error));
          if (!rule || error instanceof OutOfTime) throw error;
          if (rule.ResultPath !== null) {
            throw new Error('a Catch that keeps its error is not known here', { cause: error });
          }
          return { next: rule.Next, output: input };
        }
      default:
        return { next: undefined, output: input };
    }
  };

  try {
    let next: string | undefined = definition.StartAt;
    for (let data: Json = {}; next !== undefined;) {
      const state: State | undefined = definition.States[next];
      if (!state) throw new Error(`there is no state ${next}`);
      onlyKnows(Object.keys(state), KNOWN_FIELDS[state.Type] ?? [], next);
      path.push(next);
      ({ next, output: data } = await step(state, data));
    }
    return { status: 'SUCCEEDED', path };
  } catch (error) {
    if (error instanceof OutOfTime) return { status: 'TIMED_OUT', path };
    return { status: 'FAILED', path, error: `${(error as Error).name}: ${(error as Error).message}` };
  }
}

class OutOfTime extends Error {}

function matches({ ErrorEquals }: Rule, error: unknown): boolean {
  return ErrorEquals.includes('States.ALL') || ErrorEquals.includes((error as Error).name);
}

/** A fault of the definition or its data: neither retried nor caught. */
function isRuntimeError(error: unknown): boolean {
  return (error as Error).name === 'States.Runtime';
}

/** Values of fields whose name ends in `.$` are paths. */
function fillIn(template: Json, input: Json, context: Json): Json {
  if (typeof template !== 'object' || template === null || Array.isArray(template)) return template;
  return Object.fromEntries(
    Object.entries(template).map(([name, value]) =>
      name.endsWith('.$')
        ? [name.slice(0, -2), at(value as string, input, context)]
        : [name, fillIn(value, input, context)],
    ),
  );
}

/** `$`, `$.a.b`, and the same of the context object with `$$`. */
function at(path: string, input: Json, context: Json): Json {
  if (!/^\$\$?(\.[A-Za-z]\w*)*$/.test(path)) throw new Error(`path ${path} is not known here`);
  const [root, ...names] = path.split('.');
  return names.reduce(
    (value: Json, name) => {
      const found = (value as Fields | null | undefined)?.[name];
      if (found === undefined) throw new StatesError('States.Runtime', `the path ${path} leads nowhere`);
      return found;
    },
    root === '$$' ? context : input,
  );
}

/** Step Functions cuts the fraction off the second. */
function instantOf(timestamp: Json): number {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?Z$/.exec(String(timestamp));
  if (!match) throw new StatesError('States.Runtime', `${JSON.stringify(timestamp)} is no timestamp`);
  return Date.parse(`${match[1]}Z`);
}

function onlyKnows(fields: readonly string[], known: readonly string[], where: string) {
  const unknown = fields.filter((field) => !known.includes(field));
  if (unknown.length > 0) throw new Error(`${where}: ${unknown.join(', ')} is not known here`);
}
