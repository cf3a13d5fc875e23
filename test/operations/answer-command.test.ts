import { UnreadableMessageError } from '../../src/domain/errors';
import { LIMITS } from '../../src/domain/limits';
import { answerCommand, REPLY_OF } from '../../src/operations/answer-command';
import { createJob } from '../../src/operations/create-job';
import { statesSubscribedOfAll } from '../../src/operations/subscriptions';
import type { CommandName, Ports } from '../../src/ports';
import { jobText, WRONG_JOBS } from '../messages/wrong-jobs';
import { functionArn } from '../support/builders';
import { aRequest, rate, World } from '../support/world';
import { anyText, containing } from '../support/matchers';

let world: World;
let ports: Ports;
beforeEach(async () => {
  world = await World.open();
  ports = { ...world.ports, settings: { ...world.ports.settings, allowedFunctions: ['job-*', 'notify-*'] } };
});
afterEach(() => world.close());

type Reply = Record<string, unknown>;

/** Carries out one message and takes what it is answered. */
async function answer(name: CommandName, body: string | object, withPorts = ports): Promise<Reply[]> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const message = { messageId: 'm-1', receipt: 'r-1', body: text, receives: 1, sentAt: ports.clock.now() };
  await answerCommand(name, message, withPorts);
  return replies(name);
}

async function replies(name: CommandName): Promise<Reply[]> {
  const queue = ports.replies[REPLY_OF[name]];
  const all: Reply[] = [];
  for (;;) {
    const taken = await queue.receive(10);
    if (taken.length === 0) return all;
    all.push(...taken.map(({ body }) => JSON.parse(body) as Reply));
    await queue.remove(taken.map(({ receipt }) => receipt));
  }
}

const job = (jobId = 'nightly') =>
  createJob(`request-${jobId}`, aRequest({ jobId, schedule: rate('rate(1 hour)') }), ports);
const notify = (requestId: string, state = 'DONE', jobId = 'nightly') =>
  answer('notify-create', {
    version: 1,
    requestId,
    jobId,
    notification: { state, target: { functionArn: functionArn('notify-me') } },
  });
const remaining = async (jobId = 'nightly') => (await ports.notifications.of(jobId)).map(({ notifyId }) => notifyId);
const byId = (a: Reply, b: Reply) => String(a['notifyId']).localeCompare(String(b['notifyId']));

describe('job-create', () => {
  const create = (requestId: string, text = jobText({ schedule: 'rate(1 hour)' })) =>
    answer('job-create', `{"version":1,"requestId":${JSON.stringify(requestId)},"job":${text}}`);

  test('creates the job with its payload byte for byte, and answers its id', async () => {
    const payload = '{"id":9007199254740993,"neg0":-0.0, "e":"\\u00e9"}';
    const [reply, ...none] = await create('r-1', jobText().replace('{', `{"payload":${payload},`));
    expect(none).toEqual([]);
    expect(reply).toEqual({ version: 1, requestId: 'r-1', ok: true, jobId: anyText() });
    expect((await ports.jobs.read(reply!['jobId'] as string))!.payload).toBe(payload);
  });

  test('repeated changes nothing more and is answered the same, also when the job is deleted since', async () => {
    const [first] = await create('r-1');
    const jobId = first!['jobId'] as string;
    const row = await ports.jobs.read(jobId);
    expect(await create('r-1')).toEqual([first]);
    expect(await ports.jobs.read(jobId)).toEqual(row);
    await answer('job-delete', { version: 1, requestId: 'r-2', jobId });
    expect(await create('r-1')).toEqual([first]);
    expect((await ports.jobs.read(jobId))!.state).toBe('DELETED');
  });

  test('with the request id of another job is answered with a conflict', async () => {
    await create('r-1');
    const [reply] = await create('r-1', jobText({ name: 'another' }));
    expect(reply).toEqual({
      version: 1,
      requestId: 'r-1',
      ok: false,
      errors: [{ field: 'requestId', message: containing('already used for another job') }],
    });
  });

  test('of a job id that is taken is answered with a conflict', async () => {
    await job();
    const [reply] = await create('r-1', jobText({ jobId: 'nightly' }));
    expect(reply).toMatchObject({
      ok: false,
      errors: [{ field: 'job.jobId', message: containing('exists') }],
    });
  });

  test.each(WRONG_JOBS)('is refused with the field named: %s', async (_, body, field, says) => {
    const at = field === 'body' ? 'job' : `job.${field}`;
    expect(await create('r-1', body)).toEqual([
      { version: 1, requestId: 'r-1', ok: false, errors: [{ field: at, message: containing(says) }] },
    ]);
    expect((await ports.jobs.list({ limit: 10 })).items).toEqual([]);
  });

  test('with a payload too large is refused', async () => {
    const [reply] = await create('r-1', jobText({ payload: 'x'.repeat(LIMITS.payloadBytes) }));
    expect(reply).toMatchObject({ errors: [{ field: 'job.payload', message: containing('got 262146') }] });
  });
});

describe('what is wrong with a message is answered:', () => {
  const right = { version: 1, requestId: 'r-1', jobId: 'nightly' };
  const notification = { state: 'DONE', target: { functionArn: functionArn('notify-me') } };
  const wrong: [CommandName, unknown, string | null, string, string][] = [
    [
      'job-create',
      { ...right, version: 2, jobId: undefined, job: JSON.parse(jobText()) as object },
      'r-1',
      'version',
      'got 2',
    ],
    ['job-create', { version: 1, requestId: 'r-1' }, 'r-1', 'job', 'is missing'],
    ['job-delete', { ...right, version: '1' }, 'r-1', 'version', 'must be 1, the only version there is; got "1"'],
    ['job-delete', { ...right, version: undefined }, 'r-1', 'version', 'is missing; it must be 1'],
    ['job-delete', { ...right, requestId: undefined }, null, 'requestId', 'is missing'],
    ['job-delete', { ...right, requestId: '' }, null, 'requestId', 'got ""'],
    ['job-delete', { ...right, requestId: 'k'.repeat(129) }, null, 'requestId', '1 to 128 printable ASCII'],
    ['job-delete', { ...right, requestId: 'a\nb' }, null, 'requestId', 'got "a\\nb"'],
    ['job-delete', { ...right, requestId: 7 }, null, 'requestId', 'got 7'],
    ['job-delete', { ...right, jobId: undefined }, 'r-1', 'jobId', 'is missing'],
    ['job-delete', { ...right, jobId: 'a b' }, 'r-1', 'jobId', 'got "a b"'],
    ['job-delete', { ...right, jobID: 'x' }, 'r-1', 'jobID', 'did you mean jobId?'],
    ['job-delete', { ...right, jobId: 'absent' }, 'r-1', 'jobId', 'there is no job "absent"'],
    ['job-delete', [], null, 'body', 'must be an object { "version": 1'],
    ['job-delete', null, null, 'body', 'got null'],
    ['job-delete', 'text', null, 'body', 'got "text"'],
    ['notify-create', right, 'r-1', 'notification', 'is missing'],
    [
      'notify-create',
      { ...right, notification: { ...notification, state: 'OVER' } },
      'r-1',
      'notification.state',
      'got "OVER"',
    ],
    ['notify-create', { ...right, notification: { state: 'DONE' } }, 'r-1', 'notification.target', 'is missing'],
    ['notify-create', { ...right, jobId: 'absent', notification }, 'r-1', 'jobId', 'there is no job "absent"'],
    [
      'notify-create',
      { ...right, notification: { state: 'DONE', target: { functionArn: functionArn('forbidden') } } },
      'r-1',
      'notification.target.functionArn',
      'may call',
    ],
    [
      'notify-create',
      { ...right, notification: { ...notification, state: 'BATCH_DONE' } },
      'r-1',
      'notification.state',
      'tell their states to whoever subscribes to all jobs, *',
    ],
    ['notify-create', { ...right, jobId: '**', notification }, 'r-1', 'jobId', 'or * for all jobs; got "**"'],
    ['notify-delete', { ...right, jobId: 'absent' }, 'r-1', 'jobId', 'there is no job "absent"'],
    ['notify-delete', { ...right, jobId: 'absent', notifyId: 'x' }, 'r-1', 'jobId', 'there is no job "absent"'],
    ['notify-delete', { ...right, notifyId: '' }, 'r-1', 'notifyId', 'got ""'],
    ['notify-delete', { ...right, notificationId: 'x' }, 'r-1', 'notificationId', 'unknown field'],
  ];
  test.each(wrong)('%s %j', async (name, body, requestId, field, says) => {
    await job();
    const [reply, ...none] = await answer(name, JSON.stringify(body));
    expect(none).toEqual([]);
    expect(reply).toMatchObject({ version: 1, requestId, ok: false });
    expect(reply!['errors']).toEqual([{ field, message: containing(says) }]);
    expect((await ports.jobs.read('nightly'))!.state).toBe('ACTIVE');
  });

  test('all of it at once', async () => {
    const [reply] = await answer('notify-create', { version: 3, jobId: '', notification: {}, more: 1 });
    const fields = (reply!['errors'] as { field: string }[]).map(({ field }) => field).sort();
    expect(fields).toEqual(['jobId', 'more', 'notification.state', 'notification.target', 'requestId', 'version']);
  });

  test('in words that every queue takes', async () => {
    await answerCommand(
      'job-delete',
      {
        messageId: 'm',
        receipt: 'r',
        body: '{"version":1,"requestId":"r","jobId":"\uffff\ufffe"}',
        receives: 1,
        sentAt: 0,
      },
      ports,
    );
    const [raw] = await ports.replies['job-deleted'].receive(1);
    expect(raw!.body).toContain('\\uffff\\ufffe');
    expect(raw!.body).not.toMatch(/[\uFFFE\uFFFF]/);
  });

  test('that it nests too deep, which brings nothing down', async () => {
    const deep = `{"version":1,"requestId":"r-1","jobId":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    const [reply] = await answer('job-delete', deep);
    expect(reply).toMatchObject({ requestId: 'r-1', ok: false, errors: [{ field: 'body' }] });
  });
});

test.each(['', '{', 'job', '{"version":1,}', '{} {}'])(
  '%j is no JSON and is left for the dead letters',
  async (body) => {
    for (const name of Object.keys(REPLY_OF) as CommandName[]) {
      await expect(answer(name, body)).rejects.toThrow(UnreadableMessageError);
      expect(await replies(name)).toEqual([]);
    }
  },
);

test('the neighbours of a wrong message and of an unreadable one are carried out', async () => {
  await Promise.all(['a', 'b', 'c'].map((jobId) => job(jobId)));
  const bodies = ['a', 'no such job', 'b'].map((jobId) => JSON.stringify({ version: 1, requestId: jobId, jobId }));
  bodies.splice(1, 0, 'not JSON');
  await ports.commands['job-delete'].send(bodies.map((body) => ({ body })));
  const messages = await ports.commands['job-delete'].receive(10);
  const left = await Promise.all(
    messages.map((message) =>
      answerCommand('job-delete', message, ports).then(
        () => [],
        () => [message.body],
      ),
    ),
  );
  expect(left.flat()).toEqual(['not JSON']);
  expect((await replies('job-delete')).map(({ requestId, ok }) => `${String(requestId)} ${String(ok)}`).sort()).toEqual(
    ['a true', 'b true', 'no such job false'],
  );
  expect((await ports.jobs.list({ limit: 10 })).items.map(({ jobId }) => jobId)).toEqual(['c']);
});

test('a store that fails lets the message come again, unanswered', async () => {
  await job();
  const readRows = () => Promise.reject(new Error('throttled'));
  const broken = { ...ports, jobs: { ...ports.jobs, readRows } };
  const command = { version: 1, requestId: 'r', jobId: 'nightly' };
  await expect(answer('job-delete', command, broken)).rejects.toThrow('throttled');
  expect(await replies('job-delete')).toEqual([]);
  expect(await answer('job-delete', command)).toMatchObject([{ ok: true }]);
});

describe('job-delete', () => {
  test('repeated is answered the same', async () => {
    await job();
    const command = { version: 1, requestId: 'r-1', jobId: 'nightly' };
    const reply = { version: 1, requestId: 'r-1', ok: true, jobId: 'nightly' };
    expect(await answer('job-delete', command)).toEqual([reply]);
    expect(await answer('job-delete', command)).toEqual([reply]);
    expect(await answer('job-delete', { ...command, requestId: 'r-2' })).toMatchObject([{ ok: true }]);
  });

  test('has every notification of the job removed and reported, repeat or not, and those of a new job left', async () => {
    await job();
    const made = [...(await notify('n-1')), ...(await notify('n-2', 'FAILED'))];
    const command = { version: 1, requestId: 'r-1', jobId: 'nightly' };
    await answer('job-delete', command);
    const [forwarded, ...none] = await ports.commands['notify-delete'].receive(10);
    expect(none).toEqual([]);
    const reports = made
      .map(({ notifyId, state }) => ({ version: 1, requestId: 'r-1', ok: true, jobId: 'nightly', notifyId, state }))
      .sort(byId);
    expect((await answer('notify-delete', forwarded!.body)).sort(byId)).toEqual(reports);
    expect(await remaining()).toEqual([]);

    await createJob('request-2', aRequest({ jobId: 'nightly', schedule: rate('rate(1 hour)') }), ports);
    const [kept] = await notify('n-3');
    expect((await answer('notify-delete', forwarded!.body)).sort(byId)).toEqual(reports);
    expect(await remaining()).toEqual([kept!['notifyId']]);
    expect((await ports.jobs.read('nightly'))!.subscribedStates).toEqual(['DONE']);
  });

  test('of a job whose notifications are gone already is silent on notify-deleted', async () => {
    await job();
    await notify('n-1');
    await answer('job-delete', { version: 1, requestId: 'r-1', jobId: 'nightly' });
    const [forwarded] = await ports.commands['notify-delete'].receive(1);
    expect(await answer('notify-delete', { version: 1, requestId: 'r-0', jobId: 'nightly' })).toHaveLength(1);
    expect(await answer('notify-delete', forwarded!.body)).toEqual([]);
  });
});

describe('notify-create', () => {
  test('repeated makes one notification and is answered the same, also after its deletion', async () => {
    await job();
    const first = await notify('n-1');
    expect(first).toEqual([
      { version: 1, requestId: 'n-1', ok: true, jobId: 'nightly', notifyId: anyText(), state: 'DONE' },
    ]);
    expect(await notify('n-1')).toEqual(first);
    expect(await remaining()).toEqual([first[0]!['notifyId']]);
    await answer('notify-delete', { version: 1, requestId: 'd', jobId: 'nightly' });
    expect(await notify('n-1')).toEqual(first);
    expect(await remaining()).toEqual([]);
  });

  test('with the request id of another is answered with a conflict', async () => {
    await job();
    await notify('n-1');
    expect(await notify('n-1', 'FAILED')).toMatchObject([
      { requestId: 'n-1', ok: false, jobId: 'nightly', errors: [{ field: 'requestId' }] },
    ]);
  });
});

describe('of all jobs', () => {
  const right = { version: 1, jobId: '*' };

  test('a notification is created, answered with "*", and removed', async () => {
    const [made] = await notify('n-1', 'BATCH_FAILED', '*');
    expect(made).toEqual({
      version: 1,
      requestId: 'n-1',
      ok: true,
      jobId: '*',
      notifyId: anyText(),
      state: 'BATCH_FAILED',
    });
    expect(await notify('n-1', 'BATCH_FAILED', '*')).toEqual([made]);
    expect(await statesSubscribedOfAll(ports)).toEqual(['BATCH_FAILED']);
    const { notifyId } = made!;
    expect(await answer('notify-delete', { ...right, requestId: 'd', notifyId })).toEqual([
      { version: 1, requestId: 'd', ok: true, jobId: '*', notifyId },
    ]);
    expect(await statesSubscribedOfAll(ports)).toEqual([]);
    expect(await remaining('*')).toEqual([]);
  });

  test('every notification is removed and reported, and those of one job are left', async () => {
    await job();
    const [ofOne] = await notify('n-0');
    const made = [...(await notify('n-1', 'DONE', '*')), ...(await notify('n-2', 'CHAIN_DONE', '*'))];
    const reports = made
      .map(({ notifyId, state }) => ({ version: 1, requestId: 'd', ok: true, jobId: '*', notifyId, state }))
      .sort(byId);
    for (let i = 0; i < 2; i++) {
      expect((await answer('notify-delete', { ...right, requestId: 'd' })).sort(byId)).toEqual(reports);
      expect(await remaining('*')).toEqual([]);
      expect(await statesSubscribedOfAll(ports)).toEqual([]);
    }
    expect(await remaining()).toEqual([ofOne!['notifyId']]);
    expect((await ports.jobs.read('nightly'))!.subscribedStates).toEqual(['DONE']);
  });

  test('jobs are not deleted', async () => {
    await job();
    const [reply] = await answer('job-delete', { ...right, requestId: 'd' });
    expect(reply).toMatchObject({ ok: false, errors: [{ field: 'jobId', message: containing('got "*"') }] });
    expect((await ports.jobs.read('nightly'))!.state).toBe('ACTIVE');
  });

  test('a refusal names them', async () => {
    const [reply] = await answer('notify-create', { ...right, requestId: 'r-1', notification: { state: 'DONE' } });
    expect(reply).toMatchObject({ ok: false, jobId: '*', errors: [{ field: 'notification.target' }] });
  });
});

describe('notify-delete', () => {
  test('of one is answered with it, twice', async () => {
    await job();
    const [first] = await notify('n-1');
    const [second] = await notify('n-2');
    const command = { version: 1, requestId: 'd', jobId: 'nightly', notifyId: first!['notifyId'] };
    const reply = { version: 1, requestId: 'd', ok: true, jobId: 'nightly', notifyId: first!['notifyId'] };
    expect(await answer('notify-delete', command)).toEqual([reply]);
    expect(await answer('notify-delete', command)).toEqual([reply]);
    expect(await remaining()).toEqual([second!['notifyId']]);
  });

  test('of all reports each, and a repeat the same ones and touches none made since', async () => {
    await job();
    await job('other');
    const made = [...(await notify('n-1')), ...(await notify('n-2', 'FAILED'))];
    const [elsewhere] = await notify('n-1', 'DONE', 'other');
    const command = { version: 1, requestId: 'd', jobId: 'nightly' };
    const reports = made
      .map(({ notifyId, state }) => ({ version: 1, requestId: 'd', ok: true, jobId: 'nightly', notifyId, state }))
      .sort(byId);
    expect((await answer('notify-delete', command)).sort(byId)).toEqual(reports);
    expect((await ports.jobs.read('nightly'))!.subscribedStates).toEqual([]);
    const [later] = await notify('n-3');
    expect((await answer('notify-delete', command)).sort(byId)).toEqual(reports);
    expect(await remaining()).toEqual([later!['notifyId']]);
    expect(await remaining('other')).toEqual([elsewhere!['notifyId']]);
  });

  test('of all where there is none is answered once, without an id', async () => {
    await job();
    const command = { version: 1, requestId: 'd', jobId: 'nightly' };
    const reply = { version: 1, requestId: 'd', ok: true, jobId: 'nightly' };
    expect(await answer('notify-delete', command)).toEqual([reply]);
    expect(await answer('notify-delete', command)).toEqual([reply]);
  });

  test('that died in the middle is finished by its repeat, and reports all of them', async () => {
    await job();
    const made = [...(await notify('n-1')), ...(await notify('n-2', 'FAILED'))];
    let removals = 0;
    const remove: Ports['notifications']['remove'] = async (notification) => {
      if (++removals === 2) throw new Error('the process died');
      await ports.notifications.remove(notification);
    };
    const { notifications } = ports;
    const dying = {
      ...ports,
      notifications: { put: notifications.put.bind(notifications), of: notifications.of.bind(notifications), remove },
    };
    const command = { version: 1, requestId: 'd', jobId: 'nightly' };
    await expect(answer('notify-delete', command, dying)).rejects.toThrow('the process died');
    expect(await answer('notify-delete', command)).toHaveLength(made.length);
    expect(await remaining()).toEqual([]);
    expect((await ports.jobs.read('nightly'))!.subscribedStates).toEqual([]);
  });

  test('delivered again while it is carried out reports the same list', async () => {
    await job();
    const made = [...(await notify('n-1')), ...(await notify('n-2', 'FAILED'))];
    const command = JSON.stringify({ version: 1, requestId: 'd', jobId: 'nightly' });
    const message = { messageId: 'm', receipt: 'r', body: command, receives: 1, sentAt: 0 };
    let overtaken = false;
    const read: Ports['control']['read'] = async (name) => {
      const entry = await ports.control.read(name);
      if (!overtaken) {
        overtaken = true;
        await answerCommand('notify-delete', message, ports);
      }
      return entry;
    };
    const control = { read, put: ports.control.put.bind(ports.control) };
    await answerCommand('notify-delete', message, { ...ports, control });
    const reported = (await replies('notify-delete')).map(({ notifyId }) => notifyId).sort();
    expect(reported).toEqual([...made, ...made].map(({ notifyId }) => notifyId).sort());
  });
});
