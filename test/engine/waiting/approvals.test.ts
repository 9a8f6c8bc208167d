import { beforeEach, describe, expect, it } from 'vitest'
import { createToken, revokeToken } from '../../../lib/access/manage-tokens.ts'
import { toAccess } from '../../../lib/access/tokens.ts'
import { toStepRecord } from '../../../lib/contract/records/step.ts'
import { type Access, SCOPES, UNLIMITED } from '../../../lib/core/access.ts'
import { encodeCursor } from '../../../lib/core/cursor.ts'
import { subjectIdOf } from '../../../lib/core/ids.ts'
import type { JsonObject } from '../../../lib/core/json/json.ts'
import type { ModelStep } from '../../../lib/core/step.ts'
import type { Engine } from '../../../lib/engine/engine.ts'
import { openEvents } from '../../../lib/engine/events/open-events.ts'
import { cancelExecution } from '../../../lib/engine/executions/change-execution.ts'
import { approvalIdOf } from '../../../lib/engine/waiting/approvals.ts'
import { withApprovals } from '../../../lib/engine/waiting/call-approval.ts'
import { decideApproval } from '../../../lib/engine/waiting/decide-approval.ts'
import { listApprovals, listDecided } from '../../../lib/engine/waiting/list-approvals.ts'
import { openDecider } from '../../../lib/engine/waiting/open-decider.ts'
import { system } from '../../../lib/system.ts'
import { openTools } from '../../../lib/tools/open-tools.ts'
import { receive } from '../../support/engine/engine-on.ts'
import { aModelAgent, httpTool } from '../../support/engine/model-agent.ts'
import { answer, startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import type { Script } from '../../support/scripted-model/turn.ts'
import { ownTable } from '../../support/tables/memory-table.ts'

const table = await ownTable()
const { engine: base, queued, server } = await startScriptedEngine(table)

const DAY_MS = 86_400_000
const INPUT = {
  id: { type: 'string', description: 'The order.' },
  usd: { type: 'number', description: 'How much.', default: 500 },
}
const over100 = { when: { properties: { usd: { type: 'number', exclusiveMinimum: 100 } } } }

const refundTool = (more: object = { approval: over100 }) =>
  httpTool(server, 'refund', '/refunds/{id}', { input: INPUT, ...more })
const plainTool = httpTool(server, 'look_up', '/things/{id}')
const refund = (input: object) => ({ name: 'refund', input: input as JsonObject })

let offsetMs = 0
beforeEach(() => {
  offsetMs = 0
  server.calls.length = 0
})
const clock = { ...system, now: () => Date.now() + offsetMs }

/** A run of a model agent with these tools, whose tokens are `caller` and, by default, `approver`. */
async function aRun(
  script: Script,
  tools: unknown[] = [refundTool(), plainTool],
  overrides: Partial<Engine> = {},
  organizationId = system.newId(),
  caller = system.newId(),
) {
  const engine: Engine & Pick<typeof base, 'tokens'> = { ...base, system: clock, ...overrides }
  const slug = `approvals-${system.newId()}`
  const version = await aModelAgent({ tools, organizationId, slug }, { table })
  const given = { tokenId: caller, deadlineMs: DAY_MS }
  const { execution, stored, requests } = await queued(script, version, given)
  const { id: executionId } = execution
  const access = (more: Partial<Access> = {}): Access => ({
    ...{ ...UNLIMITED, organizationId, tokenId: system.newId(), tokenName: 'Ann' },
    ...more,
  })
  const steps = () => engine.steps.read({ executionId })
  const approvalId = async (index = 0, number = 1) => {
    const step = (await steps())[number - 1]?.step as ModelStep
    return approvalIdOf(step, step.calls[index]?.id ?? '')
  }
  return {
    ...{ engine, slug, execution, stored, requests, access, caller, steps, approvalId },
    process: () => receive(engine, executionId),
    decide: async (
      decision: 'approve' | 'reject',
      { input = null, note = null, index = 0, as = access(), id }: Deciding = {},
    ) =>
      decideApproval(engine, {
        access: as,
        executionId,
        approvalId: id ?? (await approvalId(index)),
        decision,
        input,
        note,
      }),
    list: (as = access()) => listApprovals(engine, { access: as, page: {} }).then(({ items }) => items),
    /** What the model was shown of the results of its calls. */
    shown: (request = 1) =>
      requests[request]?.history.flatMap((item) => (item.type === 'result' ? [item.output] : [])) ?? [],
  }
}

/** The same, after its first message. */
async function aStartedRun(...[script = REFUND_200, ...more]: Partial<Parameters<typeof aRun>>) {
  const run = await aRun(script, ...more)
  await run.process()
  return run
}

type Deciding = {
  input?: JsonObject | null
  note?: string | null
  index?: number
  as?: Access
  id?: string
}

const REFUND_200 = [{ calls: [refund({ id: 'x', usd: 200 })] }, answer]

/** Takes exponential time. */
const RECURSIVE: JsonObject = {
  type: 'object',
  properties: { tree: { $ref: '#/$defs/tree' } },
  $defs: {
    tree: {
      oneOf: ['add', 'multiply'].map((operator) => ({
        type: 'object',
        properties: { operator: { const: operator }, left: { $ref: '#/$defs/tree' } },
        required: ['operator'],
      })),
    },
  },
}
const treeOf = (depth: number): JsonObject =>
  depth === 0 ? { operator: 'add' } : { operator: 'multiply', left: treeOf(depth - 1) }

describe('a tool call that needs an approval', () => {
  it.each([null, ''])('waits for it, and is then executed, with no word of the note %j', async (note) => {
    const run = await aStartedRun()
    const { suspension, status } = await run.stored()
    const id = await run.approvalId()
    expect([status, server.calls]).toEqual(['IN_PROGRESS', []])
    expect(suspension?.waits).toMatchObject([{ kind: 'approval', name: 'refund', id, step: 1 }])
    // The short ID of the token says who it was, whatever its name.
    const as = run.access({ tokenId: '01a2003a-d1f2-7169-a695-5ea4428d9251', tokenName: 'Ann (finance)' })
    const decided = { decision: 'approve', by: 'Ann (finance) (01a2003a…9251)', input: null }
    expect(await run.decide('approve', { as, note })).toMatchObject(decided)
    await run.process()
    expect(await run.stored()).toMatchObject({ status: 'SUCCESS', suspension: null })
    expect(server.calls).toHaveLength(1)
    expect(run.shown()[0]).toMatch(/^<tool_result>/)
  })

  it.each([
    ['at most what the schema permits', { id: 'x', usd: 100 }, 'SUCCESS'],
    ['more', { id: 'x', usd: 101 }, 'IN_PROGRESS'],
    ['more by a default of the tool', { id: 'x' }, 'IN_PROGRESS'],
    ['what its own schema refuses', { id: 'x', usd: 'many' }, 'SUCCESS'],
  ])('is one with %s: %j ends %s', async (_, input, status) => {
    const run = await aStartedRun([{ calls: [refund(input)] }, answer])
    expect((await run.stored()).status).toBe(status)
  })

  it('shows the defaults that it is executed with, whatever they become', async () => {
    const paid: unknown[] = []
    let to = 'Ada'
    const approval = { when: { properties: { to: { const: 'Ada' } } } }
    const openPay: typeof openTools = (documents, deps) =>
      openTools(documents, {
        ...deps,
        describeAgent: async () => ({
          description: null,
          inputSchema: { to: { type: 'string', description: 'Who is paid.', default: to } },
        }),
        runAgent: async ({ input }) => {
          paid.push(input)
          return { ok: true, value: {} }
        },
      })
    const script = [{ calls: [{ name: 'pay', input: {} }] }, answer]
    const run = await aStartedRun(script, [{ name: 'pay', agent: 'pay', approval }], { openTools: openPay })
    expect(await run.list()).toMatchObject([{ name: 'pay', input: { to: 'Ada' } }])
    to = 'Mallory'
    await run.decide('approve')
    await run.process()
    expect(paid).toEqual([{ to: 'Ada' }])
  })

  it.each([
    ['by a schema that is invalid', { type: 'object', $ref: '#/$defs/missing' }, { id: 'x' }],
    ['within a reasonable time', RECURSIVE, { tree: treeOf(60) }],
  ])('is one whose arguments cannot be checked %s', (_, when, input) => {
    const tool = { name: 'refund', description: '', inputSchema: { type: 'object' } }
    const calls = [{ id: 'c', name: 'refund', input, error: null }]
    const finishedAt = new Date().toISOString()
    const given = [{ ...tool, approval: { when, timeoutSeconds: 60 } }]
    const [call] = withApprovals(calls, { number: 1, finishedAt }, given)
    expect(call?.approval).toMatchObject({ id: approvalIdOf({ number: 1 }, 'c') })
  })

  it('does not hold up the others of its response, nor a result beside it', async () => {
    const calls = [refund({ id: 'x', usd: 200 }), { name: 'look_up', input: { id: 'y' } }, ...answer.calls]
    const run = await aStartedRun([{ calls }])
    expect(server.calls.map(({ path }) => path)).toEqual(['/things/y'])
    expect((await run.stored()).status).toBe('IN_PROGRESS')
    await run.decide('approve')
    await run.process()
    expect(await run.stored()).toMatchObject({ status: 'SUCCESS', output: { answer: 'Because.' } })
    expect(server.calls).toHaveLength(2)
  })

  it('waits again if another one is decided first', async () => {
    const calls = ['a', 'b'].map((id) => refund({ id, usd: 200 }))
    const run = await aStartedRun([{ calls }, answer])
    expect((await run.stored()).suspension?.waits).toHaveLength(2)
    await run.decide('approve', { index: 1 })
    await run.process()
    expect(server.calls.map(({ path }) => path)).toEqual([expect.stringContaining('/refunds/b')])
    expect(await run.list()).toMatchObject([{ input: { id: 'a', usd: 200 } }])
    await run.decide('reject', { index: 0 })
    await run.process()
    expect((await run.stored()).status).toBe('SUCCESS')
    expect(server.calls).toHaveLength(1)
  })
})

describe('the model learns', () => {
  it('that its call was rejected, and why', async () => {
    const run = await aStartedRun()
    await run.decide('reject', { note: 'Refund half of it.' })
    await run.process()
    expect(run.shown()).toEqual([
      'The call was not executed: an approver rejected it. Note of the approver: Refund half of it.',
    ])
    expect(server.calls).toEqual([])
  })

  it('that nobody approved its call in time', async () => {
    const run = await aStartedRun(REFUND_200, [refundTool({ approval: true, approvalTimeoutSeconds: 3_600 })])
    offsetMs = 3_600_001
    await run.process()
    expect(run.shown()).toEqual(['The call was not executed: nobody approved it in time.'])
    expect(await run.stored()).toMatchObject({ status: 'SUCCESS' })
  })

  it('what its call was executed with instead', async () => {
    const run = await aStartedRun()
    await run.decide('approve', { input: { id: 'y', usd: 50 } })
    await run.process()
    expect(server.calls[0]?.path).toBe('/refunds/y?usd=50')
    expect(run.shown()[0]).toMatch(
      /^An approver changed the input of the call. It was executed with {"id":"y","usd":50} instead.\n\n<tool_result>/,
    )
    const call = (await run.steps())[0]?.step as ModelStep
    expect(call.calls[0]?.input).toEqual({ id: 'x', usd: 200 })
  })
})

describe('decideApproval', () => {
  it('counts the first of two decisions at the same moment', async () => {
    const run = await aStartedRun()
    const [one, other] = await Promise.allSettled([run.decide('approve'), run.decide('reject')])
    const [kept, refused] = one.status === 'fulfilled' ? [one, other] : [other, one]
    expect(kept).toMatchObject({ status: 'fulfilled' })
    expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'ApprovalDecided' } })
    await run.process()
    const isApproved = kept.status === 'fulfilled' && kept.value.decision === 'approve'
    expect(server.calls).toHaveLength(isApproved ? 1 : 0)
  })

  it('returns the stored decision to the same one again, also after the end', async () => {
    const run = await aStartedRun()
    const first = await run.decide('approve', { note: 'Fine.' })
    const again = { note: 'Again.', as: run.access({ tokenName: 'Bob' }) }
    expect(await run.decide('approve', again)).toEqual(first)
    await run.process()
    expect(await run.decide('approve')).toEqual(first)
    for (const [decision, input] of [
      ['reject', null],
      ['approve', { id: 'x', usd: 1 }],
    ] as const)
      await expect(run.decide(decision, { input })).rejects.toMatchObject({ code: 'ApprovalDecided' })
  })

  it('counts before the timeout, however late the worker is, and not after it', async () => {
    const early = await aStartedRun()
    await early.decide('approve')
    offsetMs = 8 * DAY_MS
    await early.process()
    expect(server.calls).toHaveLength(1)

    offsetMs = 0
    const late = await aStartedRun()
    offsetMs = 7 * DAY_MS + 1_000
    expect(await late.list()).toEqual([])
    const refused = { code: 'ApprovalDecided', members: { decision: 'timeout' } }
    await expect(late.decide('approve')).rejects.toMatchObject(refused)
    await late.process()
    expect(server.calls).toHaveLength(1)
    expect(await late.stored()).toMatchObject({ status: 'SUCCESS' })
  })

  it('counts while the run executes another call', async () => {
    const [slow, begun] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const calls = [refund({ id: 'x', usd: 200 }), { name: 'look_up', input: { id: 'y' } }]
    const openSlowly: typeof openTools = async (...given) => {
      const tools = await openTools(...given)
      const call: typeof tools.call = async (given, options) => {
        if (given.name === 'look_up') {
          begun.resolve()
          await slow.promise
        }
        return tools.call(given, options)
      }
      return { ...tools, call }
    }
    const sent: unknown[] = []
    const queue = { send: async (message: unknown) => void sent.push(message) }
    const run = await aRun([{ calls }, answer], undefined, { openTools: openSlowly, queue })
    const processing = run.process()
    await begun.promise
    await run.decide('approve')
    // In case the worker dies after it has suspended the run.
    expect(sent).toMatchObject([{ wakes: true, delayMs: 330_000 }])
    slow.resolve()
    await processing
    // It was suspended after the decision, and resumes at once.
    expect(sent.slice(1)).toMatchObject([{ wakes: true, delayMs: 0 }])
    await run.process()
    expect((await run.stored()).status).toBe('SUCCESS')
  })

  it('refuses the token that started the run only if the tool says so', async () => {
    const run = await aStartedRun(REFUND_200, [refundTool({ approval: { notByCaller: true } })])
    const free = await aStartedRun()
    const decideAsCaller = ({ access, caller, decide }: typeof run) =>
      decide('approve', { as: access({ tokenId: caller }) })
    await expect(decideAsCaller(run)).rejects.toMatchObject({ code: 'Forbidden' })
    expect(await run.decide('approve')).toMatchObject({ decision: 'approve' })
    expect(await decideAsCaller(free)).toMatchObject({ decision: 'approve' })
  })

  describe('with notByCaller', () => {
    const organizationId = system.newId()
    const create = async (access: Access, name = 'a token') => {
      const given = { name, scopes: [...SCOPES] }
      return toAccess((await createToken({ ...base, system: clock }, { access, given })).token)
    }
    const signedIn = (): Access => ({
      ...UNLIMITED,
      organizationId,
      tokenId: subjectIdOf('https://login.example', system.newId()),
      subject: 'ann',
      expiresAt: Math.floor(clock.now() / 1_000) + 3_600,
    })
    const operator = { ...UNLIMITED, organizationId, tokenId: system.newId() }
    const chainOf = async (access: Access, length: number) => {
      let last = access
      for (let count = 0; count < length; count++) last = await create(last)
      return last
    }
    async function expectDecision(caller: Access, approver: Access, isAllowed: boolean) {
      const tool = refundTool({ approval: { notByCaller: true } })
      const run = await aStartedRun(REFUND_200, [tool], {}, organizationId, caller.tokenId)
      const approval = { notByCaller: true }
      expect(await openDecider(base.tokens, approver)(approval, run.execution)).toBe(isAllowed)
      const decided = await run.decide('approve', { as: approver }).catch((error) => error)
      expect(decided).toMatchObject(isAllowed ? { decision: 'approve' } : { code: 'Forbidden' })
    }

    it('a token does not decide that the caller has created, over any number of tokens, also revoked ones', async () => {
      const caller = await create(operator)
      for (const length of [1, 2, 5]) await expectDecision(caller, await chainOf(caller, length), false)
      const between = await create(caller)
      const approver = await create(between)
      await revokeToken({ ...base, system: clock }, { access: operator, tokenId: between.tokenId })
      await expectDecision(caller, approver, false)
    })

    it('nor does one with more creators than are followed', async () => {
      const [caller, root] = [await create(operator), await create(operator)]
      await expectDecision(caller, await chainOf(root, 20), true)
      await expectDecision(caller, await chainOf(root, 60), false)
    })

    it('a person does not decide on what a token of theirs has started, nor the other way round', async () => {
      const ann = signedIn()
      const [first, second] = [await create(ann), await chainOf(ann, 2)]
      await expectDecision(ann, first, false)
      await expectDecision(first, ann, false)
      await expectDecision(first, second, false)
      await expectDecision(second, first, false)
    })

    it('others decide: another person, and tokens that an operator or one token has created', async () => {
      const [ann, bob] = [signedIn(), signedIn()]
      await expectDecision(ann, bob, true)
      await expectDecision(await create(ann), await create(bob), true)
      const [first, second] = [await create(operator), await create(operator)]
      await expectDecision(first, second, true)
      await expectDecision(await create(first), await create(first), true)
    })

    it('a token without the scope does not decide', async () => {
      const [caller, other] = [await create(operator), await create(operator)]
      const mayDecide = openDecider(base.tokens, { ...other, scopes: ['read'] })
      expect(await mayDecide({ notByCaller: false }, { tokenId: caller.tokenId })).toBe(false)
    })
  })

  it.each([
    ['that does not match the schema of the tool', { usd: 5 }, '/input/id'],
    ['of a wrong type', { id: 'x', usd: 'many' }, '/input/usd'],
    ['that is too large', { id: 'x'.repeat(300_000) }, '/input'],
  ])('refuses an edited input %s', async (_, input, path) => {
    const run = await aStartedRun()
    const errors = [{ path, message: expect.stringContaining(`${path} `) }]
    const mismatch = { code: 'InputSchemaMismatch', errors }
    await expect(run.decide('approve', { input })).rejects.toMatchObject(mismatch)
    expect(await run.decide('approve', { input: { id: 'y' } })).toMatchObject({ input: { id: 'y' } })
  })

  it('finds no approval of a call that needs none', async () => {
    const calls = [5, 500].map((usd) => refund({ id: 'x', usd }))
    const run = await aStartedRun([{ calls }, answer])
    for (const id of [await run.approvalId(0), 'f'.repeat(32), '', '../x'])
      await expect(run.decide('approve', { id })).rejects.toMatchObject({ code: 'ApprovalNotFound' })
  })

  it('refuses a decision on a run that was cancelled', async () => {
    const run = await aStartedRun()
    await cancelExecution(run.engine, { access: run.access(), executionId: run.execution.id })
    await expect(run.decide('approve')).rejects.toMatchObject({ code: 'ExecutionEnded' })
    await run.process()
    expect(server.calls).toEqual([])
  })

  it('looks again if the message could not be sent', async () => {
    const queue = { send: () => Promise.reject(new Error('no queue')) }
    const run = await aStartedRun(REFUND_200, undefined, { queue })
    await run.decide('approve')
    expect((await run.stored()).openUntil).toBeLessThan(clock.now() + DAY_MS)
  })
})

describe('listApprovals', () => {
  it('returns what suspended runs wait for, what the document shows first, and what the model said', async () => {
    const tool = refundTool({ approval: { ...over100, show: ['/id', '/usd'] } })
    const script = [{ ...REFUND_200[0], text: 'It arrived broken.' }, answer] as Script
    const run = await aStartedRun(script, [tool])
    const { show, reason, ...approval } = (await run.list())[0] ?? {}
    expect({ show, reason }).toEqual({ show: ['/id', '/usd'], reason: 'It arrived broken.' })
    const call = { id: await run.approvalId(), name: 'refund', input: { id: 'x', usd: 200 }, step: 1 }
    expect(approval).toMatchObject({ ...call, title: 'May the agent call refund?' })
    expect(await run.list(run.access({ agents: ['other'] }))).toEqual([])
    await run.decide('approve')
    expect(await run.list()).toEqual([])
  })

  it('resumes a run whose approver died before the message was sent', async () => {
    const sent: unknown[] = []
    const run = await aStartedRun()
    const reached = Promise.withResolvers<void>()
    const hang = () => {
      reached.resolve()
      return new Promise<never>(() => {})
    }
    run.engine.queue = { send: hang }
    void run.decide('approve')
    await reached.promise
    run.engine.queue = { send: async (message) => void sent.push(message) }
    expect(await run.list()).toEqual([])
    expect(sent).toMatchObject([{ executionId: (await run.stored()).id, wakes: true }])
  })

  it('continues within a run whose approvals exceed the page', async () => {
    const calls = Array.from({ length: 5 }, (_, i) => refund({ id: `${i}`, usd: 200 }))
    const run = await aStartedRun([{ calls }, answer])
    const found: string[] = []
    for (let cursor: string | undefined; ; ) {
      const page = await listApprovals(run.engine, { access: run.access(), page: { limit: 2, cursor } })
      expect(page.items.length).toBeLessThanOrEqual(2)
      found.push(...page.items.map(({ id }) => id))
      if (!page.next) break
      cursor = encodeCursor(page.next)
    }
    expect(new Set(found).size).toBe(5)
    expect(found).toHaveLength(5)
  })
})

describe('listDecided', () => {
  const decidedBy = async (run: Awaited<ReturnType<typeof aRun>>, as = run.access()) =>
    (await listDecided(run.engine, { access: as, page: {} })).items

  it('returns what people have decided, once each, the latest first', async () => {
    const calls = ['a', 'b', 'c'].map((id) => refund({ id, usd: 200 }))
    const run = await aStartedRun([{ calls, text: 'The customer asks for it.' }, answer])
    expect(await decidedBy(run)).toEqual([])
    await run.decide('approve', { index: 1, note: 'Fine.' })
    offsetMs = 5
    await run.decide('reject', { index: 0 })
    await run.decide('reject', { index: 0 })
    const decided = { decision: 'approve', note: 'Fine.', by: expect.stringMatching(/^Ann \(/) }
    const about = { reason: 'The customer asks for it.', execution: { id: run.execution.id } }
    expect(await decidedBy(run)).toMatchObject([
      { input: { id: 'a' }, decided: { decision: 'reject' } },
      { input: { id: 'b' }, decided, ...about },
    ])
  })

  it('has no timeout, and nothing of other agents, tenants and organizations', async () => {
    const run = await aStartedRun()
    await run.decide('approve')
    expect(await decidedBy(run)).toHaveLength(1)
    for (const more of [{ agents: ['other'] }, { tenantId: 'acme' }, { organizationId: system.newId() }])
      expect(await decidedBy(run, run.access(more))).toEqual([])
    const late = await aStartedRun()
    offsetMs = 8 * DAY_MS
    await expect(late.decide('approve')).rejects.toMatchObject({ code: 'ApprovalDecided' })
    expect(await decidedBy(late)).toEqual([])
  })

  it('continues behind what a limited token may not see, without saying what it is', async () => {
    const own = await aStartedRun()
    const other = await aStartedRun(REFUND_200, undefined, {}, own.execution.organizationId)
    for (const run of [own, other]) {
      offsetMs += 5
      await run.decide('approve')
    }
    const access = own.access({ agents: [own.slug] })
    const first = await listDecided(own.engine, { access, page: { limit: 1 } })
    expect(first.items).toEqual([])
    expect(first.next?.order).not.toContain(other.execution.id)
    const cursor = encodeCursor(first.next ?? { order: '' })
    const second = await listDecided(own.engine, { access, page: { limit: 1, cursor } })
    expect(second.items).toMatchObject([{ execution: { id: own.execution.id } }])
  })
})

describe('the steps and events of a run', () => {
  it('show what waits, and the decision', async () => {
    const run = await aStartedRun()
    const shown = async () => (await run.steps()).map(toStepRecord)[0]?.toolCalls?.[0]
    const id = await run.approvalId()
    expect(await shown()).toMatchObject({ approval: { id, until: expect.any(String) } })
    expect((await shown())?.approval).not.toHaveProperty('decision')
    await run.decide('approve', { input: { id: 'y' }, note: 'Fine.' })
    const by = expect.stringMatching(/^Ann \(/)
    const decision = { decision: 'approve', by, note: 'Fine.', input: { id: 'y' } }
    expect(await shown()).toMatchObject({ input: { id: 'x', usd: 200 }, approval: { id, ...decision } })
    expect(await shown()).not.toHaveProperty('result')
    const { organizationId, id: executionId } = run.execution
    const params = { organizationId, id: executionId, status: 'IN_PROGRESS' as const, after: 1, maxMs: 5_000 }
    const { signal } = new AbortController()
    const events = []
    for await (const batch of openEvents(run.engine).read({ ...params, signal })) events.push(...batch)
    expect(events).toMatchObject([{ kind: 'status' }, { kind: 'tool', callId: id }, { kind: 'waiting' }])
  })

  it('inherit the token of the caller to the agents that it calls', async () => {
    const child = await aModelAgent({ slug: `child-${system.newId()}` }, { table })
    const tool = { name: 'ask_child', agent: child.slug }
    const calls = [{ name: 'ask_child', input: { question: 'Who?' } }]
    const run = await aStartedRun([{ calls }, answer], [tool], {}, child.organizationId)
    const [recorded] = await run.steps()
    const id = [...(recorded?.results.values() ?? [])][0]?.result.executionId ?? ''
    const { organizationId } = run.execution
    expect(await run.engine.executions.get({ organizationId, id })).toMatchObject({ tokenId: run.caller })
  })
})
